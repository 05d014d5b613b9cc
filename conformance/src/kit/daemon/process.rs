//! The process of a daemon that is tried: started on a home of its own, ended as a vector wants, never left behind.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use super::{broken::Proxy, subject::StartCommand};
use crate::{
    kit::vector::Restart,
    processes::{NotReady, parse_ready},
};

/// How long a daemon may take to say that it is ready, and to end when it is told to.
const PATIENCE: Duration = Duration::from_secs(60);
/// A ready line is far shorter.
const READY_LINE_BYTES: u64 = 65_536;
/// How much of what a daemon logged is shown when it does not start.
const LOG_CHARACTERS: usize = 2_000;

/// A daemon in a process of its own. Killed with its process group when dropped, and its home goes with it.
#[derive(Debug)]
pub(super) struct Process {
    command: StartCommand,
    child: Group,
    socket: PathBuf,
    /// Stands between it and its clients when a rule is to be broken.
    proxy: Option<Proxy>,
    folder: TempDir,
}

impl Process {
    pub(super) async fn start(command: &StartCommand) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("kit-").tempdir()?;
        fs::create_dir(home(&folder))?;
        fs::set_permissions(home(&folder), fs::Permissions::from_mode(0o700))?;
        let (child, socket) = spawn(command, &folder).await?;
        let mut process = Self { command: command.clone(), child, socket, proxy: None, folder };
        process.break_a_rule()?;
        Ok(process)
    }

    /// Where it is connected to.
    pub(super) fn socket(&self) -> &Path {
        self.proxy.as_ref().map_or(&self.socket, Proxy::socket)
    }

    /// Ends it.
    pub(super) async fn end(&mut self, how: Restart) -> io::Result<()> {
        match how {
            Restart::Graceful => self.terminate()?,
            Restart::Kill => self.child.kill(),
        }
        self.ended().await.map(drop)
    }

    /// Waits until it has ended by itself.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the daemon did not end within a minute");
        timeout(PATIENCE, self.child.0.wait()).await.map_err(late)?
    }

    /// Starts it again on its home after it has ended.
    pub(super) async fn start_again(&mut self) -> io::Result<()> {
        self.proxy = None;
        let (child, socket) = spawn(&self.command, &self.folder).await?;
        self.child = child;
        self.socket = socket;
        self.break_a_rule()
    }

    fn break_a_rule(&mut self) -> io::Result<()> {
        let fault = self.command.fault;
        let listen = || self.folder.path().join("broken.sock");
        self.proxy = fault.map(|fault| Proxy::start(fault, &listen(), &self.socket)).transpose()?;
        Ok(())
    }

    fn terminate(&self) -> io::Result<()> {
        let pid = self.child.pid();
        let pid = pid.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the daemon has ended already"))?;
        Ok(kill_process(pid, Signal::TERM)?)
    }
}

/// A process and whatever it started: a command may be a script. Killed when dropped.
#[derive(Debug)]
struct Group(Child);

impl Group {
    fn pid(&self) -> Option<Pid> {
        self.0.id().and_then(|pid| Pid::from_raw(pid.cast_signed()))
    }

    fn kill(&mut self) {
        if let Some(group) = self.pid() {
            // One that has just ended by itself is no failure.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn spawn(command: &StartCommand, folder: &TempDir) -> io::Result<(Group, PathBuf)> {
    let socket = home(folder).join("daemon.sock");
    let log = folder.path().join("daemon.log");
    let places = [("{home}", home(folder)), ("{socket}", socket.clone())];
    let arguments = command.arguments.iter().map(|argument| match argument.to_str() {
        Some(text) => {
            places.iter().fold(text.to_owned(), |text, (name, path)| text.replace(name, &path.to_string_lossy())).into()
        }
        None => argument.clone(),
    });
    let child = Command::new(&command.program)
        .args(arguments)
        .env("ROPEWALK_HOME", home(folder))
        .env("ROPEWALK_SOCKET", &socket)
        // No vector is to touch the keyring of the person who runs it.
        .env("ROPEWALK_SECRET_STORE", "file")
        .env_remove("NOTIFY_SOCKET")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(fs::OpenOptions::new().create(true).append(true).open(&log)?)
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", command.program.to_string_lossy())))?;
    let mut child = Group(child);
    let stdout = child.0.stdout.take().expect("its output is a pipe");
    match ready(stdout).await {
        Ok(ready) => Ok((child, ready)),
        Err(why) => {
            let logged = fs::read_to_string(&log).unwrap_or_default();
            let from = logged.char_indices().rev().nth(LOG_CHARACTERS).map_or(0, |(at, _)| at);
            Err(io::Error::other(format!("the daemon did not start: {why}\n{}", &logged[from..])))
        }
    }
}

/// Reads the ready line, and lets whatever else is printed go nowhere, since a full pipe would stop the daemon.
async fn ready(stdout: ChildStdout) -> io::Result<PathBuf> {
    let mut reader = BufReader::new(stdout);
    let mut line = String::new();
    let read = timeout(PATIENCE, (&mut reader).take(READY_LINE_BYTES).read_line(&mut line)).await;
    read.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "no ready line within a minute"))??;
    let ready = parse_ready(&line).map_err(|not_ready| match not_ready {
        NotReady::Refused(error) => io::Error::other(error.to_string()),
        NotReady::Unreadable(why) => io::Error::other(why),
    })?;
    tokio::spawn(async move { tokio::io::copy(&mut reader, &mut tokio::io::sink()).await });
    Ok(ready.socket)
}

fn home(folder: &TempDir) -> PathBuf {
    folder.path().join("home")
}
