//! Stopping a run: everything below it is settled in one record, and nobody is waited for.

use ropewalk_protocol::{BranchId, By, ByKind, ClientRef, RpcError, RunId, RunStopped};

use crate::{
    catalogue::Operation,
    engine::{ThreadHandle, Turn, lookup, run::stopped},
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
                    if !turn.change.drop_queued(&run_id) {
                        // A run that has ended has nothing to stop; one that never was is an error.
                        let known = lookup::run_row(turn.shared, &run_id)?.run;
                        if known.thread_id != turn.state().thread.thread_id {
                            return Err(RpcError::not_found("run", &run_id));
                        }
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
fn stop_run(turn: &mut Turn<'_>, run_id: &RunId, by: &ClientRef) {
    turn.finish_run(run_id, stopped(By::client(ByKind::Stop, by), None));
}
