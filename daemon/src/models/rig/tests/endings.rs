//! How answers of each shape end: well, cut, stalled, refused, too large, within a failure.

use std::sync::{Arc, atomic::Ordering};

use futures::StreamExt;
use ropewalk_conformance::{RawEnding, RawReply, RawServer};
use ropewalk_protocol::{Provider, RunErrorKind as Kind, Usage};

use super::{
    LONG,
    bodies::{ALL, base_url, cut_call, failure, hello, play},
    listen, request, user,
};
use crate::models::{
    ModelEvent,
    testing::{Heard, ToldClock, model_by, model_of},
};

async fn hear(provider: Provider, reply: RawReply) -> Heard {
    let server = RawServer::start([reply]).await.unwrap();
    let model = model_of(provider, &base_url(provider, &server));
    listen(&*model, request(vec![user("hi")], &["weather"])).await
}

#[tokio::test]
async fn a_good_answer_is_whole_and_counted_in_every_shape() {
    for provider in ALL {
        let answer = hear(provider, play(provider, &hello(provider))).await.answer();
        assert_eq!(
            (answer.text.as_str(), answer.is_cut, &answer.provider_parts),
            ("Hello", false, &None),
            "{provider:?}"
        );
        match provider {
            Provider::OpenaiCompatible => assert!(answer.usage.estimated),
            _ => {
                let counted = |usage: &Usage| (usage.input_tokens, usage.output_tokens, usage.estimated);
                assert_eq!(counted(&answer.usage), (7, 2, false), "{provider:?}");
            }
        }
        let cached = matches!(provider, Provider::OpenaiResponses | Provider::Anthropic | Provider::Gemini);
        assert_eq!(answer.usage.cached_input_tokens, cached.then_some(3), "{provider:?}");
        let reasoned = matches!(provider, Provider::OpenaiResponses | Provider::Gemini);
        assert_eq!(answer.usage.reasoning_tokens, reasoned.then_some(1), "{provider:?}");
    }
}

#[tokio::test]
async fn l12_an_answer_without_its_end_is_cut_off_in_every_shape_and_its_text_is_kept() {
    for provider in ALL {
        let mut records = hello(provider);
        records.retain(|record| {
            !["finish", "DONE", "completed", "message_delta", "message_stop", "\"done\":true"]
                .iter()
                .any(|end| record.contains(end))
        });
        for ending in [RawEnding::Complete, RawEnding::Cut] {
            let heard = hear(provider, play(provider, &records).ending(ending)).await;
            assert_eq!(heard.text, "Hello", "{provider:?}");
            let error = heard.error();
            assert_eq!((error.kind, error.retryable), (Kind::CutOff, true), "{provider:?} {ending:?}: {error}");
        }
        let nothing = hear(provider, play(provider, &[])).await.error();
        assert_eq!(nothing.kind, Kind::BadResponse, "{provider:?}: {nothing}");
    }
}

