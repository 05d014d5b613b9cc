//! `Runs`: how branches stand, with all that a change has to name.

use serde_json::{Value, json};

use super::world::{AT, World};

fn run(state: &str, rest: Value) -> ropewalk_protocol::Run {
    let mut run = json!({
        "runId": "r7", "threadId": "t1", "branchId": "b2", "messageId": "m7", "mode": "queue", "state": state,
        "usage": {"inputTokens": 1, "outputTokens": 1, "requests": 1, "estimated": false}, "endpointId": "e", "model": "m",
        "unattended": "decline", "principal": {"kind": "owner"}, "recovery": [], "steps": 1, "toolCalls": 0, "submittedAt": AT,
    });
    for (name, value) in rest.as_object().unwrap() {
        run[name] = value.clone();
    }
    serde_json::from_value(run).unwrap()
}

fn waiting(id: &str, text: &str) -> ropewalk_protocol::QueueEntry {
    serde_json::from_value(json!({
        "messageId": id, "runId": format!("r-{id}"), "mode": "queue", "editable": true, "submittedAt": AT,
        "input": [{"type": "text", "text": text}, {"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgo="}],
    }))
    .unwrap()
}

#[tokio::test]
async fn app_28_the_standing_of_a_branch_has_what_its_changes_need() {
    let mut world = World::new();
    let failed = json!({
        "outcome": {"status": "failed", "error": {"kind": "rateLimited", "message": "Later.", "retryable": true}},
        "recovery": ["resume", "retry", "skip"],
    });
    world.runs.insert("b2".into(), run("failed", failed));
    world.queues.insert("b2".into(), vec![waiting("m8", "and then"), waiting("m9", &"x".repeat(5_000))]);
    let client = world.client().await;
    let page = client.page(json!({"resource": "Runs"})).await;
    let [here, other] = [&page["items"][0], &page["items"][1]];
    assert_eq!((&here["branchId"], &here["threadId"], &here["revision"]), (&json!("b2"), &json!("t1"), &json!(1)));
    assert_eq!((&here["state"], &here["run"]["runId"]), (&json!("Failed"), &json!("r7")));
    assert_eq!(here["run"]["recovery"], json!(["Resume", "Retry", "Skip"]));
    assert_eq!(here["run"]["outcome"]["error"]["kind"], "RateLimited");
    let entries = here["queue"]["entries"].as_array().unwrap();
    assert_eq!((&entries[0]["messageId"], &entries[0]["input"]), (&json!("m8"), &json!("and then")));
    assert_eq!((&entries[0]["otherParts"], &entries[0]["editable"]), (&json!(1), &json!(true)));
    assert!(entries[1]["input"].as_str().unwrap().chars().count() < 1_100, "a page is for many");
    assert_eq!((&other["state"], other.get("run")), (&json!("Idle"), None));
}

#[tokio::test]
async fn one_branch_is_a_document_and_all_of_them_are_a_list() {
    let mut world = World::new();
    world.runs.insert("b2".into(), run("running", json!({})));
    let client = world.client().await;
    let one = client.page(json!({"resource": "Runs", "branchId": "b2"})).await;
    assert_eq!((&one["total"], &one["items"][0]["state"]), (&json!(1), &json!("Running")));
    let first = client.page(json!({"resource": "Runs", "limit": 1})).await;
    assert_eq!((&first["items"][0]["branchId"], &first["returned"]), (&json!("b2"), &json!(1)));
    let second = client.page(json!({"resource": "Runs", "limit": 1, "cursor": first["nextCursor"]})).await;
    assert_eq!((&second["items"][0]["branchId"], second.get("nextCursor")), (&json!("t1"), None));
    let elsewhere = json!({"resource": "Runs", "projectId": "p2"});
    assert!(client.error("app_read", elsewhere).await.contains("lives in project p1"));
}
