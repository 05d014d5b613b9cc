//! Threads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{
    AgentRef, BranchId, Cursor, Empty, EndpointId, EventPage, MessagePage, OperationId, Page, Patch, ProjectId,
    Removed, Revision, SearchHit, Seq, Snapshot, Subscribed, Thread, ThreadEventsParams, ThreadId,
    ThreadMessagesParams, ThreadSearchParams, ThreadSubscribeParams, Tool, ToolDeclaration,
};

methods! {
    /// Start a thread, declare tools for it and subscribe to it.
    ThreadStart = "thread/start"(ThreadStartParams) -> ThreadStarted, ToDaemon, changes, Work;
    /// Attach to a thread: its snapshot, or what came after an event; then live events and open interactions.
    ThreadResume = "thread/resume"(ThreadResumeParams) -> ThreadResumed, ToDaemon, changes, Work;
    /// The header of a thread and its branches.
    ThreadRead = "thread/read"(ThreadParams) -> ThreadResult, ToDaemon, reads, Work;
    /// The threads, newest first.
    ThreadList = "thread/list"(ThreadListParams) -> Page<Thread>, ToDaemon, reads, Work;
    /// Change the header of a thread: what is named is set, null clears.
    ThreadUpdate = "thread/update"(ThreadUpdateParams) -> ThreadChanged, ToDaemon, changes, Work;
    /// Archive a thread, or take it back.
    ThreadArchive = "thread/archive"(ThreadArchiveParams) -> ThreadChanged, ToDaemon, changes, Work;
    /// Say that somebody has read what happened up to an event.
    ThreadMarkRead = "thread/markRead"(ThreadMarkReadParams) -> ThreadChanged, ToDaemon, changes, Work;
    /// Delete a thread for good: its runs are stopped, and nothing of it is kept.
    ThreadDelete = "thread/delete"(ThreadDeleteParams) -> Removed, ToDaemon, changes, Work;
    /// The chain of a branch from head to root: exactly what the model sees.
    ThreadMessages = "thread/messages"(ThreadMessagesParams) -> MessagePage, ToDaemon, reads, Work;
    /// Look for a text in the messages of all threads, or of some: one hit for each message that has it, in the order of
    /// project, thread and message. A page with `nextCursor` may be empty: it ends after so many messages were looked at.
    ThreadSearch = "thread/search"(ThreadSearchParams) -> Page<SearchHit>, ToDaemon, reads, Work;
    /// The events of a thread after one: pull what `thread/resume` pushes.
    ThreadEvents = "thread/events"(ThreadEventsParams) -> EventPage, ToDaemon, reads, Work;
    /// Be sent the events of a thread, without binding tools.
    ThreadSubscribe = "thread/subscribe"(ThreadSubscribeParams) -> Subscribed, ToDaemon, reads, Work;
    /// Be sent them no more, and no longer count as attached.
    ThreadUnsubscribe = "thread/unsubscribe"(ThreadParams) -> Empty, ToDaemon, reads, Control;
    /// The effective tools of a thread, in the order of their flat names.
    ThreadTools = "thread/tools"(ThreadToolsParams) -> ToolList, ToDaemon, reads, Work;
}

/// Names a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadParams {
    /// Which one.
    pub thread_id: ThreadId,
}

/// Parameters of `thread/start`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadStartParams {
    /// The project it lives in; the default one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Its title, 1 to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The endpoint of its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_id: Option<EndpointId>,
    /// What its runs are told beside the project's instructions, at most 32,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Tools of this client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolDeclaration>>,
    /// The app agent it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentRef>,
    /// Where it comes from. Stored, gives no authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginParams>,
    /// Whether this connection is sent its events; it is, unless this is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// Where a thread comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OriginParams {
    /// The channel, such as a chat service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Who is behind it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

/// The answer to `thread/start`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadStarted {
    /// The thread.
    pub thread: Thread,
    /// Its last event; this connection is sent what comes after.
    pub seq: Seq,
    /// The effective tools, without schemas.
    pub tools: Vec<Tool>,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `thread/resume`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadResumeParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Tools of this client. Absent keeps what this instance has declared and binds it to this connection, an empty
    /// list clears it, any other replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolDeclaration>>,
    /// The last event this client has seen: it is sent every one after it. Absent: a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Seq>,
    /// Whether names bound by another client instance are taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takeover: Option<bool>,
    /// Whether this connection is sent its events; it is, unless this is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to `thread/resume`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadResumed {
    /// The thread.
    pub thread: Thread,
    /// Its last event.
    pub seq: Seq,
    /// The thread as it is at `seq`; only without `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Snapshot>,
    /// The effective tools, without schemas.
    pub tools: Vec<Tool>,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// The answer to `thread/read`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadResult {
    /// The thread.
    pub thread: Thread,
}

/// A thread after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadChanged {
    /// The thread.
    pub thread: Thread,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `thread/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadListParams {
    /// Only threads of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// The archived ones instead of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The order: by last activity unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<ThreadSort>,
    /// Where the page begins; absent: at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// The order of a list of threads; always newest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ThreadSort {
    /// By start.
    Created,
    /// By last activity.
    #[default]
    Active,
}

/// Parameters of `thread/update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadUpdateParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Its title, 1 to 200 characters.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub title: Patch<String>,
    /// Whether it is pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// The endpoint of its runs.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub endpoint_id: Patch<EndpointId>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// Parameters of `thread/archive`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadArchiveParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Whether it is archived; it is, unless this is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// Parameters of `thread/markRead`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadMarkReadParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Which branch was read; all of them unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// The last event that was read. What nobody has seen after it stays unread.
    pub seq: Seq,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// Parameters of `thread/delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadDeleteParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Whether it is only said what would go; not, unless this is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// Parameters of `thread/tools`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadToolsParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Whether schemas are wanted; not, unless this is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schemas: Option<bool>,
}

/// The tools of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolList {
    /// The tools.
    pub items: Vec<Tool>,
}
