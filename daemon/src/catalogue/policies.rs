//! Rules: one for each level, owner of the level, tool or source, principal and connection.

use std::sync::Arc;

use ropewalk_protocol::{
    By, Patch, Policy, PolicyChanged, PolicyDecision, PolicyId, PolicyLevel, PolicyListParams, PolicyOrigin,
    PolicyPrincipalKind, PolicyRemoveParams, PolicySetParams, PolicyTool, Removed, Timestamp,
};

use super::{
    Caller, Catalogue, Refusal, Snapshot, ToolLookup, bindings,
    document::{Document, DocumentChange, Noun},
    projects::{existing, touched},
    refusal::expect_revision,
    rules,
    writer::{Decision, Moment},
};

/// Calls a run may make where a rule does not say.
const MAX_CALLS_PER_RUN: u64 = 65_535;

/// Longest name of a source, tool or account, in characters.
const NAME_CHARACTERS: usize = 256;

impl Catalogue {
    /// Sets a rule. A second one for the same place, subject and caller replaces the first, whole, under its id: what
    /// it does not name is as if it had never been named. An `allow` on a tool gets the digest the tool has now unless
    /// it names one.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn set_policy(
        self: &Arc<Self>,
        caller: Caller,
        origin: PolicyOrigin,
        params: PolicySetParams,
    ) -> Result<PolicyChanged, Refusal> {
        check(&params)?;
        let (tools, by) = (self.tool_lookup(), caller.by());
        self.change(caller, move |snapshot, moment| {
            check_owner(snapshot, &*tools, &params)?;
            let before = snapshot.replaced_by(&params);
            check_revision(before, &*tools, &params)?;
            check_expiry(moment, &params)?;
            let policy = rule(before, moment, tool_of(&*tools, &params), params, origin, by);
            Ok(put(snapshot, moment, policy, tools))
        })
        .await
    }

    /// Takes a rule back.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn remove_policy(
        self: &Arc<Self>,
        caller: Caller,
        params: PolicyRemoveParams,
    ) -> Result<Removed, Refusal> {
        let tools = self.tool_lookup();
        self.change(caller, move |snapshot, moment| {
            let policy = existing_policy(snapshot, &params.policy_id)?;
            expect_revision("policy", params.expected_revision, policy.revision, &shown(policy, &*tools))?;
            let effect = effect_of_removal(policy);
            let mut changes = vec![DocumentChange::Remove(Noun::Policy, policy.policy_id.to_string())];
            changes.extend(owner_touched(snapshot, moment, policy, false));
            Ok(Decision::new(changes, move |_| Removed { applied: true, dry_run: false, effect, replayed: false }))
        })
        .await
    }

    /// A rule as clients see it: with the number of tools it applies to now.
    #[must_use]
    pub fn show_policy(&self, policy: &Policy) -> Policy {
        shown(policy, &*self.tool_lookup())
    }
}

/// Whether a list with these filters shows a rule at a moment. One that has expired is not there any more.
#[must_use]
pub fn is_listed(policy: &Policy, filter: &PolicyListParams, now: Timestamp) -> bool {
    let source = || policy.source.as_ref().or_else(|| policy.tool.as_ref().map(|tool| &tool.source));
    !has_expired(policy, now)
        && filter.level.is_none_or(|level| policy.level == level)
        && (filter.project_id.is_none() || policy.project_id == filter.project_id)
        && (filter.thread_id.is_none() || policy.thread_id == filter.thread_id)
        && (filter.source.is_none() || source() == filter.source.as_ref())
}

impl Snapshot {
    /// The rule that one with these parameters takes the place of.
    pub fn replaced_by(&self, params: &PolicySetParams) -> Option<&Arc<Policy>> {
        self.policies.values().find(|policy| is_about_the_same(policy, params))
    }
}

/// Whether a rule holds no more at a moment.
pub(super) fn has_expired(policy: &Policy, now: Timestamp) -> bool {
    policy.expires_at.is_some_and(|until| until <= now)
}

