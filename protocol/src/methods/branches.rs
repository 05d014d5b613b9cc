//! The branches of a thread. One is made by `run/submit` with `mode: "fork"`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Removed, methods};
use crate::{Branch, BranchId, Cursor, OperationId, Page, Patch, Revision, ThreadId};

methods! {
    /// The branches of a thread, by id.
    BranchList = "branch/list"(BranchListParams) -> Page<Branch>, ToDaemon, reads, Work;
    /// Change the title of a branch: null clears it. It compares no revision, since a title conflicts with nothing.
    BranchUpdate = "branch/update"(BranchUpdateParams) -> BranchChanged, ToDaemon, changes, Work;
    /// Delete a branch: its run is stopped, what waits on it is dropped, and branches forked from it stay.
    BranchDelete = "branch/delete"(BranchDeleteParams) -> Removed, ToDaemon, changes, Work;
}

/// Parameters of `branch/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchListParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// Where the page begins; absent: at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Parameters of `branch/update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchUpdateParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch.
    pub branch_id: BranchId,
    /// Its title: 1 to 200 characters; null clears it.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub title: Patch<String>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to `branch/update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BranchChanged {
    /// The branch as it is now.
    pub branch: Branch,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `branch/delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchDeleteParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch; any but the original one, which goes with its thread.
    pub branch_id: BranchId,
    /// Whether to say only what would go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// The revision of the branch this is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}
