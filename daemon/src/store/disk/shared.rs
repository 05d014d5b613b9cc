//! What the store's threads share: the logs in use, their commits in groups, and the index that follows them.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use ropewalk_protocol::Timestamp;
use tokio::sync::oneshot;

use super::{
    ahead::{Ahead, Taken},
    fault::Faults,
    home::{FoundLog, Home},
    index::{Index, Reached},
    live,
    log::{Health, Log, Queue, Waiting, lock},
    position::Position,
    start::Filling,
};
use crate::store::{LogName, Projector, RowChange, StoreError};

/// How many logs are open at most (ruling 44).
pub(super) const OPEN_LOGS: usize = 256;

/// How many commits of one log go out as one append.
const COMMITS_A_GROUP: usize = 256;

/// How long a rebuild of the index that failed is not tried again.
const REBUILD_EVERY: Duration = Duration::from_secs(5);

/// An index that failed.
pub(super) struct Degraded {
    pub(super) cause: String,
    retry_at: Instant,
}

/// Everything behind a [`super::DiskStore`].
pub(super) struct Shared {
    pub(super) home: Home,
    pub(super) projector: Arc<dyn Projector>,
    pub(super) index: RwLock<Index>,
    pub(super) ahead: Ahead,
    /// Held while rows that are on their way are put into the index.
    pub(super) catching_up: Mutex<()>,
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
    /// When the index cannot be read.
    pub(super) fn health(&self, log: &Log) -> Result<Health, StoreError> {
        match log.health() {
            Health::Unread => {
                let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
                Ok(log.learn(index.position(&log.name).map_err(live::unwritable)?))
            }
            health => Ok(health),
        }
    }

    /// Writes what waits for a log until nothing does. Only one thread at a time is in here for a log.
    pub(super) fn work_off(&self, log: &Arc<Log>) {
        let _unbusy = Unbusy(&log.queue);
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
        log.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut file = lock(&log.file);
        let was_open = file.is_some();
        let records = group.iter().flat_map(|waiting| &waiting.records);
        let appended = self.health(log).and_then(|_| log.append(&mut file, records, &self.faults));
        let is_open = file.is_some();
        drop(file);
        if was_open != is_open {
            self.note_open(log, is_open);
        }
        let (rows, replies): (Vec<_>, Vec<_>) = group.into_iter().map(|waiting| (waiting.rows, waiting.reply)).unzip();
        match appended {
            Ok(appended) => {
                self.log_bytes.fetch_add(appended.bytes, Ordering::Relaxed);
                let are_many = self.ahead.show(&log.name, rows.into_iter().flatten().collect(), appended);
                answer(replies, &Ok(()));
                if are_many {
                    self.catch_up();
                }
            }
            Err(error) => {
                // Whatever waits by now was built on top of what has just failed.
                let behind = std::mem::take(&mut lock(&log.queue).waiting);
                answer(replies.into_iter().chain(behind.into_iter().map(|waiting| waiting.reply)), &Err(error));
            }
        }
    }

    /// Keeps the number of open logs within its limit: the one that was used longest ago and is not being written to
    /// is closed.
    fn note_open(&self, log: &Arc<Log>, is_open: bool) {
        let mut open = lock(&self.open);
        open.retain(|other| !Arc::ptr_eq(other, log));
        if !is_open {
            return;
        }
        open.push(Arc::clone(log));
        if open.len() > OPEN_LOGS {
            open.sort_by_key(|log| log.used.load(Ordering::Relaxed));
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
        if let Some(taken) = self.ahead.take() {
            self.apply(&taken);
            self.ahead.settle(&taken);
        }
    }

    fn apply(&self, taken: &Taken) {
        if lock(&self.degraded).is_none() {
            match self.apply_now(&taken.rows, taken.reached()) {
                Ok(()) => return,
                Err(cause) => self.degrade(cause),
            }
        }
        self.rebuild_index();
        // Another thread may have built it before the logs were where they are now; a second time changes nothing.
        if lock(&self.degraded).is_none()
            && let Err(cause) = self.apply_now(&taken.rows, taken.reached())
        {
            self.degrade(cause);
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

    /// Builds a new index from the logs and puts it in the place of one that failed, unless that was tried just now.
    pub(super) fn rebuild_index(&self) {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if lock(&self.degraded).as_ref().is_none_or(|degraded| Instant::now() < degraded.retry_at) {
            return;
        }
        match self.build(&index) {
            Ok(new) => {
                let old = std::mem::replace(&mut *index, new).number;
                *lock(&self.degraded) = None;
                live::remove(&self.home, old);
                tracing::info!("the index was built anew");
            }
            Err(error) => {
                *lock(&self.degraded) =
                    Some(Degraded { cause: error.to_string(), retry_at: Instant::now() + REBUILD_EVERY });
            }
        }
    }

    /// Has the index remember damage that only reading could find.
    pub(super) fn note_damage(&self, log: &Log, position: &Position) {
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

    fn build(&self, old: &Index) -> Result<Index, StoreError> {
        let mut known = old.positions().unwrap_or_default();
        let mut logs = self.home.find_logs()?;
        let in_use: Vec<Arc<Log>> = lock(&self.logs).values().cloned().collect();
        for log in in_use {
            match log.health() {
                Health::Unread => {}
                // Its file, if there is one, holds nothing that is durable.
                Health::Empty | Health::Uncut(None, _) => logs.retain(|found| found.log != log.name),
                Health::Good(position) | Health::Uncut(Some(position), _) | Health::Damaged(position) => {
                    known.insert(log.name.clone(), position);
                }
            }
        }
        for FoundLog { log, len } in &mut logs {
            // What lies beyond is being written at this moment, and its writer will bring it to the index.
            if let Some(position) = known.get(log).filter(|position| !position.is_damaged()) {
                *len = position.offset.min(*len);
            }
        }
        let mut filling =
            Filling { home: &self.home, projector: &*self.projector, now: Timestamp::now(), notices: Vec::new() };
        let index = filling.rebuild(&logs, &known)?;
        for notice in filling.notices {
            tracing::warn!("{notice}");
        }
        Ok(index)
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
struct Unbusy<'a>(&'a Mutex<Queue>);

impl Drop for Unbusy<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut queue = lock(self.0);
            queue.busy = false;
            queue.waiting.clear();
        }
    }
}