pub(super) fn existing_policy<'a>(snapshot: &'a Snapshot, id: &PolicyId) -> Result<&'a Arc<Policy>, Refusal> {
    snapshot.policies.get(id).ok_or_else(|| Refusal::not_found("policy", id))
}

pub(super) fn put(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    policy: Policy,
    tools: Arc<dyn ToolLookup>,
) -> Decision<PolicyChanged> {
    let answer = policy.clone();
    let mut changes = Vec::with_capacity(2);
    changes.extend(owner_touched(snapshot, moment, &policy, true));
    changes.push(DocumentChange::Put(Document::Policy(policy)));
    Decision::new(changes, move |_| PolicyChanged { policy: shown(&answer, &*tools), replayed: false })
}

/// A change of a project's rules is a change of the project. One that is set binds the project to the server it is about.
fn owner_touched(snapshot: &Snapshot, moment: &Moment<'_>, policy: &Policy, is_set: bool) -> Option<DocumentChange> {
    let project = policy.project_id.as_ref().and_then(|id| snapshot.projects.get(id))?;
    if is_set {
        return Some(touched(&bindings::bound_by_rule(snapshot, project, policy), moment));
    }
    Some(touched(project, moment))
}

pub(super) fn shown(policy: &Policy, tools: &dyn ToolLookup) -> Policy {
    Policy { matches: tools.matches(policy), ..policy.clone() }
}

/// The tool a rule is about; an `allow` is bound to what it is now.
pub(super) fn tool_of(tools: &dyn ToolLookup, params: &PolicySetParams) -> Option<PolicyTool> {
    let mut tool = params.tool.clone()?;
    tool.digest = match params.decision {
        PolicyDecision::Allow => {
            tool.digest.or_else(|| tools.digest_of(&tool.source, &tool.name, params.thread_id.as_ref()))
        }
        PolicyDecision::Ask | PolicyDecision::Deny => None,
    };
    Some(tool)
}

pub(super) fn rule(
    before: Option<&Arc<Policy>>,
    moment: &Moment<'_>,
    tool: Option<PolicyTool>,
    params: PolicySetParams,
    origin: PolicyOrigin,
    set_by: By,
) -> Policy {
    Policy {
        policy_id: before.map_or_else(|| moment.id(), |policy| policy.policy_id.clone()),
        level: params.level,
        project_id: params.project_id,
        thread_id: params.thread_id,
        tool,
        source: params.source,
        principal: params.principal,
        connection: params.connection,
        decision: params.decision,
        timeout_ms: match params.timeout_ms {
            Patch::Set(timeout_ms) => Some(timeout_ms),
            Patch::Keep | Patch::Clear => None,
        },
        max_calls_per_run: params.max_calls_per_run.unwrap_or(MAX_CALLS_PER_RUN),
        expires_at: params.expires_at,
        origin,
        set_by,
        at: moment.now,
        matches: 0,
        revision: before.map_or(1, |policy| policy.revision + 1),
    }
}

fn is_about_the_same(policy: &Policy, params: &PolicySetParams) -> bool {
    let subject = |tool: &PolicyTool| (tool.source.clone(), tool.name.clone());
    policy.level == params.level
        && policy.project_id == params.project_id
        && policy.thread_id == params.thread_id
        && policy.source == params.source
        && policy.tool.as_ref().map(subject) == params.tool.as_ref().map(subject)
        && policy.principal == params.principal
        && policy.connection == params.connection
}

pub(super) fn check(params: &PolicySetParams) -> Result<(), Refusal> {
    check_level(params)?;
    check_subject(params)?;
    if let Some(principal) = &params.principal
        && principal.kind == PolicyPrincipalKind::Agent
        && principal.app_id.is_some()
    {
        let message = "A run's own agent has no app. Leave appId out, or make the principal an app.";
        return Err(Refusal::invalid("/principal/appId", "not_for_kind", message));
    }
    if let Some(connection) = &params.connection {
        rules::line("/connection", connection, NAME_CHARACTERS)?;
    }
    if let Patch::Set(timeout_ms) = params.timeout_ms {
        rules::within("/timeoutMs", timeout_ms, 1_000..=3_600_000)?;
    }
    rules::within("/maxCallsPerRun", params.max_calls_per_run.unwrap_or(MAX_CALLS_PER_RUN), 1..=MAX_CALLS_PER_RUN)
}

