//! Everything one daemon is made of, put together.
//!
//! [`Parts`] are its seams, [`Daemon`] is what every handler reaches: it owns the parts and has no rules of its own.

mod idle;
mod journal;
mod memory;
mod parts;
mod tool_lookup;

use std::sync::Arc;

use ropewalk_protocol::{DaemonInfo, Limits};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

pub use idle::stop_when_idle;
pub use journal::OperationJournal;
pub use memory::Memory;
pub use parts::Parts;

use crate::{
    catalogue::Catalogue,
    clock::{Clock, Ids},
    engine::Engine,
    models::ModelFactory,
    peer::Clients,
    store::{FORMAT_VERSION, Store},
};

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
    /// How much memory it takes.
    pub memory: Memory,
    /// The operations that were answered before.
    pub journal: OperationJournal,
    standing: watch::Sender<Standing>,
    /// Cancelled when the daemon begins to stop.
    stopping: CancellationToken,
    quieter: Arc<Notify>,
}

/// Whether requests are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// The index is not open yet: only `initialize` and `daemon/status` are answered.
    Starting {
        /// How far it has come, from 0 to 1, where that is known.
        progress: Option<f64>,
    },
    /// All are.
    Serving,
    /// The daemon is stopping: new work is refused, what ends or asks is not.
    Stopping {
        /// How long it gives to what is under way.
        grace_ms: u64,
    },
}

impl Daemon {
    /// The version of the log format it writes.
    pub const STORE_FORMAT: u64 = FORMAT_VERSION;

    /// Whether requests are taken.
    #[must_use]
    pub fn standing(&self) -> Standing {
        *self.standing.borrow()
    }

    /// A client has gone: perhaps nobody needs the daemon any more.
    pub fn quieter(&self) {
        self.quieter.notify_waiters();
    }

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
