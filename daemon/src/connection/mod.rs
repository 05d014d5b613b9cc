//! One connection: who may ask what and how much at once, from the handshake to the end.
//!
//! [`Serving::connect`] runs the peer over any stream; its [`session`] admits requests and hands them to dispatch.

mod admission;
mod connections;
mod session;

use std::{io, sync::Arc, time::Duration};

use ropewalk_peer::{Options, Peer, serve_with};
use ropewalk_protocol::{ErrorDetail, Limits, RpcError};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

pub use connections::Connections;

use self::{admission::Load, session::Session};
use crate::dispatch::{Host, Table};

/// Bytes of answers a client may leave unread before no more of its requests are read.
const UNREAD_ANSWERS_BYTES: usize = 4 << 20;
/// How long a connection too many may take to be told so.
const REFUSAL: Duration = Duration::from_secs(1);

/// What all connections of one daemon have in common.
pub struct Serving<H: Host> {
    /// The daemon.
    pub host: Arc<H>,
    /// Its methods.
    pub table: Arc<Table<H>>,
    /// Its limits, as `initialize` publishes them.
    pub limits: Limits,
    /// The open connections.
    pub connections: Arc<Connections>,
}

impl<H: Host> Clone for Serving<H> {
    fn clone(&self) -> Self {
        Self {
            host: self.host.clone(),
            table: self.table.clone(),
            limits: self.limits.clone(),
            connections: self.connections.clone(),
        }
    }
}

impl<H: Host> Serving<H> {
    /// A daemon and its methods, under the limits of the protocol.
    #[must_use]
    pub fn new(host: Arc<H>, table: Arc<Table<H>>) -> Self {
        Self { host, table, limits: Limits::default(), connections: Arc::default() }
    }

    /// Runs a connection over `stream` to its end; returns at once. Must be called within a tokio runtime.
    ///
    /// One connection more than there may be gets one `overloaded` line and is closed: then there is no peer.
    pub fn connect<S>(&self, stream: S) -> Option<Peer>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let load = Arc::new(Load::new(&self.limits, self.connections.changes()));
        let Some(slot) = self.connections.open(&load, self.limits.max_connections) else {
            tokio::spawn(refuse(stream, self.limits.max_connections));
            return None;
        };
        let options = Options {
            max_message_bytes: size(self.limits.max_message_bytes),
            max_depth: size(self.limits.max_depth),
            max_batch: size(self.limits.max_batch),
            pause_reading_above_bytes: Some(UNREAD_ANSWERS_BYTES),
            ..Options::default()
        };
        Some(serve_with(stream, options, |peer| {
            slot.opened(peer);
            let (client, feed) = self.host.connected(peer);
            (Arc::new(Session::new(self.clone(), client, load, slot)), feed)
        }))
    }
}

fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

async fn refuse<S: AsyncWrite + Unpin>(mut stream: S, limit: u64) {
    let error = admission::overloaded("connections", limit, "Close one that is not needed, or try again later.");
    let line = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string() + "\n";
    let write = async {
        stream.write_all(line.as_bytes()).await?;
        stream.flush().await?;
        stream.shutdown().await
    };
    if let Ok(Err(error)) = tokio::time::timeout(REFUSAL, write).await {
        let _: io::Error = error;
        tracing::debug!("a connection too many was gone before it was told");
    }
}

/// Requests that still wait when the daemon ends.
fn shutting_down(grace_ms: u64) -> RpcError {
    RpcError::retryable(
        ErrorDetail::ShuttingDown { grace_ms },
        "The daemon is stopping and takes no new work. Ask again when it runs again.",
        Some(grace_ms),
    )
}

#[cfg(test)]
mod tests;
