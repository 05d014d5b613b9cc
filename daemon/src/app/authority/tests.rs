//! What counts as more than before, and what a person sees of it.

use std::collections::BTreeMap;

use ropewalk_protocol::{
    Endpoint, EndpointId, Policy, PolicyId, PolicySetParams, PolicyTool, Project, ProjectId, ServerId, Settings,
    ThreadId, Unattended,
};
use serde_json::{Value, json};

use super::{Authority, rules, stakes};
use crate::tools::servers::Place;

/// What there is, in memory.
#[derive(Default)]
struct Known {
    project: Option<Project>,
    policies: BTreeMap<PolicyId, Policy>,
    endpoint: Option<Endpoint>,
    server_is_on: Option<bool>,
    digest: Option<&'static str>,
}

impl Authority for Known {
    fn project_of(&self, _: &ProjectId) -> Option<Project> {
        self.project.clone()
    }

    fn policy(&self, id: &PolicyId) -> Option<Policy> {
        self.policies.get(id).cloned()
    }

    fn all_policies(&self) -> Vec<Policy> {
        self.policies.values().cloned().collect()
    }

    fn digest_of(&self, _: &PolicyTool, _: Option<&ThreadId>) -> Option<String> {
        self.digest.map(ToOwned::to_owned)
    }

    fn policy_replaced_by(&self, params: &PolicySetParams) -> Option<Policy> {
        let is_here = |policy: &&Policy| policy.level == params.level && policy.project_id == params.project_id;
        let is_it = |policy: &&Policy| is_here(policy) && rules::is_in_its_place(policy, params);
        self.policies.values().find(is_it).cloned()
    }

    fn settings_now(&self) -> Settings {
        Settings::default()
    }

    fn endpoint(&self, _: &EndpointId) -> Option<Endpoint> {
        self.endpoint.clone()
    }

    fn is_server_on(&self, _: &ServerId) -> Option<bool> {
        self.server_is_on
    }
}

/// A rule of the project about all of `files`, with more of its fields.
fn policy(more: &Value) -> Policy {
    let mut rule = json!({
        "policyId": "r-1", "level": "project", "projectId": "p-1", "source": "files", "decision": "ask",
        "maxCallsPerRun": 65_535, "origin": "owner", "setBy": {"kind": "client"}, "at": "2026-01-01T00:00:00Z",
        "matches": 0, "revision": 1,
    });
    merge(&mut rule, more);
    serde_json::from_value(rule).unwrap()
}

fn merge(into: &mut Value, more: &Value) {
    for (name, value) in more.as_object().unwrap() {
        into[name] = value.clone();
    }
}

fn project() -> Project {
    let grant = json!({
        "grantId": "g-1", "projectId": "p-1", "name": "src", "path": "/src", "capabilities": ["read", "write"],
        "createdAt": "2026-01-01T00:00:00Z",
    });
    let project = json!({
        "projectId": "p-1", "name": "P", "isDefault": false, "createdAt": "2026-01-01T00:00:00Z",
        "servers": [{"serverId": "files", "transport": "stdio", "enabled": false}],
        "updatedAt": "2026-01-01T00:00:00Z", "revision": 1, "grants": [grant], "policies": [policy(&json!({"decision": "deny"}))],
    });
    serde_json::from_value(project).unwrap()
}

/// Where the run stands.
fn here() -> Place {
    Place {
        project_id: "p-1".into(),
        thread_id: "th-1".into(),
        branch_id: "th-1".into(),
        run_id: "run-1".into(),
        unattended: Unattended::Decline,
    }
}

/// Whether a request widens; nothing when it changes no such thing.
fn widens(known: &Known, method: &str, params: &Value) -> Option<bool> {
    stakes(&here(), method, params, known).map(|stakes| stakes.widens)
}

