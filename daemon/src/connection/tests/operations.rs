//! Repeated requests: one execution, one stored answer, and order of answer and events.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{data, kind, setting};

fn create(operation_id: &str) -> Value {
    json!({"name": "n", "operationId": operation_id})
}

fn submit(operation_id: &str, wait: bool) -> Value {
    json!({"threadId": "t", "input": [{"type": "text", "text": "a"}], "wait": wait, "operationId": operation_id})
}

#[tokio::test]
async fn the_same_operation_is_done_once_and_answered_again() {
    let setting = setting();
    setting.toy.gate.add_permits(10);
    let mut client = setting.client().await;
    let first = client.ask(1, "project/create", create("op")).await;
    assert_eq!(first["result"]["replayed"], false);
    let mut other = setting.client().await;
    let mut again = other.ask(2, "project/create", json!({"operationId": "op", "name": "n"})).await;
    assert_eq!(again["result"]["replayed"], true);
    again["result"]["replayed"] = json!(false);
    assert_eq!(again["result"], first["result"]);
    assert_eq!(setting.toy.created.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn another_request_under_the_same_operation_is_a_conflict() {
    let setting = setting();
    setting.toy.gate.add_permits(10);
    let mut client = setting.client().await;
    client.ask(1, "project/create", create("op")).await;
    for (method, params) in
        [("project/create", json!({"name": "other", "operationId": "op"})), ("run/submit", submit("op", false))]
    {
        let answer = client.ask(2, method, params).await;
        assert_eq!((kind(&answer), &data(&answer)["operationId"]), ("idempotencyConflict", &json!("op")));
        assert!(data(&answer)["firstAt"].is_string());
    }
}

#[tokio::test]
async fn of_two_equal_requests_at_once_one_is_done_and_one_replayed() {
    let setting = setting();
    let (mut one, mut two) = (setting.client().await, setting.client().await);
    one.send(1, "project/create", create("op")).await;
    setting.toy.until(|toy| toy.created.load(Ordering::SeqCst) == 1).await;
    two.send(2, "project/create", create("op")).await;
    let conflict = two.ask(3, "project/create", json!({"name": "other", "operationId": "op"})).await;
    assert_eq!((kind(&conflict), &conflict["id"]), ("idempotencyConflict", &json!(3)));
    setting.toy.gate.add_permits(10);
    assert_eq!(one.read().await["result"]["replayed"], false);
    assert_eq!(two.read().await["result"]["replayed"], true);
    assert_eq!(setting.toy.created.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_repeat_does_not_wait_for_ever() {
    let setting = setting();
    let (mut one, mut two) = (setting.client().await, setting.client().await);
    one.send(1, "project/create", create("op")).await;
    setting.toy.until(|toy| toy.created.load(Ordering::SeqCst) == 1).await;
    two.send(2, "project/create", create("op")).await;
    let answer = tokio::time::timeout(std::time::Duration::from_secs(60), async {
        let mut line = String::new();
        tokio::io::AsyncBufReadExt::read_line(&mut two.reader, &mut line).await.unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    })
    .await
    .unwrap();
    assert_eq!((kind(&answer), &data(&answer)["reason"]), ("unavailable", &json!("operation_in_progress")));
}

#[tokio::test]
async fn an_operation_that_failed_may_be_tried_again() {
    let setting = setting();
    let mut client = setting.client().await;
    let remove = json!({"projectId": "p", "grantId": "g", "operationId": "op"});
    for id in 0..2 {
        assert_eq!(kind(&client.ask(id, "grant/remove", remove.clone()).await), "internal");
    }
}

#[tokio::test]
async fn a_change_goes_on_when_its_connection_ends() {
    let setting = setting();
    let mut client = setting.client().await;
    client.send(1, "project/create", create("op")).await;
    setting.toy.until(|toy| toy.created.load(Ordering::SeqCst) == 1).await;
    drop(client);
    setting.toy.until(|toy| toy.disconnected.load(Ordering::SeqCst) == 1).await;
    setting.toy.gate.add_permits(10);
    let answer = setting.client().await.ask(1, "project/create", create("op")).await;
    assert_eq!(answer["result"]["replayed"], true);
    assert_eq!(setting.toy.created.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_repeated_submit_waits_itself_and_changes_nothing() {
    let setting = setting();
    let (mut one, mut two) = (setting.client().await, setting.client().await);
    one.send(1, "run/submit", submit("op", true)).await;
    setting.toy.until(|toy| toy.created.load(Ordering::SeqCst) == 1).await;
    two.send(2, "run/submit", submit("op", true)).await;
    two.send_json(&json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 2}})).await;
    assert_eq!(kind(&two.read().await), "cancelled");
    two.send(3, "run/submit", submit("op", true)).await;
    setting.toy.gate.add_permits(2);
    let answer = two.read().await;
    assert_eq!(answer["result"]["replayed"], true, "{answer}");
    assert_eq!(setting.toy.created.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn dyn_20_how_long_the_end_of_a_run_is_waited_for_is_no_part_of_its_submission() {
    let setting = setting();
    setting.toy.gate.add_permits(10);
    let mut client = setting.client().await;
    client.ask(1, "run/submit", submit("op", true)).await;
    let mut shorter = submit("op", true);
    shorter["waitTimeoutMs"] = json!(7_000);
    for (id, again) in [(2, shorter), (3, submit("op", false))] {
        client.send(id, "run/submit", again).await;
        let answer = loop {
            let line = client.read().await;
            if line["id"] == id {
                break line;
            }
        };
        assert_eq!(answer["result"]["replayed"], true, "{answer}");
    }
    assert_eq!(setting.toy.created.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_to_a_submit_comes_before_any_event_held_for_it() {
    let setting = setting();
    let mut client = setting.client().await;
    for id in 2..200 {
        let answer = client.ask(id, "run/submit", submit(&format!("op{id}"), false)).await;
        assert_eq!(answer["id"], id);
        assert_eq!(client.read().await["method"], "data/changed");
    }
}
