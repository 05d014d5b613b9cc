//! What a connection is made of: its options, the service that takes what comes in, the feed, and the start of it all.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures::future::BoxFuture;
use ropewalk_protocol::{RequestId, limits};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Peer, Responder, reader, writer};

/// What one end does with what comes in.
///
/// All of it is called from the read loop, in the order of the lines, and must not block: poll once and spawn what is
/// not ready.
pub trait Service: Send + Sync + 'static {
    /// A request. Its answer goes through [`Request::responder`], whenever it is known.
    fn request(&self, peer: &Peer, request: Request);

    /// A notification; nobody waits for anything.
    fn notification(&self, peer: &Peer, method: String, params: Option<Box<RawValue>>);

    /// The connection is over: nothing comes in any more, and what is sent from now on is dropped. Called once.
    fn closed(&self, peer: &Peer) {
        let _ = peer;
    }
}

/// A request as it came, well-formed as JSON-RPC and representable as JSON values.
#[derive(Debug)]
pub struct Request {
    /// Its id.
    pub id: RequestId,
    /// The name of the method, known or not.
    pub method: String,
    /// The raw text of its parameters, an object or an array. `null` counts as absent.
    pub params: Option<Box<RawValue>>,
    /// Whether it is a member of a batch: then its answer is sent when all members have theirs.
    pub in_batch: bool,
    /// Takes the answer.
    pub responder: Responder,
}

/// Where bytes come from when nothing more urgent is to be sent.
pub trait Feed: Send + Sync + 'static {
    /// Resolves to whole lines, 64 KiB or so at most, as soon as there are any. The writer keeps the future until it
    /// resolves and asks for the next one only after the bytes were written.
    fn next(&self) -> BoxFuture<'_, Bytes>;
}

/// The feed of an end that has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFeed;

impl Feed for NoFeed {
    fn next(&self) -> BoxFuture<'_, Bytes> {
        Box::pin(futures::future::pending())
    }
}

/// The limits of one end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of one line in either direction, its line break not counted.
    pub max_message_bytes: usize,
    /// Levels of nesting of one incoming message; a batch's own brackets are not counted.
    pub max_depth: usize,
    /// Members of one incoming batch.
    pub max_batch: usize,
    /// While more bytes than this wait in the control lane, nothing more is read, so that a peer that only writes
    /// cannot fill our memory. Only one end of a connection may have such a bound, or both could wait for each other.
    pub pause_reading_above_bytes: Option<usize>,
    /// How long the control lane may take to be written out after the end of the connection was decided.
    pub close_grace: Duration,
}

impl Default for Options {
    /// The limits of the wire, without a bound on what waits to be sent: right for a client, which trusts its daemon.
    fn default() -> Self {
        let size = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        Self {
            max_message_bytes: size(limits::MAX_MESSAGE_BYTES),
            max_depth: size(limits::MAX_DEPTH),
            max_batch: size(limits::MAX_BATCH),
            pause_reading_above_bytes: None,
            close_grace: Duration::from_secs(1),
        }
    }
}

/// Runs one connection to its end and returns the handle to it at once.
///
/// Reader and writer share one task: what the service answers at once is written in the same wake-up. The connection
/// ends when the other end closes it, when writing fails, or by [`Peer::close`]; dropping the handle does not end it.
/// Must be called within a tokio runtime.
pub fn serve<S>(stream: S, options: Options, service: Arc<dyn Service>, feed: Arc<dyn Feed>) -> Peer
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    serve_with(stream, options, |_| (service, feed))
}

/// As [`serve`], for a service or feed that is made of the handle: nothing is read or written before `make` returns.
pub fn serve_with<S>(stream: S, options: Options, make: impl FnOnce(&Peer) -> (Arc<dyn Service>, Arc<dyn Feed>)) -> Peer
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (peer, outgoing) = Peer::new(options);
    let (service, feed) = make(&peer);
    let handle = peer.clone();
    tokio::spawn(async move {
        let (read_half, write_half) = tokio::io::split(stream);
        let reading = async {
            reader::run(read_half, &peer, &*service).await;
            peer.end();
            service.closed(&peer);
        };
        let writing = async {
            writer::run(write_half, &peer, outgoing, &*feed).await;
            peer.end();
        };
        tokio::join!(biased; reading, writing);
        peer.ended();
    });
    handle
}
