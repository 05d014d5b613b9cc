//! The driver of one run: what it is doing, and how it reports.

use std::sync::{Arc, Mutex, PoisonError};

use ropewalk_protocol::{By, ByKind, ItemBody, RpcError, RunId, RunOutcome, RunStatus};

use super::{
    desk::RunDesk,
    step::{self, Stepped},
    stopped,
};
use crate::{
    domain::CallEnd,
    engine::{Shared, ThreadHandle, Turn},
    tools::{
        CallFailure,
        path::{self, ModelToolCall},
    },
};

/// The run has ended, was taken up by another driver, or could not be stored: this driver has nothing left to do.
#[derive(Clone, Copy, Debug)]
pub struct Over;

type Staged = Box<dyn FnOnce(&mut Turn<'_>) + Send>;

/// The driver of one run.
pub struct Driver {
    thread: ThreadHandle,
    run_id: RunId,
    generation: u64,
    staged: Mutex<Vec<Staged>>,
}

impl Driver {
    /// A driver that has not begun.
    pub fn new(thread: ThreadHandle, run_id: RunId, generation: u64) -> Self {
        Self { thread, run_id, generation, staged: Mutex::default() }
    }

    /// The run's thread.
    pub const fn thread(&self) -> &ThreadHandle {
        &self.thread
    }

    /// The run.
    pub const fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// What all threads share.
    pub fn shared(&self) -> &Arc<Shared> {
        self.thread.shared()
    }

    /// Drives the run to its end.
    pub async fn work(self) {
        // Being over is how most drivers end, and is nothing to tell.
        let _ = self.steps().await;
    }

    async fn steps(&self) -> Result<(), Over> {
        let mut calls = self.unfinished_calls().await?;
        loop {
            if !calls.is_empty() {
                self.calls(calls).await?;
            }
            match step::step(self).await? {
                Stepped::Calls(next) => calls = next,
                Stepped::Ended => return Ok(()),
            }
        }
    }

    /// Works off calls in their order. The first one's record also has the answer that made them.
    async fn calls(&self, calls: Vec<ModelToolCall>) -> Result<(), Over> {
        for call in calls {
            let desk = RunDesk::open(self, &call).await?;
            let end = match desk.is_lost(&call) {
                true => path::failed(&call.name, &CallFailure::OutcomeUnknown),
                false => path::walk(&desk, &call).await,
            };
            let stopped_by = desk.stopped_by();
            self.complete(call, end, stopped_by).await?;
        }
        Ok(())
    }

    async fn complete(&self, call: ModelToolCall, end: CallEnd, stopped_by: Option<By>) -> Result<(), Over> {
        self.report(move |turn, run_id| {
            turn.change.complete_call(run_id, &call.call_id, end);
            if let Some(by) = stopped_by {
                let by = By { kind: ByKind::Stop, ..by };
                turn.finish_run(run_id, stopped(by, Some("declined")));
                return;
            }
            let waiting = turn.state().runs.get(run_id).is_some_and(|run| run.run.state == RunStatus::Waiting);
            if waiting {
                turn.change.run_waits(run_id, None);
            }
        })
        .await
    }

    /// The calls of a batch that the last driver of this run left unfinished.
    async fn unfinished_calls(&self) -> Result<Vec<ModelToolCall>, Over> {
        self.report(|turn, run_id| {
            let Some(run) = turn.state().runs.get(run_id) else { return Vec::new() };
            let Some(batch) = &run.batch else { return Vec::new() };
            let total = batch.calls.len() as u64;
            let open = batch.calls.iter().zip(1..).filter(|(call, _)| !call.done);
            open.map(|(call, index)| {
                let shown = run.open_items.get(&call.call.item_id).map(|(_, item)| &item.body);
                let arguments = match shown {
                    Some(ItemBody::ToolCall(item)) => item.arguments.to_string(),
                    _ => String::new(),
                };
                ModelToolCall {
                    call_id: call.call.call_id.clone(),
                    name: call.call.name.clone(),
                    arguments: call.call.raw_arguments.clone().unwrap_or(arguments),
                    index,
                    total,
                }
            })
            .collect()
        })
        .await
    }

    /// Leaves something to be written down with the next report: nobody can see it before.
    pub fn stage(&self, work: impl FnOnce(&mut Turn<'_>, &RunId) + Send + 'static) {
        let run_id = self.run_id.clone();
        let staged: Staged = Box::new(move |turn| work(turn, &run_id));
        self.staged.lock().unwrap_or_else(PoisonError::into_inner).push(staged);
    }

    /// Has the thread's owner write something down, after what is staged and in the same record. Resolves when it is
    /// durable.
    pub async fn report<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>, &RunId) -> T + Send + 'static,
    ) -> Result<T, Over> {
        let staged = std::mem::take(&mut *self.staged.lock().unwrap_or_else(PoisonError::into_inner));
        let (run_id, generation) = (self.run_id.clone(), self.generation);
        let reported = self.thread.turn(move |turn| {
            if !turn.live.is_current(&run_id, generation) {
                return Err(outdated());
            }
            for part in staged {
                part(turn);
            }
            Ok(work(turn, &run_id))
        });
        reported.await.map_err(|_| Over)
    }

    /// Looks at the thread, or decides something that is not written down yet. What is staged stays staged.
    pub async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>, &RunId) -> T + Send + 'static,
    ) -> Result<T, Over> {
        let (run_id, generation) = (self.run_id.clone(), self.generation);
        let looked = self.thread.turn(move |turn| {
            if !turn.live.is_current(&run_id, generation) {
                return Err(outdated());
            }
            Ok(work(turn, &run_id))
        });
        looked.await.map_err(|_| Over)
    }

    /// Like [`Self::report`], without waiting, and without what is staged.
    pub async fn post(&self, work: impl FnOnce(&mut Turn<'_>, &RunId) + Send + 'static) {
        let (run_id, generation) = (self.run_id.clone(), self.generation);
        let posted = self.thread.post(move |turn| {
            if turn.live.is_current(&run_id, generation) {
                work(turn, &run_id);
            }
        });
        posted.await;
    }

    /// Ends the run.
    pub async fn finish(&self, outcome: RunOutcome) -> Result<(), Over> {
        self.report(move |turn, run_id| turn.finish_run(run_id, outcome)).await
    }
}

fn outdated() -> RpcError {
    let detail = ropewalk_protocol::ErrorDetail::Cancelled { reason: Some("outdated".to_owned()) };
    RpcError::new(detail, "The run is not driven from here any more.")
}
