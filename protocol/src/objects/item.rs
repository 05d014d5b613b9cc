//! Items: the visible units of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    BlobRef, BranchId, By, CallId, Delivery, Effect, InteractionId, ItemId, MessageId, Part, PolicyId, RunId, Sender,
    Timestamp, TranscriptId,
};

/// A visible unit of a run: a message, reasoning, a tool call, a notice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Its id.
    pub item_id: ItemId,
    /// Its run; absent for an aside on an idle branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Its branch.
    pub branch_id: BranchId,
    /// Whether it is open, and if not, how it ended.
    pub state: ItemState,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// One line that says what it was, at most 160 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// How much attention it deserves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// What it is.
    #[serde(flatten)]
    pub body: ItemBody,
}

/// Whether an item is open, and if not, how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ItemState {
    /// Still under way.
    Open,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// A rule or a person refused it.
    Refused,
    /// Ended by a stop or a crash.
    Cancelled,
    /// Nobody answered in time.
    Expired,
    /// Nobody could be asked.
    Undeliverable,
    /// It may have happened, and nobody can tell.
    OutcomeUnknown,
}

/// How much attention an item deserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// As expected.
    Info,
    /// Worth a look.
    Warning,
    /// Something went wrong.
    Error,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ItemBody {
    /// What a person or program said.
    UserMessage {
        /// The message of the chain.
        message_id: MessageId,
        /// What was said.
        content: Vec<Part>,
        /// The run that sent it, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sender: Option<Sender>,
        /// How it was delivered.
        delivery: Delivery,
    },
    /// What the model said.
    AssistantMessage {
        /// The message of the chain.
        message_id: MessageId,
        /// What was said; empty while the item is open.
        text: String,
        /// Whether it was cut off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        incomplete: bool,
    },
    /// What the model thought.
    Reasoning {
        /// The message of the chain it belongs to.
        message_id: MessageId,
        /// What was thought; empty while the item is open.
        text: String,
        /// Whether it was cut off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        incomplete: bool,
    },
    /// A call of a tool.
    ToolCall(Box<ToolCallItem>),
    /// Something worth knowing that is no message.
    Notice {
        /// A stable word for it.
        code: String,
        /// What to show.
        text: String,
    },
}

/// A call of a tool, whatever its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallItem {
    /// The assistant message that made the call.
    pub message_id: MessageId,
    /// Its id.
    pub call_id: CallId,
    /// The interaction that carries the call itself: for a client tool the call, for `ask_user` the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction_id: Option<InteractionId>,
    /// The tool.
    pub tool: ToolRef,
    /// The arguments the call is made with.
    pub arguments: Value,
    /// The arguments as the model gave them, where they were repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_arguments: Option<Value>,
    /// Who decided that it may be made, or may not; absent while open and for a call that was never decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<CallDecision>,
    /// What the model was told; absent while open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Part>>,
    /// Data for clients; never enters the model's context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Further data of the source for clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Value>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CallError>,
    /// What is known of its effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The whole of what was cut from `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<BlobRef>,
    /// The transcript of a subtask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_id: Option<TranscriptId>,
    /// How long its parts took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<CallTiming>,
}

/// A tool as a call names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolRef {
    /// Its model-facing name.
    pub flat_name: String,
    /// Its name at its source.
    pub name: String,
    /// Its namespace, for a client tool that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its source: `app`, `files`, a server id, `client:NAME`; empty for a name that is no tool.
    pub source: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// SHA-256 of its schemas and annotations; empty for a name that is no tool.
    pub digest: String,
}

/// Who decided about a call, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallDecision {
    /// A word of a person (`accept`, `acceptForSession`, …), or `allow` or `deny` of a rule or default.
    pub decision: String,
    /// What decided.
    pub via: DecidedVia,
    /// The approval, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction_id: Option<InteractionId>,
    /// The rule, where one decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_id: Option<PolicyId>,
    /// Who, where somebody decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// What they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What decided about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DecidedVia {
    /// A policy.
    Policy,
    /// A person.
    Person,
    /// The default of the tool's source.
    Default,
}

/// What went wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallError {
    /// A stable word: ours in lower_snake_case, a client's or server's as it gave it.
    pub code: String,
    /// A sentence.
    pub message: String,
}

/// How long the parts of a call took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallTiming {
    /// Milliseconds the approval was open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_ms: Option<u64>,
    /// Milliseconds the call itself took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_ms: Option<u64>,
}
