//! How an endpoint is reached: its headers, its proxy, its key, and what of them nobody ever sees.

use std::sync::Arc;

use ropewalk_conformance::{RawReply, RawServer};
use ropewalk_protocol::{Endpoint, Provider, RunErrorKind as Kind};
use serde_json::{Value, json};

use super::{
    bodies::{ALL, base_url, hello, play},
    listen, request, user,
};
use crate::models::{
    ModelError, ModelFactory, Models,
    testing::{FixedClock, endpoint},
};

const KEY: &str = "sk-secret-1";

fn models() -> Models {
    Models::new(Arc::new(FixedClock))
}

fn endpoint_of(provider: Provider, base_url: &str, fields: &Value) -> Endpoint {
    let mut made = serde_json::to_value(endpoint("openaiCompatible", Some(base_url))).unwrap();
    made["provider"] = serde_json::to_value(provider).unwrap();
    for (name, value) in fields.as_object().unwrap() {
        made[name] = value.clone();
    }
    serde_json::from_value(made).unwrap()
}

async fn ask(endpoint: &Endpoint, key: Option<&str>) -> Result<String, ModelError> {
    let model = models().model(endpoint, key.map(str::to_owned))?;
    listen(&*model, request(vec![user("hi")], &[])).await.end.map(|answer| answer.text)
}

