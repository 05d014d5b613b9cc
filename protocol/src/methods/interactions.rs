//! The pull side of interactions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::methods;
use crate::{
    Cursor, Interaction, InteractionId, InteractionKind, InteractionState, OperationId, Outcome, Page, ThreadId,
};

methods! {
    /// The interactions, oldest first; the open ones unless told otherwise.
    InteractionList = "interaction/list"(InteractionListParams) -> Page<Interaction>, ToDaemon, reads, Work;
    /// Answer an interaction. The first valid answer counts.
    InteractionSettle = "interaction/settle"(InteractionSettleParams) -> InteractionAnswered, ToDaemon, changes, Control;
}

/// Parameters of `interaction/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InteractionListParams {
    /// Only interactions of this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Only interactions of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<InteractionKind>,
    /// `open` unless given; settled ones are listed by thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<InteractionState>,
    /// Where the page begins; absent: at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Parameters of `interaction/settle`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InteractionSettleParams {
    /// Which interaction.
    pub interaction_id: InteractionId,
    /// What the JSON-RPC response to its request would have as result.
    pub answer: Value,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to `interaction/settle`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InteractionAnswered {
    /// Which interaction.
    pub interaction_id: InteractionId,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the same client instance had given the same answer before.
    pub replayed: bool,
}
