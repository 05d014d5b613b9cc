//! Requests of ours that wait for their answers.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use ropewalk_protocol::RpcError;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::Peer;

/// How a call went that has no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The other end answered with an error. One that has not the shape of ours keeps its code and message; its detail
    /// is then `methodNotFound` for -32601 and `internal` without a reference for the rest.
    #[error("{0}")]
    Rpc(RpcError),
    /// The connection ended before the answer; nobody knows whether the request had an effect.
    #[error("the connection ended before the answer came")]
    Closed,
    /// The answer came and cannot be read; what and where.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
    /// The answer is a result that a JSON value cannot hold without a change (a repeated key, a lone surrogate, a number
    /// out of range): what it holds and where, in words that follow "the result".
    #[error("the result {0}")]
    Unrepresentable(String),
    /// The request was not sent, or its answer not read, because it is over a limit.
    #[error("the {what} is too large: {actual} where {limit} are allowed")]
    TooLarge {
        /// `request`, `answer` or `depth`.
        what: &'static str,
        /// The limit, in bytes or levels.
        limit: u64,
        /// How much there was.
        actual: u64,
    },
}

/// The connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub struct Closed;

pub(crate) type Reply = Result<Box<RawValue>, CallError>;

/// A request that was sent. Resolves to its answer; dropping it forgets the request: an answer that still comes is
/// ignored and counted.
#[derive(Debug)]
pub struct Pending {
    pub(crate) peer: Peer,
    pub(crate) id: i64,
    pub(crate) reply: oneshot::Receiver<Reply>,
}

impl Pending {
    /// The id of the request on this connection.
    #[must_use]
    pub const fn id(&self) -> i64 {
        self.id
    }
}

impl Future for Pending {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        Poll::Ready(ready!(Pin::new(&mut self.reply).poll(cx)).unwrap_or(Err(CallError::Closed)))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.peer.forget(self.id);
    }
}
