//! Servers: added, changed, reviewed and removed. Whoever calls says how a server is shown, because how it stands is not the
//! catalogue's to know.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use ropewalk_protocol::{
    Policy, PolicyDecision, PolicyLevel, Removed, Server, ServerAddParams, ServerAdded, ServerChanged, ServerId,
    ServerRemoveParams, ServerReviewSubmitParams, ServerReviewSubmitted, ServerUpdateParams, Transport,
};

use super::{
    Caller, Catalogue, Refusal, ServerRecord, Snapshot,
    bindings::source_of,
    document::{Document, DocumentChange, Noun},
    projects::touched,
    refusal::expect_revision,
    secrets::{environment_name, in_time},
    server_rules::{SERVERS, check_arguments, check_name, check_new, check_variables, is_reserved},
    server_update::{is_kept, updated},
    writer::{Decision, Moment},
};
use crate::tools::mcp::{Choice, Listing, choose, review, slug};

/// How a server is shown, as it stands now.
pub type ShowServer = Arc<dyn Fn(&ServerRecord) -> Server + Send + Sync>;

impl Catalogue {
    /// Adds a server that is a program. What it gets in its environment is kept before any record speaks of it.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn add_server(
        self: &Arc<Self>,
        caller: Caller,
        params: ServerAddParams,
        show: ShowServer,
    ) -> Result<ServerAdded, Refusal> {
        let command = check_new(&params)?;
        let this = Arc::clone(self);
        self.exclusively(async move {
            let snapshot = this.snapshot();
            let moment = Moment { now: this.clock.now(), ids: &this.ids };
            let env = params.env.clone().unwrap_or_default();
            let record = new_record(&snapshot, &moment, command, params)?;
            let id = record.server_id.clone();
            let decision = Decision::new(put(record.clone()), move |_| ServerAdded {
                server: show(&record),
                review: None,
                replayed: false,
            });
            if env.is_empty() {
                return this.commit(caller, decision).await;
            }
            let set = in_time(this.secrets.set(&environment_name(&id), &as_text(&env))).await;
            this.commit_or_restore(caller, decision, set, &environment_name(&id), Some(None)).await
        })
        .await
    }

    /// Gives a server the name it has for itself, unless its owner gave one or has begun to use it.
    ///
    /// # Errors
    /// When it is gone, or the store fails.
    pub async fn name_server(self: &Arc<Self>, id: &ServerId, own_name: &str) -> Result<(), Refusal> {
        let (id, name) = (id.clone(), own_name.trim().to_owned());
        self.change(Caller::default(), move |snapshot, _| {
            let before = existing(snapshot, &id)?;
            if before.name_was_given || before.reviewed || check_name(Some(&name)).is_err() || before.name == name {
                return Ok(Decision::nothing(()));
            }
            let slug = slug(&name, |slug| slug != before.slug && is_taken(snapshot, slug));
            let record = ServerRecord { name, slug, revision: before.revision + 1, ..(**before).clone() };
            Ok(Decision::new(put(record), |_| ()))
        })
        .await
    }

    /// Changes what is named of a server.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn update_server(
        self: &Arc<Self>,
        caller: Caller,
        params: ServerUpdateParams,
        show: ShowServer,
    ) -> Result<ServerChanged, Refusal> {
        check_name(params.name.as_deref())?;
        check_arguments(params.args.as_deref())?;
        check_variables(params.env.as_ref())?;
        let this = Arc::clone(self);
        self.exclusively(async move {
            let snapshot = this.snapshot();
            let env = params.env.clone();
            let before = existing(&snapshot, &params.server_id)?;
            expect_revision("server", params.expected_revision, before.revision, &show(before))?;
            let name = environment_name(&before.server_id);
            let kept = match env {
                Some(_) => in_time(this.secrets.get(&name)).await.ok(),
                None => None,
            };
            let env = env.filter(|env| !is_kept(env, kept.as_ref()));
            let record = updated(before, params, env.is_some())?;
            let answer = record.clone();
            let changes = if record == **before { Vec::new() } else { put(record) };
            let decision = Decision::new(changes, move |_| ServerChanged { server: show(&answer), replayed: false });
            let Some(env) = env else { return this.commit(caller, decision).await };
            let set = in_time(this.secrets.set(&name, &as_text(&env))).await;
            this.commit_or_restore(caller, decision, set, &name, kept).await
        })
        .await
    }

    /// Takes in what the owner decided about a review; the listing is the one the review was made of.
    ///
    /// # Errors
    /// `conflict` when the review is another by now, `invalidParams` for a tool that is not there or cannot be used.
    pub async fn submit_review(
        self: &Arc<Self>,
        caller: Caller,
        params: ServerReviewSubmitParams,
        listing: Option<Arc<Listing>>,
        show: ShowServer,
    ) -> Result<(ServerReviewSubmitted, Vec<Arc<Policy>>), Refusal> {
        let reset = Arc::new(std::sync::OnceLock::new());
        let noted = Arc::clone(&reset);
        let answer = self.change(caller, move |snapshot, _| {
            let before = changeable(snapshot, &params.server_id)?;
            let chosen = choose(&before.reviewed(), listing.as_deref(), &params.digest, &params.tools)
                .map_err(|choice| refused(&choice, before, listing.as_deref()))?;
            let rules = rules_of(snapshot, |policy| is_level_of(policy, &before.server_id, &chosen.reset));
            let mut changes: Vec<DocumentChange> = rules.iter().map(|policy| removed(policy)).collect();
            let _ = noted.set(rules);
            let record = ServerRecord {
                approved: chosen.approved,
                cleared: chosen.cleared,
                tool_ids: chosen.tool_ids,
                reviewed: true,
                trusted: params.trusted.unwrap_or(before.trusted),
                revision: before.revision + 1,
                ..(**before).clone()
            };
            changes.extend(put(record.clone()));
            Ok(Decision::new(changes, move |_| ServerReviewSubmitted {
                review: review(&record.reviewed(), listing.as_deref()),
                server: show(&record),
                replayed: false,
            }))
        });
        let answer = answer.await?;
        Ok((answer, reset.get().cloned().unwrap_or_default()))
    }

    /// Removes a server: with it the values of its environment, every rule about it, and what projects say of it. Gives the
    /// rules that went.
    ///
    /// # Errors
    /// As [`Refusal`] says.
    pub async fn remove_server(
        self: &Arc<Self>,
        caller: Caller,
        params: ServerRemoveParams,
        show: ShowServer,
    ) -> Result<(Removed, Vec<Arc<Policy>>), Refusal> {
        let this = Arc::clone(self);
        self.exclusively(async move {
            let snapshot = this.snapshot();
            let moment = Moment { now: this.clock.now(), ids: &this.ids };
            let record = changeable(&snapshot, &params.server_id)?;
            expect_revision("server", params.expected_revision, record.revision, &show(record))?;
            let rules = rules_of(&snapshot, |policy| source_of(policy) == Some(&*record.server_id));
            let decision = removal(&snapshot, &moment, record, &rules);
            let answer = this.commit(caller, decision).await?;
            if !record.env_names.is_empty() {
                this.forget(&environment_name(&record.server_id)).await;
            }
            Ok((answer, rules))
        })
        .await
    }

    /// What a server gets in its environment beside the usual.
    ///
    /// # Errors
    /// When the keeper of secrets fails, or does not have what was stored.
    pub async fn environment_of(&self, record: &ServerRecord) -> Result<BTreeMap<String, String>, Refusal> {
        if record.env_names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let text = in_time(self.secrets.get(&environment_name(&record.server_id))).await?;
        let env: Option<BTreeMap<String, String>> = text.and_then(|text| serde_json::from_str(&text).ok());
        env.ok_or_else(|| Refusal::Secrets("its environment is not where it was kept; set it again".to_owned()))
    }
}

