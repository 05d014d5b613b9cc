//! What the store's threads share: the logs in use, their commits in groups, and the index that follows them.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use tokio::sync::oneshot;

use super::{
    ahead::{Ahead, Taken},
    blobs::Keeper,
    fault::Faults,
    home::Home,
    index::{Index, Reached},
    live,
    log::{Health, Log, Waiting, lock},
    position::Position,
    space::Space,
    walking::Walk,
};
use crate::store::{LogName, NEEDED_BYTES, Projector, RowChange, StoreError};

/// How many logs are open at most (ruling 44).
pub(super) const OPEN_LOGS: usize = 256;

/// How many commits of one log go out as one append.
const COMMITS_A_GROUP: usize = 256;

/// Rows that an index that cannot be mended may be behind by before no new work is taken.
const ROWS_BEHIND: usize = 65_536;

/// How much must be free for the index to be written to: more than it grows by at once.
const INDEX_BYTES: u64 = 2 << 20;

/// An index that failed.
pub(super) struct Degraded {
    pub(super) cause: String,
    pub(super) retry_at: Instant,
}

/// Everything behind a [`super::DiskStore`].
pub(super) struct Shared {
    pub(super) home: Home,
    pub(super) blobs: Keeper,
    pub(super) space: Space,
    /// How many logs may be open at once.
    pub(super) open_logs: usize,
    /// What of which log cannot be read, found since the start or by it.
    pub(super) damage: Mutex<BTreeMap<LogName, String>>,
    pub(super) projector: Arc<dyn Projector>,
    pub(super) index: RwLock<Index>,
    /// The logs that the index is still to be brought up to.
    pub(super) walk: Arc<Walk>,
    /// What a person should know of the start.
    pub(super) notices: Mutex<Vec<String>>,
    pub(super) ahead: Ahead,
    /// Held while rows that are on their way are put into the index.
    pub(super) catching_up: Mutex<()>,
    /// Held by a backup or a check: one of them at a time.
    pub(super) upkeep: Mutex<()>,
    /// Held while payloads are looked through, by a sweep or a backup.
    pub(super) sweeping: Mutex<()>,
    /// Whether a sweep found that taken.
    pub(super) sweep_waits: AtomicBool,
    /// Set when the store is given up: a backup or a check ends then, as nobody waits for it any more.
    pub(super) closing: AtomicBool,
    /// Set while the disk is too full for the index to follow the logs.
    pub(super) holds_back: AtomicBool,
    /// Set while the index is behind the logs; nothing is written to it until it was built anew.
    pub(super) degraded: Mutex<Option<Degraded>>,
    pub(super) logs: Mutex<HashMap<LogName, Arc<Log>>>,
    pub(super) open: Mutex<Vec<Arc<Log>>>,
    pub(super) uses: AtomicU64,
    pub(super) log_bytes: AtomicU64,
    pub(super) faults: Faults,
}

impl Shared {
    /// The log of that name, from now on in use.
    ///
    /// # Errors
    /// When its id cannot be the name of a file.
    pub(super) fn log(&self, name: &LogName) -> Result<Arc<Log>, StoreError> {
        let mut logs = lock(&self.logs);
        if let Some(log) = logs.get(name) {
            return Ok(Arc::clone(log));
        }
        let path: PathBuf = self.home.log_path(name)?;
        let log = Arc::new(Log::new(name.clone(), path));
        logs.insert(name.clone(), Arc::clone(&log));
        Ok(log)
    }

    /// What may be done with a log, asking the index the first time.
    ///
    /// # Errors
    /// When the index cannot be read, or does not know yet how far the log goes.
    pub(super) fn health(&self, log: &Log) -> Result<Health, StoreError> {
        match log.health() {
            Health::Unread => {
                self.walk.check(&log.name)?;
                let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
                Ok(log.learn(index.position(&log.name).map_err(live::unwritable)?))
            }
            health => Ok(health),
        }
    }

