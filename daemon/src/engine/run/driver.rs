//! The driver of one run: its steps and the calls between them, to its end.

use ropewalk_protocol::{By, ByKind, ItemBody, RunId, RunStatus};

use super::{
    desk::RunDesk,
    gate,
    getting_ready::{self, Told},
    loops,
    report::{Over, Reporter},
    shortfall::Shortfalls,
    step::{self, Stepped},
    stopped,
};
use crate::{
    domain::{CallEnd, ThreadState},
    tools::{
        CallFailure,
        path::{self, ModelToolCall},
    },
};

/// The driver of one run.
pub struct Driver {
    /// How it reports back.
    pub reporter: Reporter,
    /// The calls that the last driver of the run left unfinished.
    pub unfinished: Vec<ModelToolCall>,
}

impl Driver {
    /// Drives the run to its end.
    pub async fn work(mut self) {
        let calls = std::mem::take(&mut self.unfinished);
        // Being over is how most drivers end, and is nothing to tell.
        let _ = self.steps(calls).await;
    }

    async fn steps(&self, mut calls: Vec<ModelToolCall>) -> Result<(), Over> {
        let (mut shortfalls, mut told) = (Shortfalls::default(), Told::default());
        loop {
            if !calls.is_empty() {
                self.calls(calls).await?;
            }
            getting_ready::get_ready(&self.reporter, &mut told).await?;
            match step::step(&self.reporter, &mut shortfalls).await? {
                Stepped::Calls(next) => calls = next,
                Stepped::Ended => return Ok(()),
                Stepped::Again => calls = Vec::new(),
            }
        }
    }

    /// Works off calls in their order. The first one's record also has the answer that made them.
    async fn calls(&self, calls: Vec<ModelToolCall>) -> Result<(), Over> {
        let described = loops::described(&calls);
        for call in calls {
            if gate::parks_call(&self.reporter).await? {
                return Err(Over);
            }
            let desk = RunDesk::open(&self.reporter, &call).await?;
            let end = match desk.is_lost(&call) {
                true => path::failed(&call.name, &CallFailure::OutcomeUnknown),
                false => path::walk(&desk, &call).await,
            };
            let stopped_by = desk.stopped_by();
            self.complete(call, end, stopped_by, described.clone()).await?;
        }
        Ok(())
    }

    async fn complete(
        &self,
        call: ModelToolCall,
        end: CallEnd,
        stopped_by: Option<By>,
        described: String,
    ) -> Result<(), Over> {
        let digest = loops::digest_of(&call, &end);
        self.reporter
            .report(move |turn, run_id| {
                turn.change.call_came_to(run_id, digest);
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
                loops::look_for_a_circle(turn, run_id, &described);
            })
            .await
    }
}

/// The calls of a run's batch that have no result yet.
pub fn unfinished_calls(state: &ThreadState, run_id: &RunId) -> Vec<ModelToolCall> {
    let Some(run) = state.runs.get(run_id) else { return Vec::new() };
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
            veiled: None,
            index,
            total,
        }
    })
    .collect()
}
