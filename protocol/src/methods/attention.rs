//! What waits for the person, over all threads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{AttentionId, BranchId, ListParams, OperationId, Page, ProjectId, ThreadId, Timestamp};

methods! {
    /// What waits for the person, thread by thread: each once, until it is over or was seen.
    AttentionList = "attention/list"(ListParams) -> Page<Attention>, ToDaemon, reads, Work;
    /// Say that the person has seen something that waits. It is listed no more, and waits all the same.
    AttentionSeen = "attention/seen"(AttentionSeenParams) -> AttentionNoted, ToDaemon, changes, Work;
}

/// Something that waits for the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attention {
    /// Which. The same thing in another state has another id.
    pub attention_id: AttentionId,
    /// What kind of thing.
    pub kind: AttentionKind,
    /// The id of the interaction, run or thread.
    pub subject: String,
    /// What it is about, in one line of at most 160 characters.
    pub summary: String,
    /// Since when.
    pub since: Timestamp,
    /// The project it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// The thread it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The branch it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
}

/// Kinds of things that wait for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AttentionKind {
    /// An approval or a question is open.
    Interaction,
    /// A run has failed or was interrupted, or is paused until somebody resumes it.
    Run,
    /// A run has ended, and nobody was there to see it.
    Unread,
}

/// Parameters of `attention/seen`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttentionSeenParams {
    /// Which, as it was listed.
    pub attention_id: AttentionId,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to `attention/seen`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttentionNoted {
    /// Which.
    pub attention_id: AttentionId,
    /// Whether this answers a repeat.
    pub replayed: bool,
}
