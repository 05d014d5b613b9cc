//! Servers: the two that are part of the daemon, those that are added, and what goes with one.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use ropewalk_protocol::{
    DataKind, PolicyListParams, PolicyOrigin, PolicySetParams, ProjectUpdateParams, Server, ServerAddParams,
    ServerCounts, ServerId, ServerRemoveParams, ServerReviewSubmitParams, ServerState, ServerUpdateParams, SignIn,
    Transport,
};
use serde_json::{Value, json};

use super::*;
use crate::{
    catalogue::{APP, FILES, ServerRecord, ShowServer, is_listed},
    tools::mcp::{
        ListedTool, Listing, review,
        tests::{listing, tool, with_schema},
    },
};

/// Shows what is kept, and nothing of how it stands.
fn show() -> ShowServer {
    Arc::new(|record: &ServerRecord| Server {
        server_id: record.server_id.clone(),
        slug: record.slug.clone(),
        name: record.name.clone(),
        transport: record.transport,
        url: None,
        command: Some(record.command.clone()),
        args: Some(record.args.clone()),
        env_names: Some(record.env_names.clone()),
        builtin: record.is_builtin(),
        read_only: record.is_builtin(),
        removable: !record.is_builtin(),
        enabled: record.enabled,
        trusted: record.trusted,
        private_network: false,
        origins: Vec::new(),
        sign_in: SignIn::None,
        state: ServerState::Stopped,
        since: None,
        reason: None,
        party: None,
        accounts: Vec::new(),
        counts: ServerCounts::default(),
        stderr_tail: None,
        revision: record.revision,
    })
}

fn of<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

impl World {
    pub(super) async fn add(&self, params: Value) -> Result<Server, Refusal> {
        let params: ServerAddParams = of(params);
        Ok(self.catalogue.add_server(client(), params, show()).await?.server)
    }

    pub(super) async fn added(&self, name: &str) -> ServerId {
        self.add(json!({"command": "/bin/mcp", "name": name})).await.unwrap().server_id
    }

    pub(super) async fn update(&self, id: &ServerId, what: Value) -> Result<Server, Refusal> {
        let mut what = what;
        what["serverId"] = json!(id);
        let params: ServerUpdateParams = of(what);
        Ok(self.catalogue.update_server(client(), params, show()).await?.server)
    }

    pub(super) async fn submit(&self, id: &ServerId, listing: &Listing, tools: &[&str]) -> Result<usize, Refusal> {
        let record = self.record(id);
        let digest = review(&record.reviewed(), Some(listing)).digest;
        let params: ServerReviewSubmitParams = of(json!({"serverId": id, "digest": digest, "tools": tools}));
        let listing = Some(Arc::new(listing.clone()));
        Ok(self.catalogue.submit_review(client(), params, listing, show()).await?.1.len())
    }

    pub(super) fn record(&self, id: &ServerId) -> Arc<ServerRecord> {
        self.catalogue.snapshot().servers[id].clone()
    }

    async fn rule(&self, value: Value) {
        let params: PolicySetParams = of(value);
        self.catalogue.set_policy(client(), PolicyOrigin::Owner, params).await.unwrap();
    }

    fn rules_of(&self, source: &str) -> usize {
        let filter = PolicyListParams { source: Some(source.to_owned()), ..Default::default() };
        self.catalogue.snapshot().policies.values().filter(|policy| is_listed(policy, &filter, NOW)).count()
    }
}

fn reason(refusal: Refusal) -> (String, String) {
    match RpcError::from(refusal).data.detail {
        ErrorDetail::InvalidParams { path, reason, .. } => (path, reason),
        other => panic!("{other:?}"),
    }
}

async fn refused(world: &World, params: Value) -> (String, String) {
    reason(world.add(params).await.unwrap_err())
}

#[tokio::test]
async fn app_16_app_17_app_18_both_bundled_servers_are_there_and_on_in_a_fresh_home() {
    let world = World::new().await;
    for (id, transport) in [(APP, Transport::InProcess), (FILES, Transport::Stdio)] {
        let record = world.record(&id.into());
        assert_eq!((&*record.server_id, record.transport, record.enabled), (id, transport, true));
        assert_eq!(*world.restarted().await.record(&id.into()), *record);
    }
}

#[tokio::test]
async fn app_21_name_and_transport_of_a_bundled_server_stay() {
    let world = World::new().await;
    for change in [json!({"name": "Mine"}), json!({"args": ["x"]}), json!({"trusted": true}), json!({"env": {}})] {
        let refusal = world.update(&APP.into(), change).await.unwrap_err();
        assert_eq!(reason(refusal), ("/serverId".into(), "builtin".into()));
    }
    let off = world.update(&FILES.into(), json!({"enabled": false})).await.unwrap();
    assert_eq!((off.enabled, off.revision), (false, 2));
    assert!(!world.restarted().await.record(&FILES.into()).enabled);
}

