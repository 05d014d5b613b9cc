//! What is left to read of the logs once the store is open: one log after another, those that somebody waits for first.
//!
//! Until a log has been read its rows are those of an earlier moment, or none. So nobody is served anything of it before:
//! who asks waits for this log alone, and it is read next.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use futures::future::{self, BoxFuture, FutureExt as _};
use ropewalk_protocol::Timestamp;
use tokio::sync::watch;

use super::{filling::Filling, home::FoundLog, live, log::lock, position::Position, shared::Shared, walk::Failed};
use crate::store::{LogName, Progress, StoreError};

/// Threads that read logs, each one log at a time.
pub(super) const WALKERS: usize = 2;

/// How often is looked whether an index that failed under the walk can be built.
const LOOKS: Duration = Duration::from_millis(100);

/// A log that is to be read.
pub(super) struct Job {
    pub(super) found: FoundLog,
    /// Where to begin; at the log's start without one.
    pub(super) from: Option<Position>,
    /// A witness of what was once acknowledged.
    pub(super) known: Option<Position>,
}

/// The walk over the logs. Over from the beginning where everything was read before the store was open.
pub(super) struct Walk {
    state: Mutex<State>,
    is_over: AtomicBool,
    news: watch::Sender<()>,
    progress: Arc<Progress>,
    /// Whether the index is a new one, which cannot be trusted before everything is in it.
    is_new: bool,
}

#[derive(Default)]
struct State {
    /// Those that nobody has begun with, in the order in which they are read.
    jobs: VecDeque<Job>,
    /// Those that are not read yet, begun with or not.
    unread: HashSet<LogName>,
    /// Those that could not be read, and why.
    failed: HashMap<LogName, StoreError>,
    walkers: usize,
    /// Whether what is left is not read by itself, because the whole index is built anew.
    is_broken: bool,
    is_closed: bool,
}

impl Walk {
    /// A walk over these logs, which fill a new index or bring one up.
    pub(super) fn new(jobs: Vec<Job>, is_new: bool, progress: Arc<Progress>) -> Self {
        let unread: HashSet<LogName> = jobs.iter().map(|job| job.found.log.clone()).collect();
        let is_over = AtomicBool::new(jobs.is_empty() && !is_new);
        let state = State { jobs: jobs.into(), unread, walkers: WALKERS, ..State::default() };
        Self { state: Mutex::new(state), is_over, news: watch::Sender::new(()), progress, is_new }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Whether the index may be built anew now: not while logs are being put into it one by one.
    pub(super) fn leaves_the_index_alone(&self) -> bool {
        self.is_over() || lock(&self.state).walkers == 0
    }

    /// Whether a log is still to be read, or being read.
    pub(super) fn has_yet_to_read(&self, log: &LogName) -> bool {
        !self.is_over() && lock(&self.state).unread.contains(log)
    }

    /// Whether a log's rows and its place in the index are right.
    ///
    /// # Errors
    /// `Starting` while it has not been read; why it cannot be, where that is so.
    pub(super) fn check(&self, log: &LogName) -> Result<(), StoreError> {
        self.look(Some(log)).unwrap_or_else(|| Err(self.starting()))
    }

    /// Resolves when the log has been read, or all of them have, as [`crate::store::Store::compared`] promises it.
    pub(super) fn compared(self: &Arc<Self>, log: Option<&LogName>) -> BoxFuture<'static, Result<(), StoreError>> {
        let mut news = self.news.subscribe();
        if let Some(known) = self.look(log) {
            return future::ready(known).boxed();
        }
        self.want(log);
        let (this, log) = (Arc::clone(self), log.cloned());
        async move {
            loop {
                if news.changed().await.is_err() {
                    return Err(this.starting());
                }
                if let Some(known) = this.look(log.as_ref()) {
                    return known;
                }
            }
        }
        .boxed()
    }

    /// How it stands; nothing while that is open.
    fn look(&self, log: Option<&LogName>) -> Option<Result<(), StoreError>> {
        let is_over = self.is_over();
        let state = lock(&self.state);
        if let Some(error) = log.and_then(|log| state.failed.get(log)) {
            return Some(Err(error.clone()));
        }
        if is_over || log.is_some_and(|log| !state.unread.contains(log)) {
            return Some(Ok(()));
        }
        state.is_closed.then(|| Err(self.starting()))
    }

    /// Has a log read next.
    fn want(&self, log: Option<&LogName>) {
        let mut state = lock(&self.state);
        let place = log.and_then(|log| state.jobs.iter().position(|job| job.found.log == *log));
        if let Some(job) = place.and_then(|place| state.jobs.remove(place)) {
            state.jobs.push_front(job);
        }
    }

