//! What the rules say of a tool: which one wins, and which answers to an approval would change anything.

use std::sync::Arc;

use ropewalk_protocol::{
    Decision, EffectiveLevel, Policy, PolicyDecision, PolicyId, PolicyLevel, PolicyPrincipal, PolicyPrincipalKind,
    PolicyTool, ProjectId, ThreadId, Timestamp,
};

use super::SourceDefault;

mod rule_set;
#[cfg(test)]
mod tests;

pub use rule_set::{RuleCache, RuleSet};

/// Calls one run may make of a tool where no rule says otherwise.
pub const MAX_CALLS: u64 = 65_535;

/// The App tools that a rule on their whole source does not open: they need one of their own.
const NEED_THEIR_OWN: [&str; 2] = ["app_security", "app_instructions"];

/// What rules see of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolIdentity<'a> {
    /// Its source.
    pub source: &'a str,
    /// Its name in rules: the flat name of a client tool.
    pub name: &'a str,
    /// Its digest.
    pub digest: &'a str,
    /// What holds without a rule.
    pub default: &'a SourceDefault,
}

/// Whose call it is, where and when.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The project of the thread.
    pub project_id: &'a ProjectId,
    /// The thread.
    pub thread_id: &'a ThreadId,
    /// A run's own agent, or an app.
    pub principal: &'a PolicyPrincipal,
    /// The account of a server that the call would use.
    pub connection: Option<&'a str>,
    /// Now.
    pub now: Timestamp,
}

/// What the rules say of a tool for one caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The decision.
    pub decision: PolicyDecision,
    /// Where it comes from.
    pub level: EffectiveLevel,
    /// The rule, where one decides.
    pub policy_id: Option<PolicyId>,
    /// How long a call may be silent, where the rule says so.
    pub timeout_ms: Option<u64>,
    /// How many calls one run may make.
    pub max_calls: u64,
    /// Why, in a few words.
    pub why: String,
}

/// A run's own agent, the caller of everything a model does outside of apps.
pub const AGENT: PolicyPrincipal = PolicyPrincipal { kind: PolicyPrincipalKind::Agent, app_id: None };

/// The rule that decides, or the default. A `deny` at any level wins; else the nearest of thread, project and global; at
/// one level a rule with a principal before one without, a connection before none, and the tool before its source. Rules
/// that have expired do not count, and an `allow` for another digest of the tool counts as `ask`.
#[must_use]
pub fn effective(tool: ToolIdentity<'_>, rules: &RuleSet, asking: Asking<'_>) -> Effective {
    decided(tool, rules.about(tool), asking)
}

fn decided<'a>(tool: ToolIdentity<'_>, rules: impl Iterator<Item = &'a Arc<Policy>>, asking: Asking<'_>) -> Effective {
    let winner = rules
        .filter(|rule| covers(rule, tool) && applies(rule, asking))
        .max_by_key(|rule| (rule.decision == PolicyDecision::Deny, nearness(rule)));
    let mut found = winner.map_or_else(|| by_default(tool.default), |rule| by_rule(rule, tool));
    if tool.default.exempt_from_asking && found.decision == PolicyDecision::Ask {
        found.decision = PolicyDecision::Allow;
        found.level = EffectiveLevel::Default;
        found.policy_id = None;
        "exempt from asking".clone_into(&mut found.why);
    }
    found
}

/// Whether a rule is about a tool at all, whoever calls it and wherever. A rule on the source `app` opens or asks about
/// neither `app_security` nor `app_instructions`, but denies them with all the others.
#[must_use]
pub fn covers(rule: &Policy, tool: ToolIdentity<'_>) -> bool {
    match (&rule.tool, &rule.source) {
        (Some(named), _) => named.source == tool.source && named.name == tool.name,
        (None, Some(source)) => {
            let kept_apart = tool.source == "app" && NEED_THEIR_OWN.contains(&tool.name);
            source == tool.source && (!kept_apart || rule.decision == PolicyDecision::Deny)
        }
        (None, None) => false,
    }
}

/// How many of these tools a rule is about; 0 is worth telling its owner.
#[must_use]
pub fn matches<'a>(rule: &Policy, tools: impl IntoIterator<Item = ToolIdentity<'a>>) -> u64 {
    tools.into_iter().filter(|tool| covers(rule, *tool)).count() as u64
}

/// The decisions that would count in an approval of this call. What would not take effect for the next equal call is left
/// out: a remembered `allow` that loses to a nearer rule, and both of them where the call widens the caller's authority.
#[must_use]
pub fn choices(tool: ToolIdentity<'_>, rules: &RuleSet, asking: Asking<'_>, widens_authority: bool) -> Vec<Decision> {
    let remembered = |level| !widens_authority && would_allow(tool, rules, asking, level);
    let mut choices = vec![Decision::Accept];
    if remembered(PolicyLevel::Thread) {
        choices.push(Decision::AcceptForSession);
    }
    if remembered(PolicyLevel::Project) {
        choices.push(Decision::AcceptAlways);
    }
    choices.extend([Decision::Decline, Decision::Cancel]);
    choices
}

