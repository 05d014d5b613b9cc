//! The engine owns threads: one task each. It performs what the domain decided and drives runs.
//!
//! [`Engine`] finds or wakes a thread's [`ThreadHandle`]; every operation on a thread is a job its [`actor`] carries
//! out, commits together with what else has arrived, publishes on its [`bus`] and answers. [`run`] drives runs from
//! outside and reports back by the same jobs. [`rows`] and [`history`] are how a thread is read back.

mod actor;
mod attached;
mod bus;
mod deletion;
mod history;
mod live;
pub mod lookup;
mod operations;
mod origin;
mod places;
mod removal;
pub mod rows;
mod run;
mod searching;
mod shared;
mod taking_up;
mod thread;
mod trouble;
mod turn;

#[cfg(test)]
pub(crate) mod tests;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use ropewalk_protocol::{
    BlobId, InstructionsSource, InteractionId, Policy, ProjectId, RpcError, Run, RunId, RunStatus, ThreadId,
};
use tokio::sync::{RwLock, Semaphore};

pub use crate::catalogue::{starting, storage_error};
use crate::store::{BlobPart, LogName};

pub use actor::Job;
pub use attached::{AttachedClient, ConnectionId, Offer, Subscriber, UNREPRESENTABLE_RESULT};
pub use bus::{Batch, Bus, Cursor, Wants};
pub use deletion::Deletion;
pub use operations::{
    Answering, BranchStanding, ForkRequest, HeaderPatch, ItemQuery, QueueEdit, Recovering, RemarkRequest,
    ReplaceRequest, Resume, Resumed, StartRequest, Started, StopTarget, SubmitRequest,
};
pub use origin::on_behalf_of;
pub use rows::ThreadProjector;
pub use searching::SearchPage;
pub use shared::Shared;
use taking_up::TakingUp;
pub use taking_up::Touched;
pub use thread::ThreadHandle;
pub use turn::Turn;

/// Finds threads, wakes them, and knows nothing of what they do.
pub struct Engine {
    shared: Arc<Shared>,
    threads: Mutex<BTreeMap<ThreadId, ThreadHandle>>,
    /// How many threads there are, asleep or not, counted once at the start.
    thread_count: AtomicU64,
    /// The threads that have been taken up, while not all of them are.
    taking_up: TakingUp,
    /// Held for reading while a thread begins, for writing while a project goes with all its threads.
    beginnings: RwLock<()>,
    /// So many searches are at work at once.
    searches: Semaphore,
}

