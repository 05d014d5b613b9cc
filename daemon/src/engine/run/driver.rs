//! The driver of one run: its steps and the calls between them, to its end.

use ropewalk_protocol::{By, ByKind, ItemBody, RunStatus};

use super::{
    desk::RunDesk,
    report::{Over, Reporter},
    shortfall::Shortfalls,
    step::{self, Stepped},
    stopped,
};
use crate::{
    domain::CallEnd,
    tools::{
        CallFailure,
        path::{self, ModelToolCall},
    },
};

/// The driver of one run.
pub struct Driver(pub Reporter);

impl Driver {
    /// Drives the run to its end.
    pub async fn work(self) {
        // Being over is how most drivers end, and is nothing to tell.
        let _ = self.steps().await;
    }

    async fn steps(&self) -> Result<(), Over> {
        let mut calls = self.unfinished_calls().await?;
        let mut shortfalls = Shortfalls::default();
        loop {
            if !calls.is_empty() {
                self.calls(calls).await?;
            }
            match step::step(&self.0, &mut shortfalls).await? {
                Stepped::Calls(next) => calls = next,
                Stepped::Ended => return Ok(()),
            }
        }
    }

    /// Works off calls in their order. The first one's record also has the answer that made them.
    async fn calls(&self, calls: Vec<ModelToolCall>) -> Result<(), Over> {
        for call in calls {
            let desk = RunDesk::open(&self.0, &call).await?;
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
        self.0
            .report(move |turn, run_id| {
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
        self.0
            .report(|turn, run_id| {
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
}
