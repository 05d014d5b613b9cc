//! One connection: who may ask what and how much at once, from the handshake to the end.
//!
//! [`Serving::connect`] runs the peer over any stream; its `session` admits requests and hands them to dispatch.

mod admission;
mod connections;
mod refusals;
mod session;
mod waits;

use std::{sync::Arc, time::Duration};

use ropewalk_peer::{Options, Peer, serve_with};
use ropewalk_protocol::Limits;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

pub use connections::Connections;

use self::{admission::Load, session::Session};
use crate::dispatch::{Host, Standing, Table};

/// Bytes of answers a client may leave unread before no more of its requests are read.
const UNREAD_ANSWERS_BYTES: usize = 4 << 20;
/// How long parking may take beyond the grace of a shutdown: a record and its sync for each run that is under way.
const PARKING: Duration = Duration::from_secs(5);
/// How long a client may take to be told why it is closed.
const LAST_WORDS: Duration = Duration::from_secs(1);

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
        host.served_by(&table);
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
            let limit = self.limits.max_connections;
            self.refuse(stream, "connections", limit);
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

    /// Tells a connection that cannot be served that there are too many of `what`, and closes it.
    pub(crate) fn refuse<S>(&self, mut stream: S, what: &str, limit: u64)
    where
        S: AsyncWrite + Send + Unpin + 'static,
    {
        let error = refusals::overloaded(what, limit, "Close one that is not needed, or try again later.");
        let line = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string() + "\n";
        tokio::spawn(async move {
            let write = async {
                stream.write_all(line.as_bytes()).await?;
                stream.flush().await?;
                stream.shutdown().await
            };
            if let Ok(Err(error)) = tokio::time::timeout(LAST_WORDS, write).await {
                tracing::debug!(%error, "a connection too many was gone before it was told");
            }
        });
    }

    /// Ends all connections once the daemon has begun to stop: gives what is under way the grace of
    /// [`Standing::Stopping`], answers what still waits with `shuttingDown`, writes what is queued, and closes. Resolves
    /// within the grace and some seconds more, whatever clients and disks do.
    pub async fn stop(&self) {
        let grace = self.host.clock().sleep(Duration::from_millis(grace_ms(&*self.host)));
        let wound_down = async { tokio::join!(self.host.wound_down(), self.connections.idle()) };
        tokio::select! {
            biased;
            _ = wound_down => {}
            () = grace => {
                tracing::info!("the grace of the shutdown is over before everything has ended");
                // What runs is parked however short the grace was: a daemon inside a program has no end of a process that
                // would stop it.
                if tokio::time::timeout(PARKING, self.host.wound_down()).await.is_err() {
                    tracing::warn!("not everything that runs could be parked; the next start takes it up as after a crash");
                }
            }
        }
        self.connections.end_waiting();
        // A client that does not read cannot keep the daemon from ending.
        let _ = tokio::time::timeout(LAST_WORDS, self.connections.nobody_waits()).await;
        self.connections.close().await;
    }
}

fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

fn grace_ms<H: Host>(host: &H) -> u64 {
    match host.standing() {
        Standing::Stopping { grace_ms } => grace_ms,
        Standing::Starting { .. } | Standing::Serving => 0,
    }
}

#[cfg(test)]
pub(crate) mod tests;
