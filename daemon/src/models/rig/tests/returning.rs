//! What a provider wants back of its answer comes back unchanged and in its place, to that provider and model only.

use std::sync::Arc;

use ropewalk_conformance::RawServer;
use ropewalk_protocol::Provider;
use serde_json::{Value, json};

use super::{
    CALLS, DONE,
    bodies::{base_url, hello, play},
    fragment, listen, request, user,
};
use crate::models::{
    ChainMessage, ModelAnswer, ProviderParts,
    testing::{assistant, model_of, result},
};

/// An answer that thinks, thinks in secret, says `Hello`, thinks again and calls `weather`.
fn thoughtful(provider: Provider) -> Vec<String> {
    let chat = fragment(
        r#"{"index":0,"id":"a","type":"function","extra_content":{"google":{"thought_signature":"c2ln"}},"function":{"name":"weather","arguments":"{\"x\":1}"}}"#,
    );
    let records: &[&str] = match provider {
        Provider::OpenaiCompatible => &[
            r#"{"choices":[{"index":0,"delta":{"reasoning_content":"Hm"}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"Hello"}}]}"#,
            &chat,
            CALLS,
            DONE,
        ],
        Provider::OpenaiResponses => &[
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm"}],"encrypted_content":"c2VjcmV0"}}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Hello","annotations":[]}]}}"#,
            r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"bW9yZQ=="}}"#,
            r#"{"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","id":"fc_1","call_id":"theirs","name":"weather","arguments":"{\"x\":1}","status":"completed"}}"#,
            r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}"#,
        ],
        Provider::Anthropic => &[
            r#"{"type":"message_start","message":{"id":"m"}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"H"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ln"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"MQ=="}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"c2VjcmV0"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Hello"}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"content_block_start","index":3,"content_block":{"type":"thinking","thinking":"Hm","signature":"c2lnMg=="}}"#,
            r#"{"type":"content_block_stop","index":3}"#,
            r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"theirs","name":"weather","input":{}}}"#,
            r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1}"}}"#,
            r#"{"type":"content_block_stop","index":4}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}"#,
        ],
        Provider::Gemini => &[
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hm","thought":true}]}}]}"#,
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello","thoughtSignature":"dGV4dA=="}]}}]}"#,
            r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"x":1}},"thoughtSignature":"Y2FsbA=="}]},"finishReason":"STOP"}]}"#,
        ],
        Provider::Ollama => &[
            r#"{"message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}"#,
            r#"{"message":{"role":"assistant","content":"Hello","tool_calls":[{"function":{"name":"weather","arguments":{"x":1}}}]},"done":false}"#,
            r#"{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}"#,
        ],
        Provider::Scripted => &[],
    };
    records.iter().map(|record| (*record).to_owned()).collect()
}

struct Asked {
    provider: Provider,
    server: RawServer,
    answer: ModelAnswer,
}

