//! The socket on which the kit waits for the client.

use std::{fs, io, path::Path};

use tokio::{net::UnixListener, sync::mpsc, task::JoinHandle};

use super::Happening;

/// A socket that is listened on until this is dropped.
pub(super) struct Listener {
    accepting: JoinHandle<()>,
}

impl Listener {
    /// Listens at this path, which a socket from before may be in the way of.
    pub(super) fn open(path: &Path, tell: mpsc::Sender<Happening>) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if tell.send(Happening::Connected(stream)).await.is_err() {
                    return;
                }
            }
        });
        Ok(Self { accepting })
    }
}

impl Listener {
    /// Ceases to listen, and has ceased when this resolves: whoever connects from then on is refused.
    pub(super) async fn close(mut self) {
        self.accepting.abort();
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
