//! Becoming a client, and ceasing to be one.

use std::{sync::Arc, time::Duration};

use ropewalk::{
    Approval, Decision, Error, InputReply, Questions, Ropewalk,
    protocol::{ErrorDetail, RpcError},
};
use serde_json::json;

use crate::support::{Fake, connected, in_time};

async fn accept(_: Approval) -> Decision {
    Decision::Accept
}

async fn dismiss(_: Questions) -> InputReply {
    InputReply::Dismissed
}

/// The capabilities the client claimed in its handshake.
fn claimed(fake: &Fake) -> Vec<String> {
    let sent = &fake.asked("initialize")[0]["capabilities"];
    let claims = sent.as_object().unwrap().iter().filter(|(_, claimed)| **claimed == json!(true));
    claims.map(|(name, _)| name.clone()).collect()
}

#[tokio::test]
async fn dyn_24_approvals_are_claimed_if_and_only_if_there_is_a_handler() {
    let (fake, connect) = Fake::new();
    in_time(connect.on_approval(accept).into_future()).await.unwrap();
    assert_eq!(claimed(&fake), ["approvals"]);

    let (fake, _client) = connected().await;
    assert!(claimed(&fake).is_empty());
}

#[tokio::test]
async fn dyn_25_required_approvals_without_a_handler_fail_before_anything_is_sent() {
    let (fake, connect) = Fake::new();
    let error = in_time(connect.require_approvals().into_future()).await.unwrap_err();
    assert!(matches!(error, Error::MissingHandler { .. }), "{error}");
    assert!(error.to_string().contains("on_approval"), "{error}");
    assert_eq!(fake.requests(), 0);
}

#[tokio::test]
async fn dyn_28_questions_follow_the_same_rule() {
    let (fake, connect) = Fake::new();
    in_time(connect.on_input(dismiss).require_input().into_future()).await.unwrap();
    assert_eq!(claimed(&fake), ["input"]);

    let (fake, connect) = Fake::new();
    let error = in_time(connect.on_approval(accept).require_input().into_future()).await.unwrap_err();
    assert!(error.to_string().contains("on_input"), "{error}");
    assert_eq!(fake.requests(), 0);
}

#[tokio::test]
async fn a_client_says_who_it_is_and_keeps_its_instance() {
    let (fake, client) = connected().await;
    let sent = &fake.asked("initialize")[0];
    assert_eq!(sent["client"]["name"], "bot");
    assert_eq!(sent["client"]["instanceId"], client.instance_id().as_str());
    assert_eq!(sent["protocol"], json!({"min": 1, "max": 1}));
    assert_eq!(client.daemon_info().pid, 4242);
    assert_eq!(client.limits().max_in_flight, 64);
}