impl Asked {
    async fn of(provider: Provider) -> Self {
        let server =
            RawServer::start([play(provider, &thoughtful(provider)), play(provider, &hello(provider))]).await.unwrap();
        let model = model_of(provider, &base_url(provider, &server));
        let answer = listen(&*model, request(vec![user("hi")], &["weather"])).await.answer();
        let calls = answer.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect::<Vec<_>>();
        assert_eq!((answer.text.as_str(), calls), ("Hello", vec![("weather", r#"{"x":1}"#)]), "{provider:?}");
        Self { provider, server, answer }
    }

    /// What is sent back of the answer to this model: the assistant's place in the history, as the provider has it.
    async fn back(&self, model_name: &str, said: ChainMessage) -> Vec<Value> {
        let has_calls = !said.message.tool_calls.is_empty();
        let mut chain = vec![user("hi"), Arc::new(said)];
        chain.push(if has_calls { result("call_1", "yes") } else { user("Go") });
        let mut asked = request(chain, &["weather"]);
        model_name.clone_into(&mut asked.model);
        let model = model_of(self.provider, &base_url(self.provider, &self.server));
        listen(&*model, asked).await.answer();
        let body: Value = serde_json::from_slice(&self.server.requests().pop().unwrap().body).unwrap();
        match self.provider {
            Provider::OpenaiResponses => {
                let items = body["input"].as_array().unwrap().iter().skip(1);
                let own = items.filter(|item| item["type"] != "function_call_output" && item["role"] != "user");
                own.cloned().collect()
            }
            Provider::Anthropic => body["messages"][1]["content"].as_array().unwrap().clone(),
            Provider::Gemini => body["contents"][1]["parts"].as_array().unwrap().clone(),
            _ => vec![body["messages"][2].clone()],
        }
    }

    /// The answer as the chain has it after it was stored and read again.
    fn stored(&self, text: &str, calls: &Value) -> ChainMessage {
        let mut said = (*assistant(text, calls)).clone();
        let parts = serde_json::to_string(self.answer.provider_parts.as_ref().unwrap()).unwrap();
        said.provider_parts = Some(serde_json::from_str::<ProviderParts>(&parts).unwrap());
        said
    }
}

fn calls() -> Value {
    json!([{"callId": "call_1", "flatName": "weather", "arguments": {"x": 1}}])
}

fn thought(signature: &str) -> Value {
    json!({"type": "thinking", "thinking": "Hm", "signature": signature})
}

#[tokio::test]
async fn l22_signed_and_secret_thinking_of_anthropic_comes_back_byte_for_byte() {
    let asked = Asked::of(Provider::Anthropic).await;
    let secret = json!({"type": "redacted_thinking", "data": "c2VjcmV0"});
    let text = json!({"type": "text", "text": "Hello"});
    let call = json!({"type": "tool_use", "id": "call_1", "name": "weather", "input": {"x": 1}});
    let back = asked.back("m-1", asked.stored("Hello", &calls())).await;
    assert_eq!(back, [thought("c2lnMQ=="), secret.clone(), text.clone(), thought("c2lnMg=="), call.clone()]);
    assert_eq!(asked.back("m-2", asked.stored("Hello", &calls())).await, [text, call], "not to another model");
    // Its calls were not made, and its text was cut.
    let text = json!({"type": "text", "text": "Hel"});
    let back = asked.back("m-1", asked.stored("Hel", &json!([]))).await;
    assert_eq!(back, [thought("c2lnMQ=="), secret, thought("c2lnMg=="), text]);
}

#[tokio::test]
async fn l22_reasoning_and_items_of_responses_come_back_with_their_ids_and_in_cipher() {
    let asked = Asked::of(Provider::OpenaiResponses).await;
    let summary = json!([{"type": "summary_text", "text": "Hm"}]);
    let first = json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "c2VjcmV0"});
    let second = json!({"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "bW9yZQ=="});
    let content = json!([{"type": "output_text", "text": "Hello", "annotations": []}]);
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary", "content": content});
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": "{\"x\":1}", "status": "completed"});
    assert_eq!(asked.back("m-1", asked.stored("Hello", &calls())).await, [first, message, second, call]);
    let foreign = asked.back("m-2", asked.stored("Hello", &calls())).await;
    let kinds = foreign.iter().map(|item| item["type"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(kinds, ["message", "function_call"]);
    assert!(!json!(foreign).to_string().contains("fc_1"));
    // Reasoning whose item is gone goes with it.
    let cut = asked.back("m-1", asked.stored("Hel", &json!([]))).await;
    let kinds = cut.iter().map(|item| item["type"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(kinds, ["message"]);
}

#[tokio::test]
async fn l22_signatures_of_gemini_come_back_on_the_parts_that_had_them() {
    let asked = Asked::of(Provider::Gemini).await;
    let call = json!({"name": "weather", "args": {"x": 1}});
    let expected = [
        json!({"text": "Hm", "thought": true}),
        json!({"text": "Hello", "thoughtSignature": "dGV4dA=="}),
        json!({"functionCall": call, "thoughtSignature": "Y2FsbA=="}),
    ];
    assert_eq!(asked.back("m-1", asked.stored("Hello", &calls())).await, expected);
    let foreign = asked.back("m-2", asked.stored("Hello", &calls())).await;
    assert_eq!(foreign, [json!({"text": "Hello"}), json!({"functionCall": call})]);
}

#[tokio::test]
async fn l22_reasoning_of_gateways_comes_back_under_the_name_it_had_with_what_its_calls_carried() {
    let asked = Asked::of(Provider::OpenaiCompatible).await;
    let back = asked.back("m-1", asked.stored("Hello", &calls())).await;
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    let function = json!({"name": "weather", "arguments": "{\"x\":1}"});
    let call = json!({"id": "call_1", "type": "function", "extra_content": extra, "function": function});
    let expected = json!({"role": "assistant", "content": "Hello", "reasoning_content": "Hm", "tool_calls": [call]});
    assert_eq!(back, [expected]);
    let foreign = asked.back("m-2", asked.stored("Hello", &calls())).await;
    assert_eq!((foreign[0].get("reasoning_content"), foreign[0]["tool_calls"][0].get("extra_content")), (None, None));
}

#[tokio::test]
async fn l22_thinking_of_ollama_comes_back_beside_the_text() {
    let asked = Asked::of(Provider::Ollama).await;
    let back = asked.back("m-1", asked.stored("Hello", &calls())).await;
    assert_eq!((&back[0]["thinking"], &back[0]["content"]), (&json!("Hm"), &json!("Hello")));
    let foreign = asked.back("m-2", asked.stored("Hello", &calls())).await;
    assert_eq!((foreign[0].get("thinking"), &foreign[0]["content"]), (None, &json!("Hello")));
}

#[tokio::test]
async fn what_the_chain_has_is_not_stored_again() {
    for provider in [Provider::Anthropic, Provider::OpenaiResponses, Provider::Gemini, Provider::OpenaiCompatible] {
        let asked = Asked::of(provider).await;
        let stored = serde_json::to_string(asked.answer.provider_parts.as_ref().unwrap()).unwrap();
        assert!(!stored.contains("Hello") && !stored.contains(r#""x""#) && !stored.contains(r#"\"x\""#), "{stored}");
    }
}

#[tokio::test]
async fn nobody_gets_the_parts_of_another_provider() {
    let mut asked = Asked::of(Provider::Anthropic).await;
    let server = RawServer::start([play(Provider::Gemini, &hello(Provider::Gemini))]).await.unwrap();
    let said = asked.stored("Hello", &calls());
    (asked.provider, asked.server) = (Provider::Gemini, server);
    let back = asked.back("m-1", said).await;
    assert_eq!(back, [json!({"text": "Hello"}), json!({"functionCall": {"name": "weather", "args": {"x": 1}}})]);
}
