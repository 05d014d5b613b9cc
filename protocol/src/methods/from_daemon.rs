//! What the daemon asks and tells its clients, and the notifications clients send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{methods, notifications};
use crate::{
    ApprovalAnswer, ApprovalRequest, BranchId, By, InputAnswer, InputRequest, InstanceId, InteractionId, Outcome,
    ProjectId, RequestId, RpcError, Seq, ThreadEvent, ThreadId, Timestamp, ToolCallAnswer, ToolCallRequest,
};

methods! {
    /// Run a tool whose handler lives in this client.
    ToolCall = "tool/call"(ToolCallRequest) -> ToolCallAnswer, ToClient, reads, Work;
    /// Ask the person for a decision.
    ApprovalAsk = "approval/request"(ApprovalRequest) -> ApprovalAnswer, ToClient, reads, Work;
    /// Ask the person questions.
    InputAsk = "input/request"(InputRequest) -> InputAnswer, ToClient, reads, Work;
}

notifications! {
    /// Something happened in a thread this connection is subscribed to.
    ThreadEventSent = "thread/event"(ThreadEvent), ToClient;
    /// This connection follows a thread no more, without having asked for that: the thread was deleted, or its log cannot be
    /// read. No event of it comes after this, unless it is subscribed to again.
    ThreadUnsubscribed = "thread/unsubscribed"(ThreadUnsubscribedParams), ToClient;
    /// Lists may have changed; at most one per 250 ms and connection.
    DataChanged = "data/changed"(DataChangedParams), ToClient;
    /// Show something; to clients with the `navigation` capability, newest only.
    Navigate = "navigate"(NavigateParams), ToClient;
    /// An interaction this client was offered is over: stop working on it, close the prompt. To the one that answered
    /// it is the acknowledgement.
    InteractionSettledSent = "interaction/settled"(InteractionSettledParams), ToClient;
    /// The answer this client gave as a response was refused; the same request follows with a higher attempt.
    InteractionInvalidAnswer = "interaction/invalidAnswer"(InteractionInvalidAnswerParams), ToClient;
    /// A tool's handler shows life: the silence of its call starts anew.
    ToolProgressSent = "tool/progress"(ToolProgressParams), ToDaemon;
    /// End a waiting request with `cancelled`; ignored for the rest.
    CancelRequest = "$/cancelRequest"(CancelRequestParams), ToDaemon;
}

/// Parameters of `thread/unsubscribed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadUnsubscribedParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The last durable event that this connection was sent of it, or behind which it began: there may be more.
    pub after: Seq,
    /// Why: `notFound` for a thread that was deleted, `unavailable` with its reason for a log that cannot be read.
    pub error: RpcError,
}

/// Parameters of `data/changed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DataChangedParams {
    /// Grows with every change in this life of the daemon.
    pub seq: u64,
    /// What kinds of things changed.
    pub kinds: Vec<DataKind>,
    /// Their ids, where there are at most 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    /// The client instance behind it, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<InstanceId>,
}

/// Kinds of things that lists show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each is the noun it names")]
pub enum DataKind {
    Project,
    Thread,
    Run,
    Queue,
    Interaction,
    Attention,
    Tool,
    Policy,
    Grant,
    Endpoint,
    Settings,
    Server,
    Account,
    Memory,
    Instructions,
    Resource,
    Review,
    App,
}

/// Parameters of `navigate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NavigateParams {
    /// The project.
    pub project_id: ProjectId,
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
}

/// Parameters of `interaction/settled`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InteractionSettledParams {
    /// Which interaction.
    pub interaction_id: InteractionId,
    /// How it ended.
    pub outcome: Outcome,
    /// Who or what ended it.
    pub by: By,
    /// When.
    pub at: Timestamp,
    /// The answer; not for tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

/// Parameters of `interaction/invalidAnswer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InteractionInvalidAnswerParams {
    /// Which interaction; it stays open.
    pub interaction_id: InteractionId,
    /// Where in the answer, as a JSON Pointer.
    pub path: String,
    /// Why: `unknown_field`, `wrong_type`, `unknown_question`, `one_option_only`, `no_free_text`, `unknown_decision`.
    pub reason: String,
}

/// Parameters of `tool/progress`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolProgressParams {
    /// Which call.
    pub interaction_id: InteractionId,
    /// What it is doing, at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How far it has come, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f64>,
}

/// Parameters of `$/cancelRequest`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelRequestParams {
    /// The id of the request.
    pub id: RequestId,
}