#[tokio::test]
async fn a_name_the_wire_does_not_allow_is_refused_before_anything_is_sent() {
    let (fake, connect) = Fake::new();
    let error = in_time(connect.name("my bot").into_future()).await.unwrap_err();
    assert!(matches!(error, Error::InvalidOption { option: "name", .. }), "{error}");
    assert_eq!(fake.requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn x21_a_mute_daemon_ends_the_handshake_after_ten_seconds() {
    let (_fake, connect) = Fake::mute();
    let error = connect.await.unwrap_err();
    assert!(matches!(&error, Error::Timeout { what, after_ms: 10_000 } if what == "initialize"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn x21_a_call_that_is_not_answered_ends_at_its_deadline_and_names_the_method() {
    let (mut fake, client) = connected().await;
    let error = client.daemon().status().await.unwrap_err();
    assert!(matches!(&error, Error::Timeout { what, after_ms: 60_000 } if what == "daemon/status"), "{error}");
    // The late answer is ignored, and the connection goes on.
    fake.next().await.2.ok(&json!({}));
    fake.reply("thread/list", |_| Ok(json!({"items": []})));
    assert!(client.threads().list(Default::default()).await.unwrap().items.is_empty());
    assert!(client.is_connected());
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_is_starting_is_asked_until_it_is_ready() {
    let (fake, client) = connected().await;
    let mut left = 3;
    fake.reply("thread/list", move |_| {
        left -= 1;
        let starting =
            ErrorDetail::Unavailable { reason: "starting".to_owned(), progress: Some(0.5), party: None, effect: None };
        if left > 0 { Err(RpcError::retryable(starting, "starting", Some(100))) } else { Ok(json!({"items": []})) }
    });
    client.threads().list(Default::default()).await.unwrap();
    assert_eq!(fake.asked("thread/list").len(), 3);
}

#[tokio::test]
async fn a_refusal_carries_its_kind() {
    let (fake, client) = connected().await;
    fake.reply("run/read", |_| Err(RpcError::not_found("run", "run-9")));
    let error = client.runs().read("run-9").await.unwrap_err();
    assert!(matches!(error.kind(), Some(ErrorDetail::NotFound { noun, .. }) if noun == "run"));
    assert_eq!(error.to_string(), "There is no run run-9.");
}

#[tokio::test]
async fn the_raw_wire_is_reachable_by_name() {
    let (fake, client) = connected().await;
    fake.reply("context/preview", |params| Ok(json!({"got": params})));
    let answer = client.raw("context/preview", json!({"threadId": "th-1"})).await.unwrap();
    assert_eq!(answer, json!({"got": {"threadId": "th-1"}}));
}

#[tokio::test]
async fn a_workspace_is_made_a_project_and_threads_start_there() {
    let (fake, connect) = Fake::new();
    let project = json!({
        "projectId": "pr-7", "name": "work", "isDefault": false, "servers": [], "createdAt": crate::support::AT,
        "updatedAt": crate::support::AT, "revision": 1,
    });
    fake.reply("project/ensure", move |_| Ok(json!({"project": project, "created": true, "replayed": false})));
    fake.reply("thread/start", |_| Ok(crate::support::started("th-1", 3)));
    let client = in_time(connect.workspace("/srv/work").into_future()).await.unwrap();
    in_time(client.threads().start().into_future()).await.unwrap();
    assert_eq!(fake.asked("project/ensure")[0]["path"], "/srv/work");
    assert_eq!(fake.asked("thread/start")[0]["projectId"], "pr-7");
}

#[tokio::test]
async fn changes_of_lists_are_sent_to_those_who_asked_for_them() {
    let (fake, _client) = connected().await;
    assert_eq!(fake.asked("initialize")[0]["optOut"], json!(["data/changed"]));

    let (told, mut hear) = tokio::sync::mpsc::unbounded_channel();
    let (fake, connect) = Fake::new();
    let connect = connect.opt_out("itemDelta").on_change(move |change| {
        told.send(change.seq).unwrap();
        assert_ne!(change.seq, 1, "a panic is nobody else's");
    });
    let _client = in_time(connect.into_future()).await.unwrap();
    assert_eq!(fake.asked("initialize")[0]["optOut"], json!(["itemDelta"]));
    for seq in 1..=2 {
        fake.tell("data/changed", json!({"seq": seq, "kinds": ["thread"]}));
        assert_eq!(in_time(hear.recv()).await, Some(seq));
    }
}

#[tokio::test]
async fn k45_close_fails_what_waits_and_may_be_called_twice() {
    let (mut fake, client) = connected().await;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.daemon().status().await }
    });
    let _kept = fake.next().await;
    in_time(client.close()).await;
    in_time(client.close()).await;
    assert!(matches!(in_time(waiting).await.unwrap().unwrap_err(), Error::Disconnected));
    assert!(matches!(client.daemon().status().await.unwrap_err(), Error::Disconnected));
    in_time(fake.peer.closed()).await;
}

#[tokio::test]
async fn k45_dropping_the_last_handle_closes_the_connection() {
    let (fake, client) = connected().await;
    let other = client.clone();
    drop(client);
    assert!(other.is_connected());
    drop(other);
    in_time(fake.peer.closed()).await;
}

#[tokio::test]
async fn x10_a_lost_connection_fails_every_pending_call_with_the_same_error() {
    let (mut fake, client) = connected().await;
    let client = Arc::new(client);
    let calls: Vec<_> = (0..5)
        .map(|_| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.daemon().status().await })
        })
        .collect();
    let mut asked = Vec::new();
    for _ in 0..5 {
        asked.push(fake.next().await);
    }
    fake.peer.close();
    for call in calls {
        assert!(matches!(in_time(call).await.unwrap().unwrap_err(), Error::Disconnected));
    }
    assert!(!client.is_connected());
}

#[cfg(unix)]
#[tokio::test]
async fn a_daemon_behind_a_socket_is_found_by_its_path() {
    let socket = std::env::temp_dir().join(format!("ropewalk-sdk-{}.sock", std::process::id()));
    let listener = tokio::net::UnixListener::bind(&socket).unwrap();
    let connecting = tokio::spawn(Ropewalk::connect().socket(&socket).into_future());
    let (stream, _) = in_time(listener.accept()).await.unwrap();
    let fake = Fake::behind(stream);
    fake.reply("initialize", |_| Ok(crate::support::initialized()));
    let client = in_time(connecting).await.unwrap().unwrap();
    std::fs::remove_file(&socket).unwrap();
    assert!(client.name().starts_with("it-"), "it is named after the executable: {}", client.name());
    in_time(client.close()).await;
    in_time(fake.peer.closed()).await;
}

#[tokio::test]
async fn without_a_daemon_the_error_names_the_socket_and_the_way_out() {
    let connect = Ropewalk::connect().socket("/nowhere/daemon.sock").start_on_demand(false);
    let error = tokio::time::timeout(Duration::from_secs(60), connect.into_future()).await.unwrap().unwrap_err();
    assert!(matches!(&error, Error::NotRunning { .. }), "{error}");
    assert!(error.to_string().contains("/nowhere/daemon.sock") && error.to_string().contains("ropewalk daemon"));
}