/// The owner of the level is named, and nothing else is.
fn check_level(params: &PolicySetParams) -> Result<(), Refusal> {
    let owners = [
        ("/projectId", PolicyLevel::Project, params.project_id.is_some()),
        ("/threadId", PolicyLevel::Thread, params.thread_id.is_some()),
    ];
    for (path, level, is_named) in owners {
        let field = &path[1..];
        if level == params.level && !is_named {
            let message = format!("A rule of this level needs a {field}.");
            return Err(Refusal::invalid(path, "required", message));
        }
        if level != params.level && is_named {
            let message =
                format!("A rule of this level has no {field}. Leave it out or choose the level it belongs to.");
            return Err(Refusal::invalid(path, "not_at_this_level", message));
        }
    }
    Ok(())
}

fn check_subject(params: &PolicySetParams) -> Result<(), Refusal> {
    match (&params.tool, &params.source) {
        (Some(tool), None) => {
            rules::line("/tool/source", &tool.source, NAME_CHARACTERS)?;
            rules::line("/tool/name", &tool.name, NAME_CHARACTERS)?;
            check_digest(tool.digest.as_deref())
        }
        (None, Some(source)) => rules::line("/source", source, NAME_CHARACTERS),
        (None, None) => {
            Err(Refusal::invalid("/tool", "required", "A rule is about a tool or about a source: name one."))
        }
        (Some(_), Some(_)) => {
            let message = "A rule is about a tool or about a whole source, not both. Leave one of them out.";
            Err(Refusal::invalid("/source", "not_with_tool", message))
        }
    }
}

/// A digest that no tool can ever have would make a rule that never holds.
fn check_digest(digest: Option<&str>) -> Result<(), Refusal> {
    let is_digest = |digest: &str| {
        digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    if digest.is_none_or(is_digest) {
        return Ok(());
    }
    let message = "A digest is 64 lower-case hexadecimal digits, as thread/tools shows it. Leave it out for the tool as it is now.";
    Err(Refusal::invalid("/tool/digest", "not_a_digest", message))
}

fn check_owner(snapshot: &Snapshot, tools: &dyn ToolLookup, params: &PolicySetParams) -> Result<(), Refusal> {
    if let Some(project) = &params.project_id {
        existing(snapshot, project)?;
    }
    match &params.thread_id {
        Some(thread) if !tools.thread_exists(thread) => Err(Refusal::not_found("thread", thread)),
        _ => Ok(()),
    }
}

fn check_revision(
    before: Option<&Arc<Policy>>,
    tools: &dyn ToolLookup,
    params: &PolicySetParams,
) -> Result<(), Refusal> {
    match (before, params.expected_revision) {
        (Some(before), expected) => expect_revision("policy", expected, before.revision, &shown(before, tools)),
        (None, Some(_)) => Err(Refusal::Conflict { noun: "policy", current_revision: None, current: None }),
        (None, None) => Ok(()),
    }
}

pub(super) fn check_expiry(moment: &Moment<'_>, params: &PolicySetParams) -> Result<(), Refusal> {
    match params.expires_at {
        Some(until) if until <= moment.now => {
            let message = format!("expiresAt is not in the future: it is {} now.", moment.now);
            Err(Refusal::invalid("/expiresAt", "not_in_the_future", message))
        }
        _ => Ok(()),
    }
}

fn effect_of_removal(policy: &Policy) -> String {
    let level = rules::word(&policy.level);
    let decision = rules::word(&policy.decision);
    match (&policy.tool, &policy.source) {
        (Some(tool), _) => format!("Takes back the {level} rule {decision} for {} of {}.", tool.name, tool.source),
        (None, source) => {
            format!("Takes back the {level} rule {decision} for all of {}.", source.as_deref().unwrap_or_default())
        }
    }
}
