//! Who is there: what happens to questions nobody can answer.

use std::time::Duration;

use ropewalk_protocol::{Capabilities, RunStatus, Unattended};
use serde_json::json;

use super::{
    client::Person,
    life::{Life, asking, begin, call_ends, idle, request, soon},
};
use crate::engine::ThreadHandle;

const SECOND: Duration = Duration::from_secs(1);
const UNDELIVERABLE: [&str; 3] = ["undeliverable", "undeliverable", "none"];

/// A client that holds tools and can settle nothing.
fn mute(instance: &str) -> Person {
    Person::with(instance, true, Capabilities::default())
}

async fn ends_as(life: &mut Life, thread: &ThreadHandle, run: &ropewalk_protocol::RunId, end: [&str; 3]) {
    life.asked().await.ends("So be it.");
    life.ended(thread, run).await;
    assert_eq!(call_ends(thread).await, [json!(end)]);
}

#[tokio::test]
async fn with_nobody_attached_a_question_is_undeliverable_at_once() {
    let (mut life, person) = (Life::first().await, mute("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    ends_as(&mut life, &thread, &run, UNDELIVERABLE).await;
}

#[tokio::test]
async fn who_has_just_left_counts_for_a_while() {
    let (mut life, owner, person) = (Life::first().await, mute("in-A"), Person::new("in-B"));
    let thread = life.start(&owner, asking("write")).await;
    person.resume(&thread).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    person.breaks(&thread).await;
    asked.calls(&[("write", "{}")]);
    life.passes(4 * SECOND).await;
    let waiting = life.waiting(&thread, &run).await.waiting_on.unwrap();
    assert_eq!(waiting.can_answer, [], "nobody could answer at this moment");
    life.passes(SECOND).await;
    ends_as(&mut life, &thread, &run, UNDELIVERABLE).await;
}

#[tokio::test]
async fn who_left_on_purpose_does_not_count() {
    let (mut life, owner, person) = (Life::first().await, mute("in-A"), Person::new("in-B"));
    let thread = life.start(&owner, asking("write")).await;
    person.resume(&thread).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    thread.leave(person.end.connection(), true).await;
    person.breaks(&thread).await;
    asked.calls(&[("write", "{}")]);
    ends_as(&mut life, &thread, &run, UNDELIVERABLE).await;
}

#[tokio::test]
async fn who_comes_back_in_time_is_asked() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let first = person.offered("approval/request").await;
    person.breaks(&thread).await;
    life.passes(4 * SECOND).await;
    let mut back = Person::new("in-A");
    back.resume(&thread).await;
    let second = back.offered("approval/request").await;
    assert_eq!(second.id(), first.id());
    life.passes(10 * SECOND).await;
    back.answers(&second, json!({"decision": "accept"})).await;
    back.offered("tool/call").await;
}

#[tokio::test]
async fn ruling_7_not_i_of_everybody_is_undeliverable() {
    let (mut life, mut one, mut other) = (Life::first().await, Person::new("in-A"), Person::new("in-B"));
    let thread = life.start(&one, asking("write")).await;
    other.resume(&thread).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let offered = one.offered("approval/request").await;
    one.says_not_i(&offered).await;
    idle().await;
    let waiting = life.run(&thread, &run).await.waiting_on.unwrap();
    assert_eq!(waiting.can_answer, [other.end.client_ref().clone()]);
    let offered = other.offered("approval/request").await;
    other.says_not_i(&offered).await;
    ends_as(&mut life, &thread, &run, UNDELIVERABLE).await;
    assert_eq!(other.settled().await.interaction_id, *offered.id());
}

#[tokio::test]
async fn ruling_7_with_wait_it_stays_open_for_whoever_attaches() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = soon(thread.submit(request(&thread, "go", Unattended::Wait))).await.unwrap().run_id.unwrap();
    life.asked().await.calls(&[("write", "{}")]);
    let offered = person.offered("approval/request").await;
    person.says_not_i(&offered).await;
    life.passes(600 * SECOND).await;
    assert_eq!(life.run(&thread, &run).await.state, RunStatus::Waiting);
    let mut late = Person::new("in-B");
    late.resume(&thread).await;
    let offered = late.offered("approval/request").await;
    late.answers(&offered, json!({"decision": "decline", "note": "not today"})).await;
    ends_as(&mut life, &thread, &run, ["refused", "declined", "none"]).await;
}

#[tokio::test]
async fn an_approval_that_nobody_answers_expires() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let offered = person.offered("approval/request").await;
    assert_eq!(offered.params()["expiresAt"], "2026-11-30T10:15:00Z");
    life.passes(900 * SECOND).await;
    ends_as(&mut life, &thread, &run, ["expired", "expired", "none"]).await;
    assert_eq!(person.settled().await.outcome, ropewalk_protocol::Outcome::Expired);
}

#[tokio::test]
async fn two_connections_of_one_instance_count_as_one_that_can_answer() {
    let (mut life, one, between) = (Life::first().await, Person::new("in-A"), Person::new("in-B"));
    let again = Person::new("in-A");
    let thread = life.start(&one, asking("write")).await;
    between.resume(&thread).await;
    again.resume(&thread).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let waiting = life.waiting(&thread, &run).await.waiting_on.unwrap();
    assert_eq!(waiting.can_answer.len(), 2);
}

#[tokio::test]
async fn the_first_of_two_answers_counts_and_both_are_told_precisely() {
    let (mut life, mut one, mut other) = (Life::first().await, Person::new("in-A"), Person::new("in-B"));
    let thread = life.start(&one, asking("write")).await;
    other.resume(&thread).await;
    begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let (first, _) = (one.offered("approval/request").await, other.offered("approval/request").await);
    life.store.hold(true);
    let settle = |person: &Person, answer: serde_json::Value| {
        let (thread, client, id) = (thread.clone(), person.end.client_ref().clone(), first.id().clone());
        tokio::spawn(async move { thread.settle(client, id, answer, None).await })
    };
    let yes = settle(&one, json!({"decision": "accept"}));
    idle().await;
    let no = settle(&other, json!({"decision": "decline"}));
    let again = settle(&one, json!({"decision": "accept"}));
    idle().await;
    assert!(!yes.is_finished() && !no.is_finished(), "nobody is told before it is durable");
    life.store.hold(false);
    assert!(!soon(yes).await.unwrap().unwrap().replayed);
    assert!(soon(again).await.unwrap().unwrap().replayed);
    let refused = soon(no).await.unwrap().unwrap_err();
    assert_eq!(refused.code, -32009);
    assert_eq!(other.settled().await.by.instance_id.unwrap().as_str(), "in-A");
    let late =
        soon(thread.settle(other.end.client_ref().clone(), first.id().clone(), json!({"decision": "accept"}), None));
    assert_eq!(late.await.unwrap_err().code, -32009);
}

#[tokio::test]
async fn k50_what_a_client_is_asked_while_it_attaches_it_is_asked_once() {
    let (mut life, one, mut late) = (Life::first().await, Person::new("in-A"), Person::new("in-B"));
    let thread = life.start(&one, asking("write")).await;
    begin(&thread, "go").await;
    let asked = life.asked().await;
    late.attaches(&thread).await;
    // As after a start, when runs are taken up between a resume and its answer.
    asked.calls(&[("write", "{}")]);
    let first = late.offered("approval/request").await;
    thread.offer_open(late.end.clone()).await;
    idle().await;
    assert_eq!(late.unread(), 0, "one request for one question");
    late.resume(&thread).await;
    let again = late.offered("approval/request").await;
    assert!(again.offer.attempt > first.offer.attempt, "attaching again asks for it again");
}
