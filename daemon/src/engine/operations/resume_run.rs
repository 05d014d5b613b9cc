//! Letting a paused run go on.

use ropewalk_protocol::{BranchId, RpcError, RunId, RunResumed, RunStatus};

use super::{not_paused, refusal};
use crate::{
    catalogue::Operation,
    engine::{ThreadHandle, Turn, lookup},
};

impl ThreadHandle {
    /// Lets a paused run go on under its id: the one that is named, else the one of the branch.
    ///
    /// # Errors
    /// `notFound` for an unknown branch or run, `invalidState` for a run that is not paused, `unavailable`, also when no
    /// endpoint can be used.
    pub async fn resume_run(
        &self,
        branch_id: BranchId,
        run_id: Option<RunId>,
        operation: Option<Operation>,
    ) -> Result<RunResumed, RpcError> {
        self.turn(move |turn| {
            let run_id = match run_id {
                Some(run_id) => run_id,
                None => run_of(turn, &branch_id)?,
            };
            let header = turn.state().thread.clone();
            if !turn.state().runs.contains_key(&run_id) {
                return Err(not_under_way(turn, &run_id));
            }
            turn.change.resume_run(&run_id).map_err(|error| refusal(error, &header))?;
            let run = turn.state().runs.get(&run_id).map(|state| state.run.clone());
            let run = run.ok_or_else(|| RpcError::not_found("run", &run_id))?;
            let answer = RunResumed { run, replayed: false };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }
}

/// The run of a branch that could be meant: the one under way, else the last one that ended badly.
fn run_of(turn: &Turn<'_>, branch_id: &BranchId) -> Result<RunId, RpcError> {
    let branch = turn.state().branches.get(branch_id).ok_or_else(|| RpcError::not_found("branch", branch_id))?;
    let run_id = branch.branch.active_run_id.clone().or_else(|| branch.bad_end.clone());
    run_id.ok_or_else(|| not_paused("idle", "There is no run on this branch that could go on. Submit an input."))
}

/// Why a run cannot be resumed that is not under way: it waits in a queue, has ended, or is none of this thread.
fn not_under_way(turn: &Turn<'_>, run_id: &RunId) -> RpcError {
    let mut queued = turn.state().branches.values().flat_map(|branch| &branch.queue);
    if queued.any(|input| input.entry.run_id == *run_id) {
        let message = "The run is queued: it begins when what goes before it has ended, and `run/skip` releases a queue \
                       that is held.";
        return not_paused(RunStatus::Queued.word(), message);
    }
    match lookup::run(turn.shared, run_id) {
        Ok((run, _)) if run.thread_id == turn.state().thread.thread_id => {
            let message = format!(
                "The run has ended: it is {}. This build resumes paused runs only; submit the input again, or `run/skip` \
                 to leave it and release what waits.",
                run.state.word()
            );
            not_paused(run.state.word(), message)
        }
        Ok(_) => RpcError::not_found("run", run_id),
        Err(error) => error,
    }
}
