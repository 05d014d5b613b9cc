//! Taking threads up at the start: what the last life of the daemon left under way goes on before anybody is served.
//!
//! Mostly all threads are taken up before the first request. Where much of the logs has to be read, requests come while that
//! goes on: then a thread is taken up when its log has been read and somebody asks for it, and the rest of them at the end.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::future::{BoxFuture, FutureExt as _, Shared as SharedFuture};
use ropewalk_protocol::{InteractionId, RpcError, RunId, ThreadId};
use tokio::sync::watch;

use super::{Engine, lookup, starting, storage_error};
use crate::store::{LogName, keys};

/// What a request is about, as far as it matters at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    /// Nothing but what belongs to no thread.
    Documents,
    /// One thread.
    Thread(ThreadId),
    /// The thread of a run.
    Run(RunId),
    /// The thread of an interaction.
    Interaction(InteractionId),
    /// Any thread, or all of them.
    Everything,
}

/// Resolves when a thread has been taken up.
type Taken = SharedFuture<BoxFuture<'static, ()>>;

/// The threads that have been taken up, while not all of them are.
#[derive(Default)]
pub(super) struct TakingUp {
    is_under_way: AtomicBool,
    taken: Mutex<BTreeMap<ThreadId, Taken>>,
    over: watch::Sender<()>,
}

impl TakingUp {
    fn is_under_way(&self) -> bool {
        self.is_under_way.load(Ordering::Acquire)
    }

    /// Whether a thread has been taken up.
    fn has(&self, id: &ThreadId) -> bool {
        if !self.is_under_way() {
            return true;
        }
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.get(id).is_some_and(|taken| taken.peek().is_some())
    }

    fn end(&self) {
        self.is_under_way.store(false, Ordering::Release);
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.over.send_replace(());
    }
}

impl Engine {
    /// Whether there are threads that have not been taken up.
    #[must_use]
    pub fn is_taking_up(&self) -> bool {
        self.taking_up.is_under_way()
    }

    /// From now on threads are taken up one by one, until [`Engine::sweep`].
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn take_up_one_by_one(&self) -> Result<(), RpcError> {
        self.thread_count.store(lookup::thread_count(&self.shared)?, Ordering::Relaxed);
        self.taking_up.is_under_way.store(true, Ordering::Release);
        Ok(())
    }

    /// Resolves when what a request touches can be used: its thread's log has been read, before all others, and the thread
    /// was taken up. What is about more than one thread waits for all of them. Waits as long as that takes.
    ///
    /// # Errors
    /// `unavailable`, when the log cannot be read.
    pub async fn can_be_used(self: &Arc<Self>, touched: Touched) -> Result<(), RpcError> {
        let id = match touched {
            _ if !self.is_taking_up() => return Ok(()),
            Touched::Documents => return Ok(()),
            Touched::Thread(id) => Some(id),
            // What is not known yet may be in any log.
            Touched::Run(id) => lookup::run_row(&self.shared, &id).ok().map(|row| row.run.thread_id),
            Touched::Interaction(id) => lookup::interaction_home(&self.shared, &id).ok().map(|home| home.thread_id),
            Touched::Everything => None,
        };
        let Some(id) = id else { return self.all_can_be_used().await };
        let log = LogName::Thread(id.clone());
        self.shared.store.compared(Some(&log)).await.map_err(|error| storage_error(&error))?;
        self.taken(&id).await;
        Ok(())
    }

    /// Whether a thread may be used now. Requests have waited for that; what else comes must not find it as it was.
    ///
    /// # Errors
    /// `unavailable {reason: starting}`, before it has been taken up, and as for an unknown one.
    pub(super) fn is_usable(&self, id: &ThreadId) -> Result<(), RpcError> {
        if self.taking_up.has(id) {
            return Ok(());
        }
        let is_read = self.shared.store.compared(Some(&LogName::Thread(id.clone()))).now_or_never();
        let is_read_whole = is_read.is_some();
        match is_read.transpose().and_then(|_| self.shared.store.get(&keys::thread(id))) {
            Err(error) => Err(storage_error(&error)),
            Ok(None) if is_read_whole => Err(self.no_rows(id)),
            Ok(_) => Err(starting(None)),
        }
    }

    async fn all_can_be_used(&self) -> Result<(), RpcError> {
        let mut over = self.taking_up.over.subscribe();
        while self.is_taking_up() {
            // The sender lives as long as this engine.
            let _ = over.changed().await;
        }
        Ok(())
    }

    /// Takes a thread up, once however many ask.
    fn taken(self: &Arc<Self>, id: &ThreadId) -> Taken {
        let is_there = lookup::thread_exists(&self.shared, id);
        let mut taken = self.taking_up.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_taking_up() || !is_there {
            return std::future::ready(()).boxed().shared();
        }
        let begin = || {
            let (this, id) = (self.clone(), id.clone());
            // A task of its own: whoever asked may go, and it must not be done a second time.
            let task = tokio::spawn(async move { this.take_up(&id).await });
            async move { drop(task.await) }.boxed().shared()
        };
        taken.entry(id.clone()).or_insert_with(begin).clone()
    }

    async fn take_up(self: &Arc<Self>, id: &ThreadId) {
        if let Some(latest) = lookup::latest_id(&*self.shared.store) {
            self.shared.ids.not_before(latest);
        }
        match lookup::has_work(&self.shared, id) {
            Ok(true) => self.recover(id).await,
            Ok(false) => {}
            Err(error) => tracing::error!(thread = %id, %error, "this thread could not be read"),
        }
    }

    async fn recover(self: &Arc<Self>, id: &ThreadId) {
        match self.wake(id) {
            Ok(thread) => {
                if let Err(error) = thread.recover().await {
                    tracing::error!(thread = %id, %error, "this thread could not be recovered");
                }
            }
            Err(error) => tracing::error!(thread = %id, %error, "this thread could not be read"),
        }
    }

    /// Brings every run that the last life of the daemon left under way to where it can go on, before new work is
    /// taken; every thread but those that somebody has asked for already.
    ///
    /// # Errors
    /// When the index cannot be read. A thread that cannot be recovered is logged and left as it is.
    pub async fn sweep(self: &Arc<Self>) -> Result<usize, RpcError> {
        self.clear_tombstones().await?;
        self.thread_count.store(lookup::thread_count(&self.shared)?, Ordering::Relaxed);
        let unfinished = lookup::threads_with_open_runs(&self.shared)?;
        for id in &unfinished {
            if self.is_taking_up() {
                self.taken(id).await;
            } else {
                self.recover(id).await;
            }
        }
        self.taking_up.end();
        Ok(unfinished.len())
    }
}
