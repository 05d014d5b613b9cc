//! What a model is asked with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{BranchId, EndpointId, ThreadId};

methods! {
    /// What the next request of a branch would be made of: every layer, and how much of the window each part takes.
    ContextPreview = "context/preview"(ContextPreviewParams) -> ContextPreviewed, ToDaemon, reads, Work;
}

/// Parameters of `context/preview`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextPreviewParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Which branch; the original one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// The endpoint the next run would name; the one it would use by itself unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_id: Option<EndpointId>,
}

/// What the next request of a branch would be made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextPreviewed {
    /// What stands before the messages, in this order; a layer without text is not sent.
    pub layers: Vec<ContextLayer>,
    /// The definitions of tools.
    pub tools: ContextTools,
    /// The messages, which `thread/messages` shows.
    pub messages: ContextMessages,
    /// The tokens of the whole request as they are expected: what the provider has counted of the last one of this chain and
    /// an estimate of what has come since, else an estimate.
    pub total_tokens: u64,
    /// The window of the model.
    pub window_tokens: u64,
}

/// One layer of what stands before the messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextLayer {
    /// Which one.
    pub name: ContextLayerName,
    /// Its text as it is sent, with a note where it was cut.
    pub text: String,
    /// Its tokens, estimated.
    pub tokens: u64,
    /// The tokens it may have.
    pub budget_tokens: u64,
    /// Whether it was cut.
    pub cut: bool,
}

/// The layers, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ContextLayerName {
    /// The thread's own instructions, else a few sentences of the daemon.
    Base,
    /// The instructions of the project.
    ProjectInstructions,
    /// `AGENTS.md` and `CLAUDE.md` of the directories the project may read.
    WorkspaceFiles,
    /// What is remembered.
    MemoryIndex,
    /// One line that names project, thread and branch.
    RunLine,
}

/// The definitions of tools in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextTools {
    /// How many there are.
    pub count: u64,
    /// Their tokens, estimated.
    pub tokens: u64,
    /// Flat names of those for which there was no room.
    pub left_out: Vec<String>,
}

/// The messages of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextMessages {
    /// How many there are, a summary included.
    pub count: u64,
    /// Their tokens, estimated.
    pub tokens: u64,
    /// How many messages the summary stands for; 0 without one.
    pub summarised: u64,
}
