//! Requests in both directions and their answers.

use serde_json::{Value, json};

use super::{in_time, pair, raw, setting, setting_of};
use crate::{CallError, NoFeed, Options};
use ropewalk_protocol::{CancelRequest, CancelRequestParams, DaemonStatus, Empty, ErrorDetail, RequestId};
use std::sync::Arc;

#[tokio::test]
async fn both_ends_call_each_other_at_once() {
    let ((left, _), (right, _)) = pair(Options::default());
    let calls = (0..50).map(|n| {
        let (left, right) = (left.clone(), right.clone());
        async move {
            let params = raw(&format!("[{n},1]"));
            let (a, b) = tokio::join!(left.call_raw("subtract", Some(&params)), right.call_raw("sum", Some(&params)));
            assert_eq!(a.unwrap().get(), (n - 1).to_string());
            assert_eq!(b.unwrap().get(), (n + 1).to_string());
        }
    });
    in_time(futures::future::join_all(calls)).await;
}

#[tokio::test]
async fn a_handler_can_ask_the_caller_back() {
    let ((left, _), _) = pair(Options::default());
    let result = in_time(left.call_raw("nested", Some(&raw(r#"{"deep":[null]}"#)))).await.unwrap();
    assert_eq!(result.get(), r#"{"deep":[null]}"#);
}

#[tokio::test]
async fn a_null_result_is_a_result() {
    let ((left, _), _) = pair(Options::default());
    assert_eq!(in_time(left.call_raw("null", None)).await.unwrap().get(), "null");
}

#[tokio::test]
async fn errors_keep_their_code_whoever_made_them() {
    let mut setting = setting();
    for (error, code, is_unknown_method) in [
        (r#"{"code":-32601,"message":"no"}"#, -32601, true),
        (r#"{"code":17,"message":"no","data":"text","extra":1}"#, 17, false),
        (r#"{"code":-32000,"message":"no","data":{"kind":"ofTheirOwn"}}"#, -32000, false),
    ] {
        let pending = setting.peer.start_call("x", &json!({})).unwrap();
        setting.stranger.line().await;
        setting.stranger.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}}}\n", pending.id())).await;
        let Err(CallError::Rpc(error)) = in_time(pending).await else { panic!("an error of the other end") };
        assert_eq!((error.code, error.message.as_str()), (code, "no"));
        assert_eq!(matches!(error.data.detail, ErrorDetail::MethodNotFound { .. }), is_unknown_method);
    }
}

#[tokio::test]
async fn a_result_of_another_shape_is_unreadable() {
    let mut setting = setting();
    let peer = setting.peer.clone();
    let call = tokio::spawn(async move { peer.call::<DaemonStatus>(&Empty {}).await });
    assert_eq!(setting.stranger.read().await["method"], "daemon/status");
    setting.stranger.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"version\":1}}\n").await;
    assert!(matches!(in_time(call).await.unwrap(), Err(CallError::Unreadable(_))));
}

#[tokio::test]
async fn results_that_values_cannot_hold_and_answers_that_are_none_are_told_apart() {
    let mut setting = setting();
    for (answer, expected) in [
        (r#""result":{"a":1,"a":2}"#, "the result holds a repeated key at /a"),
        (r#""result":["\ud800"]"#, "the result holds a lone surrogate at /0"),
        (r#""result":1e999"#, "the result holds a number out of range at "),
        (
            r#""result":1,"error":{"code":1,"message":""}"#,
            "the answer cannot be read: it has both a result and an error",
        ),
    ] {
        let pending = setting.peer.start_call("x", &json!({})).unwrap();
        setting.stranger.line().await;
        setting.stranger.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{answer}}}\n", pending.id())).await;
        let why = in_time(pending).await.unwrap_err();
        assert_eq!(matches!(why, CallError::Unrepresentable(_)), expected.starts_with("the result"), "{why}");
        assert_eq!(why.to_string(), expected);
    }
}

#[tokio::test]
async fn answers_nobody_waits_for_are_ignored_and_counted() {
    let mut setting = setting();
    let pending = setting.peer.start_call("x", &json!({})).unwrap();
    let forgotten = pending.id();
    drop(pending);
    setting.stranger.line().await;
    for answer in [
        format!("\"id\":{forgotten},\"result\":1"),
        "\"id\":99,\"result\":1".to_owned(),
        "\"id\":null,\"error\":{\"code\":-32700,\"message\":\"\"}".to_owned(),
        "\"id\":\"1\",\"result\":1".to_owned(),
        "\"result\":1".to_owned(),
    ] {
        setting.stranger.send(format!("{{\"jsonrpc\":\"2.0\",{answer}}}\n")).await;
    }
    setting.stranger.nothing_more().await;
    assert_eq!(setting.peer.ignored_answers(), 5);
}

#[tokio::test]
async fn the_second_answer_to_a_request_is_ignored() {
    let mut setting = setting();
    let pending = setting.peer.start_call("x", &json!({})).unwrap();
    setting
        .stranger
        .send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":2}\n")
        .await;
    assert_eq!(in_time(pending).await.unwrap().get(), "1");
    setting.stranger.line().await;
    setting.stranger.nothing_more().await;
    assert_eq!(setting.peer.ignored_answers(), 1);
}

#[tokio::test]
async fn answers_may_come_in_a_batch_with_requests() {
    let mut setting = setting();
    let pending = setting.peer.start_call("x", &json!({})).unwrap();
    setting.stranger.line().await;
    let batch = r#"[{"jsonrpc":"2.0","id":1,"result":"ours"},{"jsonrpc":"2.0","id":1,"method":"null"}]"#;
    assert_eq!(setting.stranger.ask(batch).await, json!([{"jsonrpc": "2.0", "id": 1, "result": null}]));
    assert_eq!(in_time(pending).await.unwrap().get(), "\"ours\"");
}

#[tokio::test]
async fn an_answer_over_the_limit_fails_its_call_and_is_not_answered() {
    let options = Options { max_message_bytes: 1_000, ..Options::default() };
    let mut setting = setting_of(options, Arc::new(NoFeed));
    let pending = setting.peer.start_call("x", &json!({})).unwrap();
    setting.stranger.line().await;
    setting.stranger.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"{}\"}}\n", "x".repeat(1_000))).await;
    let failed = in_time(pending).await;
    assert!(matches!(failed, Err(CallError::TooLarge { what: "answer", limit: 1_000, .. })), "{failed:?}");
    setting.stranger.nothing_more().await;
}

#[tokio::test]
async fn a_request_over_the_limit_is_not_sent() {
    let options = Options { max_message_bytes: 1_000, ..Options::default() };
    let mut setting = setting_of(options, Arc::new(NoFeed));
    let failed = in_time(setting.peer.start_call("x", &"y".repeat(1_000)).unwrap()).await;
    assert!(matches!(failed, Err(CallError::TooLarge { what: "request", .. })), "{failed:?}");
    setting.stranger.nothing_more().await;
}

#[tokio::test]
async fn the_end_of_the_connection_fails_what_waits_and_what_comes_later() {
    let ((left, service), (right, other)) = pair(Options::default());
    let pending = left.start_call("keep", &json!({})).unwrap();
    let kept = other.kept().await;
    right.close();
    assert!(matches!(in_time(pending).await, Err(CallError::Closed)));
    in_time(left.closed()).await;
    in_time(right.closed()).await;
    assert!(left.is_closed());
    assert!(left.start_call("null", &json!({})).is_err());
    let params = CancelRequestParams { id: RequestId::Number(1) };
    assert!(left.notify::<CancelRequest>(&params).is_err());
    kept.ok(&1);
    assert_eq!((*service.closed.lock().unwrap(), *other.closed.lock().unwrap()), (1, 1));
}

#[tokio::test]
async fn a_notification_is_a_message_without_id() {
    let mut setting = setting();
    setting.peer.notify::<CancelRequest>(&CancelRequestParams { id: RequestId::Number(4) }).unwrap();
    let expected: Value = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 4}});
    assert_eq!(setting.stranger.read().await, expected);
}
