//! Everything one daemon is made of, put together.
//!
//! [`Parts`] are its seams, [`Daemon`] is what every handler reaches: it owns the parts and has no rules of its own.

mod idle;
mod journal;
mod letting_go;
mod memory;
mod owned;
mod parts;
mod rest;
mod servers;
mod tool_lookup;
mod upkeep;

use std::{path::Path, sync::Arc};

use ropewalk_protocol::{DaemonInfo, Limits, RpcError};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

pub use idle::stop_when_idle;
pub use journal::OperationJournal;
pub use memory::Memory;
pub use owned::{HubClients, LIST_MS, OwnedServers};
pub use parts::Parts;
pub use servers::{AppBook, Books, FilesBook, NoServers, ServerBook, ServerHub};

/// For the command line, which says of an endpoint what the daemon decides about it.
pub use crate::domain::is_loopback;

use crate::{
    catalogue::Catalogue,
    clock::{Clock, Ids},
    engine::{Engine, storage_error},
    models::ModelFactory,
    peer::Clients,
    store::{FORMAT_VERSION, Progress, Store},
};

/// Everything one daemon is made of.
pub struct Daemon {
    /// Who it is, as `initialize` says.
    pub info: DaemonInfo,
    /// Its limits.
    pub limits: Limits,
    /// Documents that belong to no thread.
    pub catalogue: Arc<Catalogue>,
    /// The App tools.
    pub app: Arc<AppBook>,
    /// The servers that were added.
    pub owned: Arc<OwnedServers>,
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
    /// The servers that speak MCP.
    pub servers: Arc<ServerHub>,
    /// Who is connected.
    pub clients: Arc<Clients>,
    /// How much memory it takes.
    pub memory: Memory,
    /// The operations that were answered before.
    pub journal: OperationJournal,
    standing: watch::Sender<Standing>,
    /// How far opening the store has come.
    progress: Arc<Progress>,
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
        match *self.standing.borrow() {
            Standing::Starting { .. } => Standing::Starting { progress: self.progress.fraction() },
            standing => standing,
        }
    }

    /// Reads what is stored, takes up every run that the last life of the daemon left under way, and takes requests from
    /// then on. Called once, when the store is open. Where the store is still reading logs, requests are taken before all
    /// of that is done, and those that need what is missing wait: see [`Engine::can_be_used`].
    ///
    /// # Errors
    /// `unavailable`, when the documents or the index cannot be read.
    pub async fn take_up(self: &Arc<Self>) -> Result<(), RpcError> {
        self.catalogue.load().await?;
        self.owned.load_environments().await;
        if self.store.is_comparing() {
            self.engine.take_up_one_by_one()?;
            self.serve();
            tokio::spawn(rest::take_up_the_rest(self.clone()));
            return Ok(());
        }
        self.sweep().await?;
        self.serve();
        upkeep::keep_up(self);
        Ok(())
    }

    async fn sweep(self: &Arc<Self>) -> Result<(), RpcError> {
        let taken_up = self.engine.sweep().await?;
        if taken_up > 0 {
            tracing::info!(threads = taken_up, "runs that were under way have been taken up");
        }
        Ok(())
    }

    /// How far reading the logs has come, from 0 to 1 where that is known; nothing when all is read and taken up.
    #[must_use]
    pub fn is_reading(&self) -> Option<Option<f64>> {
        let is_starting = matches!(self.standing(), Standing::Starting { .. });
        (is_starting || self.engine.is_taking_up()).then(|| self.progress.fraction())
    }

    /// Says where it lives: whoever grants that is warned, and no file tool reaches it. Only the first word counts.
    pub fn live_in(&self, home: &Path) {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        self.servers.live_in(&home);
        self.catalogue.live_in(home);
    }

    fn serve(&self) {
        self.standing.send_if_modified(|standing| {
            let starting = matches!(standing, Standing::Starting { .. });
            if starting {
                *standing = Standing::Serving;
            }
            starting
        });
    }

    /// Whether new work may begin.
    ///
    /// # Errors
    /// `unavailable` with `storage_full`, `home_gone` or `io_error` (ruling 43).
    pub fn room(&self) -> Result<(), RpcError> {
        self.store.room().map_err(|error| storage_error(&error))
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
