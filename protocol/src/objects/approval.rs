//! Approvals: what a person is asked about a call, and what they may decide.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Annotations, CallId, InteractionId, PathStep, RunId, ThreadId, Timestamp};

/// Parameters of `approval/request`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequest {
    /// The interaction.
    pub interaction_id: InteractionId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The run.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
    /// How often this interaction has been offered, from 1.
    pub attempt: u64,
    /// The tool.
    pub tool: ApprovalTool,
    /// The exact arguments the call would be made with; absent in events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The arguments as the model gave them, where they were repaired; absent in events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_arguments: Option<Value>,
    /// The account of an MCP server the call would use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// What would change, when the call widens authority or replaces a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Which call of the model's message, from 1.
    pub index: u64,
    /// How many calls that message has.
    pub total: u64,
    /// One line for the prompt, at most 160 characters.
    pub summary: String,
    /// The decisions that count here.
    pub choices: Vec<Decision>,
    /// From the ancestor down, for an approval of a subtask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathStep>,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// The tool an approval is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalTool {
    /// Its name; for a client tool its flat name.
    pub name: String,
    /// Its source.
    pub source: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What its source says of its effects.
    pub annotations: Annotations,
}

/// What a call would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// As it is.
    pub before: Value,
    /// As it would be.
    pub after: Value,
}

/// The answer to `approval/request`. Closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalAnswer {
    /// The decision.
    pub decision: Decision,
    /// How far `acceptAlways` reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<DecisionScope>,
    /// What the model is told about a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a person can decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// This call only.
    Accept,
    /// This tool for the rest of the thread.
    AcceptForSession,
    /// This tool in the whole project, or everywhere with `scope: global`.
    AcceptAlways,
    /// Refuse the call; the run goes on.
    Decline,
    /// Refuse the call and stop the run.
    Cancel,
}

/// How far `acceptAlways` reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DecisionScope {
    /// The project of the thread.
    #[default]
    Project,
    /// Everywhere.
    Global,
}
