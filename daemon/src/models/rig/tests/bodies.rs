//! Answers as each provider streams them.

use ropewalk_conformance::{RawReply, RawServer};
use ropewalk_protocol::Provider;

use super::{DONE, HELLO, STOP, events, fragment};

/// The providers with a wire of their own.
pub(super) const ALL: [Provider; 5] =
    [Provider::OpenaiCompatible, Provider::OpenaiResponses, Provider::Anthropic, Provider::Gemini, Provider::Ollama];

/// Where an endpoint of this provider would say the server is.
pub(super) fn base_url(provider: Provider, server: &RawServer) -> String {
    match provider {
        Provider::OpenaiCompatible | Provider::OpenaiResponses => server.base_url(),
        _ => server.origin(),
    }
}

/// A body of a provider's, given by its records.
pub(super) fn reply(provider: Provider, records: &[&str]) -> RawReply {
    match provider {
        Provider::Ollama => RawReply {
            headers: vec![("content-type".to_owned(), "application/x-ndjson".to_owned())],
            ..RawReply::stream(records.iter().map(|record| format!("{record}\n")).collect::<String>())
        },
        Provider::Anthropic => {
            let event = |record: &&str| {
                let kind = serde_json::from_str::<serde_json::Value>(record).unwrap()["type"].clone();
                format!("event: {}\ndata: {record}\n\n", kind.as_str().unwrap())
            };
            RawReply::stream(records.iter().map(event).collect::<String>())
        }
        _ => RawReply::stream(events(records)),
    }
}

/// The records of an answer that says `Hello` and ends well.
pub(super) fn hello(provider: Provider) -> Vec<String> {
    let records: &[&str] = match provider {
        Provider::OpenaiCompatible => &[HELLO, STOP, DONE],
        Provider::OpenaiResponses => &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[]}}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"item_id":"msg_1","content_index":0,"delta":"Hello"}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hello","annotations":[]}]}}"#,
            r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":7,"output_tokens":2,"input_tokens_details":{"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":1}}}}"#,
        ],
        Provider::Anthropic => &[
            r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":4,"cache_read_input_tokens":3,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        Provider::Gemini => &[
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"}]}}]}"#,
            r#"{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":1,"thoughtsTokenCount":1,"cachedContentTokenCount":3}}"#,
        ],
        Provider::Ollama => &[
            r#"{"model":"m","message":{"role":"assistant","content":"Hello"},"done":false}"#,
            r#"{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":2}"#,
        ],
        Provider::Scripted => &[],
    };
    records.iter().map(|record| (*record).to_owned()).collect()
}

/// The records of an answer that calls `weather` with `{"x":1}` and is stopped at its output limit after it.
pub(super) fn cut_call(provider: Provider) -> Vec<String> {
    let chat = fragment(r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"x\":1}"}}"#);
    let length = STOP.replace("stop", "length");
    let records: &[&str] = match provider {
        Provider::OpenaiCompatible => &[HELLO, &chat, &length, DONE],
        Provider::OpenaiResponses => &[
            r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hello"}"#,
            r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"a","name":"weather","arguments":""}}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_1","delta":"{\"x\":1}"}"#,
            r#"{"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}}"#,
        ],
        Provider::Anthropic => &[
            r#"{"type":"message_start","message":{"id":"m"}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"weather","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1}"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":2}}"#,
        ],
        Provider::Gemini => &[
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"},{"functionCall":{"name":"weather","args":{"x":1}}}]},"finishReason":"MAX_TOKENS"}]}"#,
        ],
        Provider::Ollama => &[
            r#"{"message":{"role":"assistant","content":"Hello","tool_calls":[{"function":{"name":"weather","arguments":{"x":1}}}]},"done":false}"#,
            r#"{"message":{"role":"assistant","content":""},"done":true,"done_reason":"length"}"#,
        ],
        Provider::Scripted => &[],
    };
    records.iter().map(|record| (*record).to_owned()).collect()
}

/// The record by which a provider tells of a failure within its stream, and does so in the words `Too busy`.
pub(super) const fn failure(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenaiResponses => {
            r#"{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"server_error","message":"Too busy"}}}"#
        }
        Provider::Anthropic => r#"{"type":"error","error":{"type":"overloaded_error","message":"Too busy"}}"#,
        Provider::Gemini => r#"{"error":{"code":503,"message":"Too busy","status":"UNAVAILABLE"}}"#,
        _ => r#"{"error":{"message":"Too busy","type":"overloaded_error"}}"#,
    }
}

/// All of a list as it is played.
pub(super) fn play(provider: Provider, records: &[String]) -> RawReply {
    reply(provider, &records.iter().map(String::as_str).collect::<Vec<_>>())
}
