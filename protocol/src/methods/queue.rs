//! What waits on a branch, and changing it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{BranchId, MessageId, OperationId, Part, QueueEntry, ThreadId};

methods! {
    /// What waits on a branch.
    QueueList = "queue/list"(QueueListParams) -> Queue, ToDaemon, reads, Work;
    /// Give an input that waits other words. It keeps its place, its message and its run.
    QueueUpdate = "queue/update"(QueueUpdateParams) -> QueueEdited, ToDaemon, changes, Work;
    /// Take back an input that waits. A held branch with nothing waiting any more is released.
    QueueRemove = "queue/remove"(QueueRemoveParams) -> QueueEdited, ToDaemon, changes, Work;
    /// Take back all that waits and may be changed.
    QueueClear = "queue/clear"(QueueClearParams) -> QueueEdited, ToDaemon, changes, Work;
    /// Put what waits into another order, which names each input once.
    QueueReorder = "queue/reorder"(QueueReorderParams) -> QueueEdited, ToDaemon, changes, Work;
}

/// Parameters of `queue/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueListParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch; the original one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
}

/// What waits on a branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// The entries, first in line first.
    pub entries: Vec<QueueEntry>,
    /// Whether they are held after a bad end.
    pub held: bool,
}

/// Parameters of `queue/update`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueUpdateParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch; the original one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// The message the input becomes.
    pub message_id: MessageId,
    /// What is said instead: 1 to 32 parts.
    pub input: Vec<Part>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// Parameters of `queue/remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueRemoveParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch; the original one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// The message the input becomes.
    pub message_id: MessageId,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// Parameters of `queue/clear`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueClearParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch; the original one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// Parameters of `queue/reorder`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueReorderParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch; the original one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// The messages of all that waits, each once, first in line first: at most 1,000.
    pub message_ids: Vec<MessageId>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to a change of what waits on a branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueEdited {
    /// The entries that wait now, first in line first.
    pub entries: Vec<QueueEntry>,
    /// Whether they are held after a bad end.
    pub held: bool,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}
