//! The store in memory, seen and held up by a test.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use futures::{FutureExt as _, future::BoxFuture};
use ropewalk_protocol::{BlobId, Seq};
use tokio::sync::watch;

use crate::store::{
    BlobPart, Commit, Key, LogName, MemoryStore, Pin, Record, Rows, Scan, Sieve, Sifted, Skimmer, Store, StoreError,
    StoreSizes,
};

/// The store in memory, seen and held up by a test.
pub(crate) struct Spy {
    pub(crate) store: Arc<MemoryStore>,
    /// How many records each commit to a thread had.
    pub(crate) commits: Mutex<Vec<usize>>,
    /// How many rows were read.
    pub(crate) rows_read: AtomicUsize,
    /// Whether rows cannot be read.
    pub(crate) is_blind: AtomicBool,
    /// Whether logs cannot be read.
    pub(crate) is_unreadable: AtomicBool,
    held: watch::Sender<bool>,
    /// Whether it says that it is still reading its logs.
    pub(crate) is_reading: watch::Sender<bool>,
}

impl Spy {
    pub(crate) fn new(store: MemoryStore) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::new(store),
            commits: Mutex::default(),
            rows_read: AtomicUsize::new(0),
            is_blind: AtomicBool::new(false),
            is_unreadable: AtomicBool::new(false),
            held: watch::Sender::new(false),
            is_reading: watch::Sender::new(false),
        })
    }

    /// Holds commits to threads up, or lets them go.
    pub(crate) fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    /// Every row there is.
    pub(crate) fn rows(store: &MemoryStore) -> Vec<(String, String)> {
        let scan = Scan { prefix: Key(Vec::new()), after: None, reverse: false, limit: usize::MAX };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\0', "/");
        store.scan(&scan).unwrap().iter().map(|(key, value)| (text(&key.0), text(value))).collect()
    }

    fn sees(&self) -> Result<(), StoreError> {
        if self.is_blind.load(Ordering::SeqCst) {
            return Err(StoreError::Read { what: "the index".to_owned(), cause: "input/output error".to_owned() });
        }
        Ok(())
    }
}

impl Rows for Spy {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        self.sees()?;
        self.rows_read.fetch_add(1, Ordering::SeqCst);
        self.store.get(key)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        self.sees()?;
        let found = self.store.scan(scan)?;
        self.rows_read.fetch_add(found.len(), Ordering::SeqCst);
        Ok(found)
    }
}

impl Store for Spy {
    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), StoreError>> {
        if !matches!(commit.log, LogName::Thread(_)) {
            return self.store.commit(commit);
        }
        self.commits.lock().unwrap().push(commit.records.len());
        let (store, mut held) = (self.store.clone(), self.held.subscribe());
        async move {
            held.wait_for(|held| !held).await.unwrap();
            store.commit(commit).await
        }
        .boxed()
    }

    fn read(&self, log: &LogName, from: Seq, max: usize) -> BoxFuture<'static, Result<Vec<Arc<Record>>, StoreError>> {
        if self.is_unreadable.load(Ordering::SeqCst) {
            let (what, cause) = (format!("the log of {log:?}"), "input/output error".to_owned());
            return async move { Err(StoreError::Read { what, cause }) }.boxed();
        }
        self.store.read(log, from, max)
    }

    fn skim(&self, log: &LogName, seen: Skimmer) -> BoxFuture<'static, Result<bool, StoreError>> {
        self.store.skim(log, seen)
    }

    fn compared(&self, _: Option<&LogName>) -> BoxFuture<'static, Result<(), StoreError>> {
        let mut is_reading = self.is_reading.subscribe();
        async move { is_reading.wait_for(|is_reading| !is_reading).await.map(drop).map_err(|_| StoreError::Busy) }
            .boxed()
    }

    fn is_comparing(&self) -> bool {
        *self.is_reading.borrow()
    }

    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'static, Result<Pin, StoreError>> {
        self.store.put_blob(bytes)
    }

    fn read_blob(
        &self,
        blob: &BlobId,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'static, Result<Option<BlobPart>, StoreError>> {
        self.store.read_blob(blob, offset, limit)
    }

    fn release_blobs(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        self.store.release_blobs(log)
    }

    fn remove(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>> {
        self.store.remove(log)
    }

    fn sift(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        self.store.sift(log, sieve)
    }

    fn rewrite(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>> {
        self.store.rewrite(log, sieve)
    }

    fn sizes(&self) -> StoreSizes {
        self.store.sizes()
    }

    fn room(&self) -> Result<(), StoreError> {
        self.store.room()
    }

    fn degraded(&self) -> Option<String> {
        self.store.degraded()
    }

    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.store.flush()
    }
}