#[tokio::test]
async fn app_23_a_bundled_server_cannot_be_removed() {
    let world = World::new().await;
    let params: ServerRemoveParams = of(json!({"serverId": APP}));
    let refusal = world.catalogue.remove_server(client(), params, show()).await.unwrap_err();
    assert_eq!(reason(refusal).1, "builtin");
    assert!(world.catalogue.snapshot().servers.contains_key(APP));
}

#[tokio::test]
async fn app_13_a_server_is_used_where_it_is_on_globally_and_not_off_in_the_project() {
    let world = World::new().await;
    let (project, server) = (world.project("p").await.project_id, world.added("a").await);
    let used = |world: &World| -> Vec<String> {
        world.catalogue.snapshot().servers_of(&project).map(|record| record.server_id.to_string()).collect()
    };
    assert_eq!(used(&world).len(), 3);
    let choose = |enabled: bool| -> ProjectUpdateParams {
        of(json!({"projectId": project, "servers": [{"serverId": server, "enabled": enabled}]}))
    };
    let bound = world.catalogue.update_project(client(), choose(false)).await.unwrap().project;
    assert_eq!(json!(bound.servers), json!([{"serverId": server, "transport": "stdio", "enabled": false}]));
    assert!(!used(&world).contains(&server.to_string()));
    let again = world.catalogue.update_project(client(), choose(true)).await.unwrap().project;
    assert_eq!(again.servers.len(), 1, "choices are merged by server");
    world.update(&server, json!({"enabled": false})).await.unwrap();
    assert!(!used(&world).contains(&server.to_string()));
}

#[tokio::test]
async fn app_20_a_rule_of_a_project_binds_it_to_the_server_with_its_transport() {
    let world = World::new().await;
    let project = world.project("p").await.project_id;
    let tool = json!({"source": "app", "name": "app_read"});
    world.rule(json!({"level": "project", "projectId": project, "tool": tool, "decision": "allow"})).await;
    let bound = world.catalogue.snapshot().projects[&project].servers.clone();
    assert_eq!(json!(bound), json!([{"serverId": "app", "transport": "inProcess", "enabled": true}]));
    world.rule(json!({"level": "project", "projectId": project, "source": "app", "decision": "ask"})).await;
    assert_eq!(world.catalogue.snapshot().projects[&project].servers.len(), 1);
    world.rule(json!({"level": "project", "projectId": project, "source": "client:x", "decision": "ask"})).await;
    assert_eq!(world.catalogue.snapshot().projects[&project].servers.len(), 1, "a client is no server");
}

#[tokio::test]
async fn mcp_10_mcp_12_a_server_has_the_name_it_was_given_and_a_slug_of_its_own() {
    let world = World::new().await;
    let mut slugs = Vec::new();
    for _ in 0..3 {
        slugs.push(world.add(json!({"command": "/bin/mcp", "name": "Linear"})).await.unwrap().slug);
    }
    assert_eq!(slugs, ["linear", "linear2", "linear3"]);
    assert_eq!(world.add(json!({"command": "x", "name": "app!"})).await.unwrap().slug, "app2");
}

#[tokio::test]
async fn app_21_no_server_is_called_like_a_part_of_the_daemon() {
    let world = World::new().await;
    for name in ["app", "App", " FILES ", "app tools", "File Tools"] {
        let refused = refused(&world, json!({"command": "x", "name": name})).await;
        assert_eq!(refused, ("/name".into(), "name_reserved".into()), "{name}");
    }
    let added = world.add(json!({"command": "/usr/bin/Files"})).await.unwrap();
    assert_eq!(added.name, "Files (program)");
    world.catalogue.name_server(&added.server_id, "App").await.unwrap();
    let renamed = world.update(&added.server_id, json!({"name": "aPP"})).await.unwrap_err();
    assert_eq!(
        (world.record(&added.server_id).name.as_str(), reason(renamed).1.as_str()),
        ("Files (program)", "name_reserved")
    );
}

#[tokio::test]
async fn mcp_10_without_a_name_it_is_called_after_its_program_and_then_what_it_calls_itself() {
    let world = World::new().await;
    let added = world.add(json!({"command": "/usr/bin/files-mcp.sh"})).await.unwrap();
    assert_eq!((added.name.as_str(), added.slug.as_str()), ("files-mcp", "filesmcp"));
    world.catalogue.name_server(&added.server_id, "Filer").await.unwrap();
    let record = world.record(&added.server_id);
    assert_eq!((record.name.as_str(), record.slug.as_str()), ("Filer", "filer"));
    let given = world.added("Mine").await;
    world.catalogue.name_server(&given, "Theirs").await.unwrap();
    assert_eq!(world.record(&given).name, "Mine");
}

