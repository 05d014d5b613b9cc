//! A run that was submitted, as long as somebody follows it.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures::Stream;
use ropewalk_protocol::{BranchId, MessageId, RunId, RunStop, RunStopParams, RunStopped};

use super::{RunEvent, RunResult, event::Picker};
use crate::{Error, EventStream, Thread};

/// A run that was submitted: a stream of its events that ends after [`RunEvent::Completed`]. A lost connection, or a daemon
/// that is restarted, is waited for.
///
/// Dropping it stops following the run and nothing else; [`Run::stop`] stops the run.
#[must_use = "dropping the handle stops following the run"]
pub struct Run {
    thread: Thread,
    events: EventStream,
    picker: Picker,
    ended: bool,
}

impl Run {
    pub(super) fn new(thread: Thread, events: EventStream, picker: Picker) -> Self {
        Self { thread, events, picker, ended: false }
    }

    /// A run that goes on.
    pub(crate) fn resumed(thread: Thread, events: EventStream, run: ropewalk_protocol::Run) -> Self {
        Self::new(thread, events, Picker::new(run.run_id, run.branch_id, run.message_id))
    }

    /// The run's id.
    #[must_use]
    pub const fn id(&self) -> &RunId {
        &self.picker.run_id
    }

    /// The branch it runs on.
    #[must_use]
    pub const fn branch_id(&self) -> &BranchId {
        &self.picker.branch_id
    }

    /// The message its input is, or becomes.
    #[must_use]
    pub const fn message_id(&self) -> &MessageId {
        &self.picker.message_id
    }

    /// The next event of the run; none after its end.
    ///
    /// # Errors
    /// [`Error::RunRemoved`], what ends an [`EventStream`], and what reading the log may meet. Nothing comes after an error.
    pub async fn next(&mut self) -> Option<Result<RunEvent, Error>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Waits until the run has ended.
    ///
    /// # Errors
    /// As [`Run::next`]. A run that fails is a result.
    pub async fn result(mut self) -> Result<RunResult, Error> {
        while let Some(event) = self.next().await {
            if let RunEvent::Completed(result) = event? {
                return Ok(*result);
            }
        }
        Err(Error::Disconnected)
    }

    /// Stops the run; what follows is its end. Stopping a run that has ended does nothing.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub fn stop(&self) -> impl Future<Output = Result<RunStopped, Error>> + Send + use<> {
        let params = RunStopParams {
            thread_id: self.thread.id().clone(),
            branch_id: Some(self.picker.branch_id.clone()),
            run_id: Some(self.picker.run_id.clone()),
            operation_id: None,
        };
        // The stream of events in `self` cannot be shared between threads, and the future may be sent to another.
        let client = self.thread.client.clone();
        async move { client.call::<RunStop>(params).await }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RunEvent, Error>>> {
        while !self.ended {
            let picked = match ready!(self.events.poll(cx)) {
                Some(Ok(event)) => self.picker.pick(&event),
                Some(Err(error)) => Some(Err(error)),
                None => {
                    self.ended = true;
                    None
                }
            };
            if let Some(picked) = picked {
                self.ended |= matches!(picked, Err(_) | Ok(RunEvent::Completed(_)));
                return Poll::Ready(Some(picked));
            }
        }
        Poll::Ready(None)
    }
}

impl Stream for Run {
    type Item = Result<RunEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("id", &self.picker.run_id).field("ended", &self.ended).finish_non_exhaustive()
    }
}
