//! What a project allows, replaced as one document.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
};

use ropewalk_protocol::{
    By, Grant, Policy, PolicyOrigin, PolicySetParams, Project, ProjectId, SecurityGrant, SecurityReplaceParams,
    SecurityReplaced,
};

use super::{
    Caller, Catalogue, Refusal, Snapshot, ToolLookup, bindings, directory,
    document::{Document, DocumentChange, Noun},
    grants::distinct,
    policies::{check, check_expiry, rule, shown, tool_of},
    projects::{existing, touched},
    refusal::expect_revision,
    rules,
    writer::{Decision, Moment},
};

/// The document, as far as it can be checked without knowing the others.
struct Wanted {
    project_id: ProjectId,
    grants: Vec<SecurityGrant>,
    policies: Vec<PolicySetParams>,
    warning: Option<String>,
    is_rehearsal: bool,
}

/// What the project has after it.
struct After {
    grants: Vec<Grant>,
    policies: Vec<Policy>,
}

impl Catalogue {
    /// Replaces the grants and the rules of a project: what the document does not name is taken back, in the same commit.
    /// What it names as it is keeps its id and its time.
    ///
    /// # Errors
    /// As [`Refusal`] says. Paths lead into the document: `/grants/0/path`, `/policies/3/timeoutMs`.
    pub async fn replace_security(
        self: &Arc<Self>,
        caller: Caller,
        params: SecurityReplaceParams,
    ) -> Result<SecurityReplaced, Refusal> {
        let expected = params.expected_revision;
        let wanted = self.wanted(params).await?;
        let (tools, by) = (self.tool_lookup(), caller.by());
        // What was only rehearsed is no change that a repeat could be recognised by (APP-156).
        let operation = caller.operation.filter(|_| !wanted.is_rehearsal);
        let caller = Caller { operation, ..caller };
        let tools_shown = tools.clone();
        self.change(caller, move |snapshot, moment| {
            let project = existing(snapshot, &wanted.project_id)?;
            expect_revision("project", Some(expected), project.revision, &with_security(snapshot, project, &*tools))?;
            let after = after(snapshot, moment, &wanted, &*tools, &by)?;
            Ok(replace(snapshot, moment, project, &wanted, after, tools_shown))
        })
        .await
    }

    async fn wanted(&self, params: SecurityReplaceParams) -> Result<Wanted, Refusal> {
        let snapshot = self.snapshot();
        existing(&snapshot, &params.project_id)?;
        let mut grants: Vec<SecurityGrant> = Vec::with_capacity(params.grants.len());
        let mut warnings = Vec::new();
        for (index, grant) in params.grants.into_iter().enumerate() {
            let at = |refusal| within("grants", index, refusal);
            let capabilities = distinct(&grant.capabilities).map_err(at)?;
            grant.name.as_deref().map_or(Ok(()), |name| rules::name("/name", name)).map_err(at)?;
            let path = directory::canonical(&grant.path).await.map_err(at)?;
            if grants.iter().any(|other| other.path == path) {
                let message =
                    format!("{path} is granted twice. Name a directory once, with all that is allowed beneath it.");
                return Err(at(Refusal::invalid("/path", "twice", message)));
            }
            let home = self.home.get().map(PathBuf::as_path);
            warnings.extend(directory::warning_about(Path::new(&path), home));
            grants.push(SecurityGrant { path, capabilities, ..grant });
        }
        let mut policies: Vec<PolicySetParams> = Vec::with_capacity(params.policies.len());
        for (index, rule) in params.policies.into_iter().enumerate() {
            let at = |refusal| within("policies", index, refusal);
            let rule = rule.of_project(&params.project_id);
            check(&rule).map_err(at)?;
            check_source(&snapshot, &rule).map_err(at)?;
            if policies.iter().any(|other| is_the_same_place(other, &rule)) {
                let message = "There are two rules about the same subject, caller and account. Keep one of them.";
                return Err(at(Refusal::invalid("", "twice", message)));
            }
            policies.push(rule);
        }
        let warning = (!warnings.is_empty()).then(|| warnings.join(" "));
        let is_rehearsal = params.dry_run == Some(true);
        Ok(Wanted { project_id: params.project_id, grants, policies, warning, is_rehearsal })
    }
}

/// A refusal of one member of the document, with the way to it.
fn within(list: &str, index: usize, refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Invalid { path, reason, message } => {
            Refusal::Invalid { path: Cow::Owned(format!("/{list}/{index}{path}")), reason, message }
        }
        other => other,
    }
}

fn check_source(snapshot: &Snapshot, rule: &PolicySetParams) -> Result<(), Refusal> {
    match (&rule.tool, &rule.source) {
        (Some(tool), _) => snapshot.check_source("/tool/source", &tool.source),
        (None, Some(source)) => snapshot.check_source("/source", source),
        (None, None) => Ok(()),
    }
}

fn is_the_same_place(one: &PolicySetParams, other: &PolicySetParams) -> bool {
    let subject = |rule: &PolicySetParams| {
        let tool = rule.tool.as_ref().map(|tool| (tool.source.clone(), tool.name.clone()));
        (tool, rule.source.clone(), rule.principal.clone(), rule.connection.clone())
    };
    subject(one) == subject(other)
}

