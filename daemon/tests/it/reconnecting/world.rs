//! A daemon in memory that can be stopped and started again, with everything it had written down.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use ropewalk_daemon::{
    clock::{Clock, Ids, ManualClock, SystemClock},
    daemon::Parts,
    embed::{Embedded, embed_parts},
    models::Models,
    secrets::MemorySecrets,
    store::MemoryStore,
};
use tokio::io::DuplexStream;

/// What a daemon that ends gives to what is under way; by the clock of the test, which may stand still.
const GRACE_MS: u64 = 10_000;

/// A daemon, and what outlives it.
pub(super) struct World {
    store: Arc<MemoryStore>,
    secrets: Arc<MemorySecrets>,
    clock: Arc<dyn Clock>,
    manual: Option<ManualClock>,
    daemon: Mutex<Option<Embedded>>,
}

impl World {
    /// A daemon nothing was done to yet, which goes by this clock or by that of the machine.
    pub(super) async fn new(manual: Option<ManualClock>) -> Arc<Self> {
        let clock: Arc<dyn Clock> = match &manual {
            Some(manual) => Arc::new(manual.clone()),
            None => Arc::new(SystemClock),
        };
        let world = Self {
            store: Arc::new(MemoryStore::new()),
            secrets: Arc::new(MemorySecrets::new()),
            clock,
            manual,
            daemon: Mutex::default(),
        };
        world.start().await;
        Arc::new(world)
    }

    /// A connection to the daemon, if there is one now.
    pub(super) fn open(&self) -> io::Result<DuplexStream> {
        let daemon = self.daemon.lock().unwrap();
        daemon.as_ref().map(Embedded::pipe).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Stops the daemon and starts another one on the same store.
    pub(super) async fn restart(&self) {
        let old = self.daemon.lock().unwrap().take();
        if let Some(old) = old {
            // Long enough to have everything written down before the next one reads it.
            old.stop(GRACE_MS).await;
        }
        // No daemon begins in the moment in which another one was at work.
        if let Some(clock) = &self.manual {
            clock.advance(Duration::from_secs(1));
        }
        self.start().await;
    }

    async fn start(&self) {
        let parts = Parts {
            store: self.store.clone(),
            secrets: self.secrets.clone(),
            ids: Arc::new(Ids::new(self.clock.now())),
            models: Arc::new(Models::new(self.clock.clone())),
            clock: self.clock.clone(),
        };
        let daemon = embed_parts(parts).await.unwrap();
        *self.daemon.lock().unwrap() = Some(daemon);
    }
}