/// The server with an id.
pub(super) fn existing<'a>(snapshot: &'a Snapshot, id: &ServerId) -> Result<&'a Arc<ServerRecord>, Refusal> {
    snapshot.servers.get(id).ok_or_else(|| Refusal::not_found("server", id))
}

/// The server with an id, unless it is part of the daemon (APP-21, APP-23).
fn changeable<'a>(snapshot: &'a Snapshot, id: &ServerId) -> Result<&'a Arc<ServerRecord>, Refusal> {
    let record = existing(snapshot, id)?;
    if record.is_builtin() { Err(builtin(record)) } else { Ok(record) }
}

pub(super) fn builtin(record: &ServerRecord) -> Refusal {
    let message = format!(
        "{} are part of the daemon and stay as they are. Switch them off with `enabled`, here or for a project, or set rules \
         for their tools.",
        record.name
    );
    Refusal::invalid("/serverId", "builtin", message)
}

fn new_record(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    command: String,
    params: ServerAddParams,
) -> Result<ServerRecord, Refusal> {
    if snapshot.servers.values().filter(|record| !record.is_builtin()).count() >= SERVERS {
        let message = format!("There are {SERVERS} servers, and that is the limit. Remove one first.");
        return Err(Refusal::invalid("/command", "server_limit", message));
    }
    let name_was_given = params.name.is_some();
    let name = params.name.unwrap_or_else(|| name_of(&command));
    let slug = slug(&name, |slug| is_taken(snapshot, slug));
    Ok(ServerRecord {
        name_was_given,
        command,
        args: params.args.unwrap_or_default(),
        env_names: params.env.unwrap_or_default().into_keys().collect(),
        ..ServerRecord::blank(moment.id(), slug, name, Transport::Stdio)
    })
}

