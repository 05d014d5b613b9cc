//! Submitting input, and releasing what is held.

use ropewalk_protocol::{
    BranchId, ErrorDetail, RpcError, RunSkipped, RunSubmitted, SubmitState, limits::MAX_MESSAGE_BYTES,
};

use super::refusal;
use crate::{
    catalogue::Operation,
    domain::Submission,
    engine::{ThreadHandle, Turn},
    tools::json::bytes_of,
};

/// Bytes of all that waits on one branch, as JSON: `queue/list` shows it in one line, and it is held in memory.
const QUEUE_BYTES: u64 = MAX_MESSAGE_BYTES - 32_768;

/// Bytes an entry of a queue has beside its input, with some to spare.
const ENTRY_BYTES: u64 = 1_024;

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
            check_room(turn, &request.submission)?;
            let submitted = turn.change.submit(request.submission).map_err(|error| refusal(error, &header))?;
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
            turn.answers(request.operation, &answer)?;
            Ok(answer)
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

/// An input that has to wait must fit behind what waits already. One alone always does.
fn check_room(turn: &Turn<'_>, submission: &Submission) -> Result<(), RpcError> {
    let waiting = turn.state().branches.get(&submission.branch_id).map(|branch| &branch.queue);
    let Some(waiting) = waiting.filter(|waiting| !waiting.is_empty()) else { return Ok(()) };
    let taken: u64 = waiting.iter().map(|input| bytes_of(&input.entry.input) + ENTRY_BYTES).sum();
    let wanted = taken + bytes_of(&submission.input) + ENTRY_BYTES;
    if wanted <= QUEUE_BYTES {
        return Ok(());
    }
    let detail = ErrorDetail::Overloaded { limit: QUEUE_BYTES, what: "queueBytes".to_owned() };
    let message = format!(
        "With this input {wanted} bytes would wait on this branch; at most {QUEUE_BYTES} are allowed. Wait until some of \
         it has begun."
    );
    Err(RpcError::retryable(detail, message, Some(1_000)))
}
