//! Everything one daemon is made of, put together.
//!
//! [`start`] opens a home and serves its socket; [`embed`](crate::embed::embed) does the same without one. [`Daemon`] is
//! what a handler's [`Call`](crate::dispatch::Call) leads to: it owns the parts and has no rules of its own.

mod host;
mod idle;
mod journal;
mod parts;
mod start;
mod tool_lookup;

use std::sync::Arc;

use ropewalk_protocol::{DaemonInfo, Limits};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

pub use parts::Parts;
pub(crate) use start::open;
pub use start::{Config, Running, start};

use crate::{
    catalogue::Catalogue,
    clock::{Clock, Ids},
    dispatch::Standing,
    engine::Engine,
    models::ModelFactory,
    peer::Clients,
    store::Store,
};
use journal::StoreJournal;

/// Everything one daemon is made of.
pub struct Daemon {
    /// Who it is, as `initialize` says.
    pub info: DaemonInfo,
    /// Its limits.
    pub limits: Limits,
    /// Documents that belong to no thread.
    pub catalogue: Arc<Catalogue>,
    /// Threads and runs.
    pub engine: Arc<Engine>,
    /// Makes models of endpoints.
    pub models: Arc<dyn ModelFactory>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where ids come from.
    pub ids: Arc<Ids>,
    /// Where everything lasts.
    pub store: Arc<dyn Store>,
    /// Who is connected.
    pub clients: Arc<Clients>,
    journal: StoreJournal,
    standing: watch::Sender<Standing>,
    /// Cancelled when the daemon begins to stop.
    stopping: CancellationToken,
    quieter: Arc<Notify>,
}

impl Daemon {
    /// Begins to stop: new work is refused, what is under way has `grace_ms` to end, then what runs is parked.
    pub fn stop(&self, grace_ms: u64) {
        self.standing.send_if_modified(|standing| {
            let first = !matches!(standing, Standing::Stopping { .. });
            if first {
                *standing = Standing::Stopping { grace_ms };
            }
            first
        });
        self.stopping.cancel();
    }

    /// Cancelled when the daemon begins to stop.
    #[must_use]
    pub const fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }
}
