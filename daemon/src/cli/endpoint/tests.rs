//! What a person reads of endpoints, and what the flags say to the daemon.

use clap::Parser;
use ropewalk_protocol::{EndpointTested, Provider, RunError, RunErrorKind};
use serde_json::{Value, json};

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: EndpointArgs,
}

/// The parameters a line of arguments becomes.
fn params(line: &[&str]) -> Value {
    let line = Line::try_parse_from(["endpoint"].iter().chain(line)).unwrap_or_else(|error| panic!("{error}"));
    serde_json::to_value(match line.args.command {
        Command::Add(args) => args.params(),
        Command::Set(args) => args.params(),
        _ => panic!("add or set was expected"),
    })
    .unwrap()
}

fn endpoint(more: Value) -> Endpoint {
    let mut all = json!({
        "endpointId": "e-1", "name": "work", "provider": "openaiCompatible", "baseUrl": "https://models.example/v1",
        "model": "big", "isDefault": false, "forSubtasks": false, "enabled": true, "capability": null,
        "hasCredential": false, "builtin": false, "revision": 1,
    });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

fn failed(endpoint: &Endpoint, kind: RunErrorKind, retry_after_ms: Option<u64>) -> String {
    let message = "It said no.".to_owned();
    let error = RunError { kind, message, retryable: false, retry_after_ms, provider: None };
    verdict(endpoint, &EndpointTested { ok: false, latency_ms: 3, error: Some(error) }, "ropewalk")
}

#[test]
fn every_field_of_an_endpoint_has_a_flag() {
    let line = "add work --provider anthropic --url https://models.example --model big --context-tokens 200000 \
                --max-output-tokens 8192 --header X-Title=App --header X-More=a=b --proxy socks5://127.0.0.1:1080 \
                --good-for code --capability 4 --for-subtasks true";
    let expected = json!({
        "name": "work", "provider": "anthropic", "baseUrl": "https://models.example", "model": "big",
        "contextTokens": 200_000, "maxOutputTokens": 8_192, "headers": {"X-Title": "App", "X-More": "a=b"},
        "proxyUrl": "socks5://127.0.0.1:1080", "goodFor": "code", "capability": 4, "forSubtasks": true,
    });
    assert_eq!(params(&line.split_whitespace().collect::<Vec<_>>()), expected);
}

#[test]
fn a_change_says_what_is_named_and_none_clears_it() {
    assert_eq!(params(&["set", "work", "--model", "bigger"]), json!({"model": "bigger"}));
    let line = "set work --rename other --url none --context-tokens none --max-output-tokens none --no-headers \
                --proxy none --enabled false";
    let expected = json!({
        "name": "other", "baseUrl": null, "contextTokens": null, "maxOutputTokens": null, "headers": null,
        "proxyUrl": null, "enabled": false,
    });
    assert_eq!(params(&line.split_whitespace().collect::<Vec<_>>()), expected);
    for wrong in [&["set", "work", "--header", "X-Title"][..], &["set", "work", "--no-headers", "--header", "a=b"]] {
        assert!(Line::try_parse_from(["endpoint"].iter().chain(wrong)).is_err(), "{wrong:?}");
    }
}

#[test]
fn the_list_shows_what_an_endpoint_is_sent_with() {
    let plain = endpoint(json!({"isDefault": true, "hasCredential": true}));
    let full = endpoint(json!({
        "name": "far", "enabled": false, "contextTokens": 8_000, "maxOutputTokens": 500,
        "headers": {"X-A": "1", "X-B": "2"}, "proxyUrl": "http://proxy.example:3128",
    }));
    let expected = "\
work  openai-compatible  big  https://models.example/v1  default, has a key
far   openai-compatible  big  https://models.example/v1  switched off, window of 8000 tokens, answers up to 500 tokens, \
sends X-A and X-B, through http://proxy.example:3128";
    assert_eq!(listed(&[plain, full]), expected);
}

#[test]
fn a_verdict_says_what_to_do_next_for_each_kind_of_failure() {
    let plain = endpoint(json!({}));
    let first = failed(&plain, RunErrorKind::Auth, None);
    assert_eq!(first, "work does not work (auth): It said no.\nNext: `ropewalk endpoint key work` stores its key.");
    for (endpoint, kind, retry_after_ms, next) in [
        (endpoint(json!({"hasCredential": true})), RunErrorKind::Auth, None, "stores another key"),
        (plain.clone(), RunErrorKind::ModelNotFound, None, "`ropewalk endpoint set work --model MODEL`"),
        (
            Endpoint { provider: Provider::Ollama, ..plain.clone() },
            RunErrorKind::ModelNotFound,
            None,
            "`ollama pull big`",
        ),
        (plain.clone(), RunErrorKind::Unreachable, None, "listens at https://models.example/v1"),
        (endpoint(json!({"proxyUrl": "http://p.example"})), RunErrorKind::Unreachable, None, "--proxy none"),
        (endpoint(json!({"baseUrl": null})), RunErrorKind::Unreachable, None, "--proxy URL"),
        (plain.clone(), RunErrorKind::RateLimited, Some(60_000), "try again in 1 min"),
        (plain.clone(), RunErrorKind::Overloaded, None, "try again in a while"),
        (plain.clone(), RunErrorKind::Quota, None, "credit"),
        (plain.clone(), RunErrorKind::Stalled, None, "fell silent"),
        (plain.clone(), RunErrorKind::ContextWindow, None, "--context-tokens N"),
        (plain.clone(), RunErrorKind::BadRequest, None, "`--url`, `--provider`"),
        (plain.clone(), RunErrorKind::BadResponse, None, "before `/chat/completions`"),
        (plain.clone(), RunErrorKind::CutOff, None, "--url URL"),
        (plain.clone(), RunErrorKind::Internal, None, "docs/endpoints.md"),
    ] {
        let verdict = failed(&endpoint, kind, retry_after_ms);
        assert!(verdict.split_once("\nNext: ").unwrap().1.contains(next), "{kind:?}: {verdict}");
    }
    assert!(failed(&plain, RunErrorKind::BadRequest, None).starts_with("work does not work (badRequest): "));
}