/// What a server is called of which only the program is known.
fn name_of(command: &str) -> String {
    let stem = Path::new(command).file_stem().and_then(|stem| stem.to_str()).unwrap_or(command);
    if is_reserved(stem) {
        return format!("{stem} (program)");
    }
    stem.chars().take(120).collect()
}

fn is_taken(snapshot: &Snapshot, slug: &str) -> bool {
    snapshot.servers.values().any(|record| record.slug == slug)
}

fn put(record: ServerRecord) -> Vec<DocumentChange> {
    vec![DocumentChange::Put(Document::Server(record))]
}

fn removed(policy: &Policy) -> DocumentChange {
    DocumentChange::Remove(Noun::Policy, policy.policy_id.to_string())
}

fn rules_of(snapshot: &Snapshot, is_meant: impl Fn(&Policy) -> bool) -> Vec<Arc<Policy>> {
    snapshot.policies.values().filter(|policy| is_meant(policy)).cloned().collect()
}

/// Whether a rule sets a level of one of these tools. A rule that was set for what a tool was must not decide about what it
/// has become; but what a project or a thread forbids stays forbidden there.
fn is_level_of(policy: &Policy, server: &ServerId, tools: &[String]) -> bool {
    let is_meant = |tool: &ropewalk_protocol::PolicyTool| tool.source == **server && tools.contains(&tool.name);
    let is_level = policy.level == PolicyLevel::Global || policy.decision != PolicyDecision::Deny;
    is_level && policy.tool.as_ref().is_some_and(is_meant)
}

fn removal(
    snapshot: &Snapshot,
    moment: &Moment<'_>,
    record: &ServerRecord,
    rules: &[Arc<Policy>],
) -> Decision<Removed> {
    let mut changes = vec![DocumentChange::Remove(Noun::Server, record.server_id.to_string())];
    changes.extend(rules.iter().map(|policy| removed(policy)));
    for project in snapshot.projects.values() {
        let mut after = (**project).clone();
        after.servers.retain(|server| server.server_id != record.server_id);
        let has_rule = rules.iter().any(|policy| policy.project_id.as_ref() == Some(&project.project_id));
        if has_rule || after.servers.len() != project.servers.len() {
            changes.push(touched(&after, moment));
        }
    }
    let with = match (record.env_names.is_empty(), rules.len()) {
        (true, 0) => String::new(),
        (true, count) => format!(" with {count} rules about it"),
        (false, 0) => " with the values of its environment".to_owned(),
        (false, count) => format!(" with the values of its environment and {count} rules about it"),
    };
    let effect = format!("Removes {}{with}.", record.name);
    Decision::new(changes, move |_| Removed { applied: true, dry_run: false, effect, replayed: false })
}

fn refused(choice: &Choice, record: &ServerRecord, listing: Option<&Listing>) -> Refusal {
    match choice {
        Choice::Outdated => Refusal::Conflict {
            noun: "review",
            current_revision: Some(record.revision),
            current: serde_json::to_value(review(&record.reviewed(), listing)).ok(),
        },
        Choice::Unknown(at) => Refusal::invalid(
            format!("/tools/{at}"),
            "not_on_server",
            format!("{} has no tool of this name. Names are those of the review.", record.name),
        ),
        Choice::Unusable(at, reason) => Refusal::invalid(
            format!("/tools/{at}"),
            "unusable",
            format!("This tool cannot be approved: {reason}. Leave it out of the list."),
        ),
    }
}

fn as_text(env: &BTreeMap<String, String>) -> String {
    serde_json::to_string(env).expect("a map of texts is JSON")
}
