//! Plain logs with sled as their index.
//!
//! A commit is one append and one sync of its log, on a thread of the store's own; then its rows are seen, it is
//! answered, and the index follows a moment later. The logs are the truth: at the start, and whenever the index fails, it is brought
//! to where they are.

mod ahead;
mod fault;
mod follower;
mod home;
mod index;
mod live;
mod log;
mod pool;
mod position;
mod read;
mod shared;
mod start;
#[cfg(test)]
mod tests;
mod walk;

use std::{
    collections::HashMap,
    fmt,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures::future::{self, BoxFuture, FutureExt as _};
use ropewalk_protocol::{Seq, Timestamp};
use tokio::sync::oneshot;

use self::{
    ahead::{Ahead, View},
    fault::Faults,
    follower::Follower,
    home::Home,
    index::Index,
    log::{Waiting, lock},
    pool::Pool,
    shared::Shared,
};
use super::{Commit, Key, LogName, Projector, Record, Rows, Scan, Store, StoreError, StoreSizes, files::bytes_below};

/// Threads that sync logs (ruling 44).
const SYNC_THREADS: usize = 32;

/// Threads that read logs; reading waits for the disk far less often.
const READ_THREADS: usize = 4;

/// How old the sizes of blobs and index may be when they are told: finding them out walks over directories.
const SIZES_AGE: Duration = Duration::from_secs(1);

/// Plain logs with sled as their index. Dropping it finishes the commits it was given.
pub struct DiskStore {
    shared: Arc<Shared>,
    syncs: Pool,
    reads: Pool,
    /// Dropped after the pools, so that the index gets everything they have committed.
    _follower: Follower,
    notices: Vec<String>,
    /// Bytes of the blobs and of the index, and when that was.
    sizes: Mutex<Option<(Instant, u64, u64)>>,
}

impl DiskStore {
    /// Opens the home, which its caller has locked, or makes it. Blocks: compares every log with the index, by its
    /// length where that is enough, and builds the index anew where it cannot be trusted. `now` names what is moved to
    /// `lost/`.
    ///
    /// # Errors
    /// `Version` when a log is of a newer version, `InUse` when another process has the index open, `Read` when the
    /// home or its index cannot be read or made. One damaged log is no error: see [`DiskStore::notices`].
    pub fn open(home: &Path, projector: Arc<dyn Projector>, now: Timestamp) -> Result<Self, StoreError> {
        let home = Home::lay_out(home)?;
        let started = start::start(&home, &*projector, now)?;
        for notice in &started.notices {
            tracing::warn!("{notice}");
        }
        let shared = Shared {
            home,
            projector,
            index: RwLock::new(started.index),
            ahead: Ahead::default(),
            catching_up: Mutex::new(()),
            degraded: Mutex::new(None),
            logs: Mutex::new(HashMap::new()),
            open: Mutex::new(Vec::new()),
            uses: AtomicU64::new(0),
            log_bytes: AtomicU64::new(started.log_bytes),
            faults: Faults::default(),
        };
        let shared = Arc::new(shared);
        Ok(Self {
            _follower: Follower::start(&shared),
            shared,
            syncs: Pool::new("store-sync", SYNC_THREADS),
            reads: Pool::new("store-read", READ_THREADS),
            notices: started.notices,
            sizes: Mutex::default(),
        })
    }

    /// What opening found that a person should know, a sentence each: what was cut off and moved to `lost/`, which
    /// logs are damaged or missing, why the index was built anew.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Makes the next commit that comes to `point` fail there.
    #[cfg(test)]
    pub(super) fn fail_next(&self, point: super::FailPoint) {
        self.shared.faults.set(point);
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.shared.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs work that waits for the disk, and resolves with what it found.
    fn on_reader<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let shared = Arc::clone(&self.shared);
        let (reply, answer) = oneshot::channel();
        self.reads.run(move || {
            // Nobody listens any more when the caller was dropped.
            let _ = reply.send(work(&shared));
        });
        async move { answer.await.unwrap_or_else(|_| Err(live::unwritable("its thread broke down".to_owned()))) }
            .boxed()
    }

    /// Has an index that could not be read built anew, beside whatever else is going on.
    fn mend<T>(&self, read: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(StoreError::Read { cause, .. }) = &read {
            self.shared.degrade(cause.clone());
            let shared = Arc::clone(&self.shared);
            self.reads.run(move || shared.rebuild_index());
        }
        read
    }
}

impl fmt::Debug for DiskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskStore").field("home", &self.shared.home).finish_non_exhaustive()
    }
}

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

    fn sizes(&self) -> StoreSizes {
        let mut sizes = lock(&self.sizes);
        let (at, blob_bytes, index_bytes) = sizes
            .filter(|(at, ..)| at.elapsed() < SIZES_AGE)
            .unwrap_or_else(|| (Instant::now(), bytes_below(&self.shared.home.blobs()), self.index().bytes()));
        *sizes = Some((at, blob_bytes, index_bytes));
        let log_bytes = self.shared.log_bytes.load(Ordering::Relaxed);
        StoreSizes { log_bytes, blob_bytes, index_bytes, dead_bytes: 0 }
    }

    fn degraded(&self) -> Option<String> {
        lock(&self.shared.degraded).as_ref().map(|degraded| format!("the index cannot be used: {}", degraded.cause))
    }

    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        self.on_reader(|shared| {
            shared.catch_up();
            let index = shared.index.read().unwrap_or_else(PoisonError::into_inner);
            index.flush().map_err(live::unwritable)
        })
    }
}
