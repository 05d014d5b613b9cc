//! Which requests would let runs do more than before, and what a person is shown of them.
//!
//! A run can start threads and act in any project, so whatever is loosened anywhere is loosened for it: it makes no
//! difference whose grant or rule it is. The daemon's owner does all of this without being asked (APP-141); a run that does
//! it on its own has a person decide each time.
//!
//! An endpoint that is named for the run of one message (`run/submit`) is nothing more than before: the owner configured and
//! enabled it, and the thread keeps the one it has.

mod rules;
#[cfg(test)]
mod tests;

use ropewalk_protocol::{
    Change, Endpoint, EndpointSetParams, Grant, GrantAddParams, InstructionsReplace, InstructionsReplaceParams, Method,
    Patch, Policy, PolicyId, PolicyRemove, PolicyRemoveParams, PolicySet, PolicySetParams, PolicyTool, Project,
    ProjectId, SecretSet, SecretSetParams, SecurityReplace, SecurityReplaceParams, ServerUpdate, ServerUpdateParams,
    Settings, SettingsUpdate, ThreadUpdate, ThreadUpdateParams,
};
use ropewalk_protocol::{EndpointId, EndpointSet, GrantAdd, ProjectUpdate, ProjectUpdateParams, ServerId, ThreadId};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::tools::{Stakes, servers::Place};

/// What there is, as far as a request for more is compared with it.
pub trait Authority: Send + Sync {
    /// A project with its grants and its rules.
    fn project_of(&self, id: &ProjectId) -> Option<Project>;
    /// A rule.
    fn policy(&self, id: &PolicyId) -> Option<Policy>;
    /// All rules, of every level.
    fn all_policies(&self) -> Vec<Policy>;
    /// The digest a tool has now: in one thread, or anywhere.
    fn digest_of(&self, tool: &PolicyTool, thread: Option<&ThreadId>) -> Option<String>;
    /// The rule that one with these parameters would replace.
    fn policy_replaced_by(&self, params: &PolicySetParams) -> Option<Policy>;
    /// The settings.
    fn settings_now(&self) -> Settings;
    /// An endpoint, without its key.
    fn endpoint(&self, id: &EndpointId) -> Option<Endpoint>;
    /// Whether a server is on for all projects.
    fn is_server_on(&self, id: &ServerId) -> Option<bool>;
}

/// What a request of a run that stands here would change of what runs may do; nothing for one that changes no such thing, and
/// for one whose parameters do not fit, as it will be refused.
pub fn stakes(place: &Place, method: &str, params: &Value, standing: &dyn Authority) -> Option<Stakes> {
    match method {
        GrantAdd::NAME => grant(&read(params)?, standing),
        SecurityReplace::NAME => security(&read(params)?, standing),
        PolicySet::NAME => rule(&read(params)?, standing),
        PolicyRemove::NAME => {
            let params: PolicyRemoveParams = read(params)?;
            let before = standing.policy(&params.policy_id)?;
            let widens = rules::removal_widens(&before, standing);
            Some(Stakes { change: change(rules::brief(&before), Value::Null), widens })
        }
        SettingsUpdate::NAME => Some(settings(params, standing)),
        EndpointSet::NAME => {
            let typed: EndpointSetParams = read(params)?;
            let before = typed.endpoint_id.and_then(|id| standing.endpoint(&id));
            Some(widening(before.as_ref().map_or(Value::Null, |before| named(params, before)), asked(params)))
        }
        SecretSet::NAME => {
            let params: SecretSetParams = read(params)?;
            let has = standing.endpoint(&params.endpoint_id)?.has_credential;
            Some(widening(json!({"hasCredential": has}), json!({"hasCredential": true})))
        }
        ServerUpdate::NAME => {
            let params: ServerUpdateParams = read(params)?;
            let is_on = standing.is_server_on(&params.server_id)?;
            (params.enabled == Some(true) && !is_on)
                .then(|| widening(json!({"enabled": false}), json!({"enabled": true})))
        }
        InstructionsReplace::NAME => {
            // It lets runs do no more than before, and a person sees both texts.
            let params: InstructionsReplaceParams = read(params)?;
            let before = standing.project_of(&params.project_id)?.instructions.unwrap_or_default();
            Some(Stakes { change: change(before.into(), params.text.into()), widens: false })
        }
        ProjectUpdate::NAME => {
            let params: ProjectUpdateParams = read(params)?;
            servers_of(&params, standing).or_else(|| default_endpoint(&params, place, standing))
        }
        ThreadUpdate::NAME => {
            let params: ThreadUpdateParams = read(params)?;
            let after = moved_to(&params.endpoint_id, "the project's")?;
            (params.thread_id == place.thread_id)
                .then(|| widening(json!({"endpointId": "the thread's own"}), json!({"endpointId": after})))
        }
        _ => None,
    }
}

fn read<T: DeserializeOwned>(params: &Value) -> Option<T> {
    serde_json::from_value(params.clone()).ok()
}

fn change(before: Value, after: Value) -> Change {
    Change { before, after }
}

fn widening(before: Value, after: Value) -> Stakes {
    Stakes { change: change(before, after), widens: true }
}

