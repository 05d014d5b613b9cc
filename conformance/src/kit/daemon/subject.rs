//! The daemon that is tried: a command that starts one, or a socket where one listens already.

use std::{ffi::OsString, fmt, io, path::PathBuf};

use tokio::net::UnixStream;

use super::{broken::Fault, process::Process};

/// What is tried.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A command that starts a daemon.
    Command(StartCommand),
    /// The socket of a daemon that is under way.
    Socket(PathBuf),
}

/// How a daemon is started.
///
/// Each has a home of its own. `{home}` and `{socket}` in the arguments are replaced by the path of its home, an empty
/// directory with mode 0700, and by the path where it is to listen; `ROPEWALK_HOME` and `ROPEWALK_SOCKET` of its
/// environment say the same. It has to print the ready line of the protocol on stdout.
#[derive(Clone, Debug)]
pub struct StartCommand {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// A rule to be broken between the daemon and who talks to it, for tests of the kit.
    pub fault: Option<Fault>,
}

/// A daemon that is under way.
#[derive(Debug)]
pub(super) struct Daemon {
    socket: PathBuf,
    /// `None` for one that was there already.
    process: Option<Process>,
}

impl Subject {
    /// A daemon to play vectors against.
    ///
    /// # Errors
    /// When it does not start; the socket of one that is under way is only tried when it is connected to.
    pub(super) async fn daemon(&self) -> io::Result<Daemon> {
        match self {
            Self::Command(command) => {
                let process = Process::start(command).await?;
                Ok(Daemon { socket: process.socket().to_owned(), process: Some(process) })
            }
            Self::Socket(socket) => Ok(Daemon { socket: socket.clone(), process: None }),
        }
    }

    /// Whether daemons can be started and ended.
    #[must_use]
    pub const fn is_command(&self) -> bool {
        matches!(self, Self::Command(_))
    }
}

impl Daemon {
    pub(super) async fn connect(&self) -> io::Result<UnixStream> {
        let connected = UnixStream::connect(&self.socket).await;
        connected.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.socket.display())))
    }

    /// Its process, where it is ours.
    pub(super) const fn process(&mut self) -> Option<&mut Process> {
        self.process.as_mut()
    }

    /// Takes over where it listens now, after a start.
    pub(super) fn started_anew(&mut self) {
        self.socket = self.process.as_ref().map_or_else(|| self.socket.clone(), |process| process.socket().to_owned());
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => {
                f.write_str(&command.program.to_string_lossy())?;
                command.arguments.iter().try_for_each(|argument| write!(f, " {}", argument.to_string_lossy()))
            }
            Self::Socket(socket) => write!(f, "{}", socket.display()),
        }
    }
}
