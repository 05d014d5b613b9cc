//! What each provider receives for one chain that holds all there is.

use std::sync::Arc;

use ropewalk_conformance::{RawRequest, RawServer};
use ropewalk_protocol::Provider;
use serde_json::{Value, json};

use super::{
    bodies::{ALL, base_url, hello, play},
    listen, request, user,
};
use crate::models::{
    ChainMessage, ModelRequest,
    testing::{assistant, chained, model_of, result},
};

const PNG: &str = "iVBORw0KGgo=";

/// A chain with text, calls of which one failed and one has no result, images in both places, and a note at the end.
fn rich() -> ModelRequest {
    let calls = json!([
        {"callId": "call_1", "flatName": "weather", "arguments": {"x": 1}},
        {"callId": "call_2", "flatName": "1st", "arguments": {}},
        {"callId": "call_3", "flatName": "gone", "arguments": {}},
    ]);
    let image = json!({"type": "image", "mediaType": "image/png", "data": PNG});
    let shown = json!({"content": [{"type": "text", "text": "Look."}, image.clone()]});
    let seen = json!({"callId": "call_1", "content": [{"type": "text", "text": "Sun."}, image]});
    let failed = json!({"callId": "call_2", "isError": true, "content": [{"type": "text", "text": "No."}]});
    let chain: Vec<Arc<ChainMessage>> = vec![
        assistant("I begin.", &json!([])),
        chained("user", &shown),
        assistant("I call.", &calls),
        chained("tool", &seen),
        chained("tool", &failed),
        result("nobody", "an orphan"),
        user("A note."),
        user("Go."),
    ];
    let mut asked = request(chain, &["weather", "1st"]);
    asked.max_output_tokens = Some(500);
    asked
}

async fn sent(provider: Provider, asked: ModelRequest) -> (RawRequest, Value) {
    let server = RawServer::start([play(provider, &hello(provider))]).await.unwrap();
    let answer = listen(&*model_of(provider, &base_url(provider, &server)), asked).await.answer();
    assert_eq!(answer.text, "Hello", "{provider:?}");
    let request = server.requests().remove(0);
    let body = serde_json::from_slice(&request.body).unwrap();
    (request, body)
}

fn image_url() -> String {
    format!("data:image/png;base64,{PNG}")
}

#[tokio::test]
async fn chat_completions_get_strings_results_as_messages_and_their_images_after_them() {
    let (request, body) = sent(Provider::OpenaiCompatible, rich()).await;
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer sk-secret-1"));
    let call = |id: &str, name: &str, arguments: &str| json!({"type": "function", "id": id, "function": {"name": name, "arguments": arguments}});
    let image = json!({"type": "image_url", "image_url": {"url": image_url(), "detail": "auto"}});
    let answer = |id: &str, said: &str| json!({"role": "tool", "tool_call_id": id, "content": said});
    let text = |text: &str| json!({"type": "text", "text": text});
    let expected = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "(Earlier messages are not shown.)"},
        {"role": "assistant", "content": "I begin."},
        {"role": "user", "content": [text("Look."), image]},
        {"role": "assistant", "content": "I call.", "tool_calls": [
            call("call_1", "weather", r#"{"x":1}"#), call("call_2", "1st", "{}"), call("call_3", "gone", "{}"),
        ]},
        answer("call_1", "Sun.\n(see attached image)"),
        answer("call_2", "Error: No."),
        answer("call_3", "Error: this call was interrupted and has no result."),
        {"role": "user", "content": [text("Attached image(s) from tool result:"), image, text("A note."), text("Go.")]},
    ]);
    assert_eq!(body["messages"], expected);
    assert_eq!((&body["max_tokens"], &body["stream_options"]), (&json!(500), &json!({"include_usage": true})));
    assert_eq!(body["tools"][1]["function"]["name"], "1st");
}

