//! The end: asked for by a signal, or because nobody needs the daemon.

use ropewalk_conformance::{DaemonProcess, Signal};
use serde_json::json;

use super::{Place, children_of, client, get_issue};
use crate::support::text;

#[tokio::test]
async fn a_daemon_told_to_end_parks_its_runs_and_the_next_one_goes_on_with_them() {
    let place = Place::new();
    let mut daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let started = bot.call("thread/start", json!({"tools": [get_issue("allow")]})).await;
    let thread = started["thread"]["threadId"].clone();
    let asleep = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
    let sleeping = bot.call("run/submit", json!({"threadId": asleep, "input": text("say Zzz\nsleep 3600000")})).await;
    bot.until("text of the run that sleeps", |line| line["params"]["event"]["type"] == "itemDelta").await;
    let submit = json!({"threadId": thread, "input": text("call get_issue {\"id\":\"7\"}")});
    let run = bot.call("run/submit", submit).await["runId"].clone();
    let call = bot.asked("tool/call").await;

    daemon.signal(Signal::Terminate).unwrap();
    let status = daemon.ended().await.unwrap();
    assert_eq!(status.code(), Some(0), "{}", daemon.log());
    assert!(!daemon.ready().socket.exists(), "the socket goes with the daemon");
    while bot.next_or_end().await.is_some() {}

    let daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    bot.call("thread/resume", json!({"threadId": thread, "after": 0})).await;
    let again = bot.asked("tool/call").await;
    assert_eq!(again["params"]["interactionId"], call["params"]["interactionId"]);
    assert!(again["params"]["attempt"].as_u64() > call["params"]["attempt"].as_u64());
    let content = json!([{"type": "text", "text": "#7 Login fails"}]);
    bot.reply(&again, json!({"success": true, "contentItems": content})).await;
    let ended = bot.event("runCompleted").await;
    assert_eq!(ended["event"]["runId"], run);
    assert_eq!(ended["event"]["outcome"]["text"], "get_issue: #7 Login fails");
    let on_its_way = bot.call("run/read", json!({"runId": sleeping["runId"]})).await;
    assert_eq!(on_its_way["run"]["state"], "running", "{on_its_way}");
    bot.call("thread/resume", json!({"threadId": asleep, "after": 0})).await;
    let parked = bot.until("the pause", |line| line["params"]["event"]["run"]["state"] == "paused").await;
    assert_eq!(parked["params"]["event"]["run"]["reason"], "shutdown");
}

#[tokio::test]
async fn an_interrupt_and_a_shutdown_over_the_wire_are_the_same_end() {
    for by_wire in [false, true] {
        let place = Place::new();
        let mut daemon = place.daemon().await;
        let mut bot = client(&daemon, "bot", "in-A").await;
        if by_wire {
            bot.call("daemon/shutdown", json!({"graceMs": 1_000})).await;
        } else {
            daemon.signal(Signal::Interrupt).unwrap();
        }
        assert_eq!(daemon.ended().await.unwrap().code(), Some(0), "{}", daemon.log());
    }
}

#[tokio::test]
async fn a_daemon_that_nobody_needs_goes_by_itself() {
    let place = Place::new();
    let options = place.options().argument("--idle-exit-ms").argument("1000");
    let mut daemon = DaemonProcess::start(&options).await.unwrap();
    let mut bot = client(&daemon, "bot", "in-A").await;
    bot.call("thread/start", json!({})).await;
    assert!(super::is_alive(daemon.pid()), "not while there is a connection");
    drop(bot);
    assert_eq!(daemon.ended().await.unwrap().code(), Some(0), "{}", daemon.log());
    assert!(!daemon.ready().socket.exists());
}

#[tokio::test]
async fn an_ended_daemon_leaves_no_process_behind() {
    for signal in [Signal::Terminate, Signal::Kill] {
        let place = Place::new();
        let mut daemon = place.daemon().await;
        let mut bot = client(&daemon, "bot", "in-A").await;
        let thread = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
        bot.call("run/submit", json!({"threadId": thread, "input": text("hello")})).await;
        bot.event("runCompleted").await;
        let status = bot.call("daemon/status", json!({})).await;
        let children = children_of(daemon.pid());
        assert_eq!(status["counts"]["children"], children.len(), "the daemon knows its own children");
        daemon.signal(signal).unwrap();
        daemon.ended().await.unwrap();
        assert!(!super::is_alive(daemon.pid()));
        for child in children {
            super::eventually("the end of a child", || async move { !super::is_alive(child) }).await;
        }
    }
}