#[test]
fn app_141_a_rule_widens_where_it_is_looser_than_the_one_in_its_place() {
    let later = "2030-01-01T00:00:00Z";
    let sooner = "2029-01-01T00:00:00Z";
    let of = |decision: &str| json!({"decision": decision});
    for (before, after, expected) in [
        (None, of("allow"), true),
        (None, of("ask"), false),
        (None, of("deny"), false),
        (Some(of("deny")), of("ask"), true),
        (Some(of("deny")), of("allow"), true),
        (Some(of("ask")), of("allow"), true),
        (Some(of("allow")), of("ask"), false),
        (Some(of("allow")), of("allow"), false),
        (Some(of("ask")), of("deny"), false),
        (
            Some(json!({"decision": "allow", "maxCallsPerRun": 3})),
            json!({"decision": "allow", "maxCallsPerRun": 3}),
            false,
        ),
        (
            Some(json!({"decision": "allow", "maxCallsPerRun": 3})),
            json!({"decision": "allow", "maxCallsPerRun": 4}),
            true,
        ),
        (Some(json!({"decision": "allow", "maxCallsPerRun": 3})), of("allow"), true),
        (Some(json!({"decision": "ask", "timeoutMs": 5_000})), json!({"decision": "ask", "timeoutMs": 6_000}), true),
        (Some(json!({"decision": "ask", "timeoutMs": 5_000})), of("ask"), true),
        (Some(of("ask")), json!({"decision": "ask", "timeoutMs": 6_000}), false),
        (Some(of("deny")), json!({"decision": "deny", "expiresAt": later}), true),
        (Some(json!({"decision": "deny", "expiresAt": later})), json!({"decision": "deny", "expiresAt": sooner}), true),
        (
            Some(json!({"decision": "deny", "expiresAt": sooner})),
            json!({"decision": "deny", "expiresAt": later}),
            false,
        ),
        (
            Some(json!({"decision": "allow", "expiresAt": sooner})),
            json!({"decision": "allow", "expiresAt": later}),
            true,
        ),
        (Some(json!({"decision": "allow", "expiresAt": sooner})), of("allow"), true),
        (Some(of("allow")), json!({"decision": "allow", "expiresAt": sooner}), false),
    ] {
        let mut known = Known::default();
        if let Some(before) = &before {
            known.policies.insert("r-1".into(), policy(before));
        }
        let mut params = json!({"level": "project", "projectId": "p-1", "source": "files"});
        merge(&mut params, &after);
        assert_eq!(widens(&known, "policy/set", &params), Some(expected), "{before:?} to {after}");
    }
}

#[test]
fn app_141_taking_a_rule_back_widens_unless_it_only_allowed() {
    for (rule, expected) in [
        (json!({"decision": "deny"}), true),
        (json!({"decision": "ask"}), true),
        (json!({"decision": "allow"}), false),
        (json!({"decision": "allow", "maxCallsPerRun": 3}), true),
        (json!({"decision": "allow", "timeoutMs": 5_000}), true),
    ] {
        let known = Known { policies: [("r-1".into(), policy(&rule))].into(), ..Known::default() };
        assert_eq!(widens(&known, "policy/remove", &json!({"policyId": "r-1"})), Some(expected), "{rule}");
    }
}

#[test]
fn app_141_a_grant_widens_unless_it_is_held_already() {
    let known = Known { project: Some(project()), ..Known::default() };
    for (path, capabilities, expected) in [
        ("/", json!(["read"]), true),
        ("/src", json!(["read"]), false),
        ("/src", json!(["read", "write"]), false),
        ("/src", json!(["read", "execute"]), true),
        ("/src/deeper", json!(["read"]), true),
    ] {
        let params = json!({"projectId": "p-1", "path": path, "capabilities": capabilities});
        assert_eq!(widens(&known, "grant/add", &params), Some(expected), "{params}");
    }
    let params = json!({"projectId": "p-1", "path": "/", "capabilities": ["read"]});
    let shown = stakes(&here(), "grant/add", &params, &known).unwrap().change;
    assert_eq!(shown.before, json!({"grants": [{"path": "/src", "capabilities": ["read", "write"]}]}));
    assert_eq!(shown.after["grants"][1], json!({"path": "/", "capabilities": ["read"]}));
    assert_eq!(widens(&known, "grant/remove", &json!({"projectId": "p-1", "grantId": "g-1"})), None);
}

#[test]
fn app_141_a_document_widens_by_what_it_grants_and_by_what_it_leaves_out() {
    let known = Known { project: Some(project()), ..Known::default() };
    let deny = json!({"source": "files", "decision": "deny"});
    let src = json!({"path": "/src", "capabilities": ["read"]});
    for (grants, policies, expected) in [
        (json!([src]), json!([deny]), false),
        (json!([]), json!([deny]), false),
        (json!([]), json!([]), true),
        (json!([{"path": "/etc", "capabilities": ["read"]}]), json!([deny]), true),
        (json!([src]), json!([deny, {"source": "app", "decision": "allow"}]), true),
        (json!([src]), json!([deny, {"source": "app", "decision": "ask"}]), false),
        (json!([src]), json!([{"source": "files", "decision": "ask"}]), true),
    ] {
        let params = json!({"projectId": "p-1", "grants": grants, "policies": policies, "expectedRevision": 1});
        assert_eq!(widens(&known, "project/security/replace", &params), Some(expected), "{params}");
        let mut rehearsed = params.clone();
        rehearsed["dryRun"] = json!(true);
        assert_eq!(widens(&known, "project/security/replace", &rehearsed), None);
    }
}

