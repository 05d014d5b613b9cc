//! What is remembered from one run to the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EntryId, ProjectId, Revision, ThreadId, Timestamp};

/// Something that runs are to know without having been told again. Runs are shown an index of the entries of their project
/// and of the user, from the next run on after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryEntry {
    /// Its id.
    pub entry_id: EntryId,
    /// Whom it is about.
    pub scope: MemoryScope,
    /// The project, where the scope is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// What it says.
    pub kind: MemoryKind,
    /// Its title, one line of 1 to 120 characters.
    pub title: String,
    /// Its text, at most 4,000 characters; absent in `memory/list` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// At most 8 words to find it by, each a line of 1 to 64 characters and each once.
    pub tags: Vec<String>,
    /// Whether runs are shown its text and not its title alone.
    pub pinned: bool,
    /// Whether runs are shown it at all.
    pub enabled: bool,
    /// Who wrote its title and text as they stand.
    pub author: MemoryAuthor,
    /// The thread whose run wrote them, where it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Its revision.
    pub revision: Revision,
}

/// Whom a memory entry is about. An entry of a project goes before one of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MemoryScope {
    /// The person: runs of every project know it.
    User,
    /// A project: its runs know it. It goes when the project is deleted.
    Project,
}

/// What a memory entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MemoryKind {
    /// Who or what it is about: runs are shown its text as if it were pinned.
    Profile,
    /// How something is wanted.
    Preference,
    /// How something is.
    Fact,
}

/// Who wrote a memory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MemoryAuthor {
    /// The person, through a client.
    User,
    /// A model, in a run.
    Model,
}
