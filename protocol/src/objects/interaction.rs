//! Interactions: what the daemon waits for a client to do. Tool calls, approvals and questions in one ledger.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ApprovalRequest, CallId, ClientRef, InputRequest, InstanceId, InteractionId, Part, PathStep, PolicyId, RunId,
    ThreadId, Timestamp,
};

/// One row of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interaction {
    /// Its id.
    pub interaction_id: InteractionId,
    /// Whether it is open.
    pub state: InteractionState,
    /// Its thread.
    pub thread_id: ThreadId,
    /// Its run.
    pub run_id: RunId,
    /// The call it belongs to.
    pub call_id: CallId,
    /// Its kind, and the parameters of its request; in events without the arguments.
    #[serde(flatten)]
    pub body: InteractionBody,
    /// How often it has been offered.
    pub attempt: u64,
    /// Who it was offered to.
    pub offered_to: Vec<ClientRef>,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it expires: the ceiling of a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// How long a tool call may be silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_ms: Option<u64>,
    /// How it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The answer that settled it; not for tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Who settled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_at: Option<Timestamp>,
    /// From the ancestor down, for an interaction of a subtask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathStep>,
}

/// Whether an interaction is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InteractionState {
    /// It waits for an answer.
    Open,
    /// It was answered, or ended otherwise.
    Settled,
}

/// The kinds of interactions and what each asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "request", rename_all = "camelCase")]
pub enum InteractionBody {
    /// A client's tool is called.
    ToolCall(ToolCallRequest),
    /// A person is asked for a decision.
    Approval(Box<ApprovalRequest>),
    /// A person is asked questions.
    Input(InputRequest),
}

/// The kinds of interactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InteractionKind {
    /// A client's tool is called.
    ToolCall,
    /// A person is asked for a decision.
    Approval,
    /// A person is asked questions.
    Input,
}

impl InteractionBody {
    /// The kind alone.
    #[must_use]
    pub const fn kind(&self) -> InteractionKind {
        match self {
            Self::ToolCall(_) => InteractionKind::ToolCall,
            Self::Approval(_) => InteractionKind::Approval,
            Self::Input(_) => InteractionKind::Input,
        }
    }
}

/// Parameters of `tool/call`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallRequest {
    /// The interaction. A client that has seen this id does not start the work twice.
    pub interaction_id: InteractionId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The run.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
    /// How often this interaction has been offered, from 1.
    pub attempt: u64,
    /// The tool's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The arguments, checked against the declared schema; absent in events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The call ends after this long without a result or `tool/progress`.
    pub silence_ms: u64,
    /// The call ends at this moment whatever happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Timestamp>,
}

/// The answer to `tool/call`. Closed: an unknown field makes it an invalid result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolCallAnswer {
    /// Whether the tool did what it was asked.
    pub success: bool,
    /// What the model is told; at least one item on success.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::closed::parts")]
    #[schemars(with = "Option<Vec<crate::closed::ResultPart>>")]
    pub content_items: Option<Vec<Part>>,
    /// Data for clients; never enters the model's context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// What went wrong, in a stable word; needed on failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// What went wrong, in a sentence; needed on failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

/// How an interaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Somebody answered.
    Answered,
    /// A person or a rule refused.
    Declined,
    /// Nobody answered in time.
    Expired,
    /// Nobody could be asked.
    Undeliverable,
    /// The run was stopped.
    Cancelled,
    /// The work may have been done, and nobody can tell.
    OutcomeUnknown,
}

/// Who or what settled something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct By {
    /// What kind.
    pub kind: ByKind,
    /// The client's name, where a client did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    /// Which process of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<InstanceId>,
    /// The rule, where one did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_id: Option<PolicyId>,
}

impl By {
    /// A kind without a client or a rule.
    #[must_use]
    pub const fn of(kind: ByKind) -> Self {
        Self { kind, client_name: None, instance_id: None, policy_id: None }
    }

    /// A client, as who answered (`client`) or who stopped the run (`stop`).
    #[must_use]
    pub fn client(kind: ByKind, client: &ClientRef) -> Self {
        Self {
            kind,
            client_name: Some(client.client_name.clone()),
            instance_id: Some(client.instance_id.clone()),
            policy_id: None,
        }
    }
}

/// What kind of thing settles something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ByKind {
    /// A client.
    Client,
    /// A rule.
    Policy,
    /// A deadline.
    Deadline,
    /// A stop of the run.
    Stop,
    /// The daemon.
    Daemon,
}
