//! Endpoints and their keys: what is kept, what is never shown, and which one a run uses.

use serde_json::{Value, json};

use super::{Fresh, Raw, text};
use crate::{ScriptedServer, ServerOptions};

scenarios! { $ endpoints
    wire:
        transcript_i_a_key_is_set_and_lost_with_the_address
        a_key_reaches_the_provider_and_no_reply_event_or_error
        an_endpoint_keeps_its_limits_headers_and_proxy_until_null_clears_them
        an_endpoint_of_the_thread_comes_before_one_of_the_project_before_the_default
        without_a_usable_endpoint_a_run_fails_with_no_endpoint
        failures_of_a_provider_are_told_by_kind;
    clock:;
}

pub(super) async fn transcript_i_a_key_is_set_and_lost_with_the_address(subject: Fresh) {
    let stream = subject.open().await;
    let mut bot = Raw::introduced(stream, "bot", "in-A", json!({}), json!([])).await;
    let set = json!({
        "name": "work", "provider": "openaiCompatible", "baseUrl": "https://models.example/v1", "model": "gpt-x",
        "isDefault": true,
    });
    let made = bot.call("endpoint/set", set).await["endpoint"].clone();
    let expected = json!({
        "endpointId": made["endpointId"], "name": "work", "provider": "openaiCompatible",
        "baseUrl": "https://models.example/v1", "model": "gpt-x", "isDefault": true, "forSubtasks": false,
        "enabled": true, "capability": null, "hasCredential": false, "builtin": false, "revision": 1,
    });
    assert_eq!(made, expected);
    let id = &made["endpointId"];
    let changed = bot.told("data/changed").await;
    assert_eq!(changed["origin"], "in-A");
    assert!(changed["kinds"].as_array().unwrap().contains(&json!("endpoint")), "{changed}");
    assert!(changed["ids"].as_array().unwrap().contains(id), "{changed}");
    let with_key = bot.call("secret/set", json!({"endpointId": id, "value": "sk-example"})).await;
    assert_eq!((&with_key["endpoint"]["hasCredential"], &with_key["endpoint"]["revision"]), (&json!(true), &json!(2)));
    let renamed = bot.call("endpoint/set", json!({"endpointId": id, "name": "other name"})).await;
    assert_eq!(renamed["endpoint"]["hasCredential"], true, "the key belongs to provider and origin");
    let path = json!({"endpointId": id, "baseUrl": "https://models.example/v2"});
    assert_eq!(bot.call("endpoint/set", path).await["endpoint"]["hasCredential"], true);
    let moved = bot.call("endpoint/set", json!({"endpointId": id, "baseUrl": "https://other.example/v1"})).await;
    assert_eq!(moved["endpoint"]["hasCredential"], false);
    let error = bot.refused("endpoint/set", json!({"endpointId": id, "baseUrl": null})).await;
    assert_eq!((&error["code"], &error["data"]["path"]), (&json!(-32602), &json!("/baseUrl")));
    assert_eq!(error["data"]["reason"], "required_for_provider");
    assert_eq!(error["message"], "An openaiCompatible endpoint needs a baseUrl.");
}

