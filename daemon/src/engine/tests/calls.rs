//! Calls: how often, with what result, and who is told.

use std::time::Duration;

use ropewalk_protocol::{PolicyOrigin, RunStatus, Severity};
use serde_json::json;

use super::{
    client::Person,
    life::{Life, begin, call_ends, completed, idle, plain, tools},
};
use crate::catalogue::Caller;

#[tokio::test]
async fn a_limit_of_calls_counts_this_tool_up_to_this_call() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look", "find"])).await;
    let params = serde_json::from_value(json!({
        "level": "thread", "threadId": thread.id(), "tool": {"source": "client:bot", "name": "look"},
        "decision": "allow", "maxCallsPerRun": 2,
    }));
    let caller = Caller { client: None, operation: None };
    life.daemon.catalogue.set_policy(caller, PolicyOrigin::Owner, params.unwrap()).await.unwrap();
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}"), ("find", "{}"), ("look", "{}"), ("look", "{}")]);
    for _ in 0..3 {
        let offered = person.offered("tool/call").await;
        person.returns(&offered, "seen").await;
    }
    life.asked().await.calls(&[("look", "{}"), ("find", "{}")]);
    let offered = person.offered("tool/call").await;
    assert_eq!(offered.params()["tool"], "find");
    person.returns(&offered, "found").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let (done, refused) = (json!(["completed", null, "done"]), json!(["refused", "call_limit", "none"]));
    let expected = [&done, &done, &done, &refused, &refused, &done].map(Clone::clone);
    assert_eq!(call_ends(&thread).await, expected);
}

#[tokio::test]
async fn a_result_without_the_structure_its_tool_promised_is_shown_with_a_warning() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let thread = life.start(&person, tools(&[("look", json!({"outputSchema": schema}))])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}"), ("look", "{}"), ("look", "{}")]);
    let content = json!([{"type": "text", "text": "seen"}]);
    for structured in [json!(null), json!({"n": 1}), json!({"n": "one"})] {
        let offered = person.offered("tool/call").await;
        let answer = json!({"success": true, "contentItems": content, "structuredContent": structured});
        person.answers(&offered, answer).await;
    }
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let severities: Vec<_> = completed(&thread).await.into_iter().filter_map(|item| item.severity).collect();
    assert_eq!(severities, [Severity::Warning, Severity::Info, Severity::Error]);
    let ends = call_ends(&thread).await;
    assert_eq!(ends[2], json!(["failed", "invalid_result", "done"]));
}

#[tokio::test]
async fn ruling_4_a_refused_answer_is_asked_for_again_three_times_and_then_counts_as_not_i() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, super::life::asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let mut attempts = Vec::new();
    for _ in 0..4 {
        let offered = person.offered("approval/request").await;
        attempts.push(offered.offer.attempt);
        person.answers(&offered, json!({"decision": "perhaps"})).await;
        assert_eq!(person.refused().await.path, "/decision");
    }
    assert!(attempts.is_sorted_by(|one, next| one < next), "{attempts:?}");
    life.asked().await.ends("Nobody could be asked.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await, [json!(["undeliverable", "undeliverable", "none"])]);
}

#[tokio::test]
async fn a_silent_client_ends_as_timeout_and_signs_of_life_put_that_off() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, tools(&[("look", json!({"timeoutMs": 10_000}))])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    let deadline = |run: ropewalk_protocol::Run| run.waiting_on.unwrap().deadline_at.unwrap().to_string();
    assert_eq!(deadline(life.waiting(&thread, &run).await), "2026-11-30T10:00:10Z");
    life.passes(Duration::from_secs(9)).await;
    let params = json!({"interactionId": offered.id()});
    thread.progress(person.end.client_ref().clone(), serde_json::from_value(params).unwrap()).await;
    assert_eq!(deadline(life.run(&thread, &run).await), "2026-11-30T10:00:19Z", "the sooner of silence and ceiling");
    life.passes(Duration::from_secs(9)).await;
    assert_eq!(person.unread(), 0);
    life.passes(Duration::from_secs(1)).await;
    life.asked().await.ends("It said nothing.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await, [json!(["failed", "timeout", "unknown"])]);
}

#[tokio::test]
async fn silence_starts_anew_when_the_owner_comes_back() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, tools(&[("look", json!({"timeoutMs": 10_000}))])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    person.offered("tool/call").await;
    idle().await;
    person.breaks(&thread).await;
    life.passes(Duration::from_secs(20)).await;
    let mut back = Person::new("in-A");
    back.resume(&thread).await;
    let offered = back.offered("tool/call").await;
    life.passes(Duration::from_secs(9)).await;
    back.returns(&offered, "seen").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await, [json!(["completed", null, "done"])]);
}

#[tokio::test]
async fn app_209_a_message_may_carry_1024_calls_and_not_one_more() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&vec![("nothing", "{}"); 1_024]);
    life.asked().await.ends("Done.");
    let ended = life.ended(&thread, &run).await;
    assert_eq!(ended.state, RunStatus::Completed);
    assert_eq!(call_ends(&thread).await.len(), 1_024);

    let run = begin(&thread, "go on").await;
    life.asked().await.calls(&vec![("nothing", "{}"); 1_025]);
    let ended = life.ended(&thread, &run).await;
    assert_eq!(ended.state, RunStatus::Failed);
    assert_eq!(call_ends(&thread).await.len(), 1_024, "none of them is made");
}
