//! What may be sent again, under which operation, and how long which request may take.

use std::time::Duration;

use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use super::Request;

fn raw(params: &Value) -> Box<RawValue> {
    to_raw_value(params).expect("it is JSON")
}

fn wait_ms(method: &str, params: &Value) -> u128 {
    Request::new(method, &raw(params)).expect("it is a request").wait().as_millis()
}

/// The parameters as they are sent, so long after the first time.
fn sent(method: &str, params: &Value, waited_ms: u64) -> Value {
    let params = raw(params);
    let request = Request::new(method, &params).expect("it is a request");
    let sent = request.params(Duration::from_millis(waited_ms)).expect("it can be sent");
    serde_json::from_str(sent.get()).expect("it is JSON")
}

fn is_repeatable(method: &str, params: &Value) -> bool {
    Request::new(method, &raw(params)).expect("it is a request").is_repeatable()
}

#[test]
fn a_wait_that_was_asked_for_comes_on_top_of_the_patience() {
    assert_eq!(wait_ms("run/wait", &json!({"runId": "r", "timeoutMs": 5_000})), 5_000);
    assert_eq!(wait_ms("run/wait", &json!({"runId": "r"})), 60_000);
    assert_eq!(wait_ms("run/submit", &json!({"wait": true, "waitTimeoutMs": 9_000})), 9_000);
    assert_eq!(wait_ms("thread/events", &json!({"after": 0, "waitMs": 700})), 700);
}

#[test]
fn what_waits_for_nothing_adds_nothing() {
    assert_eq!(wait_ms("run/submit", &json!({"input": []})), 0);
    assert_eq!(wait_ms("policy/set", &json!({"timeoutMs": 3_000})), 0);
}

#[test]
fn dyn_20_what_waits_is_asked_again_with_what_is_left_of_its_time() {
    assert_eq!(sent("run/wait", &json!({"runId": "r", "timeoutMs": 5_000}), 1_500)["timeoutMs"], 3_500);
    assert_eq!(sent("run/wait", &json!({"runId": "r"}), 59_900)["timeoutMs"], 1_000, "the wire takes no less");
    assert_eq!(sent("thread/events", &json!({"after": 0, "waitMs": 700}), 900)["waitMs"], 0);
    let submit = json!({"wait": true, "waitTimeoutMs": 9_000, "operationId": "op"});
    assert_eq!(sent("run/submit", &submit, 2_000)["waitTimeoutMs"], 7_000);
    assert_eq!(sent("run/submit", &submit, 0), submit);
}

#[test]
fn dyn_20_a_change_gets_an_operation_id_and_keeps_it() {
    let given = json!({"threadId": "t", "operationId": "mine"});
    assert_eq!(sent("run/stop", &given, 0), given);
    let params = raw(&json!({"threadId": "t"}));
    let request = Request::new("run/stop", &params).expect("it is a request");
    let once: Value = serde_json::from_str(request.params(Duration::ZERO).expect("it is one").get()).expect("JSON");
    let twice: Value = serde_json::from_str(request.params(Duration::MAX).expect("it is one").get()).expect("JSON");
    assert_eq!(once, twice);
    assert!(once["operationId"].as_str().is_some_and(|id| id.len() == 36), "{once}");
    assert_eq!(once["threadId"], "t");
    assert!(sent("queue/clear", &json!({}), 0)["operationId"].is_string());
    assert!(sent("queue/clear", &Value::Null, 0)["operationId"].is_string());
    assert!(sent("queue/clear", &json!({"operationId": null}), 0)["operationId"].is_string());
    let wrong = json!({"operationId": "mine", "timeoutMs": "a while"});
    assert_eq!(sent("queue/clear", &wrong, 0), wrong, "what is wrong with it is for the daemon to say");
}

#[test]
fn dyn_20_what_can_be_sent_twice_is_known_from_the_table_of_methods() {
    assert!(is_repeatable("thread/list", &json!({})));
    assert!(is_repeatable("run/stop", &json!({"threadId": "t"})));
    assert!(is_repeatable("thread/resume", &json!({"threadId": "t"})));
    assert_eq!(sent("thread/resume", &json!({"threadId": "t"}), 0), json!({"threadId": "t"}));
    assert!(!is_repeatable("daemon/shutdown", &json!({})));
    assert!(!is_repeatable("of/tomorrow", &json!({})), "it may change something");
    assert!(is_repeatable("of/tomorrow", &json!({"operationId": "mine"})));
}
