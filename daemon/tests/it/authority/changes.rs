//! What a run changes of what clients change: what it is asked about whatever the rules say, and what it may do by them.

use serde_json::{Value, json};

use super::{bot, call_outcome};
use crate::support::{Piped, Raw};

/// The one outcome of several calls, each of a thread of its own.
async fn same_outcome(bot: &mut Raw, calls: &[String]) -> String {
    let mut outcomes = Vec::new();
    for call in calls {
        let scripted = json!({"endpointId": "scripted"});
        let thread = bot.call("thread/start", scripted).await["thread"]["threadId"].clone();
        outcomes.push((call_outcome(bot, &thread, call).await, call));
    }
    let first = outcomes[0].0.clone();
    assert!(outcomes.iter().all(|(outcome, _)| *outcome == first), "{outcomes:?}");
    first
}

/// The tools with which a run changes what clients change.
pub(super) async fn agent_changes(daemon: Piped) -> String {
    let mut bot = bot(&daemon).await;
    let thread = bot.start(&[]).await;
    let tools = bot.call("thread/tools", json!({"threadId": thread})).await;
    let names: Vec<&str> = tools["items"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in names {
        assert!(
            [
                "app_instructions",
                "app_memory",
                "app_navigate",
                "app_projects",
                "app_read",
                "app_runs",
                "app_security",
                "app_threads",
                "ask_user",
            ]
            .contains(&name),
            "what {name} may do belongs into docs/authority.md"
        );
    }
    let calls = [
        ("app_threads", json!({"operation": "Create", "operationId": "o"})),
        ("app_projects", json!({"operation": "Create", "operationId": "o", "name": "P"})),
        ("app_runs", json!({"operation": "Submit", "operationId": "o", "text": "say hi"})),
        (
            "app_security",
            json!({"operation": "SetGlobalToolPolicy", "operationId": "o", "source": "x", "decision": "deny"}),
        ),
    ];
    same_outcome(&mut bot, &calls.map(|(tool, arguments)| format!("{tool} {arguments}"))).await
}

/// A client whose rules leave nothing to ask about, as far as rules can.
async fn trusting(daemon: &Piped) -> Raw {
    let mut bot = bot(daemon).await;
    bot.call("policy/set", json!({"level": "global", "source": "app", "decision": "allow"})).await;
    let own = json!({"level": "global", "tool": {"source": "app", "name": "app_security"}, "decision": "allow"});
    bot.call("policy/set", own).await;
    bot
}

fn security(arguments: Value) -> String {
    let mut arguments = arguments;
    arguments["operationId"] = json!("o");
    arguments["expectedRevision"] = json!(1);
    format!("app_security {arguments}")
}

pub(super) async fn agent_widens(daemon: Piped) -> String {
    let mut bot = trusting(&daemon).await;
    let endpoints = bot.call("endpoint/list", json!({})).await;
    let endpoint = endpoints["items"][0]["endpointId"].clone();
    bot.call("mcp/server/update", json!({"serverId": "files", "enabled": false})).await;
    let new = json!({"name": "m", "provider": "openaiCompatible", "baseUrl": "https://a.example/v1", "model": "m"});
    let calls = [
        json!({"operation": "AddDirectoryGrant", "path": "/", "capabilities": ["read"]}),
        json!({"operation": "SetGlobalToolPolicy", "source": "files", "decision": "allow"}),
        json!({"operation": "SaveGlobalSettings", "settings": {"runMaxToolCalls": 9}}),
        json!({"operation": "UpsertEndpoint", "endpoint": new}),
        json!({"operation": "SetEndpointCredential", "endpointId": endpoint, "credential": "k"}),
        json!({"operation": "SetMcpServerEnabled", "serverId": "files", "enabled": true}),
    ];
    same_outcome(&mut bot, &calls.map(security)).await
}

pub(super) async fn agent_moves(daemon: Piped) -> String {
    let mut bot = trusting(&daemon).await;
    let back = json!({"operation": "SetEndpoint", "operationId": "o", "expectedRevision": 1});
    let endpoint = bot.call("endpoint/list", json!({})).await["items"][0]["endpointId"].clone();
    let default =
        json!({"operation": "Update", "operationId": "o", "expectedRevision": 1, "defaultEndpointId": endpoint});
    same_outcome(&mut bot, &[format!("app_threads {back}"), format!("app_projects {default}")]).await
}

pub(super) async fn agent_narrows(daemon: Piped) -> String {
    let mut bot = trusting(&daemon).await;
    let new = json!({"name": "m", "provider": "openaiCompatible", "baseUrl": "https://a.example/v1", "model": "m"});
    let endpoint = bot.call("endpoint/set", new).await["endpoint"]["endpointId"].clone();
    let thread = bot.start(&[]).await;
    let project = bot.project_of(&thread).await;
    let grant = json!({"projectId": project, "path": std::env::temp_dir(), "capabilities": ["read"]});
    let grant = bot.call("grant/add", grant).await["grant"]["grantId"].clone();
    let revision = bot.call("project/read", json!({"projectId": project})).await["project"]["revision"].clone();
    let mut taken = json!({"operation": "RemoveDirectoryGrant", "grantId": grant, "operationId": "o"});
    taken["expectedRevision"] = revision;
    let calls = [
        format!("app_security {taken}"),
        security(json!({"operation": "SetGlobalToolPolicy", "source": "files", "decision": "deny"}))
            .replace(",\"expectedRevision\":1", ""),
        security(json!({"operation": "SetEndpointCredential", "endpointId": endpoint})),
        security(json!({"operation": "RemoveEndpoint", "endpointId": endpoint})),
        security(json!({"operation": "SetMcpServerEnabled", "serverId": "files", "enabled": false})),
    ];
    same_outcome(&mut bot, &calls).await
}

/// Neither has an operation.
pub(super) async fn agent_adds_server(daemon: Piped) -> String {
    let mut bot = trusting(&daemon).await;
    let calls = ["AddMcpServer", "RemoveMcpServer"]
        .map(|operation| security(json!({"operation": operation, "serverId": "files", "path": "/bin/sh"})));
    same_outcome(&mut bot, &calls).await
}
