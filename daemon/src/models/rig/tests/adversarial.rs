//! Bodies that no good provider sends and some provider has sent.

use std::sync::{Arc, atomic::Ordering};

use futures::StreamExt;
use ropewalk_conformance::{RawEnding, RawReply};
use ropewalk_protocol::RunErrorKind as Kind;

use super::*;
use crate::models::{
    ModelEvent,
    testing::{ToldClock, chat_model_by},
};

fn calls_of(heard: Heard) -> Vec<(String, String)> {
    heard.answer().calls.into_iter().map(|call| (call.name, call.arguments)).collect()
}

fn called(calls: &[(&str, &str)]) -> Vec<(String, String)> {
    calls.iter().map(|(name, arguments)| ((*name).to_owned(), (*arguments).to_owned())).collect()
}

async fn calls_in(fragments: &[&str]) -> Vec<(String, String)> {
    let chunks = fragments.iter().map(|call| fragment(call)).collect::<Vec<_>>();
    let data = chunks.iter().map(String::as_str).chain([CALLS, DONE]).collect::<Vec<_>>();
    calls_of(hear(RawReply::stream(events(&data))).await)
}

#[tokio::test]
async fn l12_a_stream_without_an_end_is_cut_off_and_its_text_is_kept() {
    for ending in [RawEnding::Complete, RawEnding::Cut] {
        let heard = hear(RawReply::stream(events(&[HELLO])).ending(ending)).await;
        assert_eq!(heard.text, "Hello");
        let error = heard.error();
        assert_eq!((error.kind, error.retryable), (Kind::CutOff, true), "{ending:?}: {error}");
    }
}

#[tokio::test]
async fn l12_a_cut_within_arguments_makes_no_call() {
    let call = fragment(r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"x\":1}"}}"#);
    let error = hear(RawReply::stream(events(&[&call])).ending(RawEnding::Cut)).await.error();
    assert_eq!(error.kind, Kind::CutOff);
}

#[tokio::test]
async fn l12_after_the_reason_for_its_end_an_answer_is_complete_whatever_follows() {
    for ending in [RawEnding::Complete, RawEnding::Cut] {
        let heard = hear(RawReply::stream(events(&[HELLO, STOP])).ending(ending)).await;
        let answer = heard.answer();
        assert_eq!(answer.text, "Hello");
        assert!(answer.usage.estimated);
    }
}

#[tokio::test]
async fn a_marker_without_a_reason_for_the_end_is_no_proof() {
    let heard = hear(RawReply::stream(events(&[HELLO, DONE]))).await;
    assert_eq!(heard.text, "Hello");
    assert_eq!(heard.error().kind, Kind::CutOff);
    assert_eq!(hear(RawReply::stream("")).await.error().kind, Kind::BadResponse);
    assert_eq!(hear(RawReply::stream(": only comments\n\n")).await.error().kind, Kind::BadResponse);
}

