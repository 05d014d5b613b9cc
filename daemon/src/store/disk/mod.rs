//! Plain logs with sled as their index.
//!
//! A commit is one append and one sync of its log, on a thread of the store's own; then its rows are seen, it is
//! answered, and the index follows a moment later. The logs are the truth: at the start, and whenever the index fails, it is brought
//! to where they are.

mod ahead;
mod backup;
mod beside;
mod blobs;
mod check;
mod fault;
mod fill;
mod filling;
mod follower;
mod home;
mod index;
mod live;
mod log;
mod mending;
mod migrate;
mod moment;
mod payloads;
mod pool;
mod position;
mod read;
mod rebuild;
mod remove;
mod restore;
mod rewrite;
mod seam;
mod shared;
mod skim;
mod space;
mod start;
mod target;
#[cfg(test)]
mod tests;
mod version;
mod walk;
mod walking;

use std::{
    collections::HashMap,
    fmt,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures::future::{BoxFuture, FutureExt as _};
use ropewalk_protocol::Timestamp;
use tokio::sync::oneshot;

use self::{
    ahead::Ahead,
    blobs::Keeper,
    fault::Faults,
    follower::Follower,
    home::Home,
    index::Index,
    log::lock,
    pool::Pool,
    shared::{OPEN_LOGS, Shared},
    space::Space,
    walking::{WALKERS, Walk},
};
use super::{Progress, Projector, StoreError};

pub use self::{
    restore::{Restored, restore},
    version::refuse_unknown,
};

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
    _walkers: Pool,
    /// Dropped after the pools, so that the index gets everything they have committed.
    _follower: Follower,
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
        Self::open_early(home, projector, now, &Arc::default(), u64::MAX)
    }

    /// As [`DiskStore::open`], but returns when the index is open and the daemon's log is in it. Where more than
    /// `patience_bytes` of the other logs have to be read, that goes on meanwhile: see
    /// [`Store::compared`](super::Store::compared). `progress` is how far it is.
    ///
    /// # Errors
    /// As [`DiskStore::open`].
    pub fn open_early(
        home: &Path,
        projector: Arc<dyn Projector>,
        now: Timestamp,
        progress: &Arc<Progress>,
        patience_bytes: u64,
    ) -> Result<Self, StoreError> {
        version::refuse_unknown(home)?;
        let (home, mut notices) = Home::lay_out_anew(home, now)?;
        let started = start::start(&home, &*projector, now, progress, patience_bytes)?;
        notices.extend(started.notices);
        for notice in &notices {
            tracing::warn!("{notice}");
        }
        let walk = Arc::new(Walk::new(started.later, started.is_new, Arc::clone(progress)));
        let shared = Shared {
            blobs: Keeper::new(home.blobs()),
            damage: Mutex::default(),
            space: Space::of(home.root()),
            open_logs: open_logs(),
            home,
            projector,
            index: RwLock::new(started.index),
            walk,
            notices: Mutex::new(notices),
            ahead: Ahead::default(),
            catching_up: Mutex::new(()),
            upkeep: Mutex::new(()),
            sweeping: Mutex::new(()),
            sweep_waits: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            holds_back: AtomicBool::new(false),
            degraded: Mutex::new(None),
            logs: Mutex::new(HashMap::new()),
            open: Mutex::new(Vec::new()),
            uses: AtomicU64::new(0),
            log_bytes: AtomicU64::new(started.log_bytes),
            faults: Faults::default(),
        };
        Ok(Self::over(Arc::new(shared)))
    }

    /// The threads over what they share.
    fn over(shared: Arc<Shared>) -> Self {
        let (reads, walkers) = (Pool::new("store-read", READ_THREADS), Pool::new("store-walk", WALKERS));
        if shared.walk.is_over() {
            let sweeping = Arc::clone(&shared);
            reads.run(move || sweeping.sweep_all());
        } else {
            for _ in 0..WALKERS {
                let walking = Arc::clone(&shared);
                walkers.run(move || walking.walk_on());
            }
        }
        Self {
            _walkers: walkers,
            _follower: Follower::start(&shared),
            shared,
            syncs: Pool::new("store-sync", SYNC_THREADS),
            reads,
            sizes: Mutex::default(),
        }
    }

    /// What opening found that a person should know, a sentence each: what was cut off and moved to `lost/`, which
    /// logs are damaged or missing, why the index was built anew.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        lock(&self.shared.notices).clone()
    }

    /// Makes the next commit that comes to `point` fail there.
    #[cfg(test)]
    pub(super) fn fail_next(&self, point: super::FailPoint) {
        self.shared.faults.set(point);
    }

    /// Has the home's disk look as a test wants it: so much room, or none to write to.
    #[cfg(test)]
    pub(super) fn tell_room(&self, free_bytes: u64, is_read_only: bool) {
        self.shared.space.tell(Some(space::Room { free_bytes, is_read_only }));
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.shared.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs work that waits for the disk, and resolves with what it found.
    fn on_reader<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        self.on(&self.reads, work)
    }

    fn on<T: Send + 'static>(
        &self,
        pool: &Pool,
        work: impl FnOnce(&Shared) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let shared = Arc::clone(&self.shared);
        let (reply, answer) = oneshot::channel();
        pool.run(move || {
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

/// How many logs may be open: fewer where the process may open few files, so that a commit always finds one (ruling 44).
fn open_logs() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.map_or(OPEN_LOGS, |limit| usize::try_from(limit / 4).unwrap_or(OPEN_LOGS).clamp(1, OPEN_LOGS))
}

impl Drop for DiskStore {
    fn drop(&mut self) {
        // Before the pools are waited for, which finish what they were given.
        self.shared.closing.store(true, Ordering::Relaxed);
    }
}

impl fmt::Debug for DiskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskStore").field("home", &self.shared.home).finish_non_exhaustive()
    }
}
