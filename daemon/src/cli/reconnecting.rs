//! Saying on stderr that the connection to the daemon was lost, and that it is there again.

use ropewalk::{Client, Connection};
use tokio::{sync::watch, task::JoinHandle};

use super::out::{Out, Style};

const LOST: &str = "The connection to the daemon was lost; the run is the daemon's. Waiting for it to come back.";
const BACK: &str = "Connected to the daemon again.";

/// Tells how the connection stands, until it is dropped. That it has ended is what the command fails with.
pub(super) struct Telling(JoinHandle<()>);

impl Telling {
    pub(super) fn begin(client: &Client, out: &Out) -> Self {
        Self(tokio::spawn(tell(client.connection(), out.clone())))
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn tell(mut connection: watch::Receiver<Connection>, out: Out) {
    let mut told = connection.borrow_and_update().clone();
    while connection.changed().await.is_ok() {
        let now = connection.borrow_and_update().clone();
        if let Some(words) = words(&told, &now) {
            out.note(&out.paint_note(Style::Yellow, words));
        }
        told = now;
    }
}

/// What is said when the connection was told as `before` and stands as `now`.
fn words(before: &Connection, now: &Connection) -> Option<&'static str> {
    let was_connected = matches!(before, Connection::Connected { .. });
    match now {
        Connection::Reconnecting { .. } => was_connected.then_some(LOST),
        Connection::Connected { .. } => Some(BACK),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
