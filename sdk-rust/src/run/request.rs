//! Input on its way: how it is to be run, and the three ways to follow it.

use std::{
    fmt,
    future::{IntoFuture, poll_fn},
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures::{FutureExt, Stream, future::BoxFuture};
use ropewalk_protocol::{
    BranchId, EndpointId, MessageId, Mode, OperationId, RunId, RunSubmit, RunSubmitParams, RunSubmitted, Unattended,
};
use schemars::JsonSchema;
use serde_json::Value;

use super::{Input, Run, RunEvent, RunResult, event::Picker};
use crate::{Error, Thread, ids};

/// Input that is not yet submitted. Three ways on:
///
/// * await it: the [`RunResult`] when the run has ended;
/// * [`stream`](Self::stream): its events;
/// * [`submit`](Self::submit): the [`Run`], to follow or stop it.
///
/// Dropping any of these does not stop the run.
#[must_use = "input is submitted by awaiting the builder, or with `stream` or `submit`"]
pub struct RunRequest {
    thread: Thread,
    params: RunSubmitParams,
    /// Whether the operation may have begun before this process knew of it.
    is_known: bool,
}

impl RunRequest {
    pub(crate) fn new(thread: Thread, input: Input) -> Self {
        let params = RunSubmitParams {
            thread_id: thread.id().clone(),
            branch_id: None,
            input: input.0,
            mode: None,
            from_message_id: None,
            expected_run_id: None,
            title: None,
            endpoint_id: None,
            output_schema: None,
            unattended: None,
            wait: None,
            wait_timeout_ms: None,
            operation_id: Some(ids::fresh().into()),
        };
        Self { thread, params, is_known: false }
    }

    /// The branch; the original one unless given.
    pub fn branch(mut self, branch: impl Into<BranchId>) -> Self {
        self.params.branch_id = Some(branch.into());
        self
    }

    /// How the input enters the branch; `queue` unless given. `fork`, `replace` and `steer` have words of their own.
    pub const fn mode(mut self, mode: Mode) -> Self {
        self.params.mode = Some(mode);
        self
    }

    /// Runs on a new branch that follows a message of any branch; the head of [`branch`](Self::branch) if none is given.
    /// [`Run::branch_id`] says which branch it is.
    pub fn fork(mut self, from: impl Into<Option<MessageId>>) -> Self {
        self.params.mode = Some(Mode::Fork);
        self.params.from_message_id = from.into();
        self
    }

    /// Takes the place of an earlier user message: what followed that leaves the chain. On a busy branch it waits its turn
    /// as any input does. Fails as a conflict when the message is not in the chain of the branch any more.
    pub fn replace(mut self, message: impl Into<MessageId>) -> Self {
        self.params.mode = Some(Mode::Replace);
        self.params.from_message_id = Some(message.into());
        self
    }

    /// Joins a run under way at its next step; fails when another or none is under way. What is followed is that run.
    pub fn steer(mut self, run: impl Into<RunId>) -> Self {
        self.params.mode = Some(Mode::Steer);
        self.params.expected_run_id = Some(run.into());
        self
    }

    /// The title of a fork's branch.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.params.title = Some(title.into());
        self
    }

    /// The endpoint of this run.
    pub fn endpoint(mut self, endpoint: impl Into<EndpointId>) -> Self {
        self.params.endpoint_id = Some(endpoint.into());
        self
    }

    /// The type of the final answer, which [`RunResult::output`] then gives. The model may mend an answer that does not
    /// fit twice; then the run fails with `outputInvalid`.
    pub fn output<T: JsonSchema>(self) -> Self {
        self.output_schema(crate::tools::output_schema::<T>())
    }

    /// JSON Schema of the final answer.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.params.output_schema = Some(schema);
        self
    }

    /// What happens to a question nobody can answer; `decline` unless given.
    pub const fn unattended(mut self, unattended: Unattended) -> Self {
        self.params.unattended = Some(unattended);
        self
    }

    /// Makes a repeat recognisable: the same id with the same input is one run, however often it is submitted. A fresh
    /// one unless given.
    pub fn operation_id(mut self, operation: impl Into<OperationId>) -> Self {
        self.params.operation_id = Some(operation.into());
        self.is_known = true;
        self
    }

    /// Submits the input and leaves it at that: for asides, and for runs nobody follows.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call).
    pub async fn send(self) -> Result<RunSubmitted, Error> {
        self.thread.client.call::<RunSubmit>(self.params).await
    }

    /// Submits the input; durable when this resolves. The [`Run`] follows what comes of it.
    ///
    /// # Errors
    /// As [`Client::call`](crate::Client::call), and [`Error::NoRun`] for an aside that was just recorded.
    pub async fn submit(self) -> Result<Run, Error> {
        // Reading begins before the request, so that no event of the run is missed.
        let mut events = self.thread.events();
        let submitted = self.thread.client.call::<RunSubmit>(self.params).await?;
        let RunSubmitted { run_id, message_id, branch_id, replayed, .. } = submitted;
        let Some(run_id) = run_id else { return Err(Error::NoRun { message_id }) };
        // A fresh operation that is replayed was asked for again over another connection: its events are all behind the
        // place where reading began.
        if replayed && self.is_known {
            // The run may have begun, and even ended, before this process knew of it.
            events.start_after(0);
        }
        Ok(Run::new(self.thread, events, Picker::new(run_id, branch_id, message_id)))
    }

    /// The run's events, ending after [`RunEvent::Completed`]. The input is submitted when the stream is first polled.
    pub fn stream(self) -> RunStream {
        RunStream { state: State::Submitting(self.submit().boxed()) }
    }
}

impl IntoFuture for RunRequest {
    type Output = Result<RunResult, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        async move { self.submit().await?.result().await }.boxed()
    }
}

/// The events of a run that is submitted when they are first asked for. As [`Run`], without its id at hand.
#[must_use = "nothing is submitted until the stream is polled"]
pub struct RunStream {
    state: State,
}

enum State {
    Submitting(BoxFuture<'static, Result<Run, Error>>),
    Following(Box<Run>),
    Ended,
}

impl RunStream {
    /// The next event of the run; none after its end.
    ///
    /// # Errors
    /// As [`RunRequest::submit`] and [`Run::next`]. Nothing comes after an error.
    pub async fn next(&mut self) -> Option<Result<RunEvent, Error>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RunEvent, Error>>> {
        if let State::Submitting(submit) = &mut self.state {
            match ready!(submit.poll_unpin(cx)) {
                Ok(run) => self.state = State::Following(Box::new(run)),
                Err(error) => {
                    self.state = State::Ended;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        match &mut self.state {
            State::Following(run) => run.poll(cx),
            State::Submitting(_) | State::Ended => Poll::Ready(None),
        }
    }
}

impl Stream for RunStream {
    type Item = Result<RunEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl fmt::Debug for RunRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunRequest").field("params", &self.params).finish_non_exhaustive()
    }
}

impl fmt::Debug for RunStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunStream").finish_non_exhaustive()
    }
}
