//! Whoever speaks to the servers that were added, as their owner's methods need it.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_protocol::{ServerId, ServerState, Timestamp};
use thiserror::Error;

use super::Listing;

/// Why a server did not say what it has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct Trouble {
    /// The word of the wire: `start_failed`, `start_timeout`, `not_mcp`, …
    pub reason: &'static str,
    /// What happened, as a sentence.
    pub text: String,
}

/// How the connection to a server stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// How it stands: starting, ready, failed or stopped; none where nothing was ever tried.
    pub state: Option<ServerState>,
    /// Since when it stands so.
    pub since: Option<Timestamp>,
    /// Why it stands so, where it is not well, and what is waited for, where it is starting.
    pub trouble: Option<Trouble>,
    /// The last of what its process wrote to stderr.
    pub stderr_tail: Option<String>,
}

/// The connections to the servers that were added, one for each.
pub trait ServerClients: Send + Sync {
    /// Opens a server if it is not open, and asks it for its tools. It takes as long as its own clocks allow; whoever has
    /// less time drops the future, and the server goes on starting.
    fn list<'a>(&'a self, server: &'a ServerId) -> BoxFuture<'a, Result<Arc<Listing>, Trouble>>;

    /// What the server said last, in this life of the daemon. Never waits.
    fn listed(&self, server: &ServerId) -> Option<Arc<Listing>>;

    /// What a server calls itself, once it is open.
    fn own_name<'a>(&'a self, server: &'a ServerId) -> BoxFuture<'a, Option<String>>;

    /// How the connection stands. Never waits.
    fn connection(&self, server: &ServerId) -> Connection;

    /// Closes a server, and opens it again if it is still there and enabled. Called after everything of it that changes how
    /// it is started.
    fn restart<'a>(&'a self, server: &'a ServerId) -> BoxFuture<'a, ()>;

    /// Closes a server that is not used any more.
    fn close<'a>(&'a self, server: &'a ServerId) -> BoxFuture<'a, ()>;
}
