//! From a home to accepted connections: the lock, the socket, and who may connect.
//!
//! [`Home::resolve`] says where, [`Server::bind`] takes the lock and the socket, [`Bound::serve`] accepts until the
//! daemon stops, and [`ready_line`] or [`failed_line`] tells whoever started the daemon.

mod accept;
mod error;
mod home;
mod lock;
mod socket;

use std::path::Path;

use interprocess::local_socket::tokio::Listener;
use ropewalk_protocol::RpcError;
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub use error::StartError;
pub use home::{Environment, Home, Places};
pub use lock::HomeLock;

use self::socket::SocketFile;
use crate::{connection::Serving, dispatch::Host};

/// Takes a home and its socket.
#[derive(Clone, Copy, Debug)]
pub struct Server;

/// A home that is ours, with a socket on which nobody is served yet; who connects waits.
pub struct Bound {
    listener: Listener,
    // Dropped in this order: the file is removed while the lock is still held.
    socket: SocketFile,
    lock: HomeLock,
}

impl Server {
    /// Makes the home's directory, takes its lock, and listens on its socket. A socket file nobody listens on is
    /// replaced. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// As [`StartError`] says; then nothing of a running daemon was touched.
    pub async fn bind(home: &Home) -> Result<Bound, StartError> {
        socket::check_length(&home.socket)?;
        let lock = HomeLock::acquire(home).await?;
        let (listener, socket) = socket::listen(&home.socket).await?;
        Ok(Bound { listener, socket, lock })
    }
}

impl Bound {
    /// The socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        self.socket.path()
    }

    /// Accepts connections until `shutdown` is cancelled; then ends them as [`Serving::stop`] does and removes the
    /// socket. The lock is given back to the caller, to be held until the store is closed.
    pub async fn serve<H: Host>(self, serving: Serving<H>, shutdown: CancellationToken) -> HomeLock {
        let Self { listener, socket, lock } = self;
        accept::accept_until(&listener, &serving, &shutdown).await;
        drop(listener);
        serving.stop().await;
        drop(socket);
        lock
    }
}

/// The line that says that the daemon answers, without a line break.
#[must_use]
pub fn ready_line(socket: &Path, version: &str) -> String {
    json!({"ready": true, "socket": socket.display().to_string(), "pid": std::process::id(), "version": version})
        .to_string()
}

/// The line that says why the daemon did not start, without a line break.
#[must_use]
pub fn failed_line(error: &RpcError) -> String {
    let data = serde_json::to_value(&error.data).unwrap_or_default();
    json!({"ready": false, "error": {"kind": data["kind"], "message": error.message, "data": data}}).to_string()
}

#[cfg(test)]
mod tests;
