//! Streams to a daemon: the local socket, or whatever the application brings.

use std::{io, path::Path, time::Duration};

use interprocess::local_socket::{GenericFilePath, ToFsName, tokio::Stream, traits::tokio::Stream as _};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};

use crate::{
    Error,
    environment::{Places, daemon_programs},
    start::start_daemon,
};

/// What a connection runs over.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// How long the system may take to connect to a local socket.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// Connects to the daemon's socket; when nobody listens there, starts a daemon first if that is wanted.
pub(crate) async fn open(places: &Places, start: Option<Duration>) -> Result<Stream, Error> {
    match connect(&places.socket).await {
        Ok(stream) => return checked(stream, &places.socket),
        Err(error) if !nobody_listens(&error) => return Err(unusable(&places.socket, error)),
        Err(_) => {}
    }
    let Some(deadline) = start else { return Err(Error::NotRunning { socket: places.socket.clone() }) };
    match start_daemon(daemon_programs(), places, deadline).await {
        Ok(socket) => {
            let stream = connect(&socket).await.map_err(|error| unusable(&socket, error))?;
            checked(stream, &socket)
        }
        // Another client may have started one in the same moment, which then holds the home.
        Err(failed) => match connect(&places.socket).await {
            Ok(stream) => checked(stream, &places.socket),
            Err(_) => Err(failed),
        },
    }
}

async fn connect(socket: &Path) -> io::Result<Stream> {
    let name = socket.to_fs_name::<GenericFilePath>()?;
    timeout(CONNECT_DEADLINE, Stream::connect(name)).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

fn nobody_listens(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

fn unusable(socket: &Path, error: io::Error) -> Error {
    Error::Connect { socket: socket.to_owned(), reason: error.to_string(), source: Some(error) }
}

/// Refuses a socket behind which another user's process sits: it would get every prompt and every result.
#[cfg(unix)]
fn checked(stream: Stream, socket: &Path) -> Result<Stream, Error> {
    use interprocess::local_socket::traits::StreamCommon;

    let ours = rustix::process::geteuid().as_raw();
    let theirs = stream.peer_creds().map_err(|error| unusable(socket, error))?.euid();
    match theirs {
        Some(uid) if uid != ours => {
            let reason = format!("it belongs to a process of user {uid}, and this is user {ours}");
            Err(Error::Connect { socket: socket.to_owned(), reason, source: None })
        }
        _ => Ok(stream),
    }
}

#[cfg(not(unix))]
fn checked(stream: Stream, _: &Path) -> Result<Stream, Error> {
    Ok(stream)
}
