//! Anthropic's messages: what strict mode refuses, and what the answers look like without a client of ours.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::{answer_of, events_of, refused_by};
use crate::scripted::{Shape, memory::Memory};

fn asked(messages: &[Value]) -> Value {
    let tool = json!({"name": "ask", "input_schema": {"type": "object", "properties": {}}});
    json!({"model": "m", "max_tokens": 1_000, "messages": messages, "tools": [tool]})
}

fn user(content: &Value) -> Value {
    json!({"role": "user", "content": content})
}

fn said(content: &[Value]) -> Value {
    json!({"role": "assistant", "content": content})
}

fn words(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "ask", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "yes"})
}

fn refused(body: &Value) -> Option<String> {
    refused_by(Shape::Messages, body, &Memory::default())
}

#[test]
fn strict_mode_takes_a_good_history() {
    let image = json!({"type": "base64", "media_type": "image/png", "data": "aGVsbG8="});
    let pictures = json!([{"type": "image", "source": image}, words("what is it?")]);
    let results = json!([result("b"), result("a"), words("and now?")]);
    let history = [user(&pictures), said(&[words("look"), call("a"), call("b")]), user(&results)];
    assert_eq!(refused(&asked(&history)), None);
}

#[test]
fn strict_mode_refuses_broken_histories() {
    let hi = || user(&json!("hi"));
    let image = |kind: &str, data: &str| {
        user(&json!([{"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}]))
    };
    let not_an_object = json!({"type": "tool_use", "id": "a", "name": "ask", "input": "text"});
    let failed = json!({"type": "tool_result", "tool_use_id": "a", "content": "", "is_error": true});
    for (messages, expected) in [
        (vec![], "at least one message"),
        (vec![said(&[words("hi")])], "first message must use the \"user\" role"),
        (vec![hi(), hi()], "roles must alternate"),
        (vec![hi(), said(&[words("a")]), said(&[words("b")]), hi()], "roles must alternate"),
        (vec![json!({"role": "system", "content": "x"})], "should be 'user' or 'assistant'"),
        (vec![hi(), said(&[words("hello")])], "assistant message prefill"),
        (vec![hi(), said(&[call("a")])], "`tool_use` ids were found without `tool_result` blocks immediately after: a"),
        (vec![hi(), said(&[call("a")]), hi()], "`tool_use` ids were found without `tool_result`"),
        (vec![hi(), said(&[call("a"), call("b")]), user(&json!([result("a")]))], "immediately after: b"),
        (vec![hi(), said(&[call("a")]), user(&json!([words("x"), result("a")]))], "immediately after: a"),
        (vec![hi(), said(&[call("a")]), user(&json!([result("a"), words("x"), result("b")]))], "must come first"),
        (vec![hi(), said(&[call("a")]), user(&json!([result("b")]))], "unexpected `tool_use_id`"),
        (vec![hi(), said(&[call("a")]), user(&json!([result("a"), result("a")]))], "single result"),
        (vec![hi(), said(&[call("a")]), user(&json!([failed]))], "cannot be empty if `is_error`"),
        (vec![user(&json!([result("a")]))], "unexpected `tool_use_id`"),
        (vec![hi(), said(&[call("a"), call("a")]), user(&json!([result("a")]))], "ids must be unique"),
        (vec![hi(), said(&[call("a.b")]), user(&json!([result("a.b")]))], "should match pattern"),
        (vec![hi(), said(&[not_an_object]), user(&json!([result("a")]))], "valid dictionary"),
        (vec![user(&json!(""))], "must be non-empty"),
        (vec![user(&json!([]))], "non-empty content"),
        (vec![user(&json!([words("")]))], "must be non-empty"),
        (vec![user(&json!([words(" \n")]))], "non-whitespace"),
        (vec![user(&json!([call("a")]))], "cannot be in a message of the user"),
        (vec![image("image/tiff", "aGVsbG8=")], "unsupported image"),
        (vec![image("image/png", "not base64!")], "invalid base64"),
    ] {
        let message = refused(&asked(&messages)).unwrap_or_default();
        assert!(message.contains(expected), "{messages:?}: {message:?}");
    }
}

#[test]
fn strict_mode_refuses_what_is_missing_and_what_is_unknown() {
    for (field, value, expected) in [
        ("model", Value::Null, "you must provide a model"),
        ("max_tokens", Value::Null, "max_tokens: Field required"),
        ("max_tokens", json!(0), "max_tokens: Field required"),
        ("thinking", json!({"type": "enabled", "budget_tokens": 512}), "greater than or equal to 1024"),
        ("thinking", json!({"type": "enabled", "budget_tokens": 2_000}), "`max_tokens` must be greater"),
        ("stream_options", json!({}), "stream_options: Extra inputs are not permitted"),
        ("tools", json!([{"name": "a b", "input_schema": {}}]), "does not match"),
        ("tools", json!([{"name": "a", "input_schema": {"type": "string"}}]), "of type object"),
        ("system", json!([words("")]), "must be non-empty"),
    ] {
        let mut body = asked(&[user(&json!("hi"))]);
        body[field] = value;
        let message = refused(&body).unwrap_or_default();
        assert!(message.contains(expected), "{field}: {message:?}");
    }
    let mut body = asked(&[user(&json!("hi")), said(&[call("a")]), user(&json!([result("a")]))]);
    body["tools"] = json!([]);
    assert!(refused(&body).unwrap().contains("must define tools"));
    let versionless = Shape::Messages.header_refusal(&HeaderMap::new(), None, true).unwrap();
    assert!(versionless.message.contains("anthropic-version"));
}

/// What was sent for `script`, and the history that goes on after it with this content of the assistant's.
async fn after(memory: &Memory, script: &str) -> (Vec<Value>, impl Fn(&[Value]) -> Value) {
    let answer = answer_of(Shape::Messages, asked(&[user(&json!(script))]), memory).await;
    let content = answer["content"].as_array().unwrap().clone();
    let results =
        content.iter().filter(|block| block["type"] == "tool_use").map(|call| result(call["id"].as_str().unwrap()));
    let results = results.collect::<Vec<_>>();
    let asking = user(&json!(script));
    (content, move |content| asked(&[asking.clone(), said(content), user(&json!(results))]))
}

#[tokio::test]
async fn l22_thinking_must_come_back_as_it_was_when_there_are_calls() {
    let memory = Memory::default();
    let (content, go_on) = after(&memory, "think it over\nthink [redacted] secret\ncall ask {\"x\":1}").await;
    let kinds: Vec<_> = content.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "redacted_thinking", "tool_use"]);
    assert!(!json!(content).to_string().contains("secret"), "what is hidden is not shown");
    let refused = |content: &[Value]| refused_by(Shape::Messages, &go_on(content), &memory).unwrap_or_default();
    assert_eq!(refused(&content), "");
    assert!(refused(&content[2..]).contains("Expected `thinking`"), "all of it is missing");
    assert!(refused(&content[1..]).contains("cannot be modified"), "some of it is missing");
    let mut turned = content.clone();
    turned.swap(0, 1);
    assert!(refused(&turned).contains("cannot be modified"), "in another order");
    let mut changed = content.clone();
    changed[0]["thinking"] = json!("something else");
    assert!(refused(&changed).contains("cannot be modified"), "another text under the same signature");
    let mut cut = content.clone();
    cut[0]["signature"] = json!(&content[0]["signature"].as_str().unwrap()[..10]);
    assert!(refused(&cut).contains("Invalid `signature` in `thinking` block"), "a part of the signature");
    let mut renamed = content.clone();
    renamed[2]["id"] = json!("own_id");
    let renamed_history = go_on(&renamed).to_string().replace("toolu_3_0", "own_id");
    let renamed_history = serde_json::from_str(&renamed_history).unwrap();
    assert_eq!(refused_by(Shape::Messages, &renamed_history, &memory), None, "ids may be the client's");
    let mut of_another_model = go_on(&content[2..]);
    of_another_model["model"] = json!("other");
    assert_eq!(refused_by(Shape::Messages, &of_another_model, &memory), None, "it never thought that");
}

#[tokio::test]
async fn a_whole_answer_has_blocks_a_reason_and_usage() {
    let memory = Memory::default();
    let request = asked(&[user(&json!("say hi you\ncall ask {\"x\":1}\ncall ask {"))]);
    let answer = answer_of(Shape::Messages, request, &memory).await;
    let content = json!([
        {"type": "text", "text": "hi you"},
        {"type": "tool_use", "id": "toolu_3_0", "name": "ask", "input": {"x": 1}},
        {"type": "tool_use", "id": "toolu_3_1", "name": "ask", "input": {}},
    ]);
    assert_eq!((&answer["content"], &answer["stop_reason"]), (&content, &json!("tool_use")));
    assert!(answer["usage"]["input_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn a_streamed_answer_begins_and_ends_as_it_should_with_its_signature_in_parts() {
    let memory = Memory::default();
    let request = asked(&[user(&json!("think a b\nsay hi\ncall ask {\"x\":1}"))]);
    let events = events_of(Shape::Messages, request, &memory).await;
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..3], ["message_start", "ping", "content_block_start"]);
    assert_eq!(kinds[kinds.len() - 2..], ["message_delta", "message_stop"]);
    let deltas = |kind: &str, field: &str| -> Vec<String> {
        let deltas = events.iter().map(|event| &event["delta"]).filter(|delta| delta["type"] == kind);
        deltas.map(|delta| delta[field].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(deltas("thinking_delta", "thinking"), ["a ", "b"]);
    assert_eq!(deltas("input_json_delta", "partial_json").concat(), "{\"x\":1}");
    let signature = deltas("signature_delta", "signature");
    assert_eq!(signature.len(), 3);
    let whole = memory.reasoning(|sent| sent["signature"] == signature.concat());
    assert_eq!(whole.unwrap()["thinking"], "a b");
    let end = events.iter().find(|event| event["type"] == "message_delta").unwrap();
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert!(end["usage"]["output_tokens"].as_u64().unwrap() > 0);
}
