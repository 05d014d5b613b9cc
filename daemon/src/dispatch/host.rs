//! What connections and dispatch need to know of the daemon they serve.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_peer::{Feed, Peer};
use ropewalk_protocol::{InstanceId, RpcError};
use serde_json::value::RawValue;

pub use crate::daemon::Standing;
use crate::{
    clock::Clock,
    dispatch::{Journal, Table},
};

/// The daemon, as seen from its connections. Tests put a small one in its place.
pub trait Host: Send + Sync + Sized + 'static {
    /// What the daemon keeps of one connection.
    type Client: Send + Sync + 'static;

    /// A connection was opened: makes its client, and the feed its events come from. Nothing has been read yet.
    fn connected(self: &Arc<Self>, peer: &Peer) -> (Arc<Self::Client>, Arc<dyn Feed>);

    /// The connection is over. Called once for every [`Host::connected`].
    fn disconnected(self: &Arc<Self>, client: &Arc<Self::Client>);

    /// A notification of an initialised client. Called from the read loop: must not block.
    fn notification(self: &Arc<Self>, client: &Arc<Self::Client>, method: &str, params: Option<&RawValue>);

    /// The client instance that a request of this client is done on behalf of.
    fn origin(&self, _client: &Self::Client) -> Option<InstanceId> {
        None
    }

    /// The operations that were answered before.
    fn journal(&self) -> &dyn Journal;

    /// The clock.
    fn clock(&self) -> &dyn Clock;

    /// Whether requests are taken.
    fn standing(&self) -> Standing;

    /// Resolves when what a request is about can be used, or with why it cannot; nothing when that is so already. Waits no
    /// longer than it is worth.
    fn until_usable(
        self: &Arc<Self>,
        _method: &str,
        _params: Option<&RawValue>,
    ) -> Option<BoxFuture<'static, Result<(), RpcError>>> {
        None
    }

    /// Whether new work may begin; a host that stores nothing always has room.
    ///
    /// # Errors
    /// `unavailable`, saying why not and what to do.
    fn room(&self) -> Result<(), RpcError> {
        Ok(())
    }

    /// Its requests are answered by this table from now on, whoever makes them.
    fn served_by(self: &Arc<Self>, _table: &Arc<Table<Self>>) {}

    /// Resolves when everything that was under way when the daemon began to stop has ended or was parked. Waited for
    /// no longer than the grace.
    fn wound_down(&self) -> BoxFuture<'_, ()>;
}
