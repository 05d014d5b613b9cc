//! Which requests wait at the start for what.

use ropewalk_protocol::{Direction, METHODS};
use serde_json::{Value, json, value::to_raw_value};

use super::*;

fn of(method: &str, params: &Value) -> Touched {
    by(method, Some(&to_raw_value(params).unwrap()))
}

#[test]
fn ruling_40_a_request_about_one_thread_touches_that_thread_alone() {
    let thread = || Touched::Thread("t-1".into());
    assert_eq!(of("thread/read", &json!({"threadId": "t-1"})), thread());
    assert_eq!(of("run/submit", &json!({"threadId": "t-1", "operationId": "o", "input": []})), thread());
    assert_eq!(of("run/stop", &json!({"threadId": "t-1", "runId": "r-1"})), thread());
    assert_eq!(of("run/list", &json!({"threadId": "t-1"})), thread());
    assert_eq!(of("run/wait", &json!({"runId": "r-1"})), Touched::Run("r-1".into()));
    assert_eq!(of("interaction/settle", &json!({"interactionId": "i-1"})), Touched::Interaction("i-1".into()));
}

#[test]
fn ruling_40_lists_and_what_begins_or_ends_a_thread_touch_everything() {
    for (method, params) in [
        ("run/list", json!({})),
        ("interaction/list", json!({})),
        ("thread/list", json!({})),
        ("thread/start", json!({"operationId": "o"})),
        ("thread/delete", json!({"threadId": "t-1"})),
        ("project/delete", json!({"projectId": "p-1"})),
        ("policy/set", json!({"threadId": "t-1"})),
        ("project/create", json!({"operationId": "o"})),
        ("daemon/backup", json!({})),
        ("blob/read", json!({"blob": "b"})),
    ] {
        assert_eq!(of(method, &params), Touched::Everything, "{method}");
    }
}

#[test]
fn documents_are_read_at_once_and_what_cannot_be_read_is_refused_at_once() {
    assert_eq!(by("daemon/status", None), Touched::Documents);
    assert_eq!(of("settings/read", &json!({})), Touched::Documents);
    assert_eq!(of("thread/read", &json!({"threadId": 7})), Touched::Documents);
}

#[test]
fn every_name_is_one_of_a_method() {
    for name in OF_DOCUMENTS.iter().chain(&OF_A_THREAD) {
        assert!(METHODS.iter().any(|entry| entry.name == *name && entry.direction == Direction::ToDaemon), "{name}");
    }
}
