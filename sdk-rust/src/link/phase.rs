//! How a client stands with its daemon: what it shows to its users, and what its calls go by.

use std::sync::Arc;

use ropewalk_peer::Peer;
use ropewalk_protocol::{InstanceId, RpcError};
use tokio::time::Instant;

use crate::Error;

/// How a client stands with its daemon, as [`Client::connection`](crate::Client::connection) shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Connection {
    /// The connection stands, and every open thread is attached.
    Connected {
        /// The life of the daemon: another one means that the daemon was started anew.
        daemon: InstanceId,
        /// How often the connection was made again.
        reconnects: u64,
    },
    /// The connection was lost and is being made again. Calls and streams wait meanwhile.
    Reconnecting {
        /// When it was lost.
        since: Instant,
        /// Which attempt is next or under way; the first is 1.
        attempt: u32,
        /// Why the attempt before failed, or that the connection was lost.
        reason: Arc<str>,
    },
    /// Nothing comes any more.
    Closed {
        /// What ended it; none when it was closed from this side.
        error: Option<Arc<str>>,
    },
}

/// What calls go by.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// Requests go through this connection, the `generation`th of its client.
    Connected { peer: Peer, generation: u64 },
    /// There is no connection, or it is not yet ready.
    Away,
    /// There will be none.
    Over(Over),
}

/// Why a client has ended.
#[derive(Clone, Debug)]
pub(crate) enum Over {
    /// It was closed from this side.
    Closed,
    /// The connection was lost, and is one that cannot be made again.
    Lost,
    /// It could not be made again in time.
    GaveUp {
        /// How often it was tried.
        attempts: u32,
        /// For how long.
        after_ms: u64,
        /// How the last attempt ended.
        reason: Arc<str>,
    },
    /// The daemon refuses this client, and would do so again.
    Refused(Box<RpcError>),
}

impl Over {
    /// What whoever waits is told.
    pub(crate) fn error(&self) -> Error {
        match self {
            Self::Closed | Self::Lost => Error::Disconnected,
            Self::GaveUp { attempts, after_ms, reason } => {
                Error::ReconnectFailed { attempts: *attempts, after_ms: *after_ms, reason: reason.to_string() }
            }
            Self::Refused(error) => Error::Rpc(error.clone()),
        }
    }

    pub(super) fn shown(&self) -> Connection {
        let error = match self {
            Self::Closed => None,
            other => Some(other.error().to_string().into()),
        };
        Connection::Closed { error }
    }
}