fn after(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    wanted: &Wanted,
    tools: &dyn ToolLookup,
    by: &By,
) -> Result<After, Refusal> {
    let grants = wanted.grants.iter().map(|grant| granted(snapshot, moment, &wanted.project_id, grant)).collect();
    let mut policies = Vec::with_capacity(wanted.policies.len());
    for (index, params) in wanted.policies.iter().enumerate() {
        check_expiry(moment, params).map_err(|refusal| within("policies", index, refusal))?;
        let before = snapshot.replaced_by(params);
        let tool = tool_of(tools, params);
        let made = rule(before, moment, tool, params.clone(), PolicyOrigin::Owner, by.clone());
        policies.push(before.filter(|before| says_the_same(before, &made)).map_or(made, |before| (**before).clone()));
    }
    Ok(After { grants, policies })
}

fn granted(snapshot: &Snapshot, moment: &Moment<'_>, project_id: &ProjectId, wanted: &SecurityGrant) -> Grant {
    let before = snapshot.grants_after(project_id, None).find(|grant| grant.path == wanted.path);
    let name = wanted.name.clone().or_else(|| before.map(|grant| grant.name.clone()));
    Grant {
        grant_id: before.map_or_else(|| moment.id(), |grant| grant.grant_id.clone()),
        project_id: project_id.clone(),
        name: name.unwrap_or_else(|| directory::name_of(&wanted.path)),
        path: wanted.path.clone(),
        capabilities: wanted.capabilities.clone(),
        created_at: before.map_or(moment.now, |grant| grant.created_at),
    }
}

/// Whether a rule says what another one does, whoever made either and when.
fn says_the_same(one: &Policy, other: &Policy) -> bool {
    let said = |policy: &Policy| {
        let tool = policy.tool.clone();
        (policy.decision, tool, policy.timeout_ms, policy.max_calls_per_run, policy.expires_at)
    };
    said(one) == said(other)
}

fn replace(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    project: &Arc<Project>,
    wanted: &Wanted,
    after: After,
    tools: Arc<dyn ToolLookup>,
) -> Decision<SecurityReplaced> {
    let mut grants = Counts::default();
    let mut policies = Counts::default();
    let mut changes = Vec::new();
    let id = &project.project_id;
    let of_project = |policy: &&Arc<Policy>| policy.project_id.as_ref() == Some(id);
    for grant in
        snapshot.grants_after(id, None).filter(|old| !after.grants.iter().any(|new| new.grant_id == old.grant_id))
    {
        grants.gone += 1;
        changes.push(DocumentChange::Remove(Noun::Grant, grant.grant_id.to_string()));
    }
    for policy in snapshot.policies.values().filter(of_project) {
        if !after.policies.iter().any(|new| new.policy_id == policy.policy_id) {
            policies.gone += 1;
            changes.push(DocumentChange::Remove(Noun::Policy, policy.policy_id.to_string()));
        }
    }
    for grant in &after.grants {
        if grants.count(snapshot.grants.get(&grant.grant_id).map(|old| **old == *grant)) {
            changes.push(DocumentChange::Put(Document::Grant(grant.clone())));
        }
    }
    let mut bound = Arc::clone(project);
    for policy in &after.policies {
        if policies.count(snapshot.policies.get(&policy.policy_id).map(|old| **old == *policy)) {
            changes.push(DocumentChange::Put(Document::Policy(policy.clone())));
            bound = Arc::new(bindings::bound_by_rule(snapshot, &bound, policy));
        }
    }
    let effect = format!("Grants of {}: {grants}. Its rules: {policies}.", project.name);
    if !changes.is_empty() {
        changes.push(touched(&bound, moment));
    }
    let is_rehearsal = wanted.is_rehearsal;
    let answer = answer(changes.last(), project, after, &*tools);
    let warning = wanted.warning.clone();
    let replaced = SecurityReplaced {
        project: answer,
        applied: !is_rehearsal,
        dry_run: is_rehearsal,
        effect,
        warning,
        replayed: false,
    };
    if is_rehearsal { Decision::nothing(replaced) } else { Decision::new(changes, move |_| replaced) }
}

/// The project as it is after the change, whose last document it is.
fn answer(last: Option<&DocumentChange>, before: &Project, after: After, tools: &dyn ToolLookup) -> Project {
    let project = match last {
        Some(DocumentChange::Put(Document::Project(project))) => project.clone(),
        _ => before.clone(),
    };
    let policies = after.policies.iter().map(|policy| shown(policy, tools)).collect();
    Project { grants: Some(after.grants), policies: Some(policies), ..project }
}

fn with_security(snapshot: &Snapshot, project: &Project, tools: &dyn ToolLookup) -> Project {
    let id = &project.project_id;
    let policies = snapshot.policies.values().filter(|policy| policy.project_id.as_ref() == Some(id));
    Project {
        grants: Some(snapshot.grants_after(id, None).map(|grant| (**grant).clone()).collect()),
        policies: Some(policies.map(|policy| shown(policy, tools)).collect()),
        ..project.clone()
    }
}

/// How many of a list come, change and go.
#[derive(Default)]
struct Counts {
    new: usize,
    changed: usize,
    gone: usize,
}

impl Counts {
    /// Counts one that is wanted, given whether the one there is equals it; whether it has to be written.
    fn count(&mut self, is_equal: Option<bool>) -> bool {
        match is_equal {
            Some(true) => return false,
            Some(false) => self.changed += 1,
            None => self.new += 1,
        }
        true
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{} new, {} changed, {} taken back", self.new, self.changed, self.gone)
    }
}