#[tokio::test]
async fn responses_get_items_that_nobody_keeps() {
    let (request, body) = sent(Provider::OpenaiResponses, rich()).await;
    assert_eq!(request.line, "POST /v1/responses HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer sk-secret-1"));
    assert_eq!((&body["store"], &body["include"]), (&json!(false), &json!(["reasoning.encrypted_content"])));
    assert_eq!((&body["instructions"], &body["max_output_tokens"]), (&json!("Be brief."), &json!(500)));
    let input = body["input"].as_array().unwrap();
    let kinds = input.iter().map(|item| item["type"].as_str().unwrap()).collect::<Vec<_>>();
    let call = ["function_call"; 3].into_iter().chain(["function_call_output"; 3]);
    let expected = ["message"; 5].into_iter().chain(call).chain(["message"; 2]).collect::<Vec<_>>();
    assert_eq!(kinds, expected);
    let image = json!({"type": "input_image", "detail": "auto", "image_url": image_url()});
    assert_eq!(input[3]["content"], json!([image]));
    let called = json!({"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": r#"{"x":1}"#});
    assert_eq!(input[5], called);
    assert_eq!(input[8]["output"], json!([{"type": "input_text", "text": "Sun."}, image]));
    assert_eq!((&input[9]["output"], &input[10]["call_id"]), (&json!("Error: No."), &json!("call_3")));
}

#[tokio::test]
async fn anthropic_gets_blocks_marks_of_failure_and_a_limit() {
    let (request, mut body) = sent(Provider::Anthropic, rich()).await;
    assert_eq!(request.line, "POST /v1/messages HTTP/1.1");
    assert_eq!((request.header("x-api-key"), request.header("authorization")), (Some("sk-secret-1"), None));
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}});
    let failed = |id: &str, said: &str| json!({"type": "tool_result", "tool_use_id": id, "content": [text(said)], "is_error": true});
    let expected = json!([
        {"role": "user", "content": [text("(Earlier messages are not shown.)")]},
        {"role": "assistant", "content": [text("I begin.")]},
        {"role": "user", "content": [text("Look."), image]},
        {"role": "assistant", "content": [
            text("I call."),
            call("call_1", "weather", json!({"x": 1})), call("call_2", "1st", json!({})), call("call_3", "gone", json!({})),
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call_1", "content": [text("Sun."), image]},
            failed("call_2", "No."),
            failed("call_3", "this call was interrupted and has no result."),
            text("A note."), text("Go."),
        ]},
    ]);
    assert_eq!(body["messages"].take(), expected);
    assert_eq!((&body["max_tokens"], &body["system"]), (&json!(500), &json!([text("Be brief.")])));
    let tool =
        json!({"name": "weather", "description": "A tool.", "input_schema": {"type": "object", "properties": {}}});
    assert_eq!(body["tools"][0], tool);
    let unlimited = ModelRequest { max_output_tokens: None, ..rich() };
    assert_eq!(sent(Provider::Anthropic, unlimited).await.1["max_tokens"], 4_096, "of a model nobody knows");
    let known = ModelRequest { max_output_tokens: None, model: "claude-sonnet-4-6".to_owned(), ..rich() };
    assert!(sent(Provider::Anthropic, known).await.1["max_tokens"].as_u64().unwrap() > 4_096);
}

