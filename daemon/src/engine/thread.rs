//! The handle of a thread: how everybody else has its owner do something.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use ropewalk_protocol::{ErrorDetail, RpcError, ThreadId};
use tokio::sync::{mpsc, oneshot};

use super::{
    Bus, Engine, Job, Shared, Turn,
    actor::{Work, no_thread},
};

/// The handle of a thread that is awake. Cheap to clone; a thread stays awake while anybody but the engine has one.
#[derive(Clone)]
pub struct ThreadHandle {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) id: ThreadId,
    pub(super) jobs: mpsc::Sender<Job>,
    pub(super) bus: Arc<Bus>,
    pub(super) shared: Arc<Shared>,
    pub(super) engine: Arc<Engine>,
    /// Set for good when the thread has been deleted.
    pub(super) is_deleted: AtomicBool,
}

impl ThreadHandle {
    /// The thread's id.
    #[must_use]
    pub fn id(&self) -> &ThreadId {
        &self.inner.id
    }

    /// The hot end of its events.
    #[must_use]
    pub fn bus(&self) -> &Arc<Bus> {
        &self.inner.bus
    }

    /// What all threads share.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.inner.shared
    }

    /// Whether the thread has been deleted: nothing more comes of it, and nothing can be asked of it.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.inner.is_deleted.load(Ordering::SeqCst)
    }

    pub(super) fn is_last(&self) -> bool {
        Arc::strong_count(&self.inner) <= 2
    }

    /// Has the thread's owner do something. Resolves when what it wrote is durable, with what it returned.
    ///
    /// The job must look before it writes: one that refuses must have written nothing.
    ///
    /// # Errors
    /// What the job refuses with, `unavailable` when its record could not be stored, `notFound` when the thread has been
    /// deleted.
    pub async fn turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>) -> Result<T, RpcError> + Send + 'static,
    ) -> Result<T, RpcError> {
        self.ask(Job::new, work).await
    }

    /// Has the thread's owner look at the thread as it is stored. Other jobs that cannot be stored fail themselves, and not
    /// this one: reading stays possible while nothing can be written (ruling 39).
    ///
    /// # Errors
    /// What the job refuses with, `unavailable` when the thread cannot be read, `notFound` when it has been deleted.
    pub async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Turn<'_>) -> Result<T, RpcError> + Send + 'static,
    ) -> Result<T, RpcError> {
        self.ask(Job::looking, move |turn| work(turn)).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        make: impl FnOnce(Work) -> Job,
        work: impl FnOnce(&mut Turn<'_>) -> Result<T, RpcError> + Send + 'static,
    ) -> Result<T, RpcError> {
        let (reply, answer) = oneshot::channel();
        let job = make(Box::new(move |turn| {
            let outcome = turn.and_then(work);
            Box::new(move |durable: Result<(), RpcError>| {
                // Whoever asked may have gone; what was done stays done.
                let _ = reply.send(durable.and(outcome));
            })
        }));
        self.inner.jobs.send(job).await.map_err(|_| self.ended())?;
        answer.await.map_err(|_| fault())?
    }

    /// Has the thread's owner do something, without waiting for it to be durable. In order with other jobs of the same
    /// caller.
    pub async fn post(&self, work: impl FnOnce(&mut Turn<'_>) + Send + 'static) {
        let job = Job::new(move |turn| {
            let done = turn.map(work);
            Box::new(|durable: Result<(), RpcError>| {
                let failed = durable.and(done).err();
                if let Some(error) = failed.filter(|error| !is_about_nothing(error)) {
                    tracing::error!(%error, "something nobody waited for could not be stored");
                }
            })
        });
        // A thread that ends has nothing left to be told.
        let _ = self.inner.jobs.send(job).await;
    }

    /// Why a thread takes no jobs any more.
    fn ended(&self) -> RpcError {
        if self.is_deleted() { no_thread(self.id()) } else { asleep() }
    }
}

/// Whether a job came to nothing because its thread was deleted, which is nothing to tell.
fn is_about_nothing(error: &RpcError) -> bool {
    matches!(error.data.detail, ErrorDetail::NotFound { .. })
}

/// What the daemon has done wrong is in its log.
pub(super) fn fault() -> RpcError {
    let detail = ErrorDetail::Internal { reference: "thread".to_owned() };
    RpcError::new(detail, "A fault of the daemon ended this request. Nothing of it was stored.")
}

fn asleep() -> RpcError {
    let detail = ErrorDetail::ShuttingDown { grace_ms: 0 };
    RpcError::retryable(detail, "The daemon is stopping. Connect again and repeat the request.", Some(1_000))
}
