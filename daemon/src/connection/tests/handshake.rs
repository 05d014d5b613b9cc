//! The handshake, and what a request must be before its handler sees it.

use serde_json::{Value, json};

use super::{Standing, data, hello, kind, setting};
use ropewalk_protocol::{Direction, METHODS};

#[tokio::test]
async fn anything_before_the_handshake_is_not_initialized() {
    let setting = setting();
    let mut client = setting.stranger();
    for method in ["project/read", "daemon/status", "no/such", "$/cancelRequest"] {
        assert_eq!(kind(&client.ask(1, method, json!({})).await), "notInitialized", "{method}");
    }
}

#[tokio::test]
async fn a_second_handshake_is_refused_and_a_failed_one_is_none() {
    let setting = setting();
    let mut client = setting.stranger();
    let mut too_old = hello();
    too_old["protocol"]["max"] = json!(0);
    assert_eq!(kind(&client.ask(1, "initialize", too_old).await), "invalidParams");
    assert_eq!(kind(&client.ask(2, "initialize", json!({"client": 1})).await), "invalidParams");
    assert_eq!(kind(&client.ask(3, "project/read", json!({"projectId": "p"})).await), "notInitialized");
    assert_eq!(kind(&client.ask(4, "initialize", hello()).await), "no error");
    assert_eq!(kind(&client.ask(5, "initialize", hello()).await), "alreadyInitialized");
}

#[tokio::test]
async fn the_handshake_and_what_follows_it_may_come_in_one_piece() {
    let setting = setting();
    let mut client = setting.stranger();
    client.send(1, "initialize", hello()).await;
    client.send(2, "project/read", json!({"projectId": "p"})).await;
    assert_eq!(client.read().await["id"], 1);
    assert_eq!(kind(&client.read().await), "notFound");
}

#[tokio::test]
async fn unknown_methods_and_those_of_the_other_direction_are_not_found() {
    let setting = setting();
    let mut client = setting.client().await;
    for method in ["no/such", "tool/call", "$/cancelRequest", "tool/progress", ""] {
        let answer = client.ask("x", method, json!({})).await;
        assert_eq!(
            (kind(&answer), &answer["id"], &answer["error"]["code"]),
            ("methodNotFound", &json!("x"), &json!(-32601))
        );
        assert_eq!(data(&answer)["method"], method);
    }
}

#[tokio::test]
async fn bad_parameters_are_named_by_path_and_reason() {
    let setting = setting();
    let mut client = setting.client().await;
    for (method, params, path, reason) in [
        ("project/read", json!({}), "/projectId", "required"),
        ("project/read", json!({"projectId": [1]}), "/projectId", "wrong_type"),
        ("project/read", json!(["p"]), "", "positional"),
        ("project/create", json!({"name": "n", "operationId": ""}), "/operationId", "invalid_value"),
        ("project/create", json!({"name": "n", "operationId": "a b"}), "/operationId", "invalid_value"),
        ("project/create", json!({"name": "n", "operationId": "x".repeat(129)}), "/operationId", "invalid_value"),
        ("project/create", json!({"name": "n", "operationId": 7}), "/operationId", "wrong_type"),
        ("project/create", json!({"name": "n", "dryRun": true}), "/dryRun", "not_supported"),
    ] {
        let answer = client.ask(1, method, params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!((&data(&answer)["path"], &data(&answer)["reason"]), (&json!(path), &json!(reason)), "{answer}");
    }
    let answer = client.ask(1, "project/read", json!({"projectId": "p", "operationId": "", "dryRun": true})).await;
    assert_eq!(kind(&answer), "notFound", "a method that reads ignores fields it does not know");
}

#[tokio::test]
async fn a_panic_is_answered_internal_and_the_connection_goes_on() {
    let setting = setting();
    let mut client = setting.client().await;
    for (method, params) in
        [("grant/list", json!({"projectId": "p"})), ("grant/remove", json!({"projectId": "p", "grantId": "g"}))]
    {
        let answer = client.ask(1, method, params).await;
        assert_eq!(kind(&answer), "internal", "{answer}");
        let reference = data(&answer)["reference"].as_str().unwrap();
        assert!(answer["error"]["message"].as_str().unwrap().contains(reference));
        assert!(!answer.to_string().contains("panics"), "the text of a panic is for the log");
    }
    assert_eq!(kind(&client.ask(2, "project/read", json!({"projectId": "p"})).await), "notFound");
}

#[tokio::test]
async fn while_the_daemon_starts_only_the_handshake_and_the_status_are_answered() {
    let setting = setting();
    *setting.toy.standing.lock().unwrap() = Standing::Starting { progress: Some(0.5) };
    let mut client = setting.client().await;
    assert_eq!(kind(&client.ask(1, "daemon/status", json!({})).await), "notFound");
    let answer = client.ask(2, "project/read", json!({"projectId": "p"})).await;
    assert_eq!((kind(&answer), &data(&answer)["reason"]), ("unavailable", &json!("starting")));
    assert_eq!((&data(&answer)["progress"], &data(&answer)["retryable"]), (&json!(0.5), &json!(true)));
}

#[tokio::test]
async fn while_the_daemon_stops_work_is_refused_and_control_is_not() {
    let setting = setting();
    let mut client = setting.client().await;
    *setting.toy.standing.lock().unwrap() = Standing::Stopping { grace_ms: 700 };
    let answer = client.ask(1, "project/read", json!({"projectId": "p"})).await;
    assert_eq!((kind(&answer), &data(&answer)["graceMs"]), ("shuttingDown", &json!(700)));
    assert_eq!(kind(&client.ask(2, "thread/unsubscribe", json!({"threadId": "t"})).await), "no error");
    assert_eq!(kind(&client.ask(3, "daemon/shutdown", Value::Null).await), "no error");
}

#[tokio::test]
async fn notifications_reach_the_daemon_only_after_the_handshake() {
    let setting = setting();
    let mut client = setting.stranger();
    let progress = json!({"jsonrpc": "2.0", "method": "tool/progress", "params": {"interactionId": "i"}});
    client.send_json(&progress).await;
    client.ask(1, "initialize", hello()).await;
    client.send_json(&progress).await;
    // A request without an id is executed and not answered.
    client.send_json(&json!({"jsonrpc": "2.0", "method": "project/read", "params": {"projectId": "p"}})).await;
    assert_eq!(client.ask(2, "daemon/shutdown", json!({})).await["id"], 2);
    assert_eq!(*setting.toy.notified.lock().unwrap(), ["tool/progress"]);
}

#[test]
fn the_table_tells_which_methods_of_the_catalogue_it_lacks() {
    let missing = super::table().missing();
    assert!(missing.contains(&"thread/start") && !missing.contains(&"initialize") && !missing.contains(&"tool/call"));
    let to_daemon = METHODS.iter().filter(|entry| entry.direction == Direction::ToDaemon).count();
    assert_eq!(missing.len(), to_daemon - 12);
}
