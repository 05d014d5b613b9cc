//! What a search over messages finds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BranchId, MessageId, ProjectId, Role, ThreadId, Timestamp};

/// A message that has what was looked for. It is not here as a whole: `thread/messages` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The project of its thread.
    pub project_id: ProjectId,
    /// The name of that project.
    pub project_name: String,
    /// Its thread.
    pub thread_id: ThreadId,
    /// The title of that thread, or the first line of its first input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_title: Option<String>,
    /// The branch it was added on.
    pub branch_id: BranchId,
    /// The message.
    pub message_id: MessageId,
    /// Who speaks in it.
    pub role: Role,
    /// When it was stored.
    pub at: Timestamp,
    /// What it says around the first match, at most 160 characters.
    pub fragment: String,
    /// How often the whole message has what was looked for.
    pub match_count: u64,
}
