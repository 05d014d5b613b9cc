//! Secrets among the arguments of calls: the tool gets them, and nothing else has them.

use std::time::Duration;

use ropewalk_protocol::Unattended;
use serde_json::{Value, json};

use super::{
    client::Person,
    life::{Life, begin, call_ends, completed, events, request, soon, tools},
};
use crate::{
    engine::ThreadHandle,
    store::{LogName, Store as _},
    tools::ClientTool,
};

const SECRET: &str = "sk-planted-4711";
const SHOWN: &str = "(a secret of 15 characters)";

/// A tool that stores a key, and one more.
fn keeper(approval: &str) -> Vec<std::sync::Arc<ClientTool>> {
    let schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {"name": {"type": "string"}, "credential": {"type": "string", "writeOnly": true}},
    });
    tools(&[("keep", json!({"inputSchema": schema, "approval": approval})), ("look", json!({}))])
}

fn arguments() -> String {
    json!({"name": "work", "credential": SECRET}).to_string()
}

/// Everything that is stored, and all that is told of a thread.
async fn everything(life: &Life, thread: &ThreadHandle) -> String {
    let mut all = format!("{:?}", super::spy::Spy::rows(&life.store.store));
    for log in [LogName::Daemon, LogName::Thread(thread.id().clone())] {
        let records = life.store.read(&log, 1, usize::MAX).await.unwrap();
        all.extend(records.iter().map(|record| format!("{record:?}")));
    }
    all.push_str(&serde_json::to_string(&events(thread).await).unwrap());
    let open = soon(thread.open_interactions()).await.unwrap();
    all.push_str(&serde_json::to_string(&open).unwrap());
    all
}

fn without_it(all: &str) {
    assert!(!all.contains("planted"), "the secret is in {all}");
}

#[tokio::test]
async fn app_138_a_secret_argument_reaches_the_tool_and_is_in_nothing_that_is_stored_told_or_asked() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, keeper("ask")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("keep", &arguments())]);
    let offered = person.offered("approval/request").await;
    let asked = offered.params();
    assert_eq!(asked["arguments"], json!({"name": "work", "credential": SHOWN}));
    assert_eq!(asked["summary"], format!("keep work {SHOWN}"));
    without_it(&format!("{asked}{}", everything(&life, &thread).await));
    person.answers(&offered, json!({"decision": "accept"})).await;

    let offered = person.offered("tool/call").await;
    assert_eq!(offered.params()["arguments"], json!({"name": "work", "credential": SECRET}), "the tool gets it");
    without_it(&everything(&life, &thread).await);
    person.returns(&offered, &format!("Kept {SECRET}.")).await;

    let asked = life.asked().await;
    without_it(&format!("{:?}", asked.request.messages));
    assert!(format!("{:?}", asked.request.messages).contains(&format!("Kept {SHOWN}.")));
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    without_it(&everything(&life, &thread).await);
    assert_eq!(call_ends(&thread).await, [json!(["completed", null, "done"])]);
}

#[tokio::test]
async fn app_138_arguments_that_are_refused_hold_no_secret_either() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, keeper("allow")).await;
    let run = begin(&thread, "go").await;
    let slip = json!({"credental": SECRET}).to_string();
    let wrong = json!({"credential": {"key": SECRET}}).to_string();
    let cut = format!("{{\"credential\": \"{SECRET}");
    let calls = [("keep", slip.as_str()), ("keep", &wrong), ("keep", &cut), ("kep", &arguments())];
    life.asked().await.calls(&calls);
    let asked = life.asked().await;
    without_it(&format!("{:?}", asked.request.messages));
    asked.ends("Sorry.");
    life.ended(&thread, &run).await;
    without_it(&everything(&life, &thread).await);
    let codes: Vec<Value> = call_ends(&thread).await.into_iter().map(|end| end[1].clone()).collect();
    assert_eq!(codes, ["invalid_arguments", "invalid_arguments", "invalid_json", "unknown_tool"]);
}

#[tokio::test]
async fn app_138_a_call_with_a_secret_that_waits_over_a_restart_is_not_made_and_made_again_with_it() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, keeper("ask")).await;
    let wait = request(&thread, "go", Unattended::Wait);
    let run = soon(thread.submit(wait)).await.unwrap().run_id.unwrap();
    life.asked().await.calls(&[("keep", &arguments())]);
    person.offered("approval/request").await;
    life.waiting(&thread, &run).await;

    let mut life = life.crash(Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    let told = asked.history().pop().unwrap();
    assert!(told.contains("/credential is not the secret itself"), "{told}");
    assert_eq!(soon(thread.open_interactions()).await.unwrap().len(), 0, "nobody is asked about it any more");
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    asked.calls(&[("keep", &arguments())]);
    let offered = person.offered("approval/request").await;
    person.answers(&offered, json!({"decision": "accept"})).await;
    let offered = person.offered("tool/call").await;
    assert_eq!(offered.params()["arguments"]["credential"], SECRET);
    person.returns(&offered, "Kept.").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    without_it(&everything(&life, &thread).await);
    let refused = json!(["failed", "invalid_arguments", "none"]);
    assert_eq!(call_ends(&thread).await, [refused, json!(["completed", null, "done"])]);
}

#[tokio::test]
async fn what_a_client_was_doing_with_a_secret_when_its_daemon_died_is_unknown() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, keeper("allow")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("keep", &arguments())]);
    person.offered("tool/call").await;
    life.waiting(&thread, &run).await;

    let mut life = life.crash(Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    life.asked().await.ends("I shall look.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await, [json!(["outcomeUnknown", "outcome_unknown", "unknown"])]);
}

#[tokio::test]
async fn a_person_who_refused_one_secret_is_asked_about_another_of_the_same_length() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, keeper("ask")).await;
    let run = begin(&thread, "go").await;
    for _ in 0..2 {
        life.asked().await.calls(&[("keep", &arguments())]);
        let offered = person.offered("approval/request").await;
        person.answers(&offered, json!({"decision": "decline"})).await;
    }
    life.asked().await.ends("Well.");
    life.ended(&thread, &run).await;
    assert_eq!(completed(&thread).await.len(), 3);
}
