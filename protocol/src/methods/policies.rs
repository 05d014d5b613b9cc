//! Policies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{
    Cursor, OperationId, Page, Patch, Policy, PolicyDecision, PolicyId, PolicyLevel, PolicyPrincipal, PolicyTool,
    ProjectId, Removed, Revision, ThreadId, Timestamp,
};

methods! {
    /// Set a rule. There is one for each level, owner of the level, tool or source, principal and connection: a second
    /// one replaces the first under its id.
    PolicySet = "policy/set"(PolicySetParams) -> PolicyChanged, ToDaemon, changes, Work;
    /// Take a rule back.
    PolicyRemove = "policy/remove"(PolicyRemoveParams) -> Removed, ToDaemon, changes, Work;
    /// The rules, in the order of their ids.
    PolicyList = "policy/list"(PolicyListParams) -> Page<Policy>, ToDaemon, reads, Work;
}

/// Parameters of `policy/set`. Exactly one of `tool` and `source` is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicySetParams {
    /// Where it holds.
    pub level: PolicyLevel,
    /// The project, at project level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// The thread, at thread level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The tool it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<PolicyTool>,
    /// The source it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whose calls it is about; all, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<PolicyPrincipal>,
    /// The account it is about; all, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// What it says.
    pub decision: PolicyDecision,
    /// How long a call may be silent, 1,000 to 3,600,000 ms; null: as without the rule.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub timeout_ms: Patch<u64>,
    /// How many calls one run may make, 1 to 65,535.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls_per_run: Option<u64>,
    /// When it stops to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision of the rule this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// A rule after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyChanged {
    /// The rule.
    pub policy: Policy,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `policy/remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRemoveParams {
    /// Which rule.
    pub policy_id: PolicyId,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// Parameters of `policy/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyListParams {
    /// Only rules of this level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<PolicyLevel>,
    /// Only rules of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// Only rules of this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Only rules about this source or a tool of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where the page begins; absent: at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}