pub(super) async fn a_key_reaches_the_provider_and_no_reply_event_or_error(subject: Fresh) {
    const KEY: &str = "sk-PLANTED-0815";
    let options = ServerOptions { strict: true, key: Some(KEY.to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start(options).await.unwrap();
    let mut bot = subject.bot().await;
    let endpoint = bot.use_model_at(&server.base_url()).await;
    let thread = bot.start(&[]).await;
    let mut shown = Vec::new();
    let refused = bot.run(&thread, "hello").await;
    assert_eq!((&refused["outcome"]["status"], &refused["outcome"]["error"]["kind"]), (&json!("failed"), &json!("auth")));
    shown.push(bot.call("secret/set", json!({"endpointId": endpoint, "value": KEY, "operationId": "key:1"})).await);
    shown.push(bot.call("secret/set", json!({"endpointId": endpoint, "value": KEY, "operationId": "key:1"})).await);
    assert_eq!(shown[1]["replayed"], true);
    let other = json!({"endpointId": endpoint, "value": format!("{KEY}2"), "operationId": "key:1"});
    shown.push(bot.refused("secret/set", other).await);
    assert_eq!(shown[2]["data"]["kind"], "idempotencyConflict");
    shown.push(bot.refused("secret/set", json!({"endpointId": endpoint, "value": [KEY]})).await);
    shown.push(bot.refused("secret/set", json!({"endpointId": KEY, "value": ""})).await["data"]["kind"].take());
    let completed = bot.run(&thread, "hello").await;
    assert_eq!(completed["outcome"]["status"], "completed");
    assert!(server.requests().iter().any(|request| {
        request.headers.iter().any(|(name, value)| name == "authorization" && value == &format!("Bearer {KEY}"))
    }));
    for (method, params) in [
        ("endpoint/list", json!({})),
        ("endpoint/test", json!({"endpointId": endpoint})),
        ("settings/read", json!({})),
        ("thread/messages", json!({"threadId": thread})),
        ("thread/events", json!({"threadId": thread, "after": 0})),
        ("run/list", json!({})),
    ] {
        shown.push(bot.call(method, params).await);
    }
    shown.extend(std::mem::take(&mut bot.kept));
    assert!(!Value::from(shown).to_string().contains("PLANTED"), "the key is write-only");
}

pub(super) async fn an_endpoint_of_the_thread_comes_before_one_of_the_project_before_the_default(subject: Fresh) {
    let server = ScriptedServer::start(ServerOptions::default()).await.unwrap();
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let project = bot.project_of(&thread).await;
    assert_eq!(used(&mut bot, &thread).await, "scripted", "the default while there is no other");
    let make = |name: &str| {
        json!({"name": name, "provider": "openaiCompatible", "baseUrl": server.base_url(), "model": name})
    };
    let default = bot.use_model_at(&server.base_url()).await;
    assert_eq!(used(&mut bot, &thread).await, default);
    let of_project = bot.call("endpoint/set", make("project")).await["endpoint"]["endpointId"].clone();
    bot.call("project/update", json!({"projectId": project, "defaultEndpointId": of_project})).await;
    assert_eq!(used(&mut bot, &thread).await, of_project);
    let of_thread = bot.call("endpoint/set", make("thread")).await["endpoint"]["endpointId"].clone();
    bot.call("thread/update", json!({"threadId": thread, "endpointId": of_thread})).await;
    assert_eq!(used(&mut bot, &thread).await, of_thread);
    let asked = json!({"threadId": thread, "input": text("hello"), "endpointId": "scripted", "wait": true});
    assert_eq!(bot.call("run/submit", asked).await["run"]["endpointId"], "scripted");
}

pub(super) async fn without_a_usable_endpoint_a_run_fails_with_no_endpoint(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let set = json!({"name": "a", "provider": "openaiCompatible", "baseUrl": "http://127.0.0.1:9/v1", "model": "m"});
    let endpoint = bot.call("endpoint/set", set).await["endpoint"]["endpointId"].clone();
    let ended = bot.run(&thread, "hello").await;
    assert_eq!(ended["outcome"]["error"]["kind"], "noEndpoint", "none was chosen: {ended}");
    bot.call("endpoint/set", json!({"endpointId": endpoint, "isDefault": true, "enabled": false})).await;
    let ended = bot.run(&thread, "hello").await;
    assert_eq!(ended["outcome"]["error"]["kind"], "noEndpoint", "it is switched off: {ended}");
    bot.call("endpoint/set", json!({"endpointId": endpoint, "enabled": true})).await;
    let run = bot.submit(&thread, "hello").await;
    bot.waits_for_endpoint().await;
    let notice = bot.notice().await;
    assert!(notice["text"].as_str().unwrap().starts_with("127.0.0.1:9 cannot be reached (unreachable)."), "{notice}");
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&run).await;
    bot.call("endpoint/remove", json!({"endpointId": endpoint})).await;
    assert_eq!(bot.run(&thread, "hello").await["outcome"]["text"], "You said: hello", "the scripted one is back");
}

pub(super) async fn failures_of_a_provider_are_told_by_kind(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    for kind in ["rateLimited", "overloaded", "cutOff", "badRequest", "quota", "auth", "contextWindow"] {
        let ended = bot.run(&thread, &format!("say half\nfail {kind}")).await;
        assert_eq!(ended["outcome"]["status"], "failed", "{ended}");
        assert_eq!(ended["outcome"]["error"]["kind"], kind, "{ended}");
        assert!(!ended["outcome"]["error"]["message"].as_str().unwrap().is_empty());
        let run = bot.call("run/read", json!({"runId": ended["runId"]})).await;
        assert_eq!((&run["run"]["state"], &run["run"]["outcome"]), (&json!("failed"), &ended["outcome"]));
    }
    super::assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn an_endpoint_keeps_its_limits_headers_and_proxy_until_null_clears_them(subject: Fresh) {
    let mut bot = subject.bot().await;
    let set = json!({
        "name": "work", "provider": "openaiCompatible", "baseUrl": "https://models.example/v1", "model": "m",
        "contextTokens": 128_000, "maxOutputTokens": 4_096, "headers": {"X-Title": "My App"},
        "proxyUrl": "socks5://127.0.0.1:1080",
    });
    let made = bot.call("endpoint/set", set.clone()).await["endpoint"].clone();
    for field in ["contextTokens", "maxOutputTokens", "headers", "proxyUrl"] {
        assert_eq!(made[field], set[field], "{made}");
    }
    let id = &made["endpointId"];
    let listed = bot.call("endpoint/list", json!({})).await;
    assert!(listed["items"].as_array().unwrap().contains(&made), "{listed}");
    let secret = json!({"endpointId": id, "headers": {"Authorization": "Bearer PLANTED"}});
    let error = bot.refused("endpoint/set", secret).await;
    assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!("/headers/Authorization"), &json!("secret_header")));
    assert!(!error.to_string().contains("PLANTED"), "{error}");
    let stale = json!({"endpointId": id, "proxyUrl": null, "expectedRevision": 9});
    assert_eq!(bot.refused("endpoint/set", stale).await["data"]["currentRevision"], 1);
    let clear = json!({"endpointId": id, "maxOutputTokens": null, "headers": null, "proxyUrl": null, "expectedRevision": 1});
    let cleared = bot.call("endpoint/set", clear).await["endpoint"].clone();
    for field in ["maxOutputTokens", "headers", "proxyUrl"] {
        assert!(cleared.get(field).is_none(), "{cleared}");
    }
    assert_eq!((&cleared["contextTokens"], &cleared["revision"]), (&json!(128_000), &json!(2)));
}

/// The endpoint the thread's next run uses.
async fn used(bot: &mut Raw, thread: &Value) -> Value {
    let submit = json!({"threadId": thread, "input": text("hello"), "wait": true});
    bot.call("run/submit", submit).await["run"]["endpointId"].clone()
}
