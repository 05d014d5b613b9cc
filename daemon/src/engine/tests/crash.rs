//! A crash in every phase of a run: it goes on where it was, and nothing is asked or done twice.

use std::time::Duration;

use ropewalk_protocol::{OutcomeStatus, RunStatus, Unattended};
use serde_json::json;

use super::{
    client::Person,
    life::{Life, asking, begin, call_ends, idle, plain, request, soon, types},
};
use crate::store::FailPoint;

const SECOND: Duration = Duration::from_secs(1);
const GRACE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn between_steps_the_run_goes_on_with_its_next_step() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    let _between = life.asked().await;
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: go", "assistant: ", "tool: seen"]);
    asked.ends("Done.");
    assert_eq!(life.ended(&thread, &run).await.steps, 2, "every step is counted once");
}

#[tokio::test]
async fn k50_an_open_approval_is_the_same_one_and_is_offered_with_a_higher_attempt() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", r#"{"n":1}"#)]);
    let before = person.offered("approval/request").await;
    assert_eq!(before.params()["attempt"], 1);

    let life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    assert_eq!(life.waiting(&thread, &run).await.state, RunStatus::Waiting);
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    let second = person.offered("approval/request").await;
    assert_eq!((second.id(), second.params()["arguments"].clone()), (before.id(), json!({"n": 1})));
    let attempt = second.offer.attempt;
    assert!(attempt > 1);

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    idle().await;
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    let third = person.offered("approval/request").await;
    assert!(third.offer.attempt > attempt, "attempts grow over every crash");
    person.answers(&third, json!({"decision": "accept"})).await;
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "written").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(life.said(&thread).await[2..], ["Tool: written", "Assistant: Done."]);
    let asked = types(&thread).await.iter().filter(|name| *name == "interactionOpened").count();
    assert_eq!(asked, 2, "one approval and one call, whatever happened in between");
}

#[tokio::test]
async fn a_call_that_a_person_allowed_is_not_asked_about_again() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let approval = person.offered("approval/request").await;
    person.answers(&approval, json!({"decision": "accept"})).await;
    let before = person.offered("tool/call").await;

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    idle().await;
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    let again = person.offered("tool/call").await;
    assert_eq!(again.id(), before.id(), "the client knows the call and does not start it twice");
    assert!(again.offer.attempt > before.offer.attempt);
    person.returns(&again, "written").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let item = super::life::completed(&thread).await.remove(0);
    let item = serde_json::to_value(item).unwrap();
    assert_eq!(item["decision"]["decision"], "accept", "the person's word stands");
    assert_eq!(item["decision"]["via"], "person");
}

#[tokio::test]
async fn an_owner_that_stays_away_leaves_the_outcome_unknown() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    person.offered("tool/call").await;
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    life.passes(GRACE - SECOND).await;
    assert_eq!(life.run(&thread, &run).await.state, RunStatus::Waiting, "it has its time to come back");
    life.passes(SECOND).await;
    life.asked().await.ends("It may have happened.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await, [json!(["outcomeUnknown", "outcome_unknown", "unknown"])]);
}

#[tokio::test]
async fn an_owner_that_was_never_there_leaves_no_effect() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    person.breaks(&thread).await;
    asked.calls(&[("look", "{}")]);
    life.passes(GRACE).await;
    life.asked().await.ends("Nobody looked.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await, [json!(["failed", "owner_away", "none"])]);
}

#[tokio::test]
async fn half_a_batch_goes_on_with_its_other_half() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look", "find"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}"), ("find", "{}"), ("look", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "one").await;
    let second = person.offered("tool/call").await;
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    assert_eq!(life.said(&thread).await, ["User: go"], "half a batch is in no chain");
    idle().await;
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    let again = person.offered("tool/call").await;
    assert_eq!((again.id(), &again.params()["tool"]), (second.id(), &json!("find")));
    person.returns(&again, "two").await;
    let third = person.offered("tool/call").await;
    person.returns(&third, "three").await;
    assert_eq!(life.asked().await.history()[2..], ["tool: one", "tool: two", "tool: three"]);
    assert_eq!(life.run(&thread, &run).await.tool_calls, 3);
}

#[tokio::test]
async fn a_tool_that_went_with_its_client_leaves_the_outcome_unknown() {
    let life = Life::first().await;
    let mut person = Person::with("in-A", false, ropewalk_protocol::Capabilities::default());
    let thread = life.start(&person, plain(&["look"])).await;
    let mut life = life;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    person.offered("tool/call").await;
    person.breaks(&thread).await;
    idle().await;
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    life.asked().await.ends("It may have happened.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await, [json!(["outcomeUnknown", "outcome_unknown", "unknown"])]);
}

#[tokio::test]
async fn a_rule_that_was_set_just_before_the_crash_settles_the_approval_that_led_to_it() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    person.offered("approval/request").await;
    let params = serde_json::from_value(json!({
        "level": "thread", "threadId": thread.id(), "tool": {"source": "client:bot", "name": "write"}, "decision": "allow",
    }));
    let caller = crate::catalogue::Caller { client: None, operation: None };
    let origin = ropewalk_protocol::PolicyOrigin::Owner;
    life.daemon.catalogue.set_policy(caller, origin, params.unwrap()).await.unwrap();
    let life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    idle().await;
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    person.offered("tool/call").await;
    let settled: Vec<_> = types(&thread).await.into_iter().filter(|name| name.starts_with("interaction")).collect();
    assert_eq!(settled, ["interactionOpened", "interactionSettled", "interactionOpened"]);
}

