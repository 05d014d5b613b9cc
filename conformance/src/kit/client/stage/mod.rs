//! What a vector is played on: a socket where the kit is the daemon, the driver as a process, and all that either says.

mod connection;
mod driver;
mod inbox;
mod memory;
mod socket;
mod transcript;
mod waiting;

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    net::UnixStream,
    sync::mpsc,
    time::{Instant, timeout_at},
};

use super::super::{daemon::rules::Schemas, report::Failure};
use connection::Connection;
use driver::Driver;
use inbox::{Messages, Reports};
use memory::Memory;
use socket::Listener;
use transcript::Transcripts;

pub(super) use inbox::miss;
pub(super) use memory::AT;

/// Things that may wait to be looked at; whoever says more waits.
const HAPPENINGS: usize = 1_024;

/// What the driver is, and how long it may take.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// The driver's command line.
    pub(super) command: Vec<String>,
    /// How long everything that is waited for may take.
    pub(super) patience: Duration,
}

/// The stage of one vector.
pub(super) struct Stage {
    socket: PathBuf,
    listener: Option<Listener>,
    happenings: mpsc::Receiver<Happening>,
    tell: mpsc::Sender<Happening>,
    driver: Driver,
    connections: Vec<Connection>,
    /// Connections that no step has accepted yet.
    unaccepted: usize,
    pub(super) messages: Messages,
    pub(super) reports: Reports,
    pub(super) memory: Memory,
    transcripts: Transcripts,
    patience: Duration,
    schemas: Arc<Schemas>,
    fences: u64,
    /// What broke a rule that holds throughout, until it is said.
    broken: Option<Failure>,
    _place: TempDir,
}

/// Something that the driver or the client did.
enum Happening {
    /// The driver reported.
    Report(String),
    /// The driver's stdout has ended.
    Silence,
    /// The client has connected.
    Connected(UnixStream),
    /// The client sent a line over a connection.
    Line(usize, Vec<u8>),
    /// A connection has ended on the client's side; what stood behind the last line break.
    Ended(usize, Vec<u8>),
}

impl Stage {
    /// Sets the stage: listens, and starts the driver.
    pub(super) async fn set(setting: &Setting, manual: &[String]) -> io::Result<Self> {
        let place = TempDir::with_prefix("ropewalk-kit-")?;
        let socket = place.path().join("daemon.sock");
        let (tell, happenings) = mpsc::channel(HAPPENINGS);
        let listener = Listener::open(&socket, tell.clone())?;
        let driver = Driver::start(&setting.command, place.path(), tell.clone())?;
        Ok(Self {
            socket,
            listener: Some(listener),
            happenings,
            tell,
            driver,
            connections: Vec::new(),
            unaccepted: 0,
            messages: Messages::default(),
            reports: Reports::default(),
            memory: Memory::new(manual),
            transcripts: Transcripts::default(),
            patience: setting.patience,
            schemas: Schemas::shared(),
            fences: 0,
            broken: None,
            _place: place,
        })
    }

    /// Where the kit listens.
    pub(super) fn socket(&self) -> String {
        self.socket.display().to_string()
    }

    /// Tells the driver something.
    pub(super) async fn tell(&mut self, command: &Value) -> Result<(), Failure> {
        self.transcripts.driver("→", &command.to_string());
        let told = self.driver.tell(command, self.patience).await;
        told.map_err(|error| miss("the driver reads its stdin", &error.to_string()))
    }