    /// Writes what waits for a log until nothing does. Only one thread at a time is in here for a log.
    pub(super) fn work_off(&self, log: &Arc<Log>) {
        loop {
            let group: Vec<Waiting> = {
                let mut queue = lock(&log.queue);
                let many = queue.waiting.len().min(COMMITS_A_GROUP);
                if many == 0 {
                    queue.busy = false;
                    return;
                }
                queue.waiting.drain(..many).collect()
            };
            self.write_group(log, group);
        }
    }

    fn write_group(&self, log: &Arc<Log>, group: Vec<Waiting>) {
        // Goes before the group does: when its callers hear that it broke down, the log takes their next commits already.
        let _unbusy = Unbusy(log);
        log.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut file = lock(&log.file);
        let was_open = file.is_some();
        let records = || group.iter().flat_map(|waiting| &waiting.records);
        let mut append = || self.health(log).and_then(|_| log.append(&mut file, records(), &self.blobs, &self.faults));
        let is_beyond_help = self.faults.is_full();
        let mut appended = append();
        // New work is refused long before: this is a result, a settlement or an end.
        let is_full = matches!(appended, Err(StoreError::Write { full: true, .. }));
        if is_full && !is_beyond_help && self.space.spend_reserve() {
            appended = append();
        }
        let is_open = file.is_some();
        let (rows, replies): (Vec<_>, Vec<_>) = group.into_iter().map(|waiting| (waiting.rows, waiting.reply)).unzip();
        let shown = appended.map(|mut appended| {
            self.log_bytes.fetch_add(appended.bytes, Ordering::Relaxed);
            // Dropped when the rows can be seen that say who needs the blobs.
            let _pins = std::mem::take(&mut appended.pins);
            let mut rows: Vec<RowChange> = rows.into_iter().flatten().collect();
            rows.append(&mut appended.references);
            self.ahead.show(&log.name, rows, appended)
        });
        // Only now: whoever writes the log anew must find everything that it has said on its way into the index.
        drop(file);
        if was_open != is_open {
            self.note_open(log, is_open);
        }
        match shown {
            Ok(are_many) => {
                answer(replies, &Ok(()));
                if self.space.wants_reserve() {
                    self.space.make_reserve();
                }
                if are_many {
                    self.catch_up();
                }
            }
            Err(error) => {
                let error = self.space.explain(error);
                // Whatever waits by now was built on top of what has just failed.
                let behind = std::mem::take(&mut lock(&log.queue).waiting);
                answer(replies.into_iter().chain(behind.into_iter().map(|waiting| waiting.reply)), &Err(error));
            }
        }
    }

    /// Keeps the number of open logs within its limit: the one that was used longest ago and is not being written to
    /// is closed.
    pub(super) fn note_open(&self, log: &Arc<Log>, is_open: bool) {
        let mut open = lock(&self.open);
        open.retain(|other| !Arc::ptr_eq(other, log));
        if !is_open {
            return;
        }
        open.push(Arc::clone(log));
        if open.len() > self.open_logs {
            // Each is looked at once: others are being used meanwhile, and a sort that meets two answers for one log panics.
            open.sort_by_cached_key(|log| log.used.load(Ordering::Relaxed));
            let idle = open.iter().position(|log| log.file.try_lock().is_ok_and(|mut file| file.take().is_some()));
            if let Some(idle) = idle {
                open.remove(idle);
            }
        }
    }

    /// Puts into the index what was committed, moment by moment, until nothing more will be.
    pub(super) fn follow(&self) {
        while self.ahead.wait() {
            self.catch_up();
        }
        self.catch_up();
    }

