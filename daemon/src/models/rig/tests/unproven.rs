//! Answers that look whole and are not, and refusals that say too much.

use ropewalk_conformance::{RawEnding, RawReply, RawServer};
use ropewalk_protocol::{Provider, RunErrorKind as Kind};
use serde_json::{Value, json};

use super::{
    CALLS, DONE, HELLO, STOP,
    bodies::{ALL, base_url, hello, play},
    events, fragment, hear, listen, request, user,
};
use crate::models::testing::{Heard, assistant, chained, model_of};

const CALL: &str = r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"x\":1}"}}"#;

async fn hear_of(provider: Provider, records: &[&str]) -> Heard {
    let records = records.iter().map(|record| (*record).to_owned()).collect::<Vec<_>>();
    let server = RawServer::start([play(provider, &records)]).await.unwrap();
    let model = model_of(provider, &base_url(provider, &server));
    listen(&*model, request(vec![user("hi")], &["weather"])).await
}

#[tokio::test]
async fn l27_an_output_limit_counts_whatever_reason_follows_it() {
    let length = STOP.replace("stop", "length");
    for after in [STOP, CALLS] {
        let answer = hear(RawReply::stream(events(&[&fragment(CALL), &length, after, DONE]))).await.answer();
        assert!(answer.is_cut, "{after}");
    }
    let call = r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"weather","args":{}}}]},"finishReason":"MAX_TOKENS"}]}"#;
    let stop = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}]}"#;
    assert!(hear_of(Provider::Gemini, &[call, stop]).await.answer().is_cut);
    let says = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"\"finishReason\": \"MAX_TOKENS\""}]},"finishReason":"STOP"}]}"#;
    assert!(!hear_of(Provider::Gemini, &[says]).await.answer().is_cut);
}

#[tokio::test]
async fn l27_a_call_whose_own_item_is_incomplete_is_cut() {
    let item = json!({"id": "f", "type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}", "status": "incomplete"});
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item}).to_string();
    let completed =
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [item]}});
    let answer = hear_of(Provider::OpenaiResponses, &[&done, &completed.to_string()]).await.answer();
    assert!(answer.is_cut);
}

#[tokio::test]
async fn an_end_for_calls_without_a_call_is_no_good_end() {
    let error = hear(RawReply::stream(events(&[HELLO, CALLS, DONE]))).await.error();
    assert_eq!((error.kind, error.retryable), (Kind::BadResponse, true), "{error}");
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}"#;
    let stop = r#"{"type":"message_stop"}"#;
    let text = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello"}}"#;
    let nameless =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"","input":{}}}"#;
    for start in [text, nameless] {
        let error = hear_of(Provider::Anthropic, &[start, end, stop]).await.error();
        assert_eq!(error.kind, Kind::BadResponse, "{start}: {error}");
    }
}

#[tokio::test]
async fn a_failure_within_a_choice_or_in_place_of_a_chunk_is_no_good_end() {
    let within =
        r#"{"choices":[{"index":0,"delta":{},"error":{"message":"Too busy","code":502},"finish_reason":"stop"}]}"#;
    let instead = r#"{"object":"error","message":"Too busy","code":502}"#;
    for record in [within, instead] {
        for rest in [&[DONE][..], &[STOP, DONE]] {
            let data = [&[HELLO, record][..], rest].concat();
            let error = hear(RawReply::stream(events(&data))).await.error();
            assert_eq!(error.kind, Kind::Overloaded, "{record}: {error}");
            assert!(error.message.contains("Too busy"), "{error}");
        }
    }
}

#[tokio::test]
async fn l06_an_id_that_comes_after_its_call_belongs_to_it() {
    let start = fragment(r#"{"function":{"name":"weather","arguments":"{\"x\":"}}"#);
    let rest = fragment(r#"{"id":"a","function":{"arguments":"1}"}}"#);
    for mark in ["", "\u{feff}"] {
        let body = format!("{mark}{}", events(&[&start, &rest, CALLS, DONE]));
        let answer = hear(RawReply::stream(body)).await.answer();
        let calls = answer.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect::<Vec<_>>();
        assert_eq!(calls, [("weather", r#"{"x":1}"#)], "{mark:?}");
    }
}

#[tokio::test]
async fn calls_and_arguments_without_end_end_the_answer() {
    let many = (0..=1_024).map(|index| {
        fragment(&format!(r#"{{"index":{index},"id":"a{index}","function":{{"name":"weather","arguments":"{{}}"}}}}"#))
    });
    let piece = "x".repeat(1 << 20);
    let long = (0..9)
        .map(|_| fragment(&format!(r#"{{"index":0,"id":"a","function":{{"name":"weather","arguments":"{piece}"}}}}"#)));
    for body in [many.collect::<Vec<_>>(), long.collect()] {
        let chunks = body.iter().map(|record| format!("data: {record}\n\n").into());
        let reply = RawReply { chunks: chunks.collect(), ..RawReply::stream("") };
        let error = hear(reply.ending(RawEnding::Stall)).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::BadResponse, false), "{error}");
        assert!(error.message.contains("more than an answer may have"), "{error}");
    }
}

#[tokio::test]
async fn no_part_of_a_key_is_left_where_the_providers_words_are_cut() {
    for length in 280..300 {
        let body = json!({"error": {"message": format!("{} sk-secret-1 was refused", "x".repeat(length))}}).to_string();
        for status in [401, 500] {
            let error = hear(RawReply { status, ..RawReply::stream(body.clone()) }).await.error();
            assert!(!error.message.contains("sk-"), "{length}: {error}");
        }
        let page = RawReply {
            headers: vec![("content-type".to_owned(), "text/html".to_owned())],
            ..RawReply::stream(format!("{} sk-secret-1", "x".repeat(length)))
        };
        let error = hear(page).await.error();
        assert!(!error.message.contains("sk-"), "{length}: {error}");
    }
}

#[tokio::test]
async fn a_status_that_is_neither_an_answer_nor_a_refusal_says_so_once() {
    for provider in ALL {
        for (status, words) in [(201, "status 201"), (204, "status 204"), (307, "check the endpoint's baseUrl")] {
            let server = RawServer::start([RawReply { status, ..RawReply::stream("") }]).await.unwrap();
            let model = model_of(provider, &base_url(provider, &server));
            let error = listen(&*model, request(vec![user("hi")], &[])).await.error();
            assert_eq!((error.kind, error.retryable), (Kind::BadResponse, false), "{provider:?}: {error}");
            assert!(error.message.contains(words), "{provider:?}: {error}");
        }
    }
}

#[tokio::test]
async fn l21_a_result_of_images_alone_has_a_response_for_gemini() {
    let calls = json!([{"callId": "call_1", "flatName": "weather", "arguments": {}}]);
    let image = json!([{"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgo="}]);
    let seen = chained("tool", &json!({"callId": "call_1", "content": image}));
    let provider = Provider::Gemini;
    let server = RawServer::start([play(provider, &hello(provider))]).await.unwrap();
    let asked = request(vec![user("Look."), assistant("", &calls), seen], &["weather"]);
    listen(&*model_of(provider, &base_url(provider, &server)), asked).await.answer();
    let body: Value = serde_json::from_slice(&server.requests().remove(0).body).unwrap();
    let result = &body["contents"][2]["parts"][0]["functionResponse"];
    assert!(result["response"].is_object(), "{body}");
}
