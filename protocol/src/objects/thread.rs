//! Threads, their branches, messages and queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AgentId, AppId, BranchId, CallId, EndpointId, Interaction, Item, MessageId, Part, ProjectId, Revision, Run, RunId,
    Seq, ThreadId, Timestamp, Tool,
};

/// A durable conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// Its id; also the id of its original branch.
    pub thread_id: ThreadId,
    /// The project it lives in.
    pub project_id: ProjectId,
    /// Its title. Without one, clients show the first line of the first input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether a person pinned it.
    pub pinned: bool,
    /// Whether it is archived.
    pub archived: bool,
    /// Whether it has something its readers have not marked read.
    pub unread: bool,
    /// The endpoint of its runs; else its project's, else the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_id: Option<EndpointId>,
    /// The app agent it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentRef>,
    /// Who started it. Stored, gives no authority.
    pub origin: Origin,
    /// The sequence number of its last event.
    pub seq: Seq,
    /// When it was started.
    pub created_at: Timestamp,
    /// When it was last active; moves with each run's start and end.
    pub updated_at: Timestamp,
    /// The revision of this header; messages do not raise it.
    pub revision: Revision,
    /// Its branches; in `thread/read` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branches: Option<Vec<Branch>>,
}

/// An agent of an app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentRef {
    /// The app.
    pub app_id: AppId,
    /// The agent in it.
    pub agent_id: AgentId,
}

/// Who started a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// The client's name.
    pub client_name: String,
    /// The channel it came through, such as a chat service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Who is behind it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

/// A line of messages in a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// Its id.
    pub branch_id: BranchId,
    /// Its thread.
    pub thread_id: ThreadId,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The branch it was forked from; once that is deleted, the one that was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_branch_id: Option<BranchId>,
    /// The message it was forked from: it follows that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_message_id: Option<MessageId>,
    /// Its last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_message_id: Option<MessageId>,
    /// The run under way on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_run_id: Option<RunId>,
    /// What waits on it.
    pub queue: QueueState,
    /// Its revision: raised by its title, and when its head moves otherwise than by appending.
    pub revision: Revision,
}

/// How much waits on a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueState {
    /// Inputs waiting.
    pub length: u64,
    /// Whether they wait for somebody's word after a bad end, rather than for a run to complete.
    pub held: bool,
}

/// An input that waits on a branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueEntry {
    /// The id of the message it becomes.
    pub message_id: MessageId,
    /// Its own run; for a steer or an aside the run it waits for.
    pub run_id: RunId,
    /// What was submitted.
    pub input: Vec<Part>,
    /// How.
    pub mode: Mode,
    /// The run that submitted it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Sender>,
    /// Whether it can still be changed.
    pub editable: bool,
    /// When it was submitted.
    pub submitted_at: Timestamp,
}

/// How an input enters a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// A run of its own, after those before it.
    #[default]
    Queue,
    /// Joins the run under way at its next step; is just recorded on an idle branch.
    Aside,
    /// As an aside, for one expected run only.
    Steer,
    /// A run on a new branch.
    Fork,
    /// A run in the place of an earlier user message.
    Replace,
}

/// The run a message came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sender {
    /// Its thread.
    pub thread_id: ThreadId,
    /// Its branch.
    pub branch_id: BranchId,
    /// The run.
    pub run_id: RunId,
    /// What it wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
}

/// One node of the chain the model sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its id.
    pub message_id: MessageId,
    /// Its thread.
    pub thread_id: ThreadId,
    /// The branch it was added on.
    pub branch_id: BranchId,
    /// The message before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_message_id: Option<MessageId>,
    /// The run it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Who speaks.
    pub role: Role,
    /// How it was delivered.
    pub delivery: Delivery,
    /// What is said.
    pub content: Vec<Part>,
    /// The calls of an assistant message; each has a tool message right after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallRef>,
    /// The call a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// Whether the call did not succeed; on tool messages only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Whether the model was cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// Whether it stands for older messages that were summarised.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub summary: bool,
    /// The run that sent it, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Sender>,
    /// When it was stored.
    pub at: Timestamp,
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// A person or a program.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// How a message was delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// It began a run, or is part of one.
    #[default]
    Turn,
    /// It joined a run under way, or was just recorded.
    Aside,
    /// It joined the run it was meant for.
    Steer,
}

/// A call as the model made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallRef {
    /// Our id of the call.
    pub call_id: CallId,
    /// The tool's model-facing name.
    pub flat_name: String,
    /// The arguments.
    pub arguments: Value,
}

/// A thread as it is at one sequence number, without its past.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The thread.
    pub thread: Thread,
    /// Its branches.
    pub branches: Vec<Branch>,
    /// What waits on each of them.
    pub queues: std::collections::BTreeMap<BranchId, QueueView>,
    /// Runs that have not ended.
    pub runs: Vec<Run>,
    /// Items that are open.
    pub open_items: Vec<Item>,
    /// Interactions that are open.
    pub interactions: Vec<Interaction>,
    /// The effective tools.
    pub tools: Vec<Tool>,
}

/// What waits on a branch, cut like a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueView {
    /// The first entries.
    pub entries: Vec<QueueEntry>,
    /// How many there are.
    pub length: u64,
}