#[test]
fn app_141_settings_endpoints_keys_and_servers_widen_and_show_only_what_they_name() {
    let endpoint = json!({
        "endpointId": "e-1", "name": "E", "provider": "openaiCompatible", "baseUrl": "https://a.example/v1", "model": "m",
        "isDefault": false, "forSubtasks": false, "enabled": true, "hasCredential": false, "builtin": false, "revision": 4,
    });
    let known = Known {
        project: Some(project()),
        endpoint: Some(serde_json::from_value(endpoint).unwrap()),
        server_is_on: Some(false),
        ..Known::default()
    };
    let shown = |method: &str, params: &Value| stakes(&here(), method, params, &known).unwrap();
    let settings =
        shown("settings/update", &json!({"toolCeilingMs": 5_000, "expectedRevision": 1, "operationId": "o"}));
    assert!(settings.widens);
    assert_eq!(settings.change.before, json!({"toolCeilingMs": 1_800_000}));
    assert_eq!(settings.change.after, json!({"toolCeilingMs": 5_000}));
    let moved = shown("endpoint/set", &json!({"endpointId": "e-1", "baseUrl": "https://b.example/v1"}));
    assert_eq!(moved.change.before, json!({"baseUrl": "https://a.example/v1"}));
    let key = shown("secret/set", &json!({"endpointId": "e-1", "value": "sk-very-secret"}));
    assert_eq!(
        (&key.change.before, &key.change.after),
        (&json!({"hasCredential": false}), &json!({"hasCredential": true}))
    );
    assert!(shown("mcp/server/update", &json!({"serverId": "s", "enabled": true})).widens);
    let bound =
        shown("project/update", &json!({"projectId": "p-1", "servers": [{"serverId": "files", "enabled": true}]}));
    assert_eq!(bound.change.before, json!({"servers": [{"serverId": "files", "enabled": false}]}));
    for (method, params) in [
        ("secret/remove", json!({"endpointId": "e-1"})),
        ("endpoint/remove", json!({"endpointId": "e-1"})),
        ("mcp/server/update", json!({"serverId": "s", "enabled": false})),
        ("project/update", json!({"projectId": "p-1", "name": "n"})),
        ("project/update", json!({"projectId": "p-1", "servers": [{"serverId": "files", "enabled": false}]})),
        ("project/delete", json!({"projectId": "p-1"})),
        ("thread/update", json!({"threadId": "th-1", "title": "t"})),
        ("thread/update", json!({"threadId": "th-2", "endpointId": "e-1"})),
    ] {
        assert_eq!(widens(&known, method, &params), None, "{method} {params}");
    }
    assert_eq!(widens(&known, "thread/update", &json!({"threadId": "th-1", "endpointId": "e-1"})), Some(true));
}

#[test]
fn app_141_an_allow_that_is_bound_to_what_a_tool_is_now_widens() {
    let tool = |digest: Option<&str>| json!({"source": "files", "name": "read_file", "digest": digest});
    for (bound, named, now, expected) in [
        (Some("old"), None, Some("new"), true),
        (Some("old"), Some("new"), Some("new"), true),
        (Some("old"), None, None, true),
        (Some("new"), None, Some("new"), false),
        (Some("old"), Some("old"), Some("new"), false),
        (None, None, Some("new"), false),
    ] {
        let before = policy(&json!({"source": null, "tool": tool(bound), "decision": "allow"}));
        let known = Known { policies: [("r-1".into(), before)].into(), digest: now, ..Known::default() };
        let again = json!({"level": "project", "projectId": "p-1", "tool": tool(named), "decision": "allow"});
        assert_eq!(widens(&known, "policy/set", &again), Some(expected), "{bound:?} to {named:?} of {now:?}");
        let is_outdated = bound.is_some() && bound != now;
        assert_eq!(
            widens(&known, "policy/remove", &json!({"policyId": "r-1"})),
            Some(is_outdated),
            "it asks: {bound:?}"
        );
    }
}

