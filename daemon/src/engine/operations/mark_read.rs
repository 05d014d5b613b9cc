//! Saying that somebody has read a thread.

use ropewalk_protocol::{BranchId, RpcError, Seq, ThreadChanged};

use super::refusal;
use crate::{catalogue::Operation, engine::ThreadHandle};

impl ThreadHandle {
    /// Somebody has read what happened up to an event, on one branch or on all of them. The revision stays as it is.
    ///
    /// # Errors
    /// `notFound` for an unknown branch, `invalidParams {reason: after_the_end}`, `unavailable`.
    pub async fn mark_read(
        &self,
        branch_id: Option<BranchId>,
        seq: Seq,
        operation: Option<Operation>,
    ) -> Result<ThreadChanged, RpcError> {
        self.turn(move |turn| {
            let header = turn.state().thread.clone();
            if seq > header.seq {
                let last = header.seq;
                let message =
                    format!("seq is {seq}, but the last event of this thread is {last}. Name one that was read.");
                return Err(RpcError::invalid_params("/seq", "after_the_end", message));
            }
            turn.change.mark_read(branch_id, seq).map_err(|error| refusal(error, &header))?;
            let answer = ThreadChanged { thread: turn.state().thread.clone(), replayed: false };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }
}