#[tokio::test]
async fn an_endpoint_of_every_provider_is_tested_with_a_short_request() {
    for provider in ALL {
        let server = RawServer::start([play(provider, &hello(provider))]).await.unwrap();
        let endpoint = endpoint_of(provider, &base_url(provider, &server), &json!({}));
        models().test(&endpoint, Some(KEY.to_owned())).await.unwrap();
        server.play(RawReply { status: 401, ..RawReply::stream(r#"{"error":{"message":"No"}}"#) });
        let error = models().test(&endpoint, Some(KEY.to_owned())).await.unwrap_err();
        assert_eq!(error.kind, Kind::Auth, "{provider:?}: {error}");
    }
}

#[tokio::test]
async fn a_key_that_is_not_there_leaves_no_trace() {
    for provider in ALL {
        let server = RawServer::start([play(provider, &hello(provider))]).await.unwrap();
        let endpoint = endpoint_of(provider, &base_url(provider, &server), &json!({}));
        assert_eq!(ask(&endpoint, None).await.unwrap(), "Hello");
        let request = server.requests().remove(0);
        for header in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert_eq!(request.header(header), None, "{provider:?}");
        }
        assert!(!request.line.contains("key="), "{provider:?}: {}", request.line);
    }
}

#[tokio::test]
async fn no_key_is_in_an_address_or_an_error() {
    for provider in ALL {
        let echo = format!(r#"{{"error":{{"message":"Wrong key {KEY}, in ?key={KEY}"}}}}"#);
        let server = RawServer::start([RawReply { status: 400, ..RawReply::stream(echo) }]).await.unwrap();
        let address = base_url(provider, &server);
        let error = ask(&endpoint_of(provider, &address, &json!({})), Some(KEY)).await.unwrap_err();
        assert!(!format!("{error:?} {error}").contains("sk-secret"), "{provider:?}: {error:?}");
        assert!(!server.requests()[0].line.contains("sk-secret"), "{provider:?}");
        // Nobody listens on this port.
        let error = ask(&endpoint_of(provider, "http://127.0.0.1:1/v1", &json!({})), Some(KEY)).await.unwrap_err();
        assert_eq!(error.kind, Kind::Unreachable, "{provider:?}");
        assert!(!format!("{error:?}").contains("sk-secret"), "{provider:?}: {error:?}");
    }
}

#[tokio::test]
async fn an_endpoints_headers_go_with_every_request_and_over_ours() {
    for provider in ALL {
        let server = RawServer::start([play(provider, &hello(provider))]).await.unwrap();
        let headers = json!({"headers": {"X-Team": "rope", "User-Agent": "mine"}});
        let endpoint = endpoint_of(provider, &base_url(provider, &server), &headers);
        ask(&endpoint, Some(KEY)).await.unwrap();
        let request = server.requests().remove(0);
        assert_eq!(
            (request.header("x-team"), request.header("user-agent")),
            (Some("rope"), Some("mine")),
            "{provider:?}"
        );
    }
    for (name, value, words) in [
        ("Content-Length", "5", "not an endpoint's to set"),
        ("a b", "x", "no name"),
        ("x", "a\nb", "no header can have"),
    ] {
        let endpoint = endpoint_of(Provider::Ollama, "http://127.0.0.1:1", &json!({"headers": {name: value}}));
        let error = ask(&endpoint, None).await.unwrap_err();
        assert!(error.kind == Kind::BadRequest && error.message.contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_named_proxy_is_used_to_everywhere_even_to_this_machine() {
    for provider in ALL {
        let proxy = RawServer::start([play(provider, &hello(provider))]).await.unwrap();
        let proxy_url = proxy.origin().replace("http://", "http://me:pass-word-9@");
        for target in ["http://127.0.0.1:1", "http://nowhere.invalid"] {
            let endpoint = endpoint_of(provider, target, &json!({"proxyUrl": proxy_url}));
            assert_eq!(ask(&endpoint, Some(KEY)).await.unwrap(), "Hello", "{provider:?}");
        }
        let requests = proxy.requests();
        assert!(requests[0].line.starts_with("POST http://127.0.0.1:1/"), "{}", requests[0].line);
        assert!(requests[1].line.starts_with("POST http://nowhere.invalid/"), "{}", requests[1].line);
        assert!(requests[1].header("proxy-authorization").is_some());
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_there_or_cannot_be_used_says_so_without_its_password() {
    for scheme in ["http", "socks5"] {
        let fields = json!({"proxyUrl": format!("{scheme}://me:pass-word-9@127.0.0.1:1")});
        let error =
            ask(&endpoint_of(Provider::Gemini, "http://nowhere.invalid", &fields), Some(KEY)).await.unwrap_err();
        assert_eq!(error.kind, Kind::Unreachable, "{error}");
        assert!(!format!("{error:?}").contains("pass-word"), "{error:?}");
    }
    for (proxy, words) in [("nonsense", "no URL"), ("ftp://x", "must name a host and be one of http")] {
        let endpoint = endpoint_of(Provider::Ollama, "http://127.0.0.1:1", &json!({"proxyUrl": proxy}));
        let error = ask(&endpoint, None).await.unwrap_err();
        assert!(error.kind == Kind::BadRequest && error.message.contains(words), "{error}");
    }
}

#[tokio::test]
async fn ollama_is_given_the_window_its_endpoint_has() {
    let server = RawServer::start([play(Provider::Ollama, &hello(Provider::Ollama))]).await.unwrap();
    ask(&endpoint_of(Provider::Ollama, &server.origin(), &json!({"contextTokens": 32_768})), None).await.unwrap();
    let body: Value = serde_json::from_slice(&server.requests()[0].body).unwrap();
    assert_eq!((&body["options"]["num_ctx"], &body["truncate"]), (&json!(32_768), &json!(false)));
}

#[tokio::test]
async fn an_address_may_end_with_what_would_be_appended() {
    for (provider, ends, line) in [
        (Provider::OpenaiCompatible, &["/v1", "/v1/", "/v1/chat/completions"][..], "POST /v1/chat/completions"),
        (Provider::OpenaiResponses, &["/v1", "/v1/responses/"], "POST /v1/responses"),
        (Provider::Anthropic, &["", "/", "/v1", "/v1/messages"], "POST /v1/messages"),
        (Provider::Gemini, &["", "/v1beta", "/v1beta/models"], "POST /v1beta/models/m-1:streamGenerateContent"),
        (Provider::Ollama, &["", "/api", "/api/chat"], "POST /api/chat"),
    ] {
        for end in ends {
            let server = RawServer::start([play(provider, &hello(provider))]).await.unwrap();
            ask(&endpoint_of(provider, &format!("{}{end}", server.origin()), &json!({})), Some(KEY)).await.unwrap();
            let sent = server.requests().remove(0).line;
            assert!(sent.starts_with(line), "{provider:?} {end}: {sent}");
        }
    }
}
