//! The store in memory as its callers see it: each call is made while it is called.

use std::sync::Arc;

use futures::future::{self, BoxFuture, FutureExt as _};
use ropewalk_protocol::{BlobId, Seq};

use super::{BaseRows, MemoryStore};
use crate::store::{
    BlobPart, Commit, Key, LogName, NEEDED_BYTES, Pin, Record, Rows, Scan, Sieve, Sifted, Skimmer, Store, StoreError,
    StoreSizes,
};

impl Rows for MemoryStore {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        BaseRows(&self.lock().rows).get(key)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        BaseRows(&self.lock().rows).scan(scan)
    }
}

impl Store for MemoryStore {
    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), StoreError>> {
        match self.lock().commit(commit, self.projector.as_deref()) {
            Some(answer) => future::ready(answer).boxed(),
            None => future::pending().boxed(),
        }
    }

    fn read(
        &self,
        log: &LogName,
        from: Seq,
        max_bytes: usize,
    ) -> BoxFuture<'static, Result<Vec<Arc<Record>>, StoreError>> {
        future::ready(self.lock().read(log, from, max_bytes)).boxed()
    }

    fn skim(&self, log: &LogName, mut seen: Skimmer) -> BoxFuture<'static, Result<bool, StoreError>> {
        let state = self.lock();
        let is_whole = match state.logs.get(log) {
            Some(log) => log.damaged.is_none() && !log.lines.iter().any(|line| seen(&line[..])),
            None => true,
        };
        future::ready(Ok(is_whole)).boxed()
    }

    fn damage(&self, log: &LogName) -> Option<StoreError> {
        let (_, offset) = self.lock().logs.get(log)?.damaged?;
        Some(StoreError::Damaged { log: log.to_string(), offset })
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'static, Result<Pin, StoreError>> {
        future::ready(self.room().and_then(|()| self.lock().put_blob(bytes, &self.pins))).boxed()
    }

    fn read_blob(
        &self,
        blob: &BlobId,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'static, Result<Option<BlobPart>, StoreError>> {
        future::ready(self.lock().read_blob(blob, offset, limit)).boxed()
    }

    fn release_blobs(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        self.lock().release_blobs(log, &self.pins);
        future::ready(Ok(())).boxed()
    }

    fn remove(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        future::ready(self.lock().remove(log)).boxed()
    }

    fn sift(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        future::ready(self.lock().sift(log, sieve)).boxed()
    }

    fn rewrite(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        future::ready(self.lock().rewrite(log, sieve, &self.pins)).boxed()
    }

    fn sizes(&self) -> StoreSizes {
        let state = self.lock();
        let log_bytes = state.logs.values().map(|log| log.bytes).sum();
        let blob_bytes = state.blobs.values().map(|bytes| bytes.len() as u64).sum();
        StoreSizes { log_bytes, blob_bytes, ..StoreSizes::default() }
    }

    fn room(&self) -> Result<(), StoreError> {
        match self.lock().free_bytes {
            Some(free_bytes) if free_bytes < NEEDED_BYTES => {
                Err(StoreError::NoRoom { home: "memory".to_owned(), free_bytes })
            }
            _ => Ok(()),
        }
    }

    fn degraded(&self) -> Option<String> {
        let room = self.room().err().map(|error| error.to_string());
        room.or_else(|| self.lock().degraded.clone())
    }

    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        future::ready(Ok(())).boxed()
    }
}