#[tokio::test]
async fn mcp_5_mcp_6_a_server_with_an_address_is_refused_and_says_why() {
    let world = World::new().await;
    let not_here = |path: &str| (path.to_owned(), "transport_not_supported".to_owned());
    assert_eq!(refused(&world, json!({"url": "https://mcp.example"})).await, not_here("/url"));
    assert_eq!(refused(&world, json!({"command": "x", "token": "t"})).await, not_here("/token"));
    assert_eq!(refused(&world, json!({"command": "x", "privateNetwork": true})).await, not_here("/privateNetwork"));
    assert_eq!(refused(&world, json!({})).await, ("/command".into(), "required".into()));
}

#[tokio::test]
async fn mcp_129_a_name_has_at_most_120_characters() {
    let world = World::new().await;
    assert!(world.add(json!({"command": "x", "name": "ü".repeat(120)})).await.is_ok());
    let long = refused(&world, json!({"command": "x", "name": "ü".repeat(121)})).await;
    assert_eq!(long, ("/name".into(), "name_too_long".into()));
}

#[tokio::test]
async fn mcp_130_the_257th_server_is_refused() {
    let world = World::new().await;
    for _ in 0..256 {
        world.add(json!({"command": "x"})).await.unwrap();
    }
    assert_eq!(refused(&world, json!({"command": "x"})).await.1, "server_limit");
}

#[tokio::test]
async fn what_a_program_is_started_with_is_checked() {
    let world = World::new().await;
    for (params, expected) in [
        (json!({"command": "./here"}), ("/command", "not_absolute")),
        (json!({"command": " "}), ("/command", "empty")),
        (json!({"command": "x", "args": ["a", "b\0"]}), ("/args/1", "control_character")),
        (json!({"command": "x", "args": vec!["a"; 129]}), ("/args", "too_many")),
        (json!({"command": "x", "env": {"A B": "1"}}), ("/env", "not_a_name")),
        (json!({"command": "x", "env": {"": "1"}}), ("/env", "not_a_name")),
        (json!({"command": "x", "env": {"A": "secret\0"}}), ("/env/A", "not_a_value")),
    ] {
        let (path, reason) = refused(&world, params).await;
        assert_eq!((path.as_str(), reason.as_str()), expected);
    }
}

#[tokio::test]
async fn values_of_an_environment_are_secrets_and_in_no_record_row_or_answer() {
    let world = World::new().await;
    let added = world.add(json!({"command": "x", "env": {"TOKEN": "sk-1", "A": "b"}})).await.unwrap();
    assert_eq!(added.env_names, Some(vec!["A".to_owned(), "TOKEN".to_owned()]));
    let records = serde_json::to_string(&*world.store.records.lock().unwrap()).unwrap();
    assert!(!records.contains("sk-1"));
    assert!(world.store.rows.lock().unwrap().values().all(|row| !String::from_utf8_lossy(row).contains("sk-1")));
    let env = |world: &World| {
        let (catalogue, record) = (world.catalogue.clone(), world.record(&added.server_id));
        async move { catalogue.environment_of(&record).await.unwrap() }
    };
    let expected: BTreeMap<String, String> = of(json!({"TOKEN": "sk-1", "A": "b"}));
    assert_eq!(env(&world.restarted().await).await, expected);
    world.update(&added.server_id, json!({"env": {"OTHER": "2"}})).await.unwrap();
    assert_eq!(env(&world).await, of(json!({"OTHER": "2"})));
}

#[tokio::test]
async fn an_environment_is_put_back_when_the_change_cannot_be_stored() {
    let world = World::new().await;
    let added = world.add(json!({"command": "x", "env": {"A": "1"}})).await.unwrap();
    world.store.fails.store(true, Ordering::SeqCst);
    assert!(world.update(&added.server_id, json!({"env": {"A": "2"}})).await.is_err());
    world.store.fails.store(false, Ordering::SeqCst);
    let env = world.catalogue.environment_of(&world.record(&added.server_id)).await.unwrap();
    assert_eq!(env, of(json!({"A": "1"})));
}

#[tokio::test]
async fn mcp_2_mcp_84_approved_tools_outlive_a_restart_with_their_names() {
    let world = World::new().await;
    let id = world.added("a").await;
    world.submit(&id, &listing([tool("list_issues"), tool("b"), tool("c")]), &["list_issues", "b"]).await.unwrap();
    let record = world.restarted().await.record(&id);
    assert_eq!(record.approved.iter().map(|tool| tool.tool_id.as_str()).collect::<Vec<_>>(), ["b", "listIssues"]);
    assert!(record.cleared.contains("c"));
    assert_eq!(*record, *world.record(&id));
}