#[tokio::test]
async fn an_error_within_a_stream_ends_it_with_the_providers_words() {
    for (error, kind) in [
        (r#"{"error":{"message":"Too busy","code":502}}"#, Kind::Overloaded),
        (r#"{"error":{"message":"Slow down","type":"rate_limit_exceeded"}}"#, Kind::RateLimited),
        (r#"{"error":{"message":"Too busy"}}"#, Kind::BadResponse),
        (r#"{"error":{"message":"Too busy, sk-secret-1","type":"overloaded_error"}}"#, Kind::Overloaded),
    ] {
        for data in [&[HELLO, error][..], &[HELLO, error, DONE], &[error]] {
            let found = hear(RawReply::stream(events(data))).await.error();
            assert_eq!(found.kind, kind, "{data:?}: {found}");
            assert!(found.message.contains("Too busy") || found.message.contains("Slow down"), "{found}");
            assert!(!found.message.contains("sk-secret"), "{found}");
        }
    }
    let beside = r#"{"error":{"message":"x"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#;
    let heard = hear(RawReply::stream(events(&[HELLO, beside, DONE]))).await;
    assert_eq!(heard.error().kind, Kind::BadResponse);
}

#[tokio::test]
async fn l27_an_answer_cut_by_its_output_limit_says_so_and_keeps_what_it_has() {
    let call = fragment(r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"{}"}}"#);
    let open = fragment(r#"{"index":1,"id":"b","function":{"name":"clock","arguments":"{\"x\":"}}"#);
    let length = STOP.replace("stop", "length");
    let answer = hear(RawReply::stream(events(&[HELLO, &call, &open, &length, DONE]))).await.answer();
    assert!(answer.is_cut);
    assert_eq!(answer.text, "Hello");
    let calls = answer.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect::<Vec<_>>();
    assert_eq!(calls, [("weather", "{}"), ("clock", "{\"x\":")]);
    let error = hear(RawReply::stream(events(&[&length, DONE]))).await.error();
    assert_eq!((error.kind, error.retryable), (Kind::CutOff, false));
}

#[tokio::test]
async fn l28_a_call_cut_at_the_limit_is_cut_whatever_the_reason_is_called() {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":20}}"#;
    for (arguments, limit, is_cut) in [
        (r#"{\"x\":"#, Some(20), true),
        (r#"{\"x\":"#, Some(21), false),
        (r#"{\"x\":1}"#, Some(20), false),
        (r#"{\"x\":"#, None, false),
    ] {
        let call = format!(r#"{{"index":0,"id":"a","function":{{"name":"weather","arguments":"{arguments}"}}}}"#);
        let server =
            RawServer::start([RawReply::stream(events(&[&fragment(&call), CALLS, usage, DONE]))]).await.unwrap();
        let mut asked = request(vec![user("hi")], &["weather"]);
        asked.max_output_tokens = limit;
        let answer = listen(&*chat_model(&server.base_url(), LONG), asked).await.answer();
        assert_eq!((answer.is_cut, answer.calls.len()), (is_cut, 1), "{arguments} {limit:?}");
    }
}

#[tokio::test]
async fn l06_l07_pieces_that_name_no_call_go_to_the_only_open_one() {
    let start = r#"{"index":0,"id":"a","function":{"name":"weather","arguments":""}}"#;
    for (one, two) in [
        (r#"{"function":{"arguments":"{\"x\":"}}"#, r#"{"function":{"arguments":"1}"}}"#),
        (r#"{"index":1,"function":{"arguments":"{\"x\":"}}"#, r#"{"index":2,"function":{"arguments":"1}"}}"#),
        (
            r#"{"index":1,"id":"","function":{"name":"","arguments":"{\"x\":"}}"#,
            r#"{"id":null,"function":{"arguments":"1}"}}"#,
        ),
    ] {
        for start in [start, &start.replace(r#""index":0,"#, ""), &start.replace(r#""index":0,"id":"a","#, "")] {
            assert_eq!(calls_in(&[start, one, two]).await, called(&[("weather", r#"{"x":1}"#)]), "{start} {one}");
        }
    }
    let second = r#"{"id":"b","function":{"name":"clock","arguments":""}}"#;
    let piece = r#"{"function":{"arguments":"{\"x\":1}"}}"#;
    let calls = calls_in(&[start, piece, second, piece]).await;
    assert_eq!(calls, called(&[("weather", r#"{"x":1}"#), ("clock", r#"{"x":1}"#)]));
}

#[tokio::test]
async fn l06_l07_a_piece_that_could_be_anyones_fails_the_answer() {
    let open = [
        r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"x\""}}"#,
        r#"{"index":1,"id":"b","function":{"name":"clock","arguments":""}}"#,
        r#"{"index":2,"function":{"arguments":":1}"}}"#,
    ];
    let whole = [
        r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"{}"}}"#,
        r#"{"index":1,"function":{"arguments":"{\"x\":1}"}}"#,
    ];
    for fragments in [&open[..], &whole[..]] {
        let chunks = fragments.iter().map(|call| fragment(call)).collect::<Vec<_>>();
        let data = chunks.iter().map(String::as_str).chain([CALLS, DONE]).collect::<Vec<_>>();
        let error = hear(RawReply::stream(events(&data))).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::BadResponse, true), "{error}");
        assert!(error.message.contains("which call it belongs to"), "{error}");
    }
}

#[tokio::test]
async fn l05_two_calls_under_one_index_stay_two() {
    let calls = calls_in(&[
        r#"{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"x\":1}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"weather","arguments":"{\"x\":2}"}}"#,
    ]);
    assert_eq!(calls.await, called(&[("weather", r#"{"x":1}"#), ("weather", r#"{"x":2}"#)]));
}

#[tokio::test]
async fn l06_calls_without_an_index_or_with_an_odd_one_are_assembled() {
    let without = calls_in(&[
        r#"{"id":"a","function":{"name":"weather","arguments":"{\"x\":1}"}}"#,
        r#"{"id":"b","function":{"name":"clock","arguments":"{\"y\":2}"}}"#,
    ]);
    assert_eq!(without.await, called(&[("weather", r#"{"x":1}"#), ("clock", r#"{"y":2}"#)]));
    let repeated = calls_in(&[
        r#"{"id":"a","function":{"name":"weather","arguments":"{\"x\":1}"}}"#,
        r#"{"id":"a","function":{"name":"weather","arguments":"{\"x\":2}"}}"#,
    ]);
    assert_eq!(repeated.await, called(&[("weather", r#"{"x":1}"#), ("weather", r#"{"x":2}"#)]));
    let from_one = calls_in(&[
        r#"{"index":1,"id":"a","function":{"name":"weather","arguments":""}}"#,
        r#"{"index":1,"function":{"arguments":"{\"x\":"}}"#,
        r#"{"index":1,"function":{"arguments":"1}"}}"#,
    ]);
    assert_eq!(from_one.await, called(&[("weather", r#"{"x":1}"#)]));
}

#[tokio::test]
async fn l08_repeated_ids_make_as_many_calls() {
    let calls = calls_in(&[
        r#"{"index":0,"id":"dup","function":{"name":"weather","arguments":"{\"x\":1}"}}"#,
        r#"{"index":1,"id":"dup","function":{"name":"weather","arguments":"{\"x\":2}"}}"#,
    ]);
    assert_eq!(calls.await, called(&[("weather", r#"{"x":1}"#), ("weather", r#"{"x":2}"#)]));
}

#[tokio::test]
async fn l10_absent_arguments_are_empty_and_l11_broken_ones_come_as_they_are() {
    for (member, expected) in [
        (r#","arguments":"""#, "{}"),
        (r#","arguments":null"#, "{}"),
        ("", "{}"),
        (r#","arguments":"  ""#, "{}"),
        (r#","arguments":"{\"path\":\"a""#, r#"{"path":"a"#),
        (r#","arguments":"{\"a\":1}}""#, r#"{"a":1}}"#),
        (r#","arguments":"{ \"b\":1, \"a\":1.0, \"a\":2 }""#, r#"{ "b":1, "a":1.0, "a":2 }"#),
        (r#","arguments":{"a":1}"#, r#"{"a":1}"#),
    ] {
        let call = format!(r#"{{"index":0,"id":"a","function":{{"name":"weather"{member}}}}}"#);
        assert_eq!(calls_in(&[&call]).await, called(&[("weather", expected)]), "{member}");
    }
}

#[tokio::test]
async fn l29_odd_but_legal_chunks_do_no_harm() {
    let odd = [
        r#"{"choices":[],"usage":null}"#,
        r#"{"choices":null}"#,
        r#"{"choices":[{"index":0,"delta":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":null,"tool_calls":null}}],"error":null}"#,
        HELLO,
        STOP,
        STOP,
        r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}"#,
        DONE,
    ];
    let answer = hear(RawReply::stream(events(&odd).replace('\n', "\r\n"))).await.answer();
    assert_eq!(answer.text, "Hello");
    assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.estimated), (7, 2, false));
}

#[tokio::test]
async fn l16_characters_survive_being_cut() {
    let text = "漢字 🪢 e\u{301}";
    let hello = HELLO.replace("Hello", &format!("{text}\\ud83e\\udea2"));
    let body = events(&[&hello, STOP, DONE]).replace('\n', "\r\n");
    let offsets = (1..body.len()).collect::<Vec<_>>();
    let answer = hear(RawReply::stream(body).split_at(&offsets)).await.answer();
    assert_eq!(answer.text, format!("{text}🪢"));
}

#[tokio::test]
async fn an_answer_that_is_no_stream_says_what_it_is_instead() {
    let page = |content_type: &str, body: &str| RawReply {
        headers: vec![("content-type".to_owned(), content_type.to_owned())],
        ..RawReply::stream(body.to_owned())
    };
    let error = hear(page("text/html", "<h1>Sign in</h1>")).await.error();
    assert_eq!((error.kind, error.retryable), (Kind::BadResponse, false));
    assert!(error.message.contains("text/html") && error.message.contains("Sign in"), "{error}");
    let json =
        r#"{"error":{"message":"This model's maximum context length is 10 tokens","code":"context_length_exceeded"}}"#;
    assert_eq!(hear(page("application/json", json)).await.error().kind, Kind::ContextWindow);
    let untyped = RawReply { headers: Vec::new(), ..RawReply::stream(events(&[HELLO, STOP, DONE])) };
    assert_eq!(hear(untyped).await.answer().text, "Hello");
}

#[tokio::test]
async fn a_status_is_a_kind_and_its_body_the_message() {
    let error = |message: &str, code: &str| format!(r#"{{"error":{{"message":"{message}","code":"{code}"}}}}"#);
    for (status, body, kind) in [
        (401, error("Incorrect API key: sk-secret-1", "invalid_api_key"), Kind::Auth),
        (403, error("No", "forbidden"), Kind::Auth),
        (402, error("Pay", "payment"), Kind::Quota),
        (404, error("No such model", "model_not_found"), Kind::ModelNotFound),
        (429, error("Slow down", "rate_limit_exceeded"), Kind::RateLimited),
        (429, error("You exceeded your current quota", "insufficient_quota"), Kind::Quota),
        (400, error("Your prompt is too long", "invalid"), Kind::ContextWindow),
        (400, error("Bad role", "invalid_value"), Kind::BadRequest),
        (500, error("Oops", "server_error"), Kind::Overloaded),
        (503, "busy".to_owned(), Kind::Overloaded),
        (529, error("Overloaded", "overloaded_error"), Kind::Overloaded),
        (302, String::new(), Kind::BadResponse),
    ] {
        let found = hear(RawReply { status, ..RawReply::stream(body.clone()) }).await.error();
        assert_eq!(found.kind, kind, "{status} {body}: {found}");
        assert!(found.message.contains(&status.to_string()), "{found}");
        assert!(!format!("{found:?}").contains("sk-secret"), "{found:?}");
    }
}

#[tokio::test]
async fn l17_the_wait_a_provider_asks_for_is_told() {
    for (header, value, expected) in [
        ("retry-after", "3", Some(3_000)),
        ("retry-after", "0.5", Some(500)),
        ("retry-after", "Mon, 30 Nov 2026 10:00:04 GMT", Some(4_000)),
        ("retry-after", "Mon, 30 Nov 2026 09:00:00 GMT", Some(0)),
        ("retry-after-ms", "1500", Some(1_500)),
        ("retry-after", "soon", None),
        ("retry-after", "-1", None),
        ("retry-after", "99999999", Some(86_400_000)),
    ] {
        let headers = vec![(header.to_owned(), value.to_owned())];
        let error = hear(RawReply { status: 429, headers, ..RawReply::stream("{}") }).await.error();
        assert_eq!(error.retry_after_ms, expected, "{header}: {value}");
        assert!(error.retryable);
    }
}

#[tokio::test]
async fn l13_silence_and_comments_are_both_a_stall_and_the_text_is_kept() {
    let hello = events(&[HELLO]);
    for comments in ["", ": ping\n\n: pong\n\n"] {
        let reply = RawReply::stream(format!("{hello}{comments}")).split_at(&[hello.len()]);
        let server = RawServer::start([reply.ending(RawEnding::Stall)]).await.unwrap();
        let clock = Arc::new(ToldClock::default());
        let model = chat_model_by(Arc::<ToldClock>::clone(&clock), &server.base_url(), LONG);
        let mut stream = model.stream(request(vec![user("hi")], &[]));
        assert_eq!(stream.next().await, Some(Ok(ModelEvent::Text("Hello".to_owned()))));
        clock.over.send_replace(true);
        assert_eq!(stream.next().await.unwrap().unwrap_err().kind, Kind::Stalled);
        // For the answer, for the body and for what follows its one event.
        assert_eq!(clock.waits.load(Ordering::Relaxed), 3);
    }
}

#[tokio::test]
async fn an_event_over_the_limit_ends_the_answer() {
    let flood = "x".repeat(super::super::scan::EVENT_BYTES);
    let error = hear(RawReply::stream(events(&[HELLO, &flood, STOP, DONE]))).await.error();
    assert_eq!((error.kind, error.retryable), (Kind::BadResponse, false));
    assert!(error.message.contains("more than an answer may have"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let server = RawServer::start([RawReply::stream("")]).await.unwrap();
    let address = server.base_url();
    drop(server);
    let deadline = tokio::time::Instant::now() + LONG;
    let error = loop {
        // The port is free once the aborted task is gone.
        let error = listen(&*chat_model(&address, LONG), request(vec![user("hi")], &[])).await.error();
        if error.kind == Kind::Unreachable || tokio::time::Instant::now() > deadline {
            break error;
        }
    };
    assert_eq!((error.kind, error.retryable), (Kind::Unreachable, true));
    assert!(error.message.starts_with("127.0.0.1:"), "{error}");
}
