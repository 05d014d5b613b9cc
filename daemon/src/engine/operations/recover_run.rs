//! Letting a paused run go on, and continuing one that has ended badly.

use ropewalk_protocol::{BranchId, ErrorDetail, Recovery, RpcError, RunId, RunRecovered, RunStatus};

use super::refusal;
use crate::{
    catalogue::Operation,
    domain::DomainError,
    engine::{ThreadHandle, Turn, lookup},
};

/// What is to be done about a run.
#[derive(Debug)]
pub struct Recovering {
    /// How: anything but a skip, which is of a branch.
    pub how: Recovery,
    /// The branch whose run is meant, where none is named: the one that is paused, else the last one if it ended badly.
    pub branch_id: BranchId,
    /// The run, where it is named.
    pub run_id: Option<RunId>,
    /// The operation.
    pub operation: Option<Operation>,
}

impl ThreadHandle {
    /// Lets a paused run go on under its id, or continues one that has ended badly by a new run.
    ///
    /// # Errors
    /// `notFound` for an unknown branch or run, `invalidState` for what [`Run.recovery`](ropewalk_protocol::Run::recovery)
    /// does not list, `unavailable`, also when no endpoint can be used.
    pub async fn recover_run(&self, recovering: Recovering) -> Result<RunRecovered, RpcError> {
        self.turn(move |turn| {
            let Recovering { how, branch_id, run_id, operation } = recovering;
            let meant = match run_id {
                Some(run_id) => run_id,
                None => run_of(turn, how, &branch_id)?,
            };
            let under_way = turn.state().runs.get(&meant).map(|state| state.run.state);
            let run_id = match under_way {
                Some(RunStatus::Paused) if how == Recovery::Resume => {
                    let header = turn.state().thread.clone();
                    turn.change.resume_run(&meant).map_err(|error| refusal(error, &header))?;
                    meant
                }
                Some(state) => return Err(busy(how, state)),
                None => continued(turn, how, &meant, operation.as_ref())?,
            };
            let run = turn.state().runs.get(&run_id).map(|state| state.run.clone());
            let run = run.ok_or_else(|| RpcError::not_found("run", &run_id))?;
            let answer = RunRecovered { run, replayed: false };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }
}

/// The run of a branch that is meant: the one under way, else the last one if it ended badly.
fn run_of(turn: &Turn<'_>, how: Recovery, branch_id: &BranchId) -> Result<RunId, RpcError> {
    let branch = turn.state().branches.get(branch_id).ok_or_else(|| RpcError::not_found("branch", branch_id))?;
    let ended = || branch.bad_end.as_ref().map(|end| end.run.run_id.clone());
    let message = "Nothing has ended badly on this branch, and nothing is paused there. Submit an input.";
    branch.branch.active_run_id.clone().or_else(ended).ok_or_else(|| refused(how, "idle", message))
}

/// Begins the run that continues one that has ended.
fn continued(
    turn: &mut Turn<'_>,
    how: Recovery,
    run_id: &RunId,
    operation: Option<&Operation>,
) -> Result<RunId, RpcError> {
    let mut branches = turn.state().branches.iter();
    let is_last = |end: &crate::domain::BadEnd| end.run.run_id == *run_id;
    let branch = branches.find(|(_, branch)| branch.bad_end.as_ref().is_some_and(is_last));
    let Some(branch_id) = branch.map(|(id, _)| id.clone()) else { return Err(not_the_last(turn, how, run_id)) };
    let operation_id = operation.map(|operation| operation.id.clone());
    turn.change.continue_run(how, &branch_id, operation_id).map_err(|error| match error {
        DomainError::NotRecoverable => not_so(turn, how, &branch_id),
        error => refusal(error, &turn.state().thread),
    })
}

/// Why a run cannot be continued that is not the last one of its branch, or has not ended badly.
fn not_the_last(turn: &Turn<'_>, how: Recovery, run_id: &RunId) -> RpcError {
    let mut queued = turn.state().branches.values().flat_map(|branch| &branch.queue);
    if queued.any(|input| input.begins_a_run() && input.entry.run_id == *run_id) {
        let message = "The run is queued: it begins when what goes before it has ended, and `run/skip` releases a queue \
                       that is held.";
        return refused(how, RunStatus::Queued.word(), message);
    }
    let run = match lookup::run(turn.shared, run_id) {
        Ok(run) if run.thread_id == turn.state().thread.thread_id => run,
        Ok(_) => return RpcError::not_found("run", run_id),
        Err(error) => return error,
    };
    if run.state == RunStatus::Completed {
        let message = "The run has completed: there is nothing to recover. Submit the next input.";
        return refused(how, run.state.word(), message);
    }
    let message =
        "A later run has begun on this branch since, and only the last one can be continued. Submit the input again.";
    refused(how, "superseded", message)
}

/// Why the last run of a branch cannot be continued in this way.
fn not_so(turn: &Turn<'_>, how: Recovery, branch_id: &BranchId) -> RpcError {
    let branch = turn.state().branches.get(branch_id);
    if let Some(active) = branch.and_then(|branch| branch.branch.active_run_id.as_ref()) {
        let state = turn.state().runs.get(active).map_or(RunStatus::Running, |state| state.run.state);
        return busy(how, state);
    }
    let end = branch.and_then(|branch| branch.bad_end.as_ref());
    let state = end.map_or("idle", |end| end.run.state.word());
    if how == Recovery::Rebase {
        let message = "Only an input whose parent is gone is rebased. `run/retry` gives the same input again, and \
                       `run/resume` goes on with what there is.";
        return refused(how, state, message);
    }
    let message = "The run's input is not in the chain: the message it was to follow is gone. `run/rebase` puts it on the \
                   head of its branch.";
    refused(how, "parentMissing", message)
}

fn busy(how: Recovery, state: RunStatus) -> RpcError {
    let message = match (how, state) {
        (_, RunStatus::Paused) => "The run is paused: `run/resume` lets it go on under its id, `run/stop` ends it.",
        _ => "A run is under way on this branch. Wait for its end, or stop it with `run/stop`.",
    };
    refused(how, state.word(), message)
}

/// The refusal to recover a run that is in another state than it has to be.
fn refused(how: Recovery, state: &str, message: &str) -> RpcError {
    const ENDED: [RunStatus; 3] = [RunStatus::Failed, RunStatus::Stopped, RunStatus::Interrupted];
    let mut expected: Vec<String> = match how {
        Recovery::Rebase => vec!["parentMissing".to_owned()],
        _ => ENDED.iter().map(|state| state.word().to_owned()).collect(),
    };
    if how == Recovery::Resume {
        expected.insert(0, RunStatus::Paused.word().to_owned());
    }
    RpcError::new(ErrorDetail::InvalidState { state: state.to_owned(), expected }, message)
}