#[tokio::test]
async fn gemini_gets_parts_names_it_takes_and_its_key_in_a_header() {
    let (request, body) = sent(Provider::Gemini, rich()).await;
    assert_eq!(request.line, "POST /v1beta/models/m-1:streamGenerateContent?alt=sse HTTP/1.1");
    assert_eq!(request.header("x-goog-api-key"), Some("sk-secret-1"));
    let contents = body["contents"].as_array().unwrap();
    let roles = contents.iter().map(|content| content["role"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(roles, ["user", "model", "user", "model", "user", "user"]);
    let image = json!({"mimeType": "image/png", "data": PNG});
    assert_eq!(contents[2]["parts"][1]["inlineData"], image);
    assert_eq!(contents[3]["parts"][1]["functionCall"], json!({"name": "weather", "args": {"x": 1}}));
    let seen = json!({"name": "weather", "response": {"result": "Sun."}, "parts": [{"inlineData": image}]});
    assert_eq!(contents[4]["parts"][0]["functionResponse"], seen);
    let failed = json!({"name": "_1st", "response": {"error": "No."}});
    assert_eq!(contents[4]["parts"][1]["functionResponse"], failed);
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 500);
    assert_eq!(body["tools"][0]["functionDeclarations"][1]["name"], "_1st");
    let named = ModelRequest { model: "models/gemini-x".to_owned(), ..rich() };
    let line = sent(Provider::Gemini, named).await.0.line;
    assert_eq!(line, "POST /v1beta/models/gemini-x:streamGenerateContent?alt=sse HTTP/1.1");
}

#[tokio::test]
async fn ollama_gets_images_beside_texts_and_arguments_as_objects() {
    let (request, body) = sent(Provider::Ollama, rich()).await;
    assert_eq!(request.line, "POST /api/chat HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer sk-secret-1"));
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[3], json!({"role": "user", "content": "Look.", "images": [PNG]}));
    let call = json!({"id": "call_1", "function": {"name": "weather", "arguments": {"x": 1}}});
    assert_eq!(messages[4]["tool_calls"][0], call);
    let answer = json!({"role": "tool", "content": "Error: No.", "tool_name": "1st", "tool_call_id": "call_2"});
    assert_eq!(messages[6], answer);
    let note = "Attached image(s) from tool result:\nA note.\nGo.";
    assert_eq!(messages[8], json!({"role": "user", "content": note, "images": [PNG]}));
    assert_eq!((&body["options"], &body["stream"]), (&json!({"num_predict": 500}), &json!(true)));
}

#[tokio::test]
async fn l01_l03_an_answer_at_either_end_gets_a_user_beside_it() {
    for provider in ALL {
        let (_, body) = sent(provider, request(vec![user("Hi"), assistant("I began", &json!([]))], &[])).await;
        let history = ["messages", "input", "contents"].iter().find_map(|member| body[*member].as_array()).unwrap();
        assert_eq!(history.last().unwrap()["role"], "user", "{provider:?}");
        assert!(history.last().unwrap().to_string().contains("(Go on.)"), "{provider:?}");
    }
}

#[tokio::test]
async fn l03_a_result_without_its_call_is_sent_to_nobody() {
    let calls = json!([{"callId": "call_1", "flatName": "weather", "arguments": {}}]);
    for provider in ALL {
        for place in 0..=4 {
            let mut chain = vec![user("Hi"), assistant("I look.", &calls), result("call_1", "Sun."), user("Go")];
            chain.insert(place, result("call_0", "an orphan"));
            let body = sent(provider, request(chain, &["weather"])).await.1.to_string();
            assert!(!body.contains("an orphan"), "{provider:?}, {place}: {body}");
            assert!(body.contains("Sun."), "{provider:?}, {place}: the result of a call is sent");
        }
    }
}

#[tokio::test]
async fn calls_are_told_as_text_where_no_tool_is_declared_and_stay_calls_where_one_is() {
    let calls = json!([{"callId": "call_1", "flatName": "gone", "arguments": {"x": 1}}]);
    let chain = || vec![user("Hi"), assistant("", &calls), result("call_1", "yes"), user("Go")];
    for provider in ALL {
        let without = sent(provider, request(chain(), &[])).await.1.to_string();
        assert!(without.contains("[called tool gone with "), "{provider:?}: {without}");
        let with = sent(provider, request(chain(), &["weather"])).await.1.to_string();
        assert!(!with.contains("[called tool"), "{provider:?}: {with}");
    }
}

#[tokio::test]
async fn a_call_of_a_tool_whose_name_was_changed_is_a_call_of_that_tool() {
    let call = r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"_1st","args":{}}}]},"finishReason":"STOP"}]}"#;
    let server = RawServer::start([play(Provider::Gemini, &[call.to_owned()])]).await.unwrap();
    let model = model_of(Provider::Gemini, &server.origin());
    let answer = listen(&*model, request(vec![user("Hi")], &["1st"])).await.answer();
    assert_eq!((answer.calls[0].name.as_str(), answer.calls[0].arguments.as_str()), ("1st", "{}"));
}