fn grant(params: &GrantAddParams, standing: &dyn Authority) -> Option<Stakes> {
    let before = standing.project_of(&params.project_id)?.grants.unwrap_or_default();
    let is_held = before.iter().any(|grant| {
        grant.path == params.path && params.capabilities.iter().all(|wanted| grant.capabilities.contains(wanted))
    });
    let mut after: Vec<Value> = before.iter().filter(|grant| grant.path != params.path).map(brief_of_grant).collect();
    after.push(json!({"path": params.path, "capabilities": params.capabilities}));
    let before = before.iter().map(brief_of_grant).collect();
    Some(Stakes { change: change(json!({"grants": Value::Array(before)}), json!({"grants": after})), widens: !is_held })
}

fn brief_of_grant(grant: &Grant) -> Value {
    json!({"path": grant.path, "capabilities": grant.capabilities})
}

fn security(params: &SecurityReplaceParams, standing: &dyn Authority) -> Option<Stakes> {
    let before = standing.project_of(&params.project_id)?;
    let (grants, policies) = (before.grants.unwrap_or_default(), before.policies.unwrap_or_default());
    let is_held = |wanted: &ropewalk_protocol::SecurityGrant| {
        grants.iter().any(|grant| {
            grant.path == wanted.path && wanted.capabilities.iter().all(|one| grant.capabilities.contains(one))
        })
    };
    let wanted: Vec<PolicySetParams> = params.policies.iter().map(|rule| rule.of_project(&params.project_id)).collect();
    let replaced = |rule: &PolicySetParams| policies.iter().find(|policy| rules::is_in_its_place(policy, rule));
    let is_left_out = |policy: &&Policy| !wanted.iter().any(|rule| rules::is_in_its_place(policy, rule));
    let widens = !params.grants.iter().all(is_held)
        || wanted.iter().any(|rule| rules::widens(replaced(rule), rule, standing))
        || policies.iter().filter(is_left_out).any(|policy| rules::removal_widens(policy, standing));
    let change = change(
        json!({
            "grants": grants.iter().map(brief_of_grant).collect::<Vec<_>>(),
            "policies": policies.iter().map(rules::brief).collect::<Vec<_>>(),
        }),
        json!({"grants": params.grants, "policies": params.policies}),
    );
    (params.dry_run != Some(true)).then_some(Stakes { change, widens })
}

fn rule(params: &PolicySetParams, standing: &dyn Authority) -> Option<Stakes> {
    let before = standing.policy_replaced_by(params);
    let widens = rules::widens(before.as_ref(), params, standing);
    let after = asked(&serde_json::to_value(params).ok()?);
    Some(Stakes { change: change(before.as_ref().map_or(Value::Null, rules::brief), after), widens })
}

/// Settings are limits on every run, and what is not a limit is where their data goes.
fn settings(params: &Value, standing: &dyn Authority) -> Stakes {
    widening(named(params, &standing.settings_now()), asked(params))
}

fn servers_of(params: &ProjectUpdateParams, standing: &dyn Authority) -> Option<Stakes> {
    let choices = params.servers.as_ref()?;
    let project = standing.project_of(&params.project_id)?;
    let is_off = |id: &ServerId| project.servers.iter().any(|server| server.server_id == *id && !server.enabled);
    let widens = choices.iter().any(|choice| choice.enabled && is_off(&choice.server_id));
    let now: Vec<Value> = choices
        .iter()
        .map(|choice| json!({"serverId": choice.server_id, "enabled": !is_off(&choice.server_id)}))
        .collect();
    widens.then(|| widening(json!({"servers": now}), json!({"servers": choices})))
}

/// Another endpoint reads whole threads, this run's own words included; its thread may be one that names none itself.
fn default_endpoint(params: &ProjectUpdateParams, place: &Place, standing: &dyn Authority) -> Option<Stakes> {
    let after = moved_to(&params.default_endpoint_id, "the daemon's")?;
    let before = standing.project_of(&params.project_id)?.default_endpoint_id;
    (params.project_id == place.project_id)
        .then(|| widening(json!({"defaultEndpointId": before}), json!({"defaultEndpointId": after})))
}

/// Where a change of an endpoint leads: to another one, or back to whichever holds without one.
fn moved_to(endpoint: &Patch<EndpointId>, without: &str) -> Option<Value> {
    match endpoint {
        Patch::Keep => None,
        Patch::Clear => Some(without.into()),
        Patch::Set(id) => Some(json!(id)),
    }
}

/// What a request names, without what only says which request it is, and of which endpoint.
fn asked(params: &Value) -> Value {
    let mut fields = params.as_object().cloned().unwrap_or_default();
    for how in ["operationId", "expectedRevision", "dryRun", "endpointId"] {
        fields.remove(how);
    }
    Value::Object(fields)
}

/// The fields of a document that a request names, as they are.
fn named(params: &Value, document: &impl Serialize) -> Value {
    let document = serde_json::to_value(document).unwrap_or_default();
    let fields = asked(params).as_object().cloned().unwrap_or_default();
    let now: Map<String, Value> =
        fields.keys().map(|name| (name.clone(), document.get(name).cloned().unwrap_or_default())).collect();
    Value::Object(now)
}
