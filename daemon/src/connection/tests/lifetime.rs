//! How many connections there are, and how they end.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{data, in_time, kind, setting};

#[tokio::test]
async fn a_connection_too_many_is_told_and_closed() {
    let mut setting = setting();
    setting.serving.limits.max_connections = 2;
    let (first, _second) = (setting.client().await, setting.client().await);
    let mut third = setting.stranger();
    assert!(third.peer.is_none());
    let line = third.read().await;
    assert_eq!((kind(&line), &line["id"], &data(&line)["limit"]), ("overloaded", &Value::Null, &json!(2)));
    assert!(third.at_end().await);
    drop(first);
    setting.toy.until(|toy| toy.disconnected.load(Ordering::SeqCst) == 1).await;
    in_time(async {
        while setting.serving.connections.count() > 1 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    setting.client().await;
}

#[tokio::test]
async fn a_client_that_goes_is_forgotten_with_its_waits() {
    let setting = setting();
    let mut client = setting.client().await;
    client.send(1, "run/wait", json!({"runId": "r"})).await;
    assert_eq!(setting.serving.connections.count(), 1);
    drop(client);
    in_time(setting.serving.connections.all_gone()).await;
    assert_eq!(setting.toy.disconnected.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_daemon_that_ends_answers_what_waits_and_closes() {
    let setting = setting();
    let mut client = setting.client().await;
    client.send(1, "run/wait", json!({"runId": "r"})).await;
    assert_eq!(kind(&client.ask(2, "project/read", json!({"projectId": "p"})).await), "notFound");
    in_time(setting.serving.connections.idle()).await;
    setting.serving.connections.end_waiting();
    let answer = client.read().await;
    assert_eq!((kind(&answer), &answer["id"]), ("shuttingDown", &json!(1)));
    in_time(setting.serving.connections.close()).await;
    assert!(client.at_end().await);
    in_time(setting.serving.connections.all_gone()).await;
}

#[tokio::test]
async fn a_connection_is_not_idle_until_its_answer_was_written() {
    let setting = setting();
    let mut client = setting.client().await;
    client.send(1, "project/list", json!({})).await;
    client.send(2, "daemon/status", json!({})).await;
    assert_eq!(client.read().await["id"], 2);
    let connections = setting.serving.connections.clone();
    let idle = tokio::spawn(async move { connections.idle().await });
    tokio::task::yield_now().await;
    assert!(!idle.is_finished());
    setting.toy.gate.add_permits(1);
    assert_eq!(client.read().await["id"], 1);
    in_time(idle).await.unwrap();
}
