//! OpenAI's responses: what strict mode refuses, and what the answers look like without a client of ours.

use serde_json::{Value, json};

use super::{answer_of, events_of, refused_by};
use crate::scripted::{Shape, memory::Memory};

fn asked(input: &Value) -> Value {
    let parameters = json!({"type": "object", "properties": {}});
    let tool = json!({"type": "function", "name": "ask", "parameters": parameters});
    json!({
        "model": "m", "input": input, "tools": [tool], "store": false, "include": ["reasoning.encrypted_content"],
    })
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "input_text", "text": text}]})
}

fn call(call_id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "call_id": call_id, "name": "ask", "arguments": arguments})
}

fn output(call_id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": call_id, "output": "yes"})
}

fn refused(body: &Value) -> Option<String> {
    refused_by(Shape::Responses, body, &Memory::default())
}

#[test]
fn strict_mode_takes_a_good_history() {
    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hm"}]});
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,aGVsbG8="});
    let picture = json!({"role": "user", "content": [image]});
    let history =
        json!([picture, said, call("a", "{}"), call("b", "{\"x\":1}"), output("b"), output("a"), user("so?")]);
    assert_eq!(refused(&asked(&history)), None);
    assert_eq!(refused(&asked(&json!("hello"))), None);
}

#[test]
fn strict_mode_refuses_broken_histories() {
    let image = |url: &str| json!({"role": "user", "content": [{"type": "input_image", "image_url": url}]});
    let with_id = |mut item: Value, id: &str| {
        item["id"] = json!(id);
        item
    };
    let of_user = json!({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]});
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "made up"});
    for (input, expected) in [
        (json!([]), "must be provided"),
        (json!(""), "must be provided"),
        (json!([call("a", "{}")]), "No tool output found for function call a."),
        (json!([output("a")]), "No tool call found for function call output with call_id a."),
        (json!([output("a"), call("a", "{}")]), "No tool call found"),
        (json!([call("a", "{}"), output("a"), output("a")]), "No tool call found"),
        (json!([call("a", "{}"), output("a"), call("a", "{}"), output("a")]), "missing, too long or repeated"),
        (json!([call("", "{}"), output("")]), "missing, too long or repeated"),
        (json!([call("a", "{"), output("a")]), "text of a JSON object"),
        (json!([call("a", "[]"), output("a")]), "text of a JSON object"),
        (json!([with_id(call("a", "{}"), "call_1"), output("a")]), "Expected an ID that begins with 'fc'"),
        (
            json!([with_id(call("a", "{}"), "fc_1"), with_id(call("b", "{}"), "fc_1"), output("a"), output("b")]),
            "Duplicate item",
        ),
        (json!([user("")]), "must not be empty"),
        (json!([{"role": "user", "content": ""}]), "must not be empty"),
        (json!([{"role": "tool", "content": "x"}]), "Invalid value: 'tool'"),
        (json!([of_user]), "Supported values are: 'output_text'"),
        (json!([{"type": "tool_result"}]), "no type of an input item"),
        (json!([image("data:image/bmp;base64,aGVsbG8=")]), "unsupported image"),
        (json!([image("data:image/png;base64,???")]), "invalid base64"),
        (json!([image("/home/picture.png")]), "invalid image_url"),
        (json!([user("hi"), thought, call("a", "{}"), output("a")]), "could not be verified"),
    ] {
        let message = refused(&asked(&input)).unwrap_or_default();
        assert!(message.contains(expected), "{input}: {message:?}");
    }
}

#[test]
fn strict_mode_refuses_what_is_unknown_and_what_is_not_strict() {
    let closed = json!({"type": "object", "properties": {"x": {}}, "additionalProperties": false});
    for (field, value, expected) in [
        ("model", json!(""), "you must provide a model"),
        ("max_tokens", json!(10), "Unknown parameter: 'max_tokens'."),
        ("max_output_tokens", json!(1), ">= 16"),
        ("previous_response_id", json!("resp_1"), "not found"),
        ("tools", json!([{"type": "function", "name": "a", "parameters": {"type": "object"}}]), "missing properties"),
        ("tools", json!([{"type": "function", "name": "a", "parameters": closed, "strict": true}]), "'required'"),
        ("text", json!({"format": {"type": "json_schema", "name": "a b", "schema": {}}}), "does not match"),
        (
            "text",
            json!({"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": true}}),
            "'additionalProperties'",
        ),
    ] {
        let mut body = asked(&json!("hi"));
        body[field] = value;
        let message = refused(&body).unwrap_or_default();
        assert!(message.contains(expected), "{field}: {message:?}");
    }
}

#[tokio::test]
async fn l22_reasoning_items_come_back_as_they_were_before_the_item_they_belong_to() {
    let memory = Memory::default();
    let request = asked(&json!([user("think it over\ncall ask {\"x\":1}")]));
    let answer = answer_of(Shape::Responses, request, &memory).await;
    let [thought, called] = answer["output"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!((&thought["type"], &called["type"]), (&json!("reasoning"), &json!("function_call")));
    let refused = |items: &[Value]| {
        let history = json!([vec![user("think it over\ncall ask {\"x\":1}")], items.to_vec()].concat());
        refused_by(Shape::Responses, &asked(&history), &memory).unwrap_or_default()
    };
    let returned = output("call_3_0");
    assert_eq!(refused(&[thought.clone(), called.clone(), returned.clone()]), "");
    let without = refused(&[called.clone(), returned.clone()]);
    assert!(
        without
            .contains("'fc_3_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_3_0'"),
        "{without}"
    );
    let mut own = called.clone();
    own.as_object_mut().unwrap().remove("id");
    assert!(refused(&[own.clone(), returned.clone()]).contains("without its required 'reasoning' item"));
    assert_eq!(refused(&[thought.clone(), own, returned.clone()]), "", "the item's own id may be left out");
    let alone = refused(std::slice::from_ref(thought));
    assert!(alone.contains("without its required following item"), "{alone}");
    let mut changed = thought.clone();
    changed["summary"] = json!([]);
    assert!(refused(&[changed, called.clone(), returned.clone()]).contains("unchanged"));
    let mut bare = thought.clone();
    bare.as_object_mut().unwrap().remove("encrypted_content");
    let bare = refused(&[bare, called.clone(), returned]);
    assert!(bare.contains("Items are not persisted when `store` is set to false"), "{bare}");
}

#[tokio::test]
async fn a_whole_answer_has_items_a_status_and_usage() {
    let memory = Memory::default();
    let request = asked(&json!("say hi you\ncall ask {\"x\":1}"));
    let answer = answer_of(Shape::Responses, request, &memory).await;
    assert_eq!(
        (&answer["status"], &answer["output"][0]["content"][0]["text"]),
        (&json!("completed"), &json!("hi you"))
    );
    let called = &answer["output"][1];
    assert_eq!((&called["call_id"], &called["arguments"]), (&json!("call_3_0"), &json!("{\"x\":1}")));
    assert!(answer["usage"]["total_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn a_streamed_answer_is_numbered_and_ends_with_all_of_it() {
    let memory = Memory::default();
    let request = asked(&json!([user("think a b\nsay hi\ncall ask {\"x\":1}")]));
    let events = events_of(Shape::Responses, request, &memory).await;
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{event}");
    }
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..2], ["response.created", "response.in_progress"]);
    for kind in [
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
    ] {
        assert!(kinds.contains(&kind), "{kind} is missing: {kinds:?}");
    }
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    let output = &last["response"]["output"];
    assert_eq!(output[0]["summary"][0]["text"], "a b");
    assert_eq!(output[2]["arguments"], "{\"x\":1}");
}
