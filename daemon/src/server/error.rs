//! Why a daemon cannot start, before there is anybody to tell over a socket.

use std::{io, path::PathBuf};

use ropewalk_protocol::{ErrorDetail, RpcError};

/// Why a home or its socket cannot be had. Each says what and where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Nothing says where the home is.
    #[error("There is no directory to keep data in: neither HOME nor a state directory is set. Name one with --home.")]
    NoHome,
    /// The path of the socket is longer than the platform can name.
    #[error(
        "The path of the socket, {path}, has {length} bytes; this platform takes {limit}. Name a shorter one with \
         --socket.",
        path = path.display()
    )]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
        /// The most it may have.
        limit: usize,
    },
    /// A directory is not only ours.
    #[error("The directory of the socket, {path}, {problem}. {remedy}", path = path.display())]
    DirectoryNotPrivate {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// Another daemon has the home.
    #[error(
        "Another daemon{} has the home {home}. Use that one, or stop it first.",
        pid.map(|pid| format!(", process {pid},")).unwrap_or_default(),
        home = home.display()
    )]
    HomeInUse {
        /// The home.
        home: PathBuf,
        /// The other daemon's process, where it could be found out.
        pid: Option<u32>,
    },
    /// Somebody listens on the socket, though the home is free.
    #[error(
        "Process {} of another home listens on the socket {socket}. Name another one with --socket, or stop it first.",
        pid.map_or_else(|| "unknown".to_owned(), |pid| pid.to_string()),
        socket = socket.display()
    )]
    SocketInUse {
        /// The socket.
        socket: PathBuf,
        /// Who listens, where it could be found out.
        pid: Option<u32>,
    },
    /// Something else is where the socket should be.
    #[error("{path} is there and is no socket, so it was left alone. Remove it, or name another path with --socket.", path = path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// The system refused something.
    #[error("{what} {path} failed: {cause}.", path = path.display())]
    Io {
        /// What was tried, such as `Making the directory`.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

impl StartError {
    /// Says what was tried of an error of the system.
    pub(super) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Io { what, path, cause }
    }
}

impl From<&StartError> for RpcError {
    fn from(error: &StartError) -> Self {
        let unavailable = |reason: &str, party: Option<u32>| ErrorDetail::Unavailable {
            reason: reason.to_owned(),
            progress: None,
            party: party.map(|pid| format!("process {pid}")),
            effect: None,
        };
        let detail = match error {
            StartError::NoHome => unavailable("no_home", None),
            StartError::SocketPathTooLong { length, limit, .. } => {
                ErrorDetail::TooLarge { limit: *limit as u64, actual: *length as u64, what: "socket path".to_owned() }
            }
            StartError::DirectoryNotPrivate { .. } => {
                ErrorDetail::Forbidden { reason: "directory_not_private".to_owned(), policy_id: None }
            }
            StartError::HomeInUse { pid, .. } => unavailable("home_in_use", *pid),
            StartError::SocketInUse { pid, .. } => unavailable("socket_in_use", *pid),
            StartError::NotASocket { .. } => unavailable("not_a_socket", None),
            StartError::Io { .. } => unavailable("io_error", None),
        };
        Self::new(detail, error.to_string())
    }
}
