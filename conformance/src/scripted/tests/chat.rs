//! Chat completions: what strict mode refuses, and what the answers look like without a client of ours.

use serde_json::{Value, json};

use super::{answer_of, events_of, refused_by};
use crate::scripted::{Shape, memory::Memory};

fn tool(name: &str, parameters: &Value) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": parameters}})
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "ask", "arguments": arguments}})
}

fn calls(calls: &[Value]) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "yes"})
}

fn asked(messages: &[Value]) -> Value {
    json!({"model": "m", "messages": messages})
}

fn with_tools(tools: &[Value]) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": tools})
}

fn refused(body: &Value) -> Option<String> {
    refused_by(Shape::Chat, body, &Memory::default())
}

#[test]
fn strict_mode_takes_a_good_history() {
    let user = json!({"role": "user", "content": [{"type": "text", "text": "hi"}]});
    let system = json!({"role": "system", "content": "brief"});
    let both = calls(&[call("a", "{}"), call("b", r#"{"x":1}"#)]);
    let history = [system, user.clone(), both, result("b"), result("a"), user];
    assert_eq!(refused(&asked(&history)), None);
    let schema = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"anyOf": [{}]}}});
    assert_eq!(refused(&with_tools(&[tool("a", &schema), tool("b-c_D9", &schema)])), None);
}

#[test]
fn strict_mode_refuses_broken_histories() {
    let user = json!({"role": "user", "content": "hi"});
    let said = |content: Value| json!({"role": "assistant", "content": content});
    let one = || calls(&[call("a", "{}")]);
    for (messages, words) in [
        (vec![], "at least one element"),
        (vec![one()], "calls without results: a"),
        (vec![one(), user.clone()], "must be followed by results; without one: a"),
        (vec![one(), user.clone(), result("a")], "must be followed by results"),
        (vec![user.clone(), result("a")], "must follow the tool_calls"),
        (vec![one(), result("b")], "must follow the tool_calls"),
        (vec![one(), result("a"), result("a")], "must follow the tool_calls"),
        (vec![one(), result("a"), one(), result("a")], "missing or repeated"),
        (vec![calls(&[call("", "{}")])], "missing or repeated"),
        (vec![calls(&[])], "tool_calls is empty"),
        (vec![calls(&[call("a", "[]")])], "text of a JSON object"),
        (vec![calls(&[call("a", "{")])], "text of a JSON object"),
        (vec![calls(&[call("a", "")])], "text of a JSON object"),
        (vec![said(json!(""))], "content must not be empty"),
        (vec![said(Value::Null)], "content must not be empty"),
        (vec![said(json!([{"type": "text", "text": ""}]))], "text content blocks must not be empty"),
        (vec![json!({"role": "narrator", "content": "x"})], "unknown role"),
    ] {
        let message = refused(&asked(&messages)).unwrap_or_default();
        assert!(message.contains(words), "{messages:?}: {message:?}");
    }
    assert!(refused(&json!({"messages": [user]})).unwrap().contains("model"));
}

#[test]
fn strict_mode_refuses_broken_tools() {
    let plain = json!({"type": "object", "properties": {}});
    let with = |name: &str, value: Value| {
        let mut schema = plain.clone();
        schema[name] = value;
        schema
    };
    for (tools, words) in [
        (vec![], "at least one element"),
        (vec![tool("", &plain)], "does not match"),
        (vec![tool("a b", &plain)], "does not match"),
        (vec![tool(&"a".repeat(65), &plain)], "does not match"),
        (vec![tool("a", &plain), tool("a", &plain)], "must be unique"),
        (vec![tool("a", &json!({"type": "string"}))], "of type object"),
        (vec![tool("a", &json!({"type": "object"}))], "missing properties"),
        (vec![tool("a", &with("oneOf", json!([])))], "must not have oneOf"),
        (vec![tool("a", &with("properties", json!({"x": {"$ref": "#/$defs/x"}})))], "cannot be resolved"),
        (vec![tool("a", &with("properties", json!({"x": {"$ref": "http://x/y"}})))], "cannot be resolved"),
    ] {
        let message = refused(&with_tools(&tools)).unwrap_or_default();
        assert!(message.contains(words), "{tools:?}: {message:?}");
    }
    assert_eq!(refused(&with_tools(&[tool(&"a".repeat(64), &plain)])), None);
}

#[tokio::test]
async fn a_whole_answer_has_text_calls_and_usage() {
    let request = asked(&[json!({"role": "user", "content": "think t\nsay hi you\ncall ask {\"x\":1}"})]);
    let answer = answer_of(Shape::Chat, request, &Memory::default()).await;
    let choice = &answer["choices"][0];
    let expected = json!({
        "role": "assistant", "content": "hi you", "refusal": null, "reasoning_content": "t",
        "tool_calls": [
            {"id": "call_3_0", "type": "function", "function": {"name": "ask", "arguments": "{\"x\":1}"}},
        ],
    });
    assert_eq!((&choice["message"], &choice["finish_reason"]), (&expected, &json!("tool_calls")));
    assert!(answer["usage"]["total_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn a_streamed_answer_ends_with_its_reason_its_usage_and_the_marker() {
    let mut request = asked(&[json!({"role": "user", "content": "hi"})]);
    request["stream_options"] = json!({"include_usage": true});
    let mut chunks = events_of(Shape::Chat, request, &Memory::default()).await;
    assert_eq!(chunks.pop(), Some(json!("[DONE]")));
    let usage = chunks.pop().unwrap();
    assert_eq!((&usage["choices"], &usage["usage"]["completion_tokens"]), (&json!([]), &json!(3)));
    assert_eq!(chunks.pop().unwrap()["choices"][0]["finish_reason"], "stop");
    let said = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
    assert_eq!(said.collect::<String>(), "You said: hi");
}

#[tokio::test]
async fn l22_reasoning_must_come_back_as_it_was_when_there_are_calls() {
    let memory = Memory::default();
    let asking = json!({"role": "user", "content": "think it over\ncall ask {\"x\":1}"});
    let answer = answer_of(Shape::Chat, asked(std::slice::from_ref(&asking)), &memory).await;
    let said = answer["choices"][0]["message"].clone();
    let refused = |reasoning: Option<&str>| {
        let mut said = said.clone();
        said["content"] = Value::Null;
        said["reasoning_content"] = json!(reasoning);
        refused_by(Shape::Chat, &asked(&[asking.clone(), said, result("call_3_0")]), &memory).unwrap_or_default()
    };
    assert_eq!(refused(Some("it over")), "");
    assert!(refused(None).contains("must be passed back"));
    assert!(refused(Some("it")).contains("unchanged"));
}

#[test]
fn strict_mode_refuses_unknown_fields_and_odd_pictures() {
    let picture = |role: &str, url: &str| {
        let part = json!({"type": "image_url", "image_url": {"url": url}});
        asked(&[json!({"role": role, "content": [part]})])
    };
    assert_eq!(refused(&picture("user", "data:image/png;base64,aGVsbG8=")), None);
    for (body, words) in [
        (picture("user", "data:image/heic;base64,aGVsbG8="), "unsupported image"),
        (picture("user", "data:image/png;base64,a"), "invalid base64"),
        (picture("system", "https://example.org/a.png"), "only allowed for messages with role 'user'"),
        (json!({"model": "m", "max_output_tokens": 9}), "Unrecognized request argument supplied: max_output_tokens"),
    ] {
        let message = refused(&body).unwrap_or_default();
        assert!(message.contains(words), "{body}: {message:?}");
    }
}