#[tokio::test]
async fn a_review_is_submitted_as_it_was_read_or_not_at_all() {
    let world = World::new().await;
    let id = world.added("a").await;
    let params: ServerReviewSubmitParams = of(json!({"serverId": id, "digest": "0", "tools": ["a"]}));
    let listed = Some(Arc::new(listing([tool("a")])));
    let refusal = world.catalogue.submit_review(client(), params, listed, show()).await.unwrap_err();
    assert!(matches!(RpcError::from(refusal).data.detail, ErrorDetail::Conflict { current: Some(_), .. }));
    assert!(!world.record(&id).reviewed);
}

#[tokio::test]
async fn mcp_133_an_unusable_tool_is_not_approved_and_neither_is_any_other_of_that_review() {
    let world = World::new().await;
    let id = world.added("a").await;
    let odd = listing([tool("a"), with_schema("b", json!([]))]);
    assert_eq!(reason(world.submit(&id, &odd, &["a", "b"]).await.unwrap_err()), ("/tools/1".into(), "unusable".into()));
    assert!(world.record(&id).approved.is_empty());
    assert_eq!(reason(world.submit(&id, &odd, &["nope"]).await.unwrap_err()).1, "not_on_server");
}

#[tokio::test]
async fn mcp_85_mcp_88_levels_of_changed_tools_are_reset_and_others_stay() {
    let world = World::new().await;
    let id = world.added("a").await;
    world.submit(&id, &listing([tool("a"), tool("b")]), &["a", "b"]).await.unwrap();
    for name in ["a", "b"] {
        let tool = json!({"source": id, "name": name});
        world.rule(json!({"level": "global", "tool": tool, "decision": "allow"})).await;
    }
    let project = world.project("p").await.project_id;
    let forbidden = json!({"source": id, "name": "a"});
    world.rule(json!({"level": "project", "projectId": project, "tool": forbidden, "decision": "deny"})).await;
    let changed: ListedTool = with_schema("a", json!({"type": "object", "required": ["x"]}));
    assert_eq!(world.submit(&id, &listing([changed, tool("b")]), &["a", "b"]).await.unwrap(), 1);
    assert_eq!(world.rules_of(&id), 2, "b keeps its level, and what the project forbids stays forbidden");
}

#[tokio::test]
async fn mcp_90_with_a_server_go_its_secrets_its_rules_and_what_projects_say_of_it() {
    let world = World::new().await;
    let id = world.add(json!({"command": "x", "env": {"A": "1"}})).await.unwrap().server_id;
    let project = world.project("p").await.project_id;
    world.rule(json!({"level": "global", "source": id, "decision": "ask"})).await;
    let tool = json!({"source": id, "name": "t"});
    world.rule(json!({"level": "project", "projectId": project, "tool": tool, "decision": "deny"})).await;
    world.rule(json!({"level": "global", "source": "app", "decision": "ask"})).await;
    assert!(!world.secrets.keys.lock().unwrap().is_empty());
    let params: ServerRemoveParams = of(json!({"serverId": id}));
    let (removed, rules) = world.catalogue.remove_server(client(), params.clone(), show()).await.unwrap();
    assert_eq!((removed.applied, rules.len()), (true, 2));
    assert!(removed.effect.contains("2 rules"), "{}", removed.effect);
    assert!(world.secrets.keys.lock().unwrap().is_empty());
    assert_eq!((world.rules_of(&id), world.rules_of("app")), (0, 1));
    assert!(world.catalogue.snapshot().projects[&project].servers.is_empty());
    assert!(!world.restarted().await.catalogue.snapshot().servers.contains_key(&id));
    let gone = world.catalogue.remove_server(client(), params, show()).await.unwrap_err();
    assert!(matches!(gone, Refusal::NotFound { noun: "server", .. }));
}

#[tokio::test]
async fn a_change_of_a_server_names_its_revision_and_tells_lists_of_servers() {
    let world = World::new().await;
    let id = world.added("a").await;
    let mut changes = world.catalogue.changes();
    let stale = world.update(&id, json!({"trusted": true, "expectedRevision": 7})).await.unwrap_err();
    assert!(matches!(stale, Refusal::Conflict { current_revision: Some(1), .. }));
    assert_eq!(world.update(&id, json!({"trusted": true, "expectedRevision": 1})).await.unwrap().revision, 2);
    let told = changes.try_recv().unwrap();
    assert_eq!((told.kinds, told.ids), (vec![DataKind::Tool, DataKind::Server], vec![id.to_string()]));
    assert_eq!(world.update(&id, json!({"trusted": true})).await.unwrap().revision, 2, "the same again is no change");
}
