//! The store in memory, seen and held up by a test.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use futures::{FutureExt as _, future::BoxFuture};
use ropewalk_protocol::Seq;
use tokio::sync::watch;

use crate::store::{Commit, Key, LogName, MemoryStore, Record, Rows, Scan, Store, StoreError, StoreSizes};

/// The store in memory, seen and held up by a test.
pub(crate) struct Spy {
    pub(crate) store: Arc<MemoryStore>,
    /// How many records each commit to a thread had.
    pub(crate) commits: Mutex<Vec<usize>>,
    /// Whether rows cannot be read.
    pub(crate) is_blind: AtomicBool,
    held: watch::Sender<bool>,
}

impl Spy {
    pub(crate) fn new(store: MemoryStore) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::new(store),
            commits: Mutex::default(),
            is_blind: AtomicBool::new(false),
            held: watch::Sender::new(false),
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
        self.store.get(key)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        self.sees()?;
        self.store.scan(scan)
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
        self.store.read(log, from, max)
    }

    fn sizes(&self) -> StoreSizes {
        self.store.sizes()
    }

    fn degraded(&self) -> Option<String> {
        self.store.degraded()
    }

    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.store.flush()
    }
}
