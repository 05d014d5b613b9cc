//! Items: what happened in a thread, for who shows it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{BranchId, Item, ItemId, RunId, Seq, ThreadId};

methods! {
    /// The completed items of a branch or a run, newest first. Events after `seq` continue it.
    ItemList = "item/list"(ItemListParams) -> ItemPage, ToDaemon, reads, Work;
    /// An item, completed or still open.
    ItemRead = "item/read"(ItemReadParams) -> ItemResult, ToDaemon, reads, Work;
}

/// Parameters of `item/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemListParams {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Which branch; the original one unless given or a run is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// Only items of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Only items whose event comes before this one; absent: from the newest on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Seq>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// One page of items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemPage {
    /// The items, newest first. There may be none although more follow, where long stretches of the log hold none.
    pub items: Vec<ListedItem>,
    /// What to send as `before` for the next page; absent: there are no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_before: Option<Seq>,
    /// The last event of the thread when this was read.
    pub seq: Seq,
}

/// An item of a list, with the place of the event that completed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedItem {
    /// The event that completed it.
    pub seq: Seq,
    /// The item.
    #[serde(flatten)]
    pub item: Item,
}

/// Parameters of `item/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemReadParams {
    /// Its thread.
    pub thread_id: ThreadId,
    /// Which item.
    pub item_id: ItemId,
}

/// The answer to `item/read`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemResult {
    /// The item.
    pub item: Item,
}
