//! The one error of the SDK.

use std::{fmt, io, path::PathBuf};

use ropewalk_peer::CallError;
use ropewalk_protocol::{ErrorDetail, MessageId, RpcError, RunId, Seq, ThreadId};

use crate::RunResult;

/// What can go wrong, in this process, on the way, or at the daemon.
///
/// A run that fails or is stopped is no error but a [`RunResult`]; [`RunResult::into_result`] makes one of it.
///
/// `Debug` is the sentence of `Display` too, because that is what a `main` that returns an error prints.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The daemon refused the request. The message says what, where and what to do next; [`Error::kind`] tells
    /// programs.
    #[error(transparent)]
    Rpc(Box<RpcError>),
    /// The client was closed from this side before the answer came, or ran over a stream that cannot be had again and has
    /// ended. Whether the request was carried out is not known.
    #[error("The connection to the daemon is over.")]
    Disconnected,
    /// The connection was lost and could not be made again in time. The client has ended; whether requests that waited
    /// were carried out is not known.
    #[error(
        "The connection to the daemon was lost and could not be made again: {attempts} attempts in {after_ms} ms, the last one: {reason}"
    )]
    ReconnectFailed {
        /// How often it was tried.
        attempts: u32,
        /// For how long.
        after_ms: u64,
        /// How the last attempt ended.
        reason: String,
    },
    /// The connection was lost while a request was under way that cannot be repeated safely: a method this build of the SDK
    /// does not know, without an `operationId`. The client itself goes on.
    #[error(
        "The connection to the daemon was lost while {method} was under way. Whether it was carried out is not known; with an operationId it would have been repeated."
    )]
    EffectUnknown {
        /// The method.
        method: String,
    },
    /// The log of a thread ends before an event that was seen: its home was restored from an older backup. This thread's
    /// streams end; take it up again from its snapshot.
    #[error(
        "The log of thread {thread_id} ends before event {seen}, which was seen: it was restored from an older backup. Resume the thread without a position."
    )]
    LogShortened {
        /// Which thread.
        thread_id: ThreadId,
        /// The last event that was seen.
        seen: Seq,
    },
    /// The function that was to connect failed.
    #[error("The daemon cannot be reached: {reason}")]
    Dial {
        /// What it said.
        reason: String,
        /// The error itself.
        #[source]
        source: io::Error,
    },
    /// Nobody answered in time. Whether the request was carried out is not known.
    #[error("{what} was not answered within {after_ms} ms.")]
    Timeout {
        /// The method, or what else was waited for.
        what: String,
        /// How long was waited.
        after_ms: u64,
    },
    /// The socket is there, but cannot be used.
    #[error("The daemon's socket {} cannot be used: {reason}", socket.display())]
    Connect {
        /// The socket.
        socket: PathBuf,
        /// What stands in the way.
        reason: String,
        /// What the system said.
        #[source]
        source: Option<io::Error>,
    },
    /// No daemon runs, and none was to be started.
    #[error("No daemon listens at {}. Start one with `ropewalk daemon`, or connect with `start_on_demand(true)`.", socket.display())]
    NotRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// No daemon runs, and none could be started.
    #[error("No daemon could be started: {reason} Tried: {}.", tried.join(", "))]
    StartFailed {
        /// What was tried, in order.
        tried: Vec<String>,
        /// Why it did not work, and what to do.
        reason: String,
    },
    /// A required capability has no handler. Nothing was sent.
    #[error("{capability} were required, but no handler was registered with `{method}`.")]
    MissingHandler {
        /// `Approvals` or `Questions`.
        capability: &'static str,
        /// The method of the connect builder that registers one.
        method: &'static str,
    },
    /// An option of the connect builder cannot be used. Nothing was sent.
    #[error("{option}: {reason}")]
    InvalidOption {
        /// The option.
        option: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// An image cannot be sent. Nothing was sent.
    #[error("{image} cannot be sent as an image: {reason}")]
    InvalidImage {
        /// The file, or that it was data.
        image: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A tool cannot be declared as it is. Nothing was sent.
    #[error("The tool `{tool}` cannot be declared: {path}: {reason}")]
    InvalidTool {
        /// Its name.
        tool: String,
        /// Where in the declaration, as a JSON Pointer.
        path: String,
        /// What is wrong there.
        reason: String,
    },
    /// A request is larger than the daemon takes. Nothing was sent.
    #[error("The parameters of {method} have {actual} bytes; the daemon takes messages of at most {limit}.")]
    TooLarge {
        /// The method.
        method: String,
        /// The limit, in bytes.
        limit: u64,
        /// The length, in bytes.
        actual: u64,
    },
    /// The daemon's answer makes no sense to this build of the SDK.
    #[error("The answer to {method} cannot be read: {reason}")]
    Unreadable {
        /// The method.
        method: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The input was recorded as an aside on an idle branch: there is no run whose end could be waited for.
    #[error("The input was recorded as message {message_id}; an aside on an idle branch starts no run.")]
    NoRun {
        /// The message it became.
        message_id: MessageId,
    },
    /// The input was taken out of the queue before its turn came.
    #[error("Run {run_id} was removed from the queue before it began.")]
    RunRemoved {
        /// The run that never began.
        run_id: RunId,
    },
    /// The run did not complete: what [`RunResult::into_result`] makes of a result that is not `completed`.
    #[error("{}", .0.why())]
    RunNotCompleted(Box<RunResult>),
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// The kind of a refusal and the data that belongs to it; none for errors that are not the daemon's.
    #[must_use]
    pub const fn kind(&self) -> Option<&ErrorDetail> {
        match self {
            Self::Rpc(error) => Some(&error.data.detail),
            _ => None,
        }
    }

    /// Whether the same request may succeed later without a change.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Rpc(error) => error.data.retryable,
            Self::Disconnected
            | Self::ReconnectFailed { .. }
            | Self::Dial { .. }
            | Self::Timeout { .. }
            | Self::NotRunning { .. } => true,
            _ => false,
        }
    }

    /// Whether the daemon refuses now what it may take later.
    pub(crate) const fn is_refusal_for_now(&self) -> bool {
        matches!(self, Self::Rpc(error) if error.data.retryable)
    }

    pub(crate) fn of_call(method: &str, error: CallError) -> Self {
        match error {
            CallError::Rpc(error) => Self::Rpc(Box::new(error)),
            CallError::Closed => Self::Disconnected,
            CallError::Unreadable(reason) => Self::Unreadable { method: method.to_owned(), reason },
            CallError::TooLarge { what: "request", limit, actual } => {
                Self::TooLarge { method: method.to_owned(), limit, actual }
            }
            error @ (CallError::TooLarge { .. } | CallError::Unrepresentable(_)) => {
                Self::Unreadable { method: method.to_owned(), reason: error.to_string() }
            }
        }
    }
}
