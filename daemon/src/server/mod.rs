//! From a home to accepted connections: the lock, the socket, and who may connect.
//!
//! [`Home::resolve`] says where, [`Server::bind`] takes the lock and the socket, [`Bound::serve`] accepts until the
//! daemon stops, and [`ready_line`] or [`failed_line`] tells whoever started the daemon.

mod accept;
mod error;
mod home;
mod lock;
mod socket;
mod watch;

use std::path::Path;

use interprocess::local_socket::tokio::Listener;
use ropewalk_protocol::RpcError;
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub use error::StartError;
pub use home::{Environment, Home, Places};
pub use lock::HomeLock;

use self::{socket::SocketFile, watch::Missing};
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
    ///
    /// A socket whose file was removed is made anew within seconds. When the home is gone, `shutdown` is cancelled here:
    /// nothing could be stored any more, and another daemon may have begun in its place.
    pub async fn serve<H: Host>(mut self, serving: Serving<H>, shutdown: CancellationToken) -> HomeLock {
        loop {
            let missing = tokio::select! {
                biased;
                () = accept::accept_until(&self.listener, &serving, &shutdown) => break,
                missing = watch::until_missing(serving.host.clock(), &self.socket, &self.lock) => missing,
            };
            match missing {
                Missing::Socket => self.listen_again().await,
                Missing::Home => {
                    tracing::error!("the home of this daemon is gone, or its lock was removed; the daemon ends");
                    shutdown.cancel();
                }
            }
        }
        let Self { listener, socket, lock } = self;
        drop(listener);
        serving.stop().await;
        drop(socket);
        lock
    }

    async fn listen_again(&mut self) {
        match socket::listen(self.socket.path()).await {
            Ok((listener, socket)) => {
                tracing::warn!(socket = %socket.path().display(), "the socket was removed; it is there again");
                (self.listener, self.socket) = (listener, socket);
            }
            // It is tried again: somebody may be about to put things right.
            Err(error) => tracing::warn!(%error, "the socket was removed and cannot be made again"),
        }
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
