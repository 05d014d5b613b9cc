//! What the tests share: the raw client of the conformance suite, and the inputs of its transcripts.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
pub use ropewalk_conformance::suite::{Raw, Stream, Subject, get_issue, success, text, tool_with};
use ropewalk_daemon::{
    clock::{Clock, Ids, ManualClock},
    daemon::Parts,
    embed::{Embedded, embed_parts},
    models::Models,
    secrets::MemorySecrets,
    store::MemoryStore,
};
use ropewalk_protocol::Timestamp;

/// 2026-11-30T10:00:00Z, as in the transcripts.
const BEGINNING_MS: i64 = 1_796_032_800_000;

/// A daemon in memory whose clock stands still.
pub struct Piped {
    daemon: Embedded,
    clock: ManualClock,
}

impl Piped {
    /// A daemon nothing was done to yet.
    pub async fn new() -> Self {
        let clock = ManualClock::new(Timestamp::from_millis(BEGINNING_MS));
        let seam: Arc<dyn Clock> = Arc::new(clock.clone());
        let parts = Parts {
            store: Arc::new(MemoryStore::new()),
            secrets: Arc::new(MemorySecrets::new()),
            ids: Arc::new(Ids::new(Timestamp::from_millis(BEGINNING_MS))),
            models: Arc::new(Models::new(seam.clone())),
            clock: seam,
        };
        Self { daemon: embed_parts(parts).await.unwrap(), clock }
    }

    /// A client that has shaken hands.
    pub async fn greeted(&self, name: &str, instance: &str) -> Raw {
        Raw::greeted(self.open().await, name, instance).await
    }
}

impl Subject for Piped {
    fn open(&self) -> BoxFuture<'_, Stream> {
        let pipe: Stream = Box::new(self.daemon.pipe());
        Box::pin(std::future::ready(pipe))
    }

    fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}
