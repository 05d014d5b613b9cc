//! When a rule is looser than another one, or than none.

use ropewalk_protocol::{
    Patch, Policy, PolicyDecision, PolicyLevel, PolicyPrincipal, PolicySetParams, PolicyTool, Timestamp,
};
use serde_json::{Value, json};

use super::Authority;
use crate::tools::policy::MAX_CALLS;

/// Whether a rule in the place of another one, or of none, lets runs do more.
pub(super) fn widens(before: Option<&Policy>, after: &PolicySetParams, standing: &dyn Authority) -> bool {
    let Some(before) = before else {
        return after.decision == PolicyDecision::Allow || drops_a_limit(after, standing);
    };
    let is_looser = strictness(after.decision) < strictness(before.decision);
    let holds_shorter = after.decision != PolicyDecision::Allow && ends_before(after.expires_at, before.expires_at);
    let holds_longer = after.decision == PolicyDecision::Allow && ends_before(before.expires_at, after.expires_at);
    let is_same = after.decision == before.decision && after.decision != PolicyDecision::Deny;
    is_looser
        || holds_shorter
        || holds_longer
        || is_bound_anew(before, after, standing)
        || (is_same && has_more_room(before, after))
}

/// Whether runs may do more once a rule is gone: one that asks or denies, or one that limits what it allows. An `allow` for
/// what a tool was asks.
pub(super) fn removal_widens(before: &Policy, standing: &dyn Authority) -> bool {
    let asks =
        before.decision == PolicyDecision::Allow && bound(before).is_some() && bound(before) != now(before, standing);
    before.decision != PolicyDecision::Allow
        || before.max_calls_per_run < MAX_CALLS
        || before.timeout_ms.is_some()
        || asks
}

/// Whether an `allow` would be bound to another tool than before: one for what the tool was counts as `ask`, and set again it
/// allows what the tool is.
fn is_bound_anew(before: &Policy, after: &PolicySetParams, standing: &dyn Authority) -> bool {
    if after.decision != PolicyDecision::Allow || bound(before).is_none() {
        return false;
    }
    let named = after.tool.as_ref().and_then(|tool| tool.digest.clone());
    bound(before) != named.or_else(|| now(before, standing))
}

fn bound(policy: &Policy) -> Option<String> {
    policy.tool.as_ref()?.digest.clone()
}

fn now(policy: &Policy, standing: &dyn Authority) -> Option<String> {
    standing.digest_of(policy.tool.as_ref()?, policy.thread_id.as_ref())
}

/// Whether a rule where there was none leaves more calls or silence than one that it comes before. Rules of any project count
/// for a rule of a thread: it is asked once too often rather than not at all.
fn drops_a_limit(after: &PolicySetParams, standing: &dyn Authority) -> bool {
    let is_behind = |farther: &Policy| {
        let is_elsewhere = farther.level == after.level
            && (farther.project_id != after.project_id || farther.thread_id != after.thread_id);
        let of_farther =
            nearness(farther.level, farther.principal.as_ref(), farther.connection.as_ref(), farther.tool.as_ref());
        let of_after = nearness(after.level, after.principal.as_ref(), after.connection.as_ref(), after.tool.as_ref());
        !is_elsewhere && of_farther <= of_after && is_about_the_same(farther, after)
    };
    after.decision != PolicyDecision::Deny
        && standing.all_policies().iter().any(|farther| is_behind(farther) && has_more_room(farther, after))
}

/// The order in which rules come before each other, as [`effective`](crate::tools::policy::effective) has it.
fn nearness(
    level: PolicyLevel,
    principal: Option<&PolicyPrincipal>,
    connection: Option<&String>,
    tool: Option<&PolicyTool>,
) -> impl Ord + use<> {
    let caller = principal.map_or(0, |named| 1 + u8::from(named.app_id.is_some()));
    (level, caller, connection.is_some(), tool.is_some())
}

/// Whether there may be a tool that both are about.
fn is_about_the_same(policy: &Policy, rule: &PolicySetParams) -> bool {
    let of_policy = policy.tool.as_ref().map(|tool| &tool.source).or(policy.source.as_ref());
    let of_rule = rule.tool.as_ref().map(|tool| &tool.source).or(rule.source.as_ref());
    let names = policy.tool.as_ref().zip(rule.tool.as_ref());
    of_policy == of_rule && names.is_none_or(|(one, other)| one.name == other.name)
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
