//! How long which request may take.

use serde_json::{json, value::to_raw_value};

use super::wait_of;

fn wait_ms(method: &str, params: serde_json::Value) -> u128 {
    wait_of(method, &to_raw_value(&params).expect("it is JSON")).as_millis()
}

#[test]
fn a_wait_that_was_asked_for_comes_on_top_of_the_patience() {
    assert_eq!(wait_ms("run/wait", json!({"runId": "r", "timeoutMs": 5_000})), 5_000);
    assert_eq!(wait_ms("run/wait", json!({"runId": "r"})), 60_000);
    assert_eq!(wait_ms("run/submit", json!({"wait": true, "waitTimeoutMs": 9_000})), 9_000);
    assert_eq!(wait_ms("thread/events", json!({"after": 0, "waitMs": 700})), 700);
}

#[test]
fn what_waits_for_nothing_adds_nothing() {
    assert_eq!(wait_ms("run/submit", json!({"input": []})), 0);
    assert_eq!(wait_ms("policy/set", json!({"timeoutMs": 3_000})), 0);
}
