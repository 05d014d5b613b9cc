//! What a handler is called with: who asks, of whom, under which operation, and until when.

use std::{
    any::Any,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use ropewalk_protocol::{OperationId, Sender};
use tokio_util::sync::CancellationToken;

use super::{Host, StoredOperation, operations::Claim};
use crate::{daemon::Daemon, tools::servers::Place};

/// One request on its way to its handler. Clones are the same request.
pub struct Call<H: Host = Daemon> {
    /// The daemon.
    pub daemon: Arc<H>,
    /// Who asks.
    pub client: Arc<H::Client>,
    /// The method that was called.
    pub method: &'static str,
    /// The run on whose behalf it is asked; nothing when a client asks for itself.
    pub on_behalf: Option<Arc<OnBehalf>>,
    /// The operation, where the request names one. To be written into the journal with the change.
    pub operation: Option<Operation>,
    /// What was answered to this operation before. Set only for a request that waits (`run/submit` with `wait`), whose
    /// handler must not repeat the change but wait as it was asked to; any other repeat is answered without a handler.
    pub replay: Option<StoredOperation>,
    /// Cancelled when nobody waits for the answer any more: by `$/cancelRequest`, where the request waits, or with the
    /// end of the connection. A request that waits is dropped at its next await then, any other runs on to its end.
    pub cancel: CancellationToken,
    /// Whether the request is a member of a batch.
    pub in_batch: bool,
    pub(crate) until_answered: UntilAnswered,
    pub(crate) claim: Arc<Mutex<Option<Claim>>>,
}

/// The run that asks for something by one of its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnBehalf {
    /// Where it stands.
    pub place: Place,
    /// What it wants of whom it writes to, kept with a message (APP-88).
    pub intent: Option<String>,
}

impl OnBehalf {
    /// The sender of its messages. Only the daemon fills one in (APP-87).
    #[must_use]
    pub fn sender(self: &Arc<Self>) -> Sender {
        Sender {
            thread_id: self.place.thread_id.clone(),
            branch_id: self.place.branch_id.clone(),
            run_id: self.place.run_id.clone(),
            intent: self.intent.clone(),
        }
    }
}

/// An operation: a change a client can repeat without its happening twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its id.
    pub id: OperationId,
    /// A keyed digest of method and parameters.
    pub digest: String,
    /// The method.
    pub method: &'static str,
}

impl<H: Host> Call<H> {
    /// Keeps `guard` until the answer to this request stands in the control lane; dropped then, or when there will be
    /// no answer. What the connection's feed yields after the drop is sent after the answer.
    pub fn keep_until_answered(&self, guard: impl Any + Send) {
        self.until_answered.keep(Box::new(guard));
    }

    /// Has something begin once the answer to this request stands in the control lane.
    pub fn after_answer(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.keep_until_answered(AfterAnswer(Some(Box::pin(work))));
    }

    /// Says that the operation stands in the journal, while the handler goes on waiting: equal requests that came
    /// meanwhile are answered from there from now on. Without it they wait until the handler has returned.
    pub fn committed(&self) {
        let claim = self.claim.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(claim);
    }
}

impl<H: Host> Clone for Call<H> {
    fn clone(&self) -> Self {
        Self {
            daemon: self.daemon.clone(),
            client: self.client.clone(),
            method: self.method,
            on_behalf: self.on_behalf.clone(),
            operation: self.operation.clone(),
            replay: self.replay.clone(),
            cancel: self.cancel.clone(),
            in_batch: self.in_batch,
            until_answered: self.until_answered.clone(),
            claim: self.claim.clone(),
        }
    }
}

impl<H: Host> fmt::Debug for Call<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.method)
            .field("operation", &self.operation)
            .field("in_batch", &self.in_batch)
            .finish_non_exhaustive()
    }
}

/// Work that begins when this is dropped.
struct AfterAnswer(Option<BoxFuture<'static, ()>>);

impl Drop for AfterAnswer {
    fn drop(&mut self) {
        if let Some(work) = self.0.take() {
            tokio::spawn(work);
        }
    }
}

/// What is kept until the answer is queued.
#[derive(Clone, Default)]
pub(crate) struct UntilAnswered(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    guards: Vec<Box<dyn Any + Send>>,
    is_answered: bool,
}

impl UntilAnswered {
    fn keep(&self, guard: Box<dyn Any + Send>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.is_answered {
            kept.guards.push(guard);
        }
    }

    /// The answer is queued, or there will be none.
    pub(crate) fn release(&self) {
        let guards = {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.is_answered = true;
            std::mem::take(&mut kept.guards)
        };
        drop(guards);
    }
}