#[tokio::test]
async fn ruling_9_a_deadline_that_passed_while_no_daemon_ran_leaves_time_to_come_back() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = soon(thread.submit(request(&thread, "go", Unattended::Wait))).await.unwrap().run_id.unwrap();
    life.asked().await.calls(&[("write", "{}")]);
    person.offered("approval/request").await;
    let mut life = life.crash(Duration::from_secs(24 * 3_600)).await;
    let thread = life.thread(thread.id());
    life.passes(GRACE - SECOND).await;
    assert_eq!(life.run(&thread, &run).await.state, RunStatus::Waiting);
    life.passes(SECOND).await;
    life.asked().await.ends("Nobody said anything.");
    let ended = life.ended(&thread, &run).await;
    assert_eq!(ended.outcome.unwrap().status, OutcomeStatus::Completed);
    assert_eq!(call_ends(&thread).await, [json!(["expired", "expired", "none"])]);
}

#[tokio::test]
async fn ruling_9_the_ceiling_of_a_call_counts_only_the_time_a_daemon_ran() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let deadline = |offered: &super::client::Offered| -> ropewalk_protocol::Timestamp {
        serde_json::from_value(offered.params()["deadlineAt"].clone()).unwrap()
    };
    let mut ends_at = deadline(&person.offered("tool/call").await);
    let mut thread_id = thread.id().clone();
    for down in [Duration::from_secs(24 * 3_600), SECOND] {
        life = life.crash(down).await;
        let thread = life.thread(&thread_id);
        idle().await;
        person = Person::new("in-A");
        person.resume(&thread).await;
        ends_at = ends_at.plus_millis(u64::try_from(down.as_millis()).unwrap());
        assert_eq!(deadline(&person.offered("tool/call").await), ends_at, "after {down:?} without a daemon");
        assert_eq!(life.run(&thread, &run).await.state, RunStatus::Waiting);
        thread_id = thread.id().clone();
    }
}

#[tokio::test]
async fn k38_a_record_that_the_index_misses_is_read_with_every_fact_before_it() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    let _asked = life.asked().await;
    // The index is built from the log here, and what the next life writes first is a fact without an event.
    let mut life = life.crash(6 * SECOND).await;
    let asked = life.asked().await;
    life.passes(2 * SECOND).await;
    life.store.store.fail_next(FailPoint::HangAfterSync);
    asked.calls(&[("look", "{}")]);
    idle().await;
    let life = life.crash(SECOND).await;
    let used = soon(life.thread(thread.id()).turn(move |turn| Ok(turn.state().runs[&run].used(turn.change.at)))).await;
    assert_eq!(used.unwrap().worked_ms, 2_000, "the run worked in one life, before its call was written");
}

#[tokio::test]
async fn tools_of_a_process_that_cannot_come_back_are_free_for_the_next_one() {
    let life = Life::first().await;
    let person = Person::with("in-A", false, ropewalk_protocol::Capabilities::default());
    let thread = life.start(&person, plain(&["look"])).await;
    let life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let person = Person::with("in-B", false, ropewalk_protocol::Capabilities::default());
    let resume = crate::engine::Resume {
        client: person.end.clone(),
        tools: Some(plain(&["look"])),
        after: None,
        takeover: false,
        subscribe: false,
        operation: None,
    };
    let resumed = soon(thread.resume(resume)).await.unwrap();
    let tool = resumed.answer.tools.into_iter().find(|tool| tool.flat_name == "look").unwrap();
    assert_eq!(tool.owner.unwrap().instance_id.as_str(), "in-B");
}

/// A run that comes to ask a person behind a crash, before any client is back.
async fn asks_behind_a_crash() -> (Life, crate::engine::ThreadHandle, ropewalk_protocol::RunId) {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    let _asked = life.asked().await;
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    life.asked().await.calls(&[("write", "{}")]);
    let waiting = life.waiting(&thread, &run).await.waiting_on.unwrap();
    assert_eq!(waiting.can_answer, [], "nobody is back yet");
    (life, thread, run)
}

#[tokio::test]
async fn dyn_20_what_a_run_asks_before_its_clients_are_back_waits_for_them() {
    let (mut life, thread, run) = asks_behind_a_crash().await;
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    let offered = person.offered("approval/request").await;
    person.answers(&offered, json!({"decision": "accept"})).await;
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "written").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(life.said(&thread).await[2..], ["Tool: written", "Assistant: Done."]);
}

#[tokio::test]
async fn what_a_run_asks_behind_a_crash_is_undeliverable_when_nobody_comes_back() {
    let (mut life, thread, run) = asks_behind_a_crash().await;
    life.passes(GRACE - SECOND).await;
    life.waiting(&thread, &run).await;
    life.passes(SECOND).await;
    life.asked().await.ends("So be it.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await[0][0], "undeliverable");
}
