//! Limits on what one connection asks at once, waits, batches and cancelling.

use serde_json::{Value, json};

use super::{data, kind, setting};

fn wait() -> Value {
    json!({"runId": "r"})
}

#[tokio::test]
async fn a_request_more_than_may_be_in_flight_is_overloaded() {
    let setting = setting();
    let mut client = setting.client().await;
    for id in 0..64 {
        client.send(id, "project/list", json!({})).await;
    }
    let answer = client.ask("more", "project/read", json!({"projectId": "p"})).await;
    assert_eq!((kind(&answer), &answer["id"]), ("overloaded", &json!("more")));
    assert_eq!((&data(&answer)["limit"], &data(&answer)["retryable"]), (&json!(64), &json!(true)));
    // Control requests and waits have limits of their own.
    assert_eq!(kind(&client.ask("control", "daemon/status", json!({})).await), "notFound");
    client.send("wait", "run/wait", wait()).await;
    setting.toy.gate.add_permits(65);
    for _ in 0..65 {
        assert_eq!(kind(&client.read().await), "notFound");
    }
    assert_eq!(kind(&client.ask("again", "project/read", json!({"projectId": "p"})).await), "notFound");
}

#[tokio::test]
async fn a_wait_more_than_may_be_is_overloaded_and_takes_no_place_from_work() {
    let setting = setting();
    let mut client = setting.client().await;
    for id in 0..64 {
        client.send(id, "run/wait", wait()).await;
    }
    let events = json!({"threadId": "t", "after": 0, "waitMs": 1_000});
    assert_eq!(kind(&client.ask("more", "thread/events", events).await), "overloaded");
    assert_eq!(kind(&client.ask("work", "project/read", json!({"projectId": "p"})).await), "notFound");
}

#[tokio::test]
async fn a_thousand_requests_in_one_piece_that_are_answered_at_once_are_all_answered() {
    let setting = setting();
    let mut client = setting.client().await;
    let request = r#"{"jsonrpc":"2.0","id":7,"method":"project/read","params":{"projectId":"p"}}"#;
    let piece = format!("{request}\n").repeat(1_000);
    let (mut reader, mut writer) = (client.reader, client.writer);
    let writing = tokio::spawn(async move {
        tokio::io::AsyncWriteExt::write_all(&mut writer, piece.as_bytes()).await.unwrap();
        writer
    });
    for _ in 0..1_000 {
        let mut line = String::new();
        super::in_time(tokio::io::AsyncBufReadExt::read_line(&mut reader, &mut line)).await.unwrap();
        assert!(line.contains("notFound"), "{line}");
    }
    client.writer = writing.await.unwrap();
}

#[tokio::test]
async fn what_may_wait_is_no_member_of_a_batch() {
    let setting = setting();
    let mut client = setting.client().await;
    let submit = |wait: bool| json!({"threadId": "t", "input": [{"type": "text", "text": "a"}], "wait": wait});
    let member =
        |id: u32, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    client
        .send_json(&json!([
            member(1, "run/wait", wait()),
            member(2, "run/submit", submit(true)),
            member(3, "thread/events", json!({"threadId": "t", "after": 0, "waitMs": 5})),
            member(4, "project/read", json!({"projectId": "p"})),
            member(5, "run/submit", submit(false)),
        ]))
        .await;
    let answers = client.read().await;
    let mut answers: Vec<_> = answers.as_array().unwrap().iter().collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    for refused in &answers[..3] {
        assert_eq!((kind(refused), &data(refused)["reason"]), ("invalidRequest", &json!("waits_in_batch")));
    }
    assert_eq!((kind(answers[3]), kind(answers[4])), ("notFound", "no error"));
}

#[tokio::test]
async fn a_wait_can_be_cancelled_and_nothing_else_can() {
    let setting = setting();
    let mut client = setting.client().await;
    let cancel = |id: Value| json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}});
    client.send("w", "run/wait", wait()).await;
    client.send(7, "project/list", json!({})).await;
    client.send_json(&cancel(json!(7))).await;
    client.send_json(&cancel(json!("unknown"))).await;
    client.send_json(&json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": {}}})).await;
    client.send_json(&cancel(json!("w"))).await;
    let answer = client.read().await;
    assert_eq!((kind(&answer), &answer["id"]), ("cancelled", &json!("w")));
    setting.toy.gate.add_permits(1);
    let answer = client.read().await;
    assert_eq!((kind(&answer), &answer["id"]), ("notFound", &json!(7)));
}
