//! Policies: what a tool may do, at three levels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AppId, By, PolicyId, ProjectId, Revision, ThreadId, Timestamp};

/// A rule about a tool or a whole source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Its id; a rule that is replaced keeps it.
    pub policy_id: PolicyId,
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
    /// The source it is about, where it is about no single tool.
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
    /// How long a call may be silent, 1,000 to 3,600,000 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How many calls one run may make.
    pub max_calls_per_run: u64,
    /// When it stops to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// How it came to be.
    pub origin: PolicyOrigin,
    /// Who set it.
    pub set_by: By,
    /// When.
    pub at: Timestamp,
    /// How many tools it applies to now; 0 is worth a look.
    pub matches: u64,
    /// Its revision.
    pub revision: Revision,
}

/// The tool a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyTool {
    /// Its source.
    pub source: String,
    /// Its name; for a client tool its flat name.
    pub name: String,
    /// The digest an `allow` holds for; absent for `ask` and `deny`, which hold for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// Whose calls a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyPrincipal {
    /// What kind of caller.
    pub kind: PolicyPrincipalKind,
    /// The app, for an app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_id: Option<AppId>,
}

/// Kinds of callers a rule can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PolicyPrincipalKind {
    /// A run's own agent.
    Agent,
    /// An app.
    App,
}

/// Where a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PolicyLevel {
    /// Everywhere.
    Global,
    /// In one project.
    Project,
    /// In one thread.
    Thread,
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PolicyDecision {
    /// Call it without asking.
    Allow,
    /// Ask a person before each call.
    Ask,
    /// Never call it. Wins over everything else at any level.
    Deny,
}

/// How a rule came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PolicyOrigin {
    /// The owner set it.
    Owner,
    /// Somebody chose it in an approval.
    Approval,
    /// A run set it, with a person's approval.
    Run,
}
