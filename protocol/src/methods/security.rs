//! What a project allows, as one document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{
    Capability, OperationId, Patch, PolicyDecision, PolicyLevel, PolicyPrincipal, PolicySetParams, PolicyTool, Project,
    ProjectId, Revision, Timestamp,
};

methods! {
    /// Replace the grants and the rules of a project, all of them at once: what is not named is taken back. For one grant
    /// or one rule there are `grant/add` and `policy/set`, which leave the others as they are.
    SecurityReplace = "project/security/replace"(SecurityReplaceParams) -> SecurityReplaced, ToDaemon, changes, Work;
}

/// Parameters of `project/security/replace`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecurityReplaceParams {
    /// The project.
    pub project_id: ProjectId,
    /// All grants it has from now on, each directory once.
    pub grants: Vec<SecurityGrant>,
    /// All rules of its own it has from now on.
    pub policies: Vec<SecurityRule>,
    /// Whether it is only said what would change; not, unless this is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The project's revision the document was made from.
    pub expected_revision: Revision,
}

/// A grant of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecurityGrant {
    /// An existing directory, absolute.
    pub path: String,
    /// What is allowed beneath it; not empty.
    pub capabilities: Vec<Capability>,
    /// Its name; unless given, the one it has, and for a new one the last part of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A rule of the document, as `policy/set` takes it. Exactly one of `tool` and `source` is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecurityRule {
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
    /// How long a call may be silent, 1,000 to 3,600,000 ms; as without the rule, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How many calls one run may make, 1 to 65,535.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls_per_run: Option<u64>,
    /// When it stops to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl SecurityRule {
    /// The rule as `policy/set` would set it alone.
    #[must_use]
    pub fn of_project(&self, project_id: &ProjectId) -> PolicySetParams {
        let rule = self.clone();
        PolicySetParams {
            level: PolicyLevel::Project,
            project_id: Some(project_id.clone()),
            thread_id: None,
            tool: rule.tool,
            source: rule.source,
            principal: rule.principal,
            connection: rule.connection,
            decision: rule.decision,
            timeout_ms: rule.timeout_ms.map_or(Patch::Keep, Patch::Set),
            max_calls_per_run: rule.max_calls_per_run,
            expires_at: rule.expires_at,
            operation_id: None,
            expected_revision: None,
        }
    }
}

/// The answer to `project/security/replace`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecurityReplaced {
    /// The project with its grants and rules, after the change or as they would be.
    pub project: Project,
    /// Whether it was done.
    pub applied: bool,
    /// Whether it was only said what would change.
    pub dry_run: bool,
    /// What changed or would change, in a sentence.
    pub effect: String,
    /// What whoever granted a directory should know, as sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}
