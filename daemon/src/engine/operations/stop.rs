//! Stopping a run: everything below it is settled in one record, and nobody is waited for.

use ropewalk_protocol::{
    BranchId, By, ByKind, ClientRef, Event, QueueChange, QueueChanged, RpcError, RunId, RunStopped,
};

use crate::{
    catalogue::Operation,
    engine::{ThreadHandle, Turn, lookup},
};

/// What is to be stopped.
#[derive(Clone, Debug)]
pub enum StopTarget {
    /// The active run of a branch; nothing, if there is none.
    Branch(BranchId),
    /// This run, whether it runs or waits in a queue.
    Run(RunId),
}

impl ThreadHandle {
    /// Stops a run. With nothing to stop nothing changes.
    ///
    /// # Errors
    /// `notFound` for an unknown branch or run, `unavailable`.
    pub async fn stop(
        &self,
        target: StopTarget,
        by: ClientRef,
        operation: Option<Operation>,
    ) -> Result<RunStopped, RpcError> {
        self.turn(move |turn| {
            match target {
                StopTarget::Branch(branch_id) => {
                    let Some(branch) = turn.state().branches.get(&branch_id) else {
                        return Err(RpcError::not_found("branch", &branch_id));
                    };
                    if let Some(run_id) = branch.branch.active_run_id.clone() {
                        stop_run(turn, &run_id, &by);
                    }
                }
                StopTarget::Run(run_id) if turn.state().runs.contains_key(&run_id) => stop_run(turn, &run_id, &by),
                StopTarget::Run(run_id) => {
                    if !drop_queued(turn, &run_id) {
                        // A run that has ended has nothing to stop; one that never was is an error.
                        lookup::run(turn.shared, &run_id)?;
                    }
                }
            }
            let answer = RunStopped { seq: turn.change.seq(), replayed: false };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }
}

/// Stops a run under way in the turn's record.
pub fn stop_run(turn: &mut Turn<'_>, run_id: &RunId, by: &ClientRef) {
    turn.settle_all_claimed(run_id);
    let bus = turn.bus;
    turn.change.stop_run(run_id, By::client(ByKind::Stop, by), &|item_id| bus.text(item_id));
}

fn drop_queued(turn: &mut Turn<'_>, run_id: &RunId) -> bool {
    let found = turn.state().branches.iter().find_map(|(id, branch)| {
        let input = branch.queue.iter().find(|input| input.entry.run_id == *run_id)?;
        let left = branch.branch.queue.length - 1;
        Some((id.clone(), input.entry.message_id.clone(), left, branch.branch.queue.held))
    });
    let Some((branch_id, message_id, length, held)) = found else { return false };
    turn.change.event(Event::QueueChanged(QueueChanged {
        branch_id,
        // A branch with nothing waiting is never held.
        held: held && length > 0,
        length,
        change: QueueChange::Removed,
        entry: None,
        message_id: Some(message_id),
        order: None,
    }));
    true
}
