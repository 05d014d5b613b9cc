//! Rules: what one may say, and what a second one does to the first.

use std::collections::BTreeSet;

use ropewalk_protocol::{
    ByKind, Policy, PolicyDecision, PolicyListParams, PolicyOrigin, PolicyRemoveParams, PolicySetParams,
};
use serde_json::{Value, json};

use super::{fakes::DIGEST, *};
use crate::catalogue::is_listed;

fn params(value: Value) -> PolicySetParams {
    serde_json::from_value(value).unwrap()
}

async fn set(world: &World, value: Value) -> Result<Policy, Refusal> {
    Ok(world.catalogue.set_policy(client(), PolicyOrigin::Owner, params(value)).await?.policy)
}

/// A rule about the one tool there is, with more fields.
fn about_tool(decision: &str, more: Value) -> Value {
    let mut rule = json!({
        "level": "thread", "threadId": "th-1", "decision": decision,
        "tool": { "source": "client:bot", "name": "get_issue" },
    });
    rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    rule
}

#[tokio::test]
async fn r27_a_second_rule_replaces_the_first_whole_under_its_id() {
    let world = World::new().await;
    let first = set(&world, about_tool("ask", json!({ "timeoutMs": 5_000, "maxCallsPerRun": 3 }))).await.unwrap();
    assert_eq!((first.revision, first.max_calls_per_run, first.timeout_ms), (1, 3, Some(5_000)));
    assert_eq!(first.set_by.kind, ByKind::Client);
    let second = set(&world, about_tool("deny", json!({}))).await.unwrap();
    assert_eq!(second.policy_id, first.policy_id);
    assert_eq!((second.revision, second.max_calls_per_run, second.timeout_ms), (2, 65_535, None));
    assert_eq!(world.catalogue.snapshot().policies.len(), 1);
}

#[tokio::test]
async fn rules_for_another_place_subject_caller_or_account_stand_beside_each_other() {
    let world = World::new().await;
    let project = world.project("p").await.project_id;
    for rule in [
        about_tool("ask", json!({})),
        about_tool("ask", json!({ "principal": { "kind": "agent" } })),
        about_tool("ask", json!({ "principal": { "kind": "app", "appId": "a-1" } })),
        about_tool("ask", json!({ "connection": "mcp-linear:local" })),
        about_tool("ask", json!({ "tool": { "source": "client:bot", "name": "other" } })),
        json!({ "level": "thread", "threadId": "th-1", "source": "client:bot", "decision": "ask" }),
        json!({ "level": "project", "projectId": project, "source": "client:bot", "decision": "ask" }),
        json!({ "level": "global", "source": "client:bot", "decision": "ask" }),
    ] {
        assert_eq!(set(&world, rule).await.unwrap().revision, 1);
    }
    assert_eq!(world.catalogue.snapshot().policies.len(), 8);
}

#[tokio::test]
async fn an_allow_on_a_tool_has_a_digest_and_nothing_else_has_one() {
    let world = World::new().await;
    let digest = |policy: Policy| policy.tool.and_then(|tool| tool.digest);
    let named = "f".repeat(64);
    let with_digest = json!({ "tool": { "source": "client:bot", "name": "get_issue", "digest": named } });
    assert_eq!(digest(set(&world, about_tool("allow", json!({}))).await.unwrap()).as_deref(), Some(DIGEST));
    assert_eq!(digest(set(&world, about_tool("allow", with_digest.clone())).await.unwrap()), Some(named));
    for decision in ["ask", "deny"] {
        assert_eq!(digest(set(&world, about_tool(decision, with_digest.clone())).await.unwrap()), None);
    }
}

#[tokio::test]
async fn a_tool_seen_for_the_first_time_gives_its_allow_the_digest_once() {
    let world = World::new().await;
    let unseen = json!({ "tool": { "source": "client:bot", "name": "unseen" } });
    let rule = set(&world, about_tool("allow", unseen)).await.unwrap();
    assert_eq!(rule.tool.unwrap().digest, None);
    let pinned = world.catalogue.pin_digest(&rule.policy_id, "a".repeat(64)).await.unwrap();
    assert_eq!((pinned.tool.unwrap().digest, pinned.revision), (Some("a".repeat(64)), 2));
    let later = world.catalogue.pin_digest(&rule.policy_id, "b".repeat(64)).await.unwrap();
    assert_eq!((later.tool.unwrap().digest, later.revision), (Some("a".repeat(64)), 2));
}

