//! Runs that go in a circle.

use std::time::Duration;

use ropewalk_protocol::{ItemBody, RunErrorKind, RunId, RunStatus};

use super::{
    client::Person,
    life::{Life, begin, call_ends, completed, plain},
    model::Asked,
};
use crate::engine::ThreadHandle;

/// The model makes one call of `look`, which comes to `result`.
async fn step(life: &mut Life, person: &mut Person, result: &str) {
    life.asked().await.calls(&[("look", "{\"a\":1,\"b\":2}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, result).await;
}

fn was_told(asked: &Asked) -> usize {
    let said_by = |message: &std::sync::Arc<crate::domain::ChainMessage>| {
        message.message.sender.as_ref().and_then(|sender| sender.intent.clone())
    };
    asked.request.messages.iter().filter(|message| said_by(message).as_deref() == Some("loopNotice")).count()
}

async fn notices(thread: &ThreadHandle) -> usize {
    let items = completed(thread).await;
    items.iter().filter(|item| matches!(&item.body, ItemBody::Notice { code, .. } if code == "loop")).count()
}

async fn looking(names: &[&str]) -> (Life, Person, ThreadHandle, RunId) {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(names)).await;
    let run = begin(&thread, "go").await;
    (life, person, thread, run)
}

#[tokio::test]
async fn k12_three_steps_that_repeat_are_told_and_ten_end_the_run_as_stuck() {
    let (mut life, mut person, thread, run) = looking(&["look"]).await;
    for _ in 0..4 {
        let asked = life.asked().await;
        assert_eq!(was_told(&asked), 0);
        asked.calls(&[("look", "{\"a\":1,\"b\":2}")]);
        let offered = person.offered("tool/call").await;
        person.returns(&offered, "the same").await;
    }
    let asked = life.asked().await;
    assert_eq!((was_told(&asked), notices(&thread).await), (1, 1), "the first step and three that repeat it");
    // The same arguments in another order are the same.
    asked.calls(&[("look", "{\"b\":2, \"a\":1}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "the same").await;
    for _ in 0..6 {
        step(&mut life, &mut person, "the same").await;
    }
    let ended = life.ended(&thread, &run).await;
    let error = ended.outcome.unwrap().error.unwrap();
    assert_eq!((error.kind, ended.steps), (RunErrorKind::Stuck, 11));
    assert!(error.message.contains("look {"), "{}", error.message);
    assert_eq!(notices(&thread).await, 1, "it is told once");
    assert!(life.said(&thread).await.last().unwrap().starts_with("Tool"), "every call has its result");
}

#[tokio::test]
async fn k12_a_poll_whose_results_differ_is_no_repetition() {
    let (mut life, mut person, thread, run) = looking(&["look"]).await;
    for number in 0..15 {
        step(&mut life, &mut person, &format!("{number} of 15")).await;
    }
    let asked = life.asked().await;
    assert_eq!((was_told(&asked), notices(&thread).await), (0, 0));
    asked.ends("Done.");
    assert_eq!(life.ended(&thread, &run).await.state, RunStatus::Completed);
}

#[tokio::test]
async fn k12_a_circle_is_noticed_over_a_crash_and_news_break_the_row() {
    let (mut life, mut person, thread, _) = looking(&["look"]).await;
    for result in ["one", "two", "one"] {
        step(&mut life, &mut person, result).await;
    }
    drop(life.asked().await);
    let mut life = life.crash(Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    step(&mut life, &mut person, "two").await;
    step(&mut life, &mut person, "one").await;
    let asked = life.asked().await;
    assert_eq!(was_told(&asked), 1, "one, two, and three that repeat them");
    asked.calls(&[("look", "{\"other\":true}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "one").await;
    for _ in 0..2 {
        step(&mut life, &mut person, "one").await;
    }
    let asked = life.asked().await;
    assert_eq!(was_told(&asked), 1, "the row began again");
    asked.ends("Done.");
}

#[tokio::test]
async fn ten_equal_calls_of_one_message_are_one_step() {
    let (mut life, mut person, thread, run) = looking(&["look"]).await;
    life.asked().await.calls(&[("look", "{}"); 10]);
    for _ in 0..10 {
        let offered = person.offered("tool/call").await;
        person.returns(&offered, "the same").await;
    }
    let asked = life.asked().await;
    assert_eq!((was_told(&asked), notices(&thread).await), (0, 0));
    asked.ends("Done.");
    assert_eq!(life.ended(&thread, &run).await.state, RunStatus::Completed);
}

#[tokio::test]
async fn l31_a_tool_that_is_none_is_answered_so_each_time_and_costs_no_other_call_anything() {
    let (mut life, mut person, thread, run) = looking(&["look"]).await;
    life.asked().await.calls(&[
        ("nope", "{}"),
        ("look", "{}"),
        ("nope", "{}"),
        ("nope", "{}"),
        ("nope", "{}"),
        ("nope", "{}"),
    ]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    life.asked().await.ends("Done.");
    assert_eq!(life.ended(&thread, &run).await.state, RunStatus::Completed);
    let ends = call_ends(&thread).await;
    let unknown = serde_json::json!(["failed", "unknown_tool", "none"]);
    assert_eq!(ends.iter().filter(|end| **end == unknown).count(), 5);
    assert_eq!(ends[1], serde_json::json!(["completed", null, "done"]));
    assert_eq!(person.unread(), 1, "only the settlement of the one call: nobody was asked anything");
}

#[tokio::test]
async fn l31_a_tool_that_is_none_in_step_after_step_is_a_circle() {
    let (mut life, _person, thread, _) = looking(&["look"]).await;
    for _ in 0..4 {
        life.asked().await.calls(&[("nope", "{}")]);
    }
    let asked = life.asked().await;
    assert_eq!((was_told(&asked), notices(&thread).await), (1, 1));
    asked.ends("There is no such tool.");
}

#[tokio::test]
async fn l32_a_long_result_is_cut_visibly_and_asking_for_it_again_and_again_is_noticed() {
    let (mut life, mut person, thread, run) = looking(&["look"]).await;
    let long = "x".repeat(300_000);
    for _ in 0..10 {
        step(&mut life, &mut person, &long).await;
    }
    let asked = life.asked().await;
    assert!(asked.history()[2].contains("of 300000 characters"), "the marker says how much was cut");
    assert_eq!((was_told(&asked), notices(&thread).await), (1, 1));
    asked.ends("It is too long.");
    life.ended(&thread, &run).await;
}