impl Engine {
    /// An engine without a thread awake.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new(Self {
            shared,
            threads: Mutex::new(BTreeMap::new()),
            thread_count: AtomicU64::new(0),
            taking_up: TakingUp::default(),
            beginnings: RwLock::new(()),
            searches: Semaphore::new(searching::AT_ONCE),
        })
    }

    /// A part of a payload that is out of line; nothing when nobody knows such a payload.
    ///
    /// # Errors
    /// `unavailable`, when it cannot be read.
    pub async fn blob(&self, blob: &BlobId, offset: u64, limit: usize) -> Result<Option<BlobPart>, RpcError> {
        self.shared.store.read_blob(blob, offset, limit).await.map_err(|error| storage_error(&error))
    }

    /// The files that runs in a project are told with its instructions, whether or not they are included.
    pub async fn instruction_sources(&self, project: &ProjectId) -> Vec<InstructionsSource> {
        run::workspace::sources(&self.shared, project).await
    }

    /// Whether a thread has runs that have not ended.
    ///
    /// # Errors
    /// `unavailable`, when the index cannot be read.
    pub fn has_open_runs(&self, id: &ThreadId) -> Result<bool, RpcError> {
        lookup::has_open_runs(&self.shared, id)
    }

    /// What all threads share.
    #[must_use]
    pub const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The handle of a thread, which is read from its rows when it is asleep.
    ///
    /// # Errors
    /// `notFound` for an unknown thread; `unavailable` when its rows cannot be read, for one of whose log nothing can be
    /// read, and before it has been taken up.
    pub fn thread(self: &Arc<Self>, id: &ThreadId) -> Result<ThreadHandle, RpcError> {
        self.is_usable(id)?;
        self.wake(id)
    }

    fn wake(self: &Arc<Self>, id: &ThreadId) -> Result<ThreadHandle, RpcError> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = threads.get(id) {
            return Ok(handle.clone());
        }
        let state = rows::load(&*self.shared.store, id)
            .map_err(|error| storage_error(&error))?
            .ok_or_else(|| self.no_rows(id))?;
        let handle = actor::spawn(self, state);
        threads.insert(id.clone(), handle.clone());
        Ok(handle)
    }

    /// What is said of a thread without rows: a damaged log may have been one, and is not passed over.
    fn no_rows(&self, id: &ThreadId) -> RpcError {
        let damage = self.shared.store.damage(&LogName::Thread(id.clone()));
        damage.map_or_else(|| RpcError::not_found("thread", id), |error| storage_error(&error))
    }

    /// Begins a thread that has no record yet.
    fn begin(self: &Arc<Self>, state: crate::domain::ThreadState) -> ThreadHandle {
        let id = state.thread.thread_id.clone();
        let handle = actor::spawn(self, state);
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).insert(id, handle.clone());
        handle
    }

    /// Lets a thread go to sleep, unless somebody has asked for it meanwhile. `is_idle` looks at its mailbox.
    fn release(&self, id: &ThreadId, is_idle: impl FnOnce() -> bool) -> bool {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = threads.get(id).is_none_or(ThreadHandle::is_last);
        if unused && is_idle() {
            threads.remove(id);
            return true;
        }
        false
    }

    /// Forgets a thread whose owner is about to end.
    fn forget(&self, id: &ThreadId) {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// Every thread that is awake.
    #[must_use]
    pub fn awake(&self) -> Vec<ThreadHandle> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The thread a run belongs to.
    ///
    /// # Errors
    /// `notFound` for an unknown run.
    pub fn thread_of_run(self: &Arc<Self>, run_id: &RunId) -> Result<ThreadHandle, RpcError> {
        let thread_id = lookup::run_row(&self.shared, run_id)?.run.thread_id;
        self.thread(&thread_id)
    }

    /// A run as it was last written, asleep or not.
    ///
    /// # Errors
    /// `notFound` for an unknown run.
    pub fn run(&self, run_id: &RunId) -> Result<Run, RpcError> {
        lookup::run(&self.shared, run_id)
    }

    /// The thread an interaction belongs to.
    ///
    /// # Errors
    /// `notFound` for an unknown interaction.
    pub fn thread_of_interaction(self: &Arc<Self>, id: &InteractionId) -> Result<ThreadHandle, RpcError> {
        let home = lookup::interaction_home(&self.shared, id)?;
        self.thread(&home.thread_id)
    }

    /// How many runs are in which state, ended ones not counted, and how many interactions are open.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn counts(&self) -> Result<(BTreeMap<RunStatus, u64>, u64), RpcError> {
        lookup::counts(&self.shared)
    }

    /// How many threads there are.
    #[must_use]
    pub fn thread_count(&self) -> u64 {
        self.thread_count.load(Ordering::Relaxed)
    }

    /// A thread's first record is stored.
    fn has_begun(&self) {
        self.thread_count.fetch_add(1, Ordering::Relaxed);
    }

    /// So many threads have been deleted.
    fn have_ended(&self, count: usize) {
        self.thread_count.fetch_sub(count as u64, Ordering::Relaxed);
    }

    /// A rule has been set or removed: every thread it holds for looks again.
    pub async fn rule_changed(&self, policy: &Policy, client_name: Option<String>) {
        for thread in self.awake() {
            let here = policy.thread_id.as_ref().is_none_or(|id| id == thread.id());
            if here {
                thread.rule_changed(policy.clone(), client_name.clone()).await;
            }
        }
    }

    /// Parks what runs, for a clean exit: drivers end, and the next start takes up where they were.
    pub async fn park(&self) {
        // All at once, so that they share their syncs.
        let awake = self.awake();
        futures::future::join_all(awake.iter().map(ThreadHandle::park)).await;
    }

    /// Ends the owners of all threads, once nobody asks anything any more and what ran is parked: they let go of the store.
    pub async fn end(&self) {
        let awake = self.awake();
        futures::future::join_all(awake.iter().map(ThreadHandle::end)).await;
    }
}
