//! Changing a thread's header.

use ropewalk_protocol::{EndpointId, Patch, RpcError, ThreadChanged};

use super::refusal;
use crate::{catalogue::Operation, engine::ThreadHandle};

/// A change of a thread's header, checked.
#[derive(Clone, Debug, Default)]
pub struct HeaderPatch {
    /// The revision it is based on.
    pub expected_revision: Option<u64>,
    /// Its title.
    pub title: Patch<String>,
    /// Whether it is pinned.
    pub pinned: Option<bool>,
    /// The endpoint of its runs.
    pub endpoint_id: Patch<EndpointId>,
    /// Whether it is archived.
    pub archived: Option<bool>,
}

impl ThreadHandle {
    /// Changes the header.
    ///
    /// # Errors
    /// `conflict` for another revision than expected, `unavailable`.
    pub async fn update(&self, patch: HeaderPatch, operation: Option<Operation>) -> Result<ThreadChanged, RpcError> {
        self.turn(move |turn| {
            let header = turn.state().thread.clone();
            turn.change
                .update_header(patch.expected_revision, patch.title, patch.pinned, patch.endpoint_id, patch.archived)
                .map_err(|error| refusal(error, &header))?;
            let answer = ThreadChanged { thread: turn.state().thread.clone(), replayed: false };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }
}
