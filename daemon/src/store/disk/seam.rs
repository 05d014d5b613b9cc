//! The store on disk as its callers see it: what waits for the disk runs on the store's own threads.

use std::{
    path::Path,
    sync::{Arc, PoisonError, atomic::Ordering},
    time::Instant,
};

use futures::future::{self, BoxFuture, FutureExt as _};
use ropewalk_protocol::{BlobId, CheckResult, Seq, Timestamp};
use tokio::sync::oneshot;

use super::{
    DiskStore, SIZES_AGE,
    ahead::View,
    live,
    log::{Waiting, lock},
    shared::Shared,
};
use crate::store::{
    BackupSize, BlobPart, Commit, Key, LogName, Pin, Record, Rows, Scan, Sieve, Sifted, Skimmer, Store, StoreError,
    StoreSizes, files::bytes_below,
};

impl Rows for DiskStore {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        let read = View { ahead: &self.shared.ahead, index: &self.index() }.get(key);
        self.mend(read)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        let read = View { ahead: &self.shared.ahead, index: &self.index() }.scan(scan);
        self.mend(read)
    }
}

impl Store for DiskStore {
    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), StoreError>> {
        let Commit { log, records, rows } = commit;
        let log = match self.shared.log(&log) {
            Ok(log) => log,
            Err(error) => return future::ready(Err(error)).boxed(),
        };
        let (reply, answer) = oneshot::channel();
        let start = {
            let mut queue = lock(&log.queue);
            queue.waiting.push_back(Waiting { records, rows, reply });
            !std::mem::replace(&mut queue.busy, true)
        };
        let closed = log.refused("the store was closed, or its thread broke down".to_owned());
        if start {
            let shared = Arc::clone(&self.shared);
            self.syncs.run(move || shared.work_off(&log));
        }
        async move { answer.await.unwrap_or(Err(closed)) }.boxed()
    }

    fn read(
        &self,
        log: &LogName,
        from: Seq,
        max_bytes: usize,
    ) -> BoxFuture<'static, Result<Vec<Arc<Record>>, StoreError>> {
        let log = match self.shared.log(log) {
            Ok(log) => log,
            Err(error) => return future::ready(Err(error)).boxed(),
        };
        self.on_reader(move |shared| shared.read(&log, from, max_bytes))
    }

    fn skim(&self, log: &LogName, seen: Skimmer) -> BoxFuture<'static, Result<bool, StoreError>> {
        let log = match self.shared.log(log) {
            Ok(log) => log,
            Err(error) => return future::ready(Err(error)).boxed(),
        };
        self.on_reader(move |shared| shared.skim(&log, seen))
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'static, Result<Pin, StoreError>> {
        self.on(&self.syncs, move |shared| shared.put_blob(&bytes))
    }

    fn read_blob(
        &self,
        blob: &BlobId,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'static, Result<Option<BlobPart>, StoreError>> {
        let blob = blob.clone();
        self.on_reader(move |shared| shared.read_blob(&blob, offset, limit))
    }

    fn release_blobs(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        let log = log.clone();
        self.on(&self.syncs, move |shared| shared.release_blobs(&log))
    }

    fn remove(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        let log = match self.shared.log(log) {
            Ok(log) => log,
            Err(error) => return future::ready(Err(error)).boxed(),
        };
        self.on_reader(move |shared| shared.remove(&log))
    }

    fn sift(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        let log = match self.shared.log(log) {
            Ok(log) => log,
            Err(error) => return future::ready(Err(error)).boxed(),
        };
        self.on_reader(move |shared| shared.sift(&log, sieve))
    }

    fn rewrite(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        let log = match self.shared.log(log) {
            Ok(log) => log,
            Err(error) => return future::ready(Err(error)).boxed(),
        };
        self.on_reader(move |shared| shared.rewrite(&log, sieve))
    }

    fn sizes(&self) -> StoreSizes {
        let mut sizes = lock(&self.sizes);
        let (at, blob_bytes, index_bytes) = sizes
            .filter(|(at, ..)| at.elapsed() < SIZES_AGE)
            .unwrap_or_else(|| (Instant::now(), bytes_below(&self.shared.home.blobs()), self.index().bytes()));
        *sizes = Some((at, blob_bytes, index_bytes));
        let log_bytes = self.shared.log_bytes.load(Ordering::Relaxed);
        StoreSizes { log_bytes, blob_bytes, index_bytes, dead_bytes: 0 }
    }

    fn room(&self) -> Result<(), StoreError> {
        self.shared.room()
    }

    fn degraded(&self) -> Option<String> {
        if let Err(error) = self.shared.space.check() {
            return Some(error.to_string());
        }
        let index = lock(&self.shared.degraded);
        let index = index.as_ref().map(|degraded| format!("the index cannot be used: {}", degraded.cause));
        index.or_else(|| self.shared.said_of_damage())
    }

    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.on_reader(|shared| {
            shared.catch_up();
            let index = shared.index.read().unwrap_or_else(PoisonError::into_inner);
            index.flush().map_err(live::unwritable)
        })
    }

    fn backup(&self, path: &Path, at: Timestamp) -> BoxFuture<'static, Result<BackupSize, StoreError>> {
        let path = path.to_owned();
        self.on_reader(move |shared| {
            let written = shared.backup(&path, at);
            shared.sweep_what_waited();
            written
        })
    }

    fn compared(&self, log: Option<&LogName>) -> BoxFuture<'static, Result<(), StoreError>> {
        self.shared.walk.compared(log)
    }

    fn damage(&self, log: &LogName) -> Option<StoreError> {
        // Not by the log in use: whoever asks for a log that is not there would leave one behind.
        let position = self.index().position(log).ok()??;
        position.is_damaged().then(|| StoreError::Damaged { log: log.to_string(), offset: position.offset })
    }

    fn is_comparing(&self) -> bool {
        !self.shared.walk.is_over()
    }

    fn check(&self) -> BoxFuture<'static, Result<CheckResult, StoreError>> {
        self.on_reader(Shared::check)
    }
}