/// Whether remembering an `allow` at this level would let the next equal call through.
#[must_use]
pub fn would_allow(tool: ToolIdentity<'_>, rules: &RuleSet, asking: Asking<'_>, level: PolicyLevel) -> bool {
    let key = remembered_key(tool, rules, asking, level);
    let allow = Policy {
        policy_id: "".into(),
        project_id: (level == PolicyLevel::Project).then(|| asking.project_id.clone()),
        thread_id: (level == PolicyLevel::Thread).then(|| asking.thread_id.clone()),
        level,
        tool: Some(key.tool),
        source: None,
        principal: key.principal,
        connection: key.connection,
        decision: PolicyDecision::Allow,
        timeout_ms: None,
        max_calls_per_run: MAX_CALLS,
        expires_at: None,
        origin: ropewalk_protocol::PolicyOrigin::Approval,
        set_by: ropewalk_protocol::By::of(ropewalk_protocol::ByKind::Client),
        at: asking.now,
        matches: 0,
        revision: 0,
    };
    let allow = Arc::new(allow);
    let others = rules.about(tool).filter(|rule| !same_key(rule, &allow));
    decided(tool, others.chain(std::iter::once(&allow)), asking).decision == PolicyDecision::Allow
}

/// What a remembered `allow` is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedKey {
    /// The tool, with its digest.
    pub tool: PolicyTool,
    /// Whose calls: those of the rule it replaces; else all for a run's own agent, and the app's for an app.
    pub principal: Option<PolicyPrincipal>,
    /// The account: that of the rule it replaces, else all.
    pub connection: Option<String>,
}

/// What the `allow` is about that `acceptForSession` and `acceptAlways` make at a level. It replaces the level's own rule
/// about this tool that holds for this caller, where there is one.
#[must_use]
pub fn remembered_key(
    tool: ToolIdentity<'_>,
    rules: &RuleSet,
    asking: Asking<'_>,
    level: PolicyLevel,
) -> RememberedKey {
    let replaced = rules
        .about(tool)
        .filter(|rule| rule.level == level && rule.tool.is_some() && covers(rule, tool) && applies(rule, asking))
        .max_by_key(|rule| nearness(rule));
    let default_principal = || (asking.principal.kind == PolicyPrincipalKind::App).then(|| asking.principal.clone());
    RememberedKey {
        tool: PolicyTool {
            source: tool.source.to_owned(),
            name: tool.name.to_owned(),
            digest: Some(tool.digest.to_owned()),
        },
        principal: replaced.map_or_else(default_principal, |rule| rule.principal.clone()),
        connection: replaced.and_then(|rule| rule.connection.clone()),
    }
}

/// Whether one of two rules takes the other's place: there is one for each level, owner of the level, tool or source,
/// principal and connection.
#[must_use]
pub fn same_key(one: &Policy, other: &Policy) -> bool {
    let tool = |rule: &Policy| rule.tool.as_ref().map(|tool| (tool.source.clone(), tool.name.clone()));
    one.level == other.level
        && one.project_id == other.project_id
        && one.thread_id == other.thread_id
        && tool(one) == tool(other)
        && one.source == other.source
        && one.principal == other.principal
        && one.connection == other.connection
}

/// Whether a rule holds here, now, and for this caller.
fn applies(rule: &Policy, asking: Asking<'_>) -> bool {
    let here = match rule.level {
        PolicyLevel::Global => true,
        PolicyLevel::Project => rule.project_id.as_ref() == Some(asking.project_id),
        PolicyLevel::Thread => rule.thread_id.as_ref() == Some(asking.thread_id),
    };
    let caller = rule.principal.as_ref().is_none_or(|named| {
        named.kind == asking.principal.kind
            && named.app_id.as_ref().is_none_or(|app| asking.principal.app_id.as_ref() == Some(app))
    });
    let connection = rule.connection.as_deref().is_none_or(|named| asking.connection == Some(named));
    let in_time = rule.expires_at.is_none_or(|end| end > asking.now);
    here && caller && connection && in_time
}

/// How near a rule is; of two rules the greater one decides. Specific apps come before all apps, and between rules that are
/// still equal the stricter one decides.
fn nearness(rule: &Policy) -> impl Ord {
    let principal = rule.principal.as_ref().map_or(0, |named| 1 + u8::from(named.app_id.is_some()));
    let strictness = match rule.decision {
        PolicyDecision::Allow => 0,
        PolicyDecision::Ask => 1,
        PolicyDecision::Deny => 2,
    };
    (rule.level, principal, rule.connection.is_some(), rule.tool.is_some(), strictness)
}

fn by_default(default: &SourceDefault) -> Effective {
    Effective {
        decision: default.decision,
        level: EffectiveLevel::Default,
        policy_id: None,
        timeout_ms: None,
        max_calls: MAX_CALLS,
        why: default.why.clone().into_owned(),
    }
}

fn by_rule(rule: &Policy, tool: ToolIdentity<'_>) -> Effective {
    let (level, whose) = match rule.level {
        PolicyLevel::Thread => (EffectiveLevel::Thread, "rule of the thread"),
        PolicyLevel::Project => (EffectiveLevel::Project, "rule of the project"),
        PolicyLevel::Global => (EffectiveLevel::Global, "global rule"),
    };
    let bound_to = rule.tool.as_ref().and_then(|named| named.digest.as_deref());
    let outdated = rule.decision == PolicyDecision::Allow && bound_to.is_some_and(|digest| digest != tool.digest);
    let about = if rule.tool.is_none() { " about its whole source" } else { "" };
    Effective {
        decision: if outdated { PolicyDecision::Ask } else { rule.decision },
        level,
        policy_id: Some(rule.policy_id.clone()),
        timeout_ms: rule.timeout_ms,
        max_calls: rule.max_calls_per_run,
        why: if outdated { format!("{whose}, made before the tool changed") } else { format!("{whose}{about}") },
    }
}
