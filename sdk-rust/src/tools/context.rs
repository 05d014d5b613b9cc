//! What a handler knows of the call it answers, and how it hears that it may stop.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use ropewalk_protocol::{CallId, InteractionId, RunId, ThreadId, Timestamp, ToolCallRequest, ToolProgressParams};
use tokio_util::sync::CancellationToken;

/// At most so often is progress sent; what comes sooner is dropped, so that a tight loop fills no queue.
const PROGRESS_PAUSE: Duration = Duration::from_millis(10);
/// The wire's limit of a progress message.
const PROGRESS_CHARACTERS: usize = 500;

/// The call a handler answers. Cheap to clone; may outlive the call, and then does nothing.
#[derive(Clone)]
pub struct ToolContext {
    inner: Arc<Inner>,
}

struct Inner {
    request: ToolCallRequest,
    control: CallControl,
    last_progress: Mutex<Option<Instant>>,
}

/// What connects a context to the world: how to stop it and where its progress goes.
#[derive(Clone)]
pub(crate) struct CallControl {
    pub(crate) cancelled: CancellationToken,
    pub(crate) progress: Arc<dyn Fn(ToolProgressParams) + Send + Sync>,
}

impl ToolContext {
    pub(crate) fn new(mut request: ToolCallRequest, control: CallControl) -> Self {
        // The handler has them already, and they may be large.
        request.arguments = None;
        Self { inner: Arc::new(Inner { request, control, last_progress: Mutex::new(None) }) }
    }

    /// The thread.
    #[must_use]
    pub fn thread_id(&self) -> &ThreadId {
        &self.inner.request.thread_id
    }

    /// The run.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        &self.inner.request.run_id
    }

    /// The call: the same however often it is offered, which makes it a good key for effects outside.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.inner.request.call_id
    }

    /// The interaction that carries the call.
    #[must_use]
    pub fn interaction_id(&self) -> &InteractionId {
        &self.inner.request.interaction_id
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.inner.request.tool
    }

    /// The tool's namespace.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.inner.request.namespace.as_deref()
    }

    /// The call ends after this long without a result or [`progress`](Self::progress).
    #[must_use]
    pub fn silence(&self) -> Duration {
        Duration::from_millis(self.inner.request.silence_ms)
    }

    /// The call ends at this moment whatever happens.
    #[must_use]
    pub fn deadline_at(&self) -> Option<Timestamp> {
        self.inner.request.deadline_at
    }

    /// Shows life: what is being done (at most 500 characters, the rest is cut) and how far it has come, from 0 to 1.
    /// The silence of the call starts anew.
    ///
    /// Never waits and never fails. At most 100 a second are sent, what is more is dropped.
    pub fn progress(&self, message: &str, fraction: impl Into<Option<f64>>) {
        if self.is_cancelled() || !self.may_send_progress() {
            return;
        }
        let message: String = message.chars().take(PROGRESS_CHARACTERS).collect();
        (self.inner.control.progress)(ToolProgressParams {
            interaction_id: self.inner.request.interaction_id.clone(),
            message: (!message.is_empty()).then_some(message),
            fraction: fraction.into().filter(|fraction| fraction.is_finite()).map(|fraction| fraction.clamp(0.0, 1.0)),
        });
    }

    fn may_send_progress(&self) -> bool {
        let mut last = self.inner.last_progress.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if last.is_some_and(|last| now.duration_since(last) < PROGRESS_PAUSE) {
            return false;
        }
        *last = Some(now);
        true
    }

    /// Whether nobody waits for the result any more: the run was stopped, the time is up, another answered, or the
    /// client was closed.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.control.cancelled.is_cancelled()
    }

    /// Resolves when nobody waits for the result any more; never, if the call ends with its result.
    pub async fn cancelled(&self) {
        self.inner.control.cancelled.cancelled().await;
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext").field("request", &self.inner.request).finish_non_exhaustive()
    }
}
