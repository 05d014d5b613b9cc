//! What is remembered from one run to the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{Cursor, EntryId, MemoryEntry, MemoryKind, MemoryScope, OperationId, Page, ProjectId, Removed, Revision};

methods! {
    /// The memory entries, in the order of their ids, without their texts.
    MemoryList = "memory/list"(MemoryListParams) -> Page<MemoryEntry>, ToDaemon, reads, Work;
    /// A memory entry with its text.
    MemoryRead = "memory/read"(MemoryParams) -> MemoryResult, ToDaemon, reads, Work;
    /// Remember something. Runs that begin later are shown it.
    MemoryCreate = "memory/create"(MemoryCreateParams) -> MemoryChanged, ToDaemon, changes, Work;
    /// Change a memory entry: what is not named stays as it is.
    MemoryUpdate = "memory/update"(MemoryUpdateParams) -> MemoryChanged, ToDaemon, changes, Work;
    /// Forget a memory entry for good.
    MemoryDelete = "memory/delete"(MemoryDeleteParams) -> Removed, ToDaemon, changes, Work;
}

/// Parameters of `memory/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryListParams {
    /// Only those of this scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<MemoryScope>,
    /// Only those of this project; not with the scope `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Only those that have every word of this in title, text or tags, in whatever case; at most 1,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Only those with this tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Where the page begins; absent: at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Names a memory entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryParams {
    /// Which one.
    pub entry_id: EntryId,
}

/// The answer to `memory/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryResult {
    /// The entry.
    pub entry: MemoryEntry,
}

/// Parameters of `memory/create`. A scope has at most 300 entries: one more is `overloaded`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryCreateParams {
    /// Whom it is about.
    pub scope: MemoryScope,
    /// The project; required with the scope `project`, refused with `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// What it says.
    pub kind: MemoryKind,
    /// Its title, one line of 1 to 120 characters.
    pub title: String,
    /// Its text, at most 4,000 characters.
    pub body: String,
    /// At most 8 words to find it by, each a line of 1 to 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Whether runs are shown its text and not its title alone; not, unless this is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Whether runs are shown it at all; they are, unless this is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// Parameters of `memory/update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryUpdateParams {
    /// Which one.
    pub entry_id: EntryId,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MemoryKind>,
    /// Its title, one line of 1 to 120 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its text, at most 4,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// All its tags, in place of those it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Whether runs are shown its text and not its title alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Whether runs are shown it at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// A memory entry after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryChanged {
    /// The entry.
    pub entry: MemoryEntry,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `memory/delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryDeleteParams {
    /// Which one.
    pub entry_id: EntryId,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}