    /// Sends bytes over the connection that steps are about.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let patience = self.patience;
        let connection = self.current()?;
        let written = connection.write(bytes, patience).await;
        let number = self.connections.len() - self.unaccepted;
        self.transcripts.connection(number, "→", &String::from_utf8_lossy(bytes));
        written.map_err(|error| miss("the client reads what it is sent", &error.to_string()))
    }

    /// Sends a message whole, and remembers what it says.
    pub(super) async fn send(&mut self, message: &Value) -> Result<(), Failure> {
        self.memory.sent(message);
        self.write(format!("{message}\n").as_bytes()).await
    }

    /// Ends the connection from this side.
    pub(super) async fn cut(&mut self) -> Result<(), Failure> {
        let number = self.connections.len() - self.unaccepted;
        self.transcripts.connection(number, "#", "cut");
        self.current()?.cut().await;
        self.messages.forget_fences();
        Ok(())
    }

    /// Begins or ends to listen.
    pub(super) async fn listen(&mut self, yes: bool) -> io::Result<()> {
        if let Some(listener) = self.listener.take() {
            listener.close().await;
        }
        if yes {
            self.listener = Some(Listener::open(&self.socket, self.tell.clone())?);
        }
        Ok(())
    }

    /// Begins or ends to read what the client sends.
    pub(super) fn read(&mut self, yes: bool) -> Result<(), Failure> {
        self.current()?.read(yes);
        Ok(())
    }

    /// The connection that steps are about: the one accepted last.
    fn current(&mut self) -> Result<&mut Connection, Failure> {
        let at = (self.connections.len() - self.unaccepted).checked_sub(1);
        let connection = at.and_then(|at| self.connections.get_mut(at));
        connection.ok_or_else(|| miss("a connection to send over", "none was accepted before"))
    }

    /// Whether the current connection can bring no message any more.
    fn is_over(&self) -> bool {
        let at = (self.connections.len() - self.unaccepted).checked_sub(1);
        at.and_then(|at| self.connections.get(at)).is_none_or(Connection::is_over)
    }

    /// The moment until which something that is waited for may take.
    fn until(&self) -> Instant {
        Instant::now() + self.patience
    }

    /// Waits until something happens and takes it in. False when nothing did in time.
    async fn turn(&mut self, until: Instant) -> Result<bool, Failure> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let Ok(happening) = timeout_at(until, self.happenings.recv()).await else { return Ok(false) };
        self.take_in(happening.expect("the stage itself can tell as long as it lives")).await?;
        self.broken.take().map_or(Ok(true), Err)
    }

    async fn take_in(&mut self, happening: Happening) -> Result<(), Failure> {
        match happening {
            Happening::Report(line) => {
                self.transcripts.driver("←", &line);
                if let Err(problem) = self.reports.take(&line) {
                    self.broken = Some(miss("a report: one JSON object a line", &problem));
                }
            }
            Happening::Silence => self.reports.has_ended = true,
            Happening::Connected(stream) => {
                let number = self.connections.len() + 1;
                self.transcripts.connection(number, "#", "connected");
                self.connections.push(Connection::over(stream, number, self.tell.clone()));
                self.unaccepted += 1;
            }
            Happening::Line(on, line) => {
                self.transcripts.connection(on, "←", &String::from_utf8_lossy(&line));
                self.take_message(on, &line).await?;
            }
            Happening::Ended(on, rest) => {
                self.transcripts.connection(on, "#", "ended by the client");
                self.connections[on - 1].has_ended();
                let torn = !rest.is_empty() && !self.connections[on - 1].was_cut();
                if torn {
                    self.broken = Some(inbox::rule("framing", "whole lines", &String::from_utf8_lossy(&rest)));
                }
            }
        }
        Ok(())
    }

    /// Takes a line of the client: what the kit answers by itself is answered, all else waits for a step.
    async fn take_message(&mut self, on: usize, line: &[u8]) -> Result<(), Failure> {
        if self.connections[on - 1].was_cut() {
            // It was on its way when the connection was cut, and is lost with it.
            return Ok(());
        }
        let message = match inbox::read_message(line) {
            Ok(message) => message,
            Err(broken) => {
                self.broken = Some(broken);
                return Ok(());
            }
        };
        let asked = self.memory.asked(&message);
        if let Err((expected, came)) = self.schemas.of_client(&message, asked) {
            self.broken = Some(inbox::rule("schema", &expected, &came));
            return Ok(());
        }
        if let Some(reply) = self.memory.answer(&message) {
            let line = format!("{reply}\n");
            self.transcripts.connection(on, "→", &line);
            // Whoever asks and goes does not need the answer.
            let _ = self.connections[on - 1].write(line.as_bytes(), self.patience).await;
            return Ok(());
        }
        if !self.memory.is_moot(&message) {
            self.broken = self.messages.take(on, message);
        }
        Ok(())
    }

    /// Ends everything: the driver is killed if it has not ended, and waited for. Gives the transcripts.
    pub(super) async fn clear(mut self) -> Vec<super::super::report::Transcript> {
        self.driver.end().await;
        self.transcripts.whole(&self.driver.complaints())
    }
}
