//! Messages: ids, shapes, batches, depth, and what JSON values cannot hold.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{kind, setting, setting_of};
use crate::{NoFeed, Options};

#[tokio::test]
async fn ids_come_back_as_they_went() {
    let mut setting = setting();
    for id in ["0", "-7", "9223372036854775807", "-9223372036854775808", "null", "\"\"", "\"a \\\"b\\\" ü\"", "\"1\""]
    {
        setting.stranger.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"null\"}}\n")).await;
        assert_eq!(setting.stranger.line().await, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":null}}"));
    }
}

#[tokio::test]
async fn what_is_no_id_is_an_invalid_request_without_one() {
    let mut setting = setting();
    for (id, reason) in [
        ("1.5", "id_is_a_fraction"),
        ("1.0", "id_is_a_fraction"),
        ("1e2", "id_is_a_fraction"),
        ("9223372036854775808", "id_out_of_range"),
        ("true", "id_has_the_wrong_type"),
        ("[1]", "id_has_the_wrong_type"),
        ("{}", "id_has_the_wrong_type"),
        ("\"\\ud800\"", "id_not_representable"),
    ] {
        let answer = setting.stranger.ask(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"null\"}}")).await;
        assert_eq!((kind(&answer), &answer["id"]), ("invalidRequest", &Value::Null), "{id}");
        assert_eq!(answer["error"]["data"]["reason"], reason, "{id}");
    }
}

