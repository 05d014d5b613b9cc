//! What a run waits for, and who could give it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallId, InstanceId, InteractionId, RunId, ThreadId, Timestamp};

/// What a run waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingOn {
    /// What kind of thing.
    pub kind: WaitingKind,
    /// The interaction, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction_id: Option<InteractionId>,
    /// Since when.
    pub since: Timestamp,
    /// When the wait ends by itself: the sooner of silence and ceiling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<Timestamp>,
    /// The clients that could end it now; empty: nobody.
    pub can_answer: Vec<ClientRef>,
    /// From the ancestor down, for a wait of a subtask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathStep>,
}

/// Kinds of waits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WaitingKind {
    /// A person's decision.
    Approval,
    /// A person's answer.
    Input,
    /// A client's tool.
    ToolCall,
    /// A run below.
    Subtask,
    /// A model endpoint.
    Endpoint,
    /// A tool source.
    Source,
}

/// A client process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientRef {
    /// Its name.
    pub client_name: String,
    /// Which process of that name.
    pub instance_id: InstanceId,
}

/// One step of the way from an ancestor to a descendant that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathStep {
    /// The thread.
    pub thread_id: ThreadId,
    /// The run.
    pub run_id: RunId,
    /// The call.
    pub call_id: CallId,
    /// What to show for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}
