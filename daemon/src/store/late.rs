//! A store that is held before it is open and after it is closed: then it says that the daemon is starting, or has stopped.

use std::{
    mem,
    path::Path,
    sync::{Arc, PoisonError, RwLock},
};

use futures::future::{self, BoxFuture, FutureExt as _};
use ropewalk_protocol::{BlobId, CheckResult, Seq, Timestamp};

use super::{
    BackupSize, BlobPart, Commit, Key, LogName, Pin, Progress, Record, Rows, Scan, Sieve, Sifted, Skimmer, Store,
    StoreError, StoreSizes,
};

/// A store that is opened later, and closed while others still hold this.
#[derive(Default)]
pub struct LateStore {
    stage: Arc<RwLock<Stage>>,
    progress: Arc<Progress>,
}

#[derive(Default)]
enum Stage {
    #[default]
    Opening,
    /// Held by nobody else, so that it ends when it is taken out of here.
    Open(Box<dyn Store>),
    Closed,
}

impl LateStore {
    /// How far opening it has come.
    #[must_use]
    pub const fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// From now on it is this store. Only the first call counts, and none after it was closed. Blocks then: the store that
    /// is not taken finishes what it was given.
    pub fn open(&self, store: Box<dyn Store>) {
        let mut stage = self.stage.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(*stage, Stage::Opening) {
            *stage = Stage::Open(store);
        }
    }

    /// Asks the store. It is not closed meanwhile, so nothing in here may wait for anybody but the disk.
    fn with<T>(&self, ask: impl FnOnce(&dyn Store) -> T) -> Result<T, StoreError> {
        match &*self.stage.read().unwrap_or_else(PoisonError::into_inner) {
            Stage::Opening => Err(StoreError::Starting { progress: self.progress.fraction() }),
            Stage::Open(store) => Ok(ask(&**store)),
            Stage::Closed => Err(StoreError::Closed),
        }
    }

    fn of<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn Store) -> BoxFuture<'static, Result<T, StoreError>>,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        self.with(ask).unwrap_or_else(|error| future::ready(Err(error)).boxed())
    }
}

impl Rows for LateStore {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        self.with(|store| store.get(key))?
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        self.with(|store| store.scan(scan))?
    }
}

impl Store for LateStore {
    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), StoreError>> {
        self.of(|store| store.commit(commit))
    }

    fn read(
        &self,
        log: &LogName,
        from: Seq,
        max_bytes: usize,
    ) -> BoxFuture<'static, Result<Vec<Arc<Record>>, StoreError>> {
        self.of(|store| store.read(log, from, max_bytes))
    }

    fn skim(&self, log: &LogName, seen: Skimmer) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.of(|store| store.skim(log, seen))
    }

    fn compared(&self, log: Option<&LogName>) -> BoxFuture<'static, Result<(), StoreError>> {
        self.of(|store| store.compared(log))
    }

    fn is_comparing(&self) -> bool {
        self.with(|store| store.is_comparing()).unwrap_or_else(|error| matches!(error, StoreError::Starting { .. }))
    }

    fn damage(&self, log: &LogName) -> Option<StoreError> {
        self.with(|store| store.damage(log)).ok()?
    }

    fn remove(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        self.of(|store| store.remove(log))
    }

    fn sift(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        self.of(|store| store.sift(log, sieve))
    }

    fn rewrite(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        self.of(|store| store.rewrite(log, sieve))
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'static, Result<Pin, StoreError>> {
        self.of(|store| store.put_blob(bytes))
    }

    fn read_blob(
        &self,
        blob: &BlobId,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'static, Result<Option<BlobPart>, StoreError>> {
        self.of(|store| store.read_blob(blob, offset, limit))
    }

    fn release_blobs(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        self.of(|store| store.release_blobs(log))
    }

    fn room(&self) -> Result<(), StoreError> {
        self.with(|store| store.room())?
    }

    fn sizes(&self) -> StoreSizes {
        self.with(|store| store.sizes()).unwrap_or_default()
    }

    fn degraded(&self) -> Option<String> {
        self.with(|store| store.degraded()).ok()?
    }

    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        // Nothing was written before it was open, and everything when it was closed.
        self.with(|store| store.flush()).unwrap_or_else(|_| future::ready(Ok(())).boxed())
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        let stage = Arc::clone(&self.stage);
        // It waits for the disk: its threads finish what they were given.
        let close = move || {
            let was = mem::replace(&mut *stage.write().unwrap_or_else(PoisonError::into_inner), Stage::Closed);
            drop(was);
        };
        async move {
            if tokio::task::spawn_blocking(close).await.is_err() {
                tracing::error!("closing the store broke down; the next start reads what is missing from the logs");
            }
        }
        .boxed()
    }

    fn backup(&self, path: &Path, at: Timestamp) -> BoxFuture<'static, Result<BackupSize, StoreError>> {
        self.of(|store| store.backup(path, at))
    }

    fn check(&self) -> BoxFuture<'static, Result<CheckResult, StoreError>> {
        self.of(|store| store.check())
    }
}
