//! Submitting an aside or a steer: input for the run under way.

use ropewalk_protocol::{ErrorDetail, RpcError, RunId, RunStatus, RunSubmitted};

use super::{queue::check_room, read::shown_run, refusal};
use crate::{
    catalogue::Operation,
    domain::{DomainError, Remark},
    engine::{ThreadHandle, Turn, lookup},
};

/// A remark to submit, checked.
pub struct RemarkRequest {
    /// The remark.
    pub remark: Remark,
    /// The operation.
    pub operation: Option<Operation>,
}

impl ThreadHandle {
    /// Stores an aside or a steer: for the next step boundary of the run under way; an aside at once where nothing runs.
    ///
    /// # Errors
    /// `notFound` for an unknown branch, `overloaded` for a queue with too many entries or bytes, `unavailable`; for a
    /// steer `conflict` with the run under way where it is another one, and `invalidState` where there is none.
    pub async fn remark(&self, request: RemarkRequest) -> Result<RunSubmitted, RpcError> {
        self.turn(move |turn| {
            let RemarkRequest { remark, operation } = request;
            let (branch_id, steers) = (remark.branch_id.clone(), remark.steers.clone());
            let branch = turn.state().branches.get(&branch_id);
            if branch.is_some_and(|branch| branch.branch.active_run_id.is_some()) {
                check_room(turn, &branch_id, &remark.input)?;
            }
            let remarked = match turn.change.remark(remark) {
                Ok(remarked) => remarked,
                Err(DomainError::OtherRun(active)) => return Err(other_run(turn, &active)),
                Err(DomainError::NothingToSteer) => return Err(nothing_to_steer(&state_of(turn, steers.as_ref()))),
                Err(error) => return Err(refusal(error, &turn.state().thread)),
            };
            let answer = RunSubmitted {
                run_id: remarked.run_id,
                message_id: remarked.message_id,
                branch_id,
                state: remarked.state,
                run: None,
                timed_out: None,
                replayed: false,
            };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }
}

/// The refusal to steer another run than the one under way.
fn other_run(turn: &Turn<'_>, active: &RunId) -> RpcError {
    let run = turn.state().runs.get(active).map(|state| shown_run(turn.live, turn.state(), &state.run));
    let current = run.and_then(|run| serde_json::to_value(run).ok());
    let message = format!(
        "Another run is under way on this branch: {active}. Name it as expectedRunId if the input is meant for it too, or \
         submit with mode queue or aside."
    );
    RpcError::new(ErrorDetail::Conflict { current_revision: None, current }, message)
}

/// The refusal to steer where nothing runs.
pub(super) fn nothing_to_steer(state: &str) -> RpcError {
    let expected = [RunStatus::Running, RunStatus::Waiting].map(|state| state.word().to_owned());
    let detail = ErrorDetail::InvalidState { state: state.to_owned(), expected: expected.into() };
    let message = "Nothing runs on this branch, so there is nothing to steer. Submit with mode queue or aside.";
    RpcError::new(detail, message)
}

/// The state of the run a steer was meant for, as far as it is one of this thread.
fn state_of(turn: &Turn<'_>, run_id: Option<&RunId>) -> String {
    let run = run_id.and_then(|run_id| lookup::run(turn.shared, run_id).ok());
    let own = run.filter(|run| run.thread_id == turn.state().thread.thread_id);
    own.map_or("idle", |run| run.state.word()).to_owned()
}