#[tokio::test]
async fn a_rule_that_cannot_hold_is_refused_with_its_place() {
    let world = World::new().await;
    let project = world.project("p").await.project_id;
    let source = |more: Value| {
        let mut rule = json!({ "level": "global", "source": "app", "decision": "ask" });
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rule
    };
    for (rule, path, reason) in [
        (source(json!({ "level": "project" })), "/projectId", "required"),
        (source(json!({ "level": "thread" })), "/threadId", "required"),
        (source(json!({ "projectId": project })), "/projectId", "not_at_this_level"),
        (source(json!({ "threadId": "th-1" })), "/threadId", "not_at_this_level"),
        (about_tool("ask", json!({ "projectId": project })), "/projectId", "not_at_this_level"),
        (source(json!({ "source": null })), "/tool", "required"),
        (about_tool("ask", json!({ "source": "app" })), "/source", "not_with_tool"),
        (source(json!({ "source": "" })), "/source", "empty"),
        (about_tool("ask", json!({ "tool": { "source": "", "name": "x" } })), "/tool/source", "empty"),
        (about_tool("ask", json!({ "tool": { "source": "x", "name": " " } })), "/tool/name", "empty"),
        (
            about_tool("allow", json!({ "tool": { "source": "x", "name": "y", "digest": "Z" } })),
            "/tool/digest",
            "not_a_digest",
        ),
        (source(json!({ "principal": { "kind": "agent", "appId": "a" } })), "/principal/appId", "not_for_kind"),
        (source(json!({ "connection": "" })), "/connection", "empty"),
        (source(json!({ "timeoutMs": 999 })), "/timeoutMs", "out_of_range"),
        (source(json!({ "timeoutMs": 3_600_001 })), "/timeoutMs", "out_of_range"),
        (source(json!({ "maxCallsPerRun": 0 })), "/maxCallsPerRun", "out_of_range"),
        (source(json!({ "maxCallsPerRun": 65_536 })), "/maxCallsPerRun", "out_of_range"),
        (source(json!({ "expiresAt": NOW })), "/expiresAt", "not_in_the_future"),
    ] {
        assert_eq!(invalid(set(&world, rule.clone()).await), at(path, reason), "{rule}");
    }
    let ends = json!({ "timeoutMs": 1_000, "maxCallsPerRun": 1, "expiresAt": NOW.plus_millis(1) });
    assert!(set(&world, source(ends)).await.is_ok());
    assert!(set(&world, source(json!({ "timeoutMs": 3_600_000, "maxCallsPerRun": 65_535 }))).await.is_ok());
}

#[tokio::test]
async fn the_owner_of_a_level_has_to_exist() {
    let world = World::new().await;
    let project = json!({ "level": "project", "projectId": "p-9", "source": "app", "decision": "ask" });
    assert_eq!(missing(set(&world, project).await), at("project", "p-9"));
    let thread = json!({ "level": "thread", "threadId": "th-9", "source": "app", "decision": "ask" });
    assert_eq!(missing(set(&world, thread).await), at("thread", "th-9"));
}

#[tokio::test]
async fn a_change_of_a_rule_is_compared_with_the_rule_it_replaces() {
    let world = World::new().await;
    let based_on = |revision| about_tool("ask", json!({ "expectedRevision": revision }));
    assert_eq!(conflict(set(&world, based_on(1)).await), (None, None));
    set(&world, about_tool("ask", json!({}))).await.unwrap();
    let (revision, current) = conflict(set(&world, based_on(2)).await);
    assert_eq!(revision, Some(1));
    assert_eq!(current.unwrap()["decision"], "ask");
    assert_eq!(set(&world, based_on(1)).await.unwrap().revision, 2);
}

#[tokio::test]
async fn a_rule_of_a_project_raises_the_projects_revision_and_is_read_with_it() {
    let world = World::new().await;
    let project = world.project("p").await.project_id;
    let rule = json!({
        "level": "project", "projectId": project, "decision": "deny",
        "tool": { "source": "client:bot", "name": "get_issue" },
    });
    let policy = set(&world, rule).await.unwrap();
    assert_eq!(policy.matches, 1);
    let read = world.catalogue.read_project(&project).unwrap();
    assert_eq!((read.revision, read.policies.unwrap()), (2, vec![policy.clone()]));

    let remove =
        PolicyRemoveParams { policy_id: policy.policy_id.clone(), operation_id: None, expected_revision: Some(1) };
    let removed = world.catalogue.remove_policy(client(), remove.clone()).await.unwrap();
    assert_eq!(removed.effect, "Takes back the project rule deny for get_issue of client:bot.");
    assert_eq!(world.catalogue.read_project(&project).unwrap().revision, 3);
    assert_eq!(missing(world.catalogue.remove_policy(client(), remove).await), at("policy", &policy.policy_id));
}

#[tokio::test]
async fn a_thread_is_governed_by_its_own_its_projects_and_global_rules() {
    let world = World::new().await;
    let (here, there) = (world.project("here").await.project_id, world.project("there").await.project_id);
    let rule = |more: Value| {
        let mut rule = json!({ "level": "global", "source": "app", "decision": "ask" });
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rule
    };
    let global = set(&world, rule(json!({}))).await.unwrap();
    let project = set(&world, rule(json!({ "level": "project", "projectId": here }))).await.unwrap();
    set(&world, rule(json!({ "level": "project", "projectId": there }))).await.unwrap();
    let thread = rule(json!({ "level": "thread", "threadId": "th-1" }));
    let thread = set(&world, thread).await.unwrap();

    let snapshot = world.catalogue.snapshot();
    let of_thread =
        snapshot.policies_for(&here, &"th-1".into()).map(|it| it.policy_id.clone()).collect::<BTreeSet<_>>();
    assert_eq!(of_thread, BTreeSet::from([global.policy_id, project.policy_id, thread.policy_id]));
}

#[tokio::test]
async fn a_list_can_be_narrowed_to_a_level_an_owner_and_a_source() {
    let world = World::new().await;
    let tool = set(&world, about_tool("ask", json!({}))).await.unwrap();
    let source = set(&world, json!({ "level": "global", "source": "client:bot", "decision": "ask" })).await.unwrap();
    let shown = |filter: Value| {
        let filter: PolicyListParams = serde_json::from_value(filter).unwrap();
        (is_listed(&tool, &filter, NOW), is_listed(&source, &filter, NOW))
    };
    assert_eq!(shown(json!({})), (true, true));
    assert_eq!(shown(json!({ "source": "client:bot" })), (true, true));
    assert_eq!(shown(json!({ "source": "app" })), (false, false));
    assert_eq!(shown(json!({ "level": "thread" })), (true, false));
    assert_eq!(shown(json!({ "threadId": "th-1" })), (true, false));
    assert_eq!(shown(json!({ "projectId": "p-1" })), (false, false));
    assert_eq!(tool.decision, PolicyDecision::Ask);
}