#[tokio::test]
async fn l12_wherever_an_answer_breaks_off_it_is_whole_or_cut_off() {
    for provider in ALL {
        let reply = play(provider, &hello(provider));
        let body = reply.chunks.concat();
        let server = RawServer::start([]).await.unwrap();
        let model = model_of(provider, &base_url(provider, &server));
        for end in 0..body.len() {
            let ending = if end % 2 == 0 { RawEnding::Complete } else { RawEnding::Cut };
            let chunks = vec![bytes::Bytes::copy_from_slice(&body[..end])];
            server.play(RawReply { chunks, ending, ..reply.clone() });
            let heard = listen(&*model, request(vec![user("hi")], &["weather"])).await;
            assert!(["", "Hello"].contains(&heard.text.as_str()));
            match heard.end {
                Ok(answer) => assert!(answer.text == "Hello" && end > body.len() / 4, "{provider:?} {end}"),
                Err(error) => {
                    let kinds = [Kind::CutOff, Kind::BadResponse];
                    assert!(kinds.contains(&error.kind), "{provider:?} {end}: {error}");
                    assert!(
                        error.retryable && !error.message.contains("cannot be read"),
                        "{provider:?} {end}: {error}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn l27_an_answer_at_its_output_limit_is_cut_in_every_shape_and_keeps_its_call() {
    for provider in ALL {
        let answer = hear(provider, play(provider, &cut_call(provider))).await.answer();
        assert!(answer.is_cut, "{provider:?}");
        let calls = answer.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect::<Vec<_>>();
        assert_eq!((answer.text.as_str(), calls), ("Hello", vec![("weather", r#"{"x":1}"#)]), "{provider:?}");
    }
}

#[tokio::test]
async fn l13_silence_is_a_stall_in_every_shape() {
    for provider in ALL {
        let pings = match provider {
            Provider::Ollama => "\n\n",
            Provider::Anthropic => "event: ping\ndata: {\"type\": \"ping\"}\n\n: x\n\n",
            _ => ": ping\n\n",
        };
        let mut records = hello(provider);
        records.truncate(if provider == Provider::Anthropic {
            3
        } else if provider == Provider::OpenaiResponses {
            2
        } else {
            1
        });
        let mut reply = play(provider, &records);
        reply.chunks.push(pings.into());
        let server = RawServer::start([reply.ending(RawEnding::Stall)]).await.unwrap();
        let clock = Arc::new(ToldClock::default());
        let model = model_by(Arc::<ToldClock>::clone(&clock), provider, &base_url(provider, &server), LONG);
        let mut stream = model.stream(request(vec![user("hi")], &[]));
        assert_eq!(stream.next().await, Some(Ok(ModelEvent::Text("Hello".to_owned()))), "{provider:?}");
        clock.over.send_replace(true);
        assert_eq!(stream.next().await.unwrap().unwrap_err().kind, Kind::Stalled, "{provider:?}");
        assert!(clock.waits.load(Ordering::Relaxed) >= 3, "{provider:?}");
    }
}

#[tokio::test]
async fn a_failure_within_a_stream_is_told_in_the_providers_words() {
    for provider in ALL {
        for before in [0, 1] {
            let mut records = hello(provider);
            records.truncate(before);
            records.push(failure(provider).to_owned());
            let error = hear(provider, play(provider, &records)).await.error();
            assert_eq!((error.kind, error.retryable), (Kind::Overloaded, true), "{provider:?}: {error}");
            assert!(error.message.contains("Too busy"), "{provider:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_filtered_answer_is_no_answer_and_not_asked_for_again() {
    let refusal = r#"{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":2}}"#;
    let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#;
    let safety = r#"{"candidates":[{"finishReason":"SAFETY"}]}"#;
    let filtered = r#"{"choices":[{"index":0,"delta":{"content":"He"},"finish_reason":"content_filter"}]}"#;
    let incomplete = r#"{"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}}"#;
    for (provider, record) in [
        (Provider::Anthropic, refusal),
        (Provider::Gemini, blocked),
        (Provider::Gemini, safety),
        (Provider::OpenaiCompatible, filtered),
        (Provider::OpenaiResponses, incomplete),
    ] {
        let error = hear(provider, play(provider, &[record.to_owned()])).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::BadResponse, false), "{provider:?}: {error}");
    }
}

#[tokio::test]
async fn an_answer_of_the_wrong_kind_says_what_it_is() {
    for provider in ALL {
        let page = RawReply {
            headers: vec![("content-type".to_owned(), "text/html".to_owned())],
            ..RawReply::stream("<h1>Sign in</h1>")
        };
        let error = hear(provider, page).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::BadResponse, false), "{provider:?}: {error}");
        assert!(error.message.contains("Sign in"), "{provider:?}: {error}");
        let json = RawReply {
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            ..RawReply::stream(r#"{"error":{"message":"prompt is too long","type":"invalid_request_error"}}"#)
        };
        let error = hear(provider, json).await.error();
        assert_eq!(error.kind, Kind::ContextWindow, "{provider:?}: {error}");
    }
    let chat =
        hear(Provider::OpenaiResponses, play(Provider::OpenaiCompatible, &hello(Provider::OpenaiCompatible))).await;
    assert!(chat.end.is_err(), "another shape's answer is none");
}

#[tokio::test]
async fn a_record_over_the_limit_ends_the_answer_in_every_shape() {
    for provider in ALL {
        let mut reply = play(provider, &hello(provider));
        let start = if provider == Provider::Ollama { "{\"x\":\"" } else { "data: " };
        let flood = format!("{start}{}", "x".repeat(super::super::scan::EVENT_BYTES));
        reply.chunks.insert(0, flood.into());
        let error = hear(provider, reply).await.error();
        assert!(error.message.contains("more than an answer may have"), "{provider:?}: {error}");
    }
}

#[tokio::test]
async fn a_refusal_has_its_kind_and_its_wait_whoever_words_it() {
    let gemini = r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota","details":[{"retryDelay":"7s"}]}}]"#;
    for (provider, status, body, kind, wait) in [
        (
            Provider::Anthropic,
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Kind::Overloaded,
            None,
        ),
        (
            Provider::Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 > 1"}}"#,
            Kind::ContextWindow,
            None,
        ),
        (Provider::Gemini, 429, gemini, Kind::RateLimited, Some(7_000)),
        (
            Provider::Gemini,
            400,
            r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}"#,
            Kind::Auth,
            None,
        ),
        (Provider::Ollama, 404, r#"{"error":"model 'm-1' not found"}"#, Kind::ModelNotFound, None),
        (
            Provider::OpenaiResponses,
            429,
            r#"{"error":{"code":"insufficient_quota","message":"You exceeded"}}"#,
            Kind::Quota,
            None,
        ),
        (Provider::OpenaiCompatible, 404, "404 page not found", Kind::BadRequest, None),
    ] {
        let error = hear(provider, RawReply { status, ..RawReply::stream(body) }).await.error();
        assert_eq!((error.kind, error.retry_after_ms), (kind, wait), "{provider:?}: {error}");
        assert!(error.message.starts_with("127.0.0.1:"), "{error}");
    }
}

#[tokio::test]
async fn ollama_is_done_when_it_says_so_without_a_reason() {
    let mut records = hello(Provider::Ollama);
    records[1] = r#"{"message":{"role":"assistant","content":""},"done":true}"#.to_owned();
    assert_eq!(hear(Provider::Ollama, play(Provider::Ollama, &records)).await.answer().text, "Hello");
}
