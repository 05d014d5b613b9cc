//! Saying that the person has seen something that waits.

use ropewalk_protocol::{AttentionId, AttentionNoted, RpcError};

use super::refusal;
use crate::{catalogue::Operation, engine::ThreadHandle};

impl ThreadHandle {
    /// The person has seen something that waits. Nothing else changes.
    ///
    /// # Errors
    /// `notFound` when it does not wait any more, `unavailable`.
    pub async fn attention_seen(
        &self,
        id: AttentionId,
        operation: Option<Operation>,
    ) -> Result<AttentionNoted, RpcError> {
        self.turn(move |turn| {
            let header = turn.state().thread.clone();
            turn.change.attention_seen(&id).map_err(|error| refusal(error, &header))?;
            let answer = AttentionNoted { attention_id: id, replayed: false };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }
}