    /// What is said while that is so.
    pub(super) fn starting(&self) -> StoreError {
        StoreError::Starting { progress: self.progress.fraction() }
    }

    fn next(&self) -> Option<Job> {
        let mut state = lock(&self.state);
        if state.is_broken || state.is_closed { None } else { state.jobs.pop_front() }
    }

    fn settle(&self, log: &LogName, failure: Option<StoreError>) {
        let mut state = lock(&self.state);
        if let Some(error) = failure {
            state.failed.insert(log.clone(), error);
        }
        state.unread.remove(log);
        drop(state);
        self.news.send_replace(());
    }

    /// Nothing more is put into this index, and what is left goes into the next one.
    fn break_off(&self, job: Job) {
        let mut state = lock(&self.state);
        state.is_broken = true;
        state.jobs.push_front(job);
    }

    /// What is known to have been acknowledged of logs that are not read yet.
    pub(super) fn witnesses(&self) -> Vec<(LogName, Position)> {
        let state = lock(&self.state);
        state.jobs.iter().filter_map(|job| Some((job.found.log.clone(), job.known.clone()?))).collect()
    }

    /// A walker ends; whether it is the last, and has to bring the walk to its end.
    fn leave(&self) -> bool {
        let mut state = lock(&self.state);
        state.walkers -= 1;
        state.walkers == 0
    }

    fn end(&self) {
        let mut state = lock(&self.state);
        state.unread.clear();
        state.jobs.clear();
        drop(state);
        self.is_over.store(true, Ordering::Release);
        self.news.send_replace(());
    }

    /// The store is closed before the walk is over: who waits is told.
    fn close(&self) {
        lock(&self.state).is_closed = true;
        self.news.send_replace(());
    }
}

impl Shared {
    /// Reads logs until none is left. Run by each walker; the last of them ends the walk.
    pub(super) fn walk_on(&self) {
        while let Some(job) = self.walk.next() {
            if self.closing.load(Ordering::Relaxed) {
                break;
            }
            // A walker that broke down would never leave, and everybody would wait for it.
            let read = catch_unwind(AssertUnwindSafe(|| self.take_in(&job)));
            if self.closing.load(Ordering::Relaxed) {
                // It may have been broken off: the next start reads what is missing of it.
                break;
            }
            let broke_down = || Err(Failed::Store(live::unwritable("reading it broke down".to_owned())));
            match read.unwrap_or_else(|_| broke_down()) {
                Ok(()) => self.walk.settle(&job.found.log, None),
                Err(Failed::Store(error)) => {
                    let log = &job.found.log;
                    let said = format!("the log {log} could not be read at the start: {error}");
                    self.say(said.clone());
                    lock(&self.damage).insert(log.clone(), said);
                    self.walk.settle(log, Some(error));
                }
                Err(Failed::Index(cause)) => {
                    self.degrade(cause);
                    self.walk.break_off(job);
                }
            }
        }
        if self.walk.leave() {
            self.end_walk();
        }
    }

    fn take_in(&self, job: &Job) -> Result<(), Failed> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        let mut filling = Filling {
            home: &self.home,
            projector: &*self.projector,
            now: Timestamp::now(),
            progress: &self.walk.progress,
            is_thorough: false,
            closing: &self.closing,
            notices: Vec::new(),
        };
        let Job { found, from, known } = job;
        if !self.projector.is_removed(&found.log, &*index).map_err(Failed::Store)? {
            filling.take_in(&index, found, from.as_ref(), known.as_ref())?;
        }
        let begun = from.as_ref().map_or(0, |from| from.offset);
        self.walk.progress.pass(found.len.saturating_sub(begun));
        filling.notices.into_iter().for_each(|notice| self.say(notice));
        Ok(())
    }

    /// Makes a new index the live one, or builds one where the index has failed meanwhile.
    fn end_walk(&self) {
        if self.walk.is_new && lock(&self.degraded).is_none() && !self.closing.load(Ordering::Relaxed) {
            let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = live::settle(&self.home, &index) {
                self.degrade(error.to_string());
            }
        }
        while lock(&self.degraded).is_some() && !self.closing.load(Ordering::Relaxed) {
            self.rebuild_index();
            if lock(&self.degraded).is_some() {
                thread::sleep(LOOKS);
            }
        }
        if self.closing.load(Ordering::Relaxed) {
            return self.walk.close();
        }
        self.walk.end();
        self.sweep_all();
    }

    /// Tells what a person should know of the start.
    pub(super) fn say(&self, notice: String) {
        tracing::warn!("{notice}");
        lock(&self.notices).push(notice);
    }
}