    /// Brings the index to where the logs are. Whatever happens here, the commits stand: the logs have them.
    pub(super) fn catch_up(&self) {
        // One at a time, or older rows could be written over newer ones.
        let _alone = lock(&self.catching_up);
        // While the index cannot be mended, its rows go on being shown over it.
        if lock(&self.degraded).as_ref().is_some_and(|degraded| Instant::now() < degraded.retry_at) {
            return;
        }
        let free_bytes = self.space.free_bytes();
        // sled that cannot write cannot be read any more either. On a disk this full, what waits is shown over it instead.
        let holds_back = free_bytes < INDEX_BYTES;
        self.holds_back.store(holds_back, Ordering::Relaxed);
        if holds_back {
            return;
        }
        if let Some(taken) = self.ahead.take() {
            if self.apply(&taken) {
                self.ahead.settle(&taken);
                self.flush_where_scarce(free_bytes);
            } else {
                self.ahead.give_back(taken);
            }
        }
    }

    /// Has the index on the disk while there is room for it, where there may soon be none.
    fn flush_where_scarce(&self, free_bytes: u64) {
        if free_bytes >= NEEDED_BYTES {
            return;
        }
        let flushed = self.index.read().unwrap_or_else(PoisonError::into_inner).flush();
        if let Err(cause) = flushed {
            self.degrade(cause);
        }
    }

    /// Whether the index has them now.
    fn apply(&self, taken: &Taken) -> bool {
        if lock(&self.degraded).is_none() {
            match self.apply_now(&taken.rows, taken.reached()) {
                Ok(()) => return true,
                Err(cause) => self.degrade(cause),
            }
        }
        self.rebuild_index();
        if lock(&self.degraded).is_some() {
            return false;
        }
        // Another thread may have built it before the logs were where they are now; a second time changes nothing.
        let applied = self.apply_now(&taken.rows, taken.reached());
        applied.map_err(|cause| self.degrade(cause)).is_ok()
    }

    /// Whether new work may begin.
    ///
    /// # Errors
    /// As [`crate::store::Store::room`].
    pub(super) fn room(&self) -> Result<(), StoreError> {
        self.space.check()?;
        match &*lock(&self.degraded) {
            Some(degraded) if self.ahead.len() > ROWS_BEHIND => Err(live::unwritable(degraded.cause.clone())),
            _ => Ok(()),
        }
    }

    fn apply_now<'a>(&self, rows: &[RowChange], reached: impl Iterator<Item = Reached<'a>>) -> Result<(), String> {
        if self.faults.index() {
            return Err("input/output error".to_owned());
        }
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        index.apply(rows.iter(), reached)
    }

    /// Notes that the index cannot be trusted; nothing more is written to it.
    pub(super) fn degrade(&self, cause: String) {
        let mut degraded = lock(&self.degraded);
        if degraded.is_none() {
            tracing::error!(%cause, "the index failed; it is built anew from the logs");
            *degraded = Some(Degraded { cause, retry_at: Instant::now() });
        }
    }

    /// Has the index remember damage that only reading could find, and the daemon's health say so.
    pub(super) fn note_damage(&self, log: &Log, position: &Position, why: &str) {
        let said = format!("the log {} is damaged at byte {}: {why}", log.name, position.offset);
        lock(&self.damage).insert(log.name.clone(), said);
        // What is on its way knows nothing of the damage, and must not be written over it.
        self.catch_up();
        let reached = Reached { log: &log.name, position, marks: &[] };
        let noted = self.apply_now(&[], std::iter::once(reached)).and_then(|()| {
            // A start that does not know of it sees only that the length is right.
            self.index.read().unwrap_or_else(PoisonError::into_inner).flush()
        });
        if let Err(cause) = noted {
            self.degrade(cause);
        }
    }
}

/// Tells callers how their commits went.
fn answer(replies: impl IntoIterator<Item = oneshot::Sender<Result<(), StoreError>>>, result: &Result<(), StoreError>) {
    for reply in replies {
        // Nobody listens any more when the caller was dropped; its commit is made or failed all the same.
        let _ = reply.send(result.clone());
    }
}

/// Lets the next commit start a thread when this one panics, and its callers hear of it.
struct Unbusy<'a>(&'a Log);

impl Drop for Unbusy<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broke_down();
        }
    }
}