#[tokio::test]
async fn what_is_no_request_says_why_with_its_id() {
    let mut setting = setting();
    for (members, reason) in [
        (r#""id":4,"method":"null""#, "jsonrpc_is_not_2_0"),
        (r#""jsonrpc":2.0,"id":4,"method":"null""#, "jsonrpc_is_not_2_0"),
        (r#""jsonrpc":"1.0","id":4,"method":"null""#, "jsonrpc_is_not_2_0"),
        (r#""jsonrpc":"2.0","id":4"#, "method_missing"),
        (r#""jsonrpc":"2.0","id":4,"method":1"#, "method_is_not_a_string"),
        (r#""jsonrpc":"2.0","id":4,"method":"null","params":1"#, "params_not_structured"),
        (r#""jsonrpc":"2.0","id":4,"method":"null","result":1"#, "both_request_and_answer"),
    ] {
        let answer = setting.stranger.ask(&format!("{{{members}}}")).await;
        assert_eq!((kind(&answer), &answer["id"]), ("invalidRequest", &json!(4)), "{members}");
        assert_eq!(answer["error"]["data"]["reason"], reason, "{members}");
    }
    let answer = setting.stranger.ask(r#"{"jsonrpc":"2.0","id":4,"id":5,"method":"null"}"#).await;
    assert_eq!((&answer["id"], &answer["error"]["data"]["reason"]), (&Value::Null, &json!("repeated_member")));
    let answer = setting.stranger.ask("17").await;
    assert_eq!(answer["error"]["data"]["reason"], "not_an_object");
}

#[tokio::test]
async fn unknown_members_and_null_params_are_no_error() {
    let mut setting = setting();
    let answer =
        setting.stranger.ask(r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":null,"x":{"a":1,"a":2}}"#).await;
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 1, "result": null}));
}

#[tokio::test]
async fn what_values_cannot_hold_is_invalid_params_with_its_path() {
    let mut setting = setting();
    for (params, path, reason) in [
        (r#"{"a":[0,{"b":1,"c":2,"b":3}]}"#, "/a/1/b", "repeated_key"),
        (r#"{"a":1,"\u0061":2}"#, "/a", "repeated_key"),
        (r#"{"a":["x","\ud800y"]}"#, "/a/1", "lone_surrogate"),
        (r#"[18446744073709551616]"#, "/0", "number_out_of_range"),
        (r#"{"a":{"n":-9223372036854775809}}"#, "/a/n", "number_out_of_range"),
        (r#"{"a":1e999}"#, "/a", "number_out_of_range"),
    ] {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"echo\",\"params\":{params}}}");
        let answer = setting.stranger.ask(&line).await;
        assert_eq!((kind(&answer), &answer["id"]), ("invalidParams", &json!(8)), "{params}");
        let data = &answer["error"]["data"];
        assert_eq!((data["path"].as_str(), data["reason"].as_str()), (Some(path), Some(reason)), "{params}");
    }
}

#[tokio::test]
async fn a_message_may_be_as_deep_as_the_limit_and_no_level_deeper() {
    let mut setting = setting();
    // The message itself is the first level, and ignored members count.
    for member in ["params", "ignored"] {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let line =
            |levels| format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"null\",\"{member}\":{}}}", nested(levels));
        assert_eq!(setting.stranger.ask(&line(99)).await["result"], Value::Null);
        let answer = setting.stranger.ask(&line(100)).await;
        assert_eq!((kind(&answer), &answer["id"]), ("tooLarge", &json!(2)));
        let data = &answer["error"]["data"];
        assert_eq!((&data["what"], &data["limit"], &data["actual"]), (&json!("depth"), &json!(100), &json!(101)));
    }
    let answer = setting.stranger.ask(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))).await;
    assert_eq!(kind(&answer[0]), "invalidRequest", "a batch in a batch is no message, however deep");
}

#[tokio::test]
async fn brackets_in_strings_are_no_levels() {
    let mut setting = setting();
    let text = "[{".repeat(500);
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"echo\",\"params\":[\"{text}\\\"[\"]}}");
    assert_eq!(setting.stranger.ask(&line).await["result"][0], format!("{text}\"["));
}

#[tokio::test]
async fn a_batch_may_have_as_many_members_as_the_limit_and_no_more() {
    let mut setting = setting();
    let batch = |count| format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"in_batch"}"#; count].join(","));
    let answer = setting.stranger.ask(&batch(100)).await;
    assert!(answer.as_array().unwrap().iter().all(|answer| answer["result"] == true));
    assert_eq!(answer.as_array().unwrap().len(), 100);
    let answer = setting.stranger.ask(&batch(101)).await;
    assert_eq!((kind(&answer), &answer["error"]["data"]["reason"]), ("invalidRequest", &json!("batch_too_large")));
    assert_eq!(answer["id"], Value::Null);
    let alone = setting.stranger.ask(r#"{"jsonrpc":"2.0","id":1,"method":"in_batch"}"#).await;
    assert_eq!(alone["result"], false);
}

#[tokio::test]
async fn a_batch_is_answered_when_its_last_member_is() {
    let mut setting = setting();
    let line = r#"[{"jsonrpc":"2.0","id":1,"method":"keep"},{"jsonrpc":"2.0","id":2,"method":"null"}]"#;
    setting.stranger.send(format!("{line}\n")).await;
    let kept = setting.service.kept().await;
    setting.stranger.nothing_more().await;
    kept.ok(&"late");
    let answer = setting.stranger.read().await;
    assert_eq!(
        answer,
        json!([{"jsonrpc": "2.0", "id": 2, "result": null}, {"jsonrpc": "2.0", "id": 1, "result": "late"}])
    );
}

#[tokio::test]
async fn an_answer_too_long_for_a_line_becomes_an_error() {
    let options = Options { max_message_bytes: 1_000, ..Options::default() };
    let mut setting = setting_of(options, Arc::new(NoFeed));
    let long = |id: u32, bytes| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"long\",\"params\":{{\"bytes\":{bytes}}}}}")
    };
    assert_eq!(setting.stranger.ask(&long(1, 900)).await["result"].as_str().unwrap().len(), 900);
    let answer = setting.stranger.ask(&long(1, 1_000)).await;
    assert_eq!((kind(&answer), &answer["error"]["data"]["what"]), ("tooLarge", &json!("answer")));
    let answer = setting.stranger.ask(&format!("[{},{}]", long(1, 600), long(2, 600))).await;
    assert_eq!((kind(&answer[0]), kind(&answer[1])), ("no error", "tooLarge"));
}

#[tokio::test]
async fn a_request_dropped_by_the_service_is_answered_internal_with_a_reference() {
    let mut setting = setting();
    let answer = setting.stranger.ask(r#"{"jsonrpc":"2.0","id":1,"method":"drop"}"#).await;
    assert_eq!((kind(&answer), &answer["id"]), ("internal", &json!(1)));
    assert!(!answer["error"]["data"]["reference"].as_str().unwrap().is_empty());
}
