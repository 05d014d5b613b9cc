//! Events: what a thread's log tells its readers, and the ephemeral ones beside them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Branch, BranchId, By, ChangeSet, Interaction, InteractionId, Item, ItemId, MessageId, Outcome, QueueEntry, Run,
    RunId, RunOutcome, Seq, Thread, ThreadId, Timestamp, Usage,
};

/// Parameters of `thread/event`. Durable events have `seq`; ephemeral ones have `after` in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadEvent {
    /// The thread.
    pub thread_id: ThreadId,
    /// The position of a durable event: from 1, without gaps, on disk before it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// The last durable event an ephemeral one follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Seq>,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}

/// What happened in a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The thread began (seq 1), or its header changed.
    ThreadUpdated {
        /// The header, whole.
        thread: Thread,
    },
    /// A branch began, or its title, hold or head changed otherwise than by appending.
    BranchUpdated {
        /// The branch, whole.
        branch: Branch,
    },
    /// A branch was deleted.
    BranchDeleted {
        /// Which one.
        branch_id: BranchId,
    },
    /// What waits on a branch changed.
    QueueChanged(QueueChanged),
    /// A run began.
    RunStarted {
        /// The run.
        run: Run,
    },
    /// A run's state or what it waits for changed.
    RunState {
        /// The run.
        run: Run,
    },
    /// An item began.
    ItemStarted {
        /// The item.
        item: Item,
    },
    /// An item ended, or was whole at birth.
    ItemCompleted {
        /// The item; authoritative over any delta before it.
        item: Item,
    },
    /// The daemon waits for a client.
    InteractionOpened {
        /// The interaction, its request without arguments.
        interaction: Interaction,
    },
    /// The wait is over.
    InteractionSettled {
        /// Which interaction.
        interaction_id: InteractionId,
        /// How it ended.
        outcome: Outcome,
        /// Who or what ended it.
        by: By,
        /// The answer; not for tool calls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Value>,
    },
    /// The thread's tools changed.
    ToolsChanged(ToolsChanged),
    /// A run ended.
    RunCompleted {
        /// Which run.
        run_id: RunId,
        /// Its branch.
        branch_id: BranchId,
        /// How it ended.
        outcome: RunOutcome,
        /// What its model requests cost.
        usage: Usage,
        /// The files it changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change_set: Option<ChangeSet>,
    },
    /// Ephemeral: text of an open item.
    ItemDelta {
        /// The item.
        item_id: ItemId,
        /// Where the text goes, in UTF-8 bytes from the start of the item's text.
        offset: u64,
        /// The text.
        text: String,
    },
    /// Ephemeral: a tool shows life.
    ToolProgress {
        /// The item of the call.
        item_id: ItemId,
        /// The interaction of a client's call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interaction_id: Option<InteractionId>,
        /// What it is doing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// How far it has come, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fraction: Option<f64>,
    },
}

/// What changed about what waits on a branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueChanged {
    /// The branch.
    pub branch_id: BranchId,
    /// Whether what waits is held.
    pub held: bool,
    /// How much waits now.
    pub length: u64,
    /// What happened.
    pub change: QueueChange,
    /// The entry, when one was added or edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<QueueEntry>,
    /// The entry's message, when one was removed or started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The new order, when entries were moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<MessageId>>,
}

/// What happened to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum QueueChange {
    /// An input joined.
    Added,
    /// An input was changed.
    Edited,
    /// An input was taken back.
    Removed,
    /// The order changed.
    Moved,
    /// An input's turn has come.
    Started,
    /// What waits is held after a bad end.
    Held,
    /// It is released.
    Released,
}

/// What changed about a thread's tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolsChanged {
    /// The revision of the tool set.
    pub revision: crate::Revision,
    /// Flat names that are new.
    pub added: Vec<String>,
    /// Flat names that are gone.
    pub removed: Vec<String>,
    /// Flat names whose tool or rule is another.
    pub changed: Vec<String>,
    /// Why.
    pub cause: ToolsCause,
    /// The client behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
}

/// Why a thread's tools changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolsCause {
    /// A client declared them.
    Declared,
    /// A client withdrew them.
    Withdrawn,
    /// A client took them over from another.
    Takeover,
    /// Their client has gone.
    OwnerAway,
    /// Their client has come back.
    OwnerBack,
    /// An MCP server changed them.
    Server,
    /// A rule changed.
    Policy,
}

impl Event {
    /// Whether the event is stored and numbered.
    #[must_use]
    pub const fn is_durable(&self) -> bool {
        !matches!(self, Self::ItemDelta { .. } | Self::ToolProgress { .. })
    }
}
