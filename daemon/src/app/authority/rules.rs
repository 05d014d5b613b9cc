//! When a rule is looser than another one, or than none.

use ropewalk_protocol::{
    Patch, Policy, PolicyDecision, PolicyLevel, PolicySetParams, PolicyTool, ProjectId, SecurityRule, Timestamp,
};
use serde_json::{Value, json};

use crate::tools::policy::MAX_CALLS;

/// Whether a rule in the place of another one, or of none, lets runs do more.
pub(super) fn widens(before: Option<&Policy>, after: &PolicySetParams) -> bool {
    let Some(before) = before else { return after.decision == PolicyDecision::Allow };
    let is_looser = strictness(after.decision) < strictness(before.decision);
    let holds_shorter = after.decision != PolicyDecision::Allow && ends_before(after.expires_at, before.expires_at);
    let holds_longer = after.decision == PolicyDecision::Allow && ends_before(before.expires_at, after.expires_at);
    let is_same = after.decision == before.decision && after.decision != PolicyDecision::Deny;
    is_looser || holds_shorter || holds_longer || (is_same && has_more_room(before, after))
}

/// Whether runs may do more once a rule is gone: one that asks or denies, or one that limits what it allows.
pub(super) fn removal_widens(before: &Policy) -> bool {
    before.decision != PolicyDecision::Allow || before.max_calls_per_run < MAX_CALLS || before.timeout_ms.is_some()
}

/// What a person is shown of a rule.
pub(super) fn brief(policy: &Policy) -> Value {
    let mut shown = json!({"level": policy.level, "decision": policy.decision});
    let fields = [
        ("projectId", json!(policy.project_id)),
        ("threadId", json!(policy.thread_id)),
        ("tool", json!(policy.tool)),
        ("source", json!(policy.source)),
        ("principal", json!(policy.principal)),
        ("connection", json!(policy.connection)),
        ("timeoutMs", json!(policy.timeout_ms)),
        ("maxCallsPerRun", json!((policy.max_calls_per_run < MAX_CALLS).then_some(policy.max_calls_per_run))),
        ("expiresAt", json!(policy.expires_at)),
    ];
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
        shown[name] = value;
    }
    shown
}

/// A rule of a project's document, as a rule that is set alone.
pub(super) fn of_project(project_id: &ProjectId, rule: &SecurityRule) -> PolicySetParams {
    let rule = rule.clone();
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

/// Whether a rule of the project is the one that another would replace.
pub(super) fn is_in_its_place(policy: &Policy, rule: &PolicySetParams) -> bool {
    let subject = |tool: &PolicyTool| (tool.source.clone(), tool.name.clone());
    policy.source == rule.source
        && policy.tool.as_ref().map(subject) == rule.tool.as_ref().map(subject)
        && policy.principal == rule.principal
        && policy.connection == rule.connection
}

const fn strictness(decision: PolicyDecision) -> u8 {
    match decision {
        PolicyDecision::Allow => 0,
        PolicyDecision::Ask => 1,
        PolicyDecision::Deny => 2,
    }
}

fn ends_before(one: Option<Timestamp>, other: Option<Timestamp>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one < other,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// Whether the same decision leaves more room than before: calls, or silence.
fn has_more_room(before: &Policy, after: &PolicySetParams) -> bool {
    let calls = after.max_calls_per_run.unwrap_or(MAX_CALLS);
    let is_quieter = match (&after.timeout_ms, before.timeout_ms) {
        (Patch::Set(after), Some(before)) => *after > before,
        (Patch::Set(_), None) => false,
        (Patch::Keep | Patch::Clear, before) => before.is_some(),
    };
    calls > before.max_calls_per_run || is_quieter
}