#[test]
fn app_141_a_nearer_rule_that_drops_the_limits_of_a_farther_one_widens() {
    let tool = json!({"source": "files", "name": "read_file"});
    let global = |more: Value| {
        let mut rule = json!({"level": "global", "projectId": null});
        merge(&mut rule, &more);
        rule
    };
    let (calls, silence) = (global(json!({"maxCallsPerRun": 3})), global(json!({"timeoutMs": 5_000})));
    let in_project = |more: Value| {
        let mut rule = json!({"level": "project", "projectId": "p-1", "source": "files", "decision": "ask"});
        merge(&mut rule, &more);
        rule
    };
    let in_thread = json!({"level": "thread", "threadId": "th-1", "tool": tool, "decision": "ask"});
    for (farther, nearer, expected) in [
        (&calls, in_project(json!({})), true),
        (&silence, in_project(json!({})), true),
        (&calls, in_thread.clone(), true),
        (&json!({"maxCallsPerRun": 3}), in_thread.clone(), true),
        (&calls, in_project(json!({"maxCallsPerRun": 4})), true),
        (&calls, in_project(json!({"maxCallsPerRun": 3})), false),
        (&silence, in_project(json!({"timeoutMs": 5_000})), false),
        (&calls, in_project(json!({"decision": "deny"})), false),
        (&calls, in_project(json!({"source": "app"})), false),
        (&global(json!({})), in_project(json!({})), false),
        // The same level: a rule about one tool comes before one about its source, and not the other way round.
        (&json!({"maxCallsPerRun": 3}), in_project(json!({"source": null, "tool": tool})), true),
        (&json!({"source": null, "tool": tool, "maxCallsPerRun": 3}), in_project(json!({})), false),
        // One of another project is no rule here, and one that is nearer stays so.
        (&json!({"projectId": "p-2", "maxCallsPerRun": 3}), in_project(json!({})), false),
        (
            &json!({"level": "thread", "projectId": null, "threadId": "th-1", "maxCallsPerRun": 3}),
            in_project(json!({})),
            false,
        ),
    ] {
        let known = Known { policies: [("r-1".into(), policy(farther))].into(), ..Known::default() };
        assert_eq!(widens(&known, "policy/set", &nearer), Some(expected), "{nearer} before {farther}");
    }
}

#[test]
fn app_141_the_endpoint_of_a_runs_own_thread_is_moved_only_with_a_person() {
    let known = Known { project: Some(project()), ..Known::default() };
    for (method, params, expected) in [
        ("thread/update", json!({"threadId": "th-1", "endpointId": "e-1"}), Some(true)),
        ("thread/update", json!({"threadId": "th-1", "endpointId": null}), Some(true)),
        ("thread/update", json!({"threadId": "th-2", "endpointId": null}), None),
        ("project/update", json!({"projectId": "p-1", "defaultEndpointId": "e-1"}), Some(true)),
        ("project/update", json!({"projectId": "p-1", "defaultEndpointId": null}), Some(true)),
        ("project/update", json!({"projectId": "p-2", "defaultEndpointId": "e-1"}), None),
        ("run/submit", json!({"threadId": "th-1", "input": [], "endpointId": "e-1"}), None),
    ] {
        assert_eq!(widens(&known, method, &params), expected, "{method} {params}");
    }
}

/// What a call of `app_security` or another App tool would change.
fn of_call(known: &Known, tool: &str, mut arguments: Value) -> Option<bool> {
    arguments["operationId"] = json!("o-1");
    let arguments = arguments.as_object().unwrap();
    crate::app::stakes(&here(), tool, arguments, known).map(|stakes| stakes.widens)
}

#[test]
fn app_141_app_148_a_rehearsal_is_not_weighed() {
    let known = Known { project: Some(project()), ..Known::default() };
    let replace = json!({
        "operation": "SetProjectSecurity", "grants": [{"path": "/", "capabilities": ["read"]}], "policies": [],
        "expectedRevision": 1,
    });
    assert_eq!(of_call(&known, "app_security", replace.clone()), Some(true));
    let mut rehearsed = replace;
    rehearsed["dryRun"] = json!(true);
    assert_eq!(of_call(&known, "app_security", rehearsed), None);
}

#[test]
fn app_141_the_operations_of_tools_are_weighed_as_the_requests_they_become() {
    let mut known = Known { project: Some(project()), ..Known::default() };
    known.policies.insert("r-1".into(), policy(&json!({"decision": "deny"})));
    for (tool, arguments, expected) in [
        ("app_threads", json!({"operation": "SetEndpoint", "expectedRevision": 1}), Some(true)),
        ("app_projects", json!({"operation": "Update", "defaultEndpointId": "e-1", "expectedRevision": 1}), Some(true)),
        ("app_projects", json!({"operation": "Update", "name": "n", "expectedRevision": 1}), None),
        ("app_runs", json!({"operation": "Submit", "text": "hi", "endpointId": "e-1"}), None),
        (
            "app_security",
            json!({"operation": "RemoveProjectToolPolicy", "policyId": "r-1", "expectedRevision": 1}),
            Some(true),
        ),
        // It is refused, so that nobody has to decide about it.
        (
            "app_security",
            json!({"operation": "RemoveGlobalToolPolicy", "policyId": "r-1", "expectedRevision": 1}),
            None,
        ),
    ] {
        assert_eq!(of_call(&known, tool, arguments.clone()), expected, "{tool} {arguments}");
    }
}
