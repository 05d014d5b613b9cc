//! Submitting input, and releasing what is held.

use ropewalk_protocol::{BranchId, RpcError, RunSkipped, RunSubmitted, SubmitState};

use super::{queue::check_room, refusal};
use crate::{
    catalogue::Operation,
    domain::{Submission, Submitted},
    engine::{ThreadHandle, Turn},
};

/// An input to submit, checked.
pub struct SubmitRequest {
    /// The input; the branch is the thread's original one unless given.
    pub submission: Submission,
    /// The operation.
    pub operation: Option<Operation>,
}

impl ThreadHandle {
    /// Stores an input, and begins its run on an idle branch.
    ///
    /// # Errors
    /// `notFound` for an unknown branch, `overloaded` for a queue with too many entries or bytes, `unavailable`.
    pub async fn submit(&self, request: SubmitRequest) -> Result<RunSubmitted, RpcError> {
        self.turn(move |turn| {
            let header = turn.state().thread.clone();
            let branch_id = request.submission.branch_id.clone();
            check_room(turn, &branch_id, &request.submission.input)?;
            let submitted = turn.change.submit(request.submission).map_err(|error| refusal(error, &header))?;
            answer(turn, request.operation, branch_id, submitted)
        })
        .await
    }

    /// Leaves a bad end as it is and lets what waits behind it begin.
    ///
    /// # Errors
    /// `notFound` for an unknown branch, `unavailable`.
    pub async fn skip(&self, branch_id: BranchId, operation: Option<Operation>) -> Result<RunSkipped, RpcError> {
        self.turn(move |turn| {
            if !turn.state().branches.contains_key(&branch_id) {
                return Err(RpcError::not_found("branch", &branch_id));
            }
            let (released, run_id) = turn.change.release(&branch_id);
            let run = run_id.and_then(|id| turn.state().runs.get(&id)).map(|state| state.run.clone());
            let answer = RunSkipped { run, released, replayed: false };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }
}

/// The answer to an input that has a run of its own, kept for a repeat of its operation.
pub(super) fn answer(
    turn: &mut Turn<'_>,
    operation: Option<Operation>,
    branch_id: BranchId,
    submitted: Submitted,
) -> Result<RunSubmitted, RpcError> {
    let answer = RunSubmitted {
        run_id: Some(submitted.run_id),
        message_id: submitted.message_id,
        branch_id,
        state: submitted.state,
        run: None,
        timed_out: None,
        replayed: false,
    };
    debug_assert_ne!(answer.state, SubmitState::Recorded, "only an aside is recorded without a run");
    turn.answers(operation, &answer)?;
    Ok(answer)
}
