//! What counts as more than before, and what a person sees of it.

use std::collections::BTreeMap;

use ropewalk_protocol::{
    Endpoint, EndpointId, Policy, PolicyId, PolicySetParams, Project, ProjectId, ServerId, Settings,
};
use serde_json::{Value, json};

use super::{Standing, rules, stakes};

/// What there is, in memory.
#[derive(Default)]
struct Known {
    project: Option<Project>,
    policies: BTreeMap<PolicyId, Policy>,
    endpoint: Option<Endpoint>,
    server_is_on: Option<bool>,
}

impl Standing for Known {
    fn project_of(&self, _: &ProjectId) -> Option<Project> {
        self.project.clone()
    }

    fn policy(&self, id: &PolicyId) -> Option<Policy> {
        self.policies.get(id).cloned()
    }

    fn policy_replaced_by(&self, params: &PolicySetParams) -> Option<Policy> {
        self.policies.values().find(|policy| rules::is_in_its_place(policy, params)).cloned()
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

/// Whether a request widens; nothing when it changes no such thing.
fn widens(known: &Known, method: &str, params: &Value) -> Option<bool> {
    stakes(&"th-1".into(), method, params, known).map(|stakes| stakes.widens)
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
    let shown = stakes(&"th-1".into(), "grant/add", &params, &known).unwrap().change;
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
    let shown = |method: &str, params: &Value| stakes(&"th-1".into(), method, params, &known).unwrap();
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
