//! The engine owns threads: one task each. It performs what the domain decided and drives runs.
//!
//! [`Engine`] finds or wakes a thread's [`ThreadHandle`]; every operation on a thread is a job its [`actor`] carries
//! out, commits together with what else has arrived, publishes on its [`bus`] and answers. [`run`] drives runs from
//! outside and reports back by the same jobs. [`rows`] and [`history`] are how a thread is read back.

mod actor;
mod attached;
mod bus;
mod history;
mod live;
pub mod lookup;
mod operations;
pub mod rows;
mod run;
mod shared;
mod thread;
mod trouble;
mod turn;

#[cfg(test)]
pub(crate) mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use ropewalk_protocol::{InteractionId, Policy, RpcError, Run, RunId, RunStatus, ThreadId};

pub use actor::Job;
pub use attached::{AttachedClient, ConnectionId, Offer, Subscriber};
pub use bus::{Batch, Bus, Cursor, Wants};
pub use operations::{
    Answering, HeaderPatch, QueueEdit, RemarkRequest, Resume, Resumed, StartRequest, Started, StopTarget, SubmitRequest,
};
pub use rows::ThreadProjector;
pub use shared::{Shared, storage_error};
pub use thread::ThreadHandle;
pub use turn::Turn;

/// Finds threads, wakes them, and knows nothing of what they do.
pub struct Engine {
    shared: Arc<Shared>,
    threads: Mutex<HashMap<ThreadId, ThreadHandle>>,
    /// How many threads there are, asleep or not, counted once at the start.
    thread_count: AtomicU64,
}

impl Engine {
    /// An engine without a thread awake.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new(Self { shared, threads: Mutex::new(HashMap::new()), thread_count: AtomicU64::new(0) })
    }

    /// What all threads share.
    #[must_use]
    pub const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The handle of a thread, which is read from its rows when it is asleep.
    ///
    /// # Errors
    /// `notFound` for an unknown thread, `unavailable` when its rows cannot be read.
    pub fn thread(self: &Arc<Self>, id: &ThreadId) -> Result<ThreadHandle, RpcError> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = threads.get(id) {
            return Ok(handle.clone());
        }
        let state = rows::load(&*self.shared.store, id)
            .map_err(|error| storage_error(&error))?
            .ok_or_else(|| RpcError::not_found("thread", id))?;
        let handle = actor::spawn(self, state);
        threads.insert(id.clone(), handle.clone());
        Ok(handle)
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

    /// Brings every run that the last life of the daemon left under way to where it can go on, before new work is
    /// taken.
    ///
    /// # Errors
    /// When the index cannot be read. A thread that cannot be recovered is logged and left as it is.
    pub async fn sweep(self: &Arc<Self>) -> Result<usize, RpcError> {
        self.thread_count.store(lookup::thread_count(&self.shared)?, Ordering::Relaxed);
        let unfinished = lookup::threads_with_open_runs(&self.shared)?;
        for id in &unfinished {
            match self.thread(id) {
                Ok(thread) => {
                    if let Err(error) = thread.recover().await {
                        tracing::error!(thread = %id, %error, "this thread could not be recovered");
                    }
                }
                Err(error) => tracing::error!(thread = %id, %error, "this thread could not be read"),
            }
        }
        Ok(unfinished.len())
    }

    /// The thread a run belongs to.
    ///
    /// # Errors
    /// `notFound` for an unknown run.
    pub fn thread_of_run(self: &Arc<Self>, run_id: &RunId) -> Result<ThreadHandle, RpcError> {
        let thread_id = lookup::run(&self.shared, run_id)?.0.thread_id;
        self.thread(&thread_id)
    }

    /// A run as it was last written, asleep or not.
    ///
    /// # Errors
    /// `notFound` for an unknown run.
    pub fn run(&self, run_id: &RunId) -> Result<Run, RpcError> {
        lookup::run(&self.shared, run_id).map(|(run, _)| run)
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
        for thread in self.awake() {
            thread.park().await;
        }
    }
}
