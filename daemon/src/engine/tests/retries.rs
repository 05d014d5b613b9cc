//! Failed attempts at a step: waits that are seen, can be ended and survive the daemon, and the end of trying.

use std::time::Duration;

use ropewalk_protocol::{
    Item, ItemBody, ItemState, OutcomeStatus, Run, RunErrorKind, RunId, RunStatus, Severity, WaitingKind,
};

use super::{
    client::Person,
    life::{Life, begin, completed, idle, plain, types},
};
use crate::engine::{StopTarget, ThreadHandle, Turn};

const SECOND: Duration = Duration::from_secs(1);

/// Lets the wait of a run pass, exactly as long as it says; returns how long it was.
async fn wait_passes(life: &Life, thread: &ThreadHandle, run: &RunId) -> Duration {
    let waiting = life.waiting(thread, run).await.waiting_on.unwrap();
    let wait = waiting.deadline_at.unwrap().millis_since(waiting.since);
    life.passes(Duration::from_millis(wait - 1)).await;
    assert!(!life.is_asked(), "nobody is asked before the wait is over");
    life.passes(Duration::from_millis(1)).await;
    Duration::from_millis(wait)
}

/// The texts that were said, with the state of their items.
async fn texts(thread: &ThreadHandle) -> Vec<(String, bool, ItemState)> {
    let said = |item: Item| match item.body {
        ItemBody::AssistantMessage { text, incomplete, .. } => Some((text, incomplete, item.state)),
        _ => None,
    };
    completed(thread).await.into_iter().filter_map(said).collect()
}

async fn notices(thread: &ThreadHandle) -> Vec<(String, String, Option<Severity>)> {
    let said = |item: Item| match item.body {
        ItemBody::Notice { code, text } => Some((code, text, item.severity)),
        _ => None,
    };
    completed(thread).await.into_iter().filter_map(said).collect()
}

fn error(run: Run) -> ropewalk_protocol::RunError {
    run.outcome.unwrap().error.unwrap()
}

#[tokio::test]
async fn l17_the_wait_is_as_long_as_was_asked_for_and_everybody_sees_it() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.fails_for_now(RunErrorKind::RateLimited, Some(3_000));
    let waiting = life.waiting(&thread, &run).await.waiting_on.unwrap();
    assert_eq!((waiting.kind, waiting.interaction_id.is_none()), (WaitingKind::Endpoint, true));
    assert!(waiting.can_answer.is_empty(), "nobody can end it");
    let waited = wait_passes(&life, &thread, &run).await;
    assert!(waited >= 3 * SECOND && waited < 4 * SECOND, "{waited:?}");
    let again = life.asked().await;
    let going = life.run(&thread, &run).await;
    assert_eq!((going.state, going.waiting_on), (RunStatus::Running, None));
    assert_eq!(again.history(), ["user: go"], "a notice is not for the model");
    let notices = notices(&thread).await;
    let (code, text, severity) = &notices[0];
    assert_eq!((code.as_str(), *severity), ("retrying", Some(Severity::Warning)));
    let expected = "Too many requests at scripted (rateLimited). Trying again at 10:00:03 UTC, attempt 2 of 5.";
    assert_eq!(text.to_lowercase(), expected.to_lowercase());
    again.ends("Done.");
    assert_eq!(life.ended(&thread, &run).await.outcome.unwrap().text.as_deref(), Some("Done."));
    let expected = ["itemCompleted", "runState", "runState", "itemStarted", "itemCompleted", "runCompleted"];
    assert_eq!(types(&thread).await[4..], expected);
}

#[tokio::test]
async fn l25_after_five_attempts_the_run_fails_and_says_what_was_tried() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    for kind in [RunErrorKind::RateLimited, RunErrorKind::Overloaded, RunErrorKind::Overloaded, RunErrorKind::CutOff] {
        life.asked().await.fails_for_now(kind, None);
        wait_passes(&life, &thread, &run).await;
    }
    life.asked().await.fails_for_now(RunErrorKind::RateLimited, Some(7_000));
    let error = error(life.ended(&thread, &run).await);
    assert_eq!((error.kind, error.retryable), (RunErrorKind::RateLimited, true));
    assert_eq!((error.retry_after_ms, error.provider.as_deref()), (Some(7_000), Some("Scripted")));
    let (first, rest) = error.message.split_once(" over ").unwrap();
    assert_eq!(first, "It did not work. (5 attempts");
    assert!(rest.ends_with(" s: rateLimited ×2, overloaded ×2, cutOff ×1)"), "{rest}");
    assert_eq!(notices(&thread).await.len(), 4);
    idle().await;
    assert!(!life.is_asked());
}

#[tokio::test]
async fn l25_a_failure_that_would_come_again_is_not_repeated() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.fails();
    let error = error(life.ended(&thread, &run).await);
    assert_eq!(error.message, "The answer was cut off.");
    assert_eq!(notices(&thread).await, []);
}

#[tokio::test]
async fn a_provider_that_asks_for_hours_fails_the_run_at_once() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.fails_for_now(RunErrorKind::RateLimited, Some(7_200_000));
    let error = error(life.ended(&thread, &run).await);
    assert_eq!((error.kind, error.retry_after_ms), (RunErrorKind::RateLimited, Some(7_200_000)));
    assert!(error.message.contains("asks for a wait of 120 min"), "{}", error.message);
}

#[tokio::test]
async fn l12_the_text_of_a_failed_attempt_is_kept_and_stays_out_of_the_chain() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Half a sent");
    asked.fails_for_now(RunErrorKind::CutOff, None);
    wait_passes(&life, &thread, &run).await;
    assert_eq!(texts(&thread).await, [("Half a sent".to_owned(), true, ItemState::Failed)]);
    let again = life.asked().await;
    assert_eq!(again.history(), ["user: go"]);
    again.says("Once ");
    idle().await;
    let streaming = |turn: &mut Turn<'_>| Ok(turn.live.texts.values().map(|streamed| streamed.text.clone()).collect());
    let streaming: Vec<String> = thread.turn(streaming).await.unwrap();
    assert_eq!(streaming, ["Once "], "what is said now begins anew");
    again.says("more.");
    again.ends("Once more.");
    life.ended(&thread, &run).await;
    assert_eq!(texts(&thread).await[1], ("Once more.".to_owned(), false, ItemState::Completed));
    assert_eq!(life.said(&thread).await, ["User: go", "Assistant: Once more."]);
}

#[tokio::test]
async fn l12_a_run_that_gives_up_keeps_the_last_text_in_the_chain() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    for said in ["One", "Two", "Three", "Four"] {
        let asked = life.asked().await;
        asked.says(said);
        asked.fails_for_now(RunErrorKind::CutOff, None);
        wait_passes(&life, &thread, &run).await;
    }
    let asked = life.asked().await;
    asked.says("Five");
    asked.fails_for_now(RunErrorKind::CutOff, None);
    let ended = life.ended(&thread, &run).await;
    assert_eq!(ended.outcome.unwrap().status, OutcomeStatus::Failed);
    let texts = texts(&thread).await;
    assert_eq!(texts.len(), 5);
    assert!(texts.iter().all(|(_, incomplete, state)| *incomplete && *state == ItemState::Failed));
    assert_eq!(life.said(&thread).await, ["User: go", "Assistant: Five"]);
    begin(&thread, "and?").await;
    assert_eq!(life.asked().await.history(), ["user: go", "assistant: Five", "user: and?"]);
}

#[tokio::test]
async fn l12_no_call_is_made_before_the_answer_is_whole_and_none_is_made_twice() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    life.asked().await.fails_for_now(RunErrorKind::Unreachable, None);
    life.waiting(&thread, &run).await;
    // What the person was told of the first call is over; nothing more is asked of it.
    idle().await;
    let unread = person.unread();
    wait_passes(&life, &thread, &run).await;
    let again = life.asked().await;
    assert_eq!(again.history(), ["user: go", "assistant: ", "tool: seen"]);
    assert_eq!(person.unread(), unread);
    again.ends("Done.");
    let ended = life.ended(&thread, &run).await;
    assert_eq!((ended.tool_calls, ended.steps), (1, 2), "an attempt that failed is no step");
}

#[tokio::test]
async fn l17_a_stop_ends_the_wait_at_once() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Half");
    asked.fails_for_now(RunErrorKind::RateLimited, Some(60_000));
    life.waiting(&thread, &run).await;
    thread.stop(StopTarget::Run(run.clone()), person.end.client_ref().clone(), None).await.unwrap();
    let ended = life.ended(&thread, &run).await;
    assert_eq!((ended.state, ended.waiting_on), (RunStatus::Stopped, None));
    life.passes(120 * SECOND).await;
    assert!(!life.is_asked());
    assert_eq!(life.said(&thread).await, ["User: go"], "what had failed before the stop is not said");
}

#[tokio::test]
async fn l13_an_answer_that_trickles_for_ever_ends_with_what_was_said() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    for _ in 0..30 {
        asked.says("drop ");
        life.passes(59 * SECOND).await;
    }
    assert_eq!(life.run(&thread, &run).await.state, RunStatus::Running);
    life.passes(30 * SECOND).await;
    let error = error(life.ended(&thread, &run).await);
    assert_eq!(error.kind, RunErrorKind::Stalled);
    assert_eq!(error.message, "The model's answer was not complete after 30 minutes; no more of it was taken.");
    assert!(asked.is_dropped());
    assert_eq!(texts(&thread).await, [("drop ".repeat(30), true, ItemState::Failed)]);
}

#[tokio::test]
async fn l13_the_waits_of_a_step_end_with_the_time_it_may_take() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    life.passes(28 * 60 * SECOND).await;
    asked.fails_for_now(RunErrorKind::Overloaded, Some(300_000));
    life.waiting(&thread, &run).await;
    life.passes(119 * SECOND).await;
    assert_eq!(life.run(&thread, &run).await.state, RunStatus::Waiting);
    life.passes(SECOND).await;
    let error = error(life.ended(&thread, &run).await);
    let expected = "It did not work. It was not asked again: the 30 min that a step may take are over.";
    assert_eq!((error.kind, error.message.as_str()), (RunErrorKind::Overloaded, expected));
    assert!(!life.is_asked());
}

#[tokio::test]
async fn l13_a_stop_during_silence_ends_it_at_once() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Half");
    idle().await;
    thread.stop(StopTarget::Run(run.clone()), person.end.client_ref().clone(), None).await.unwrap();
    life.ended(&thread, &run).await;
    idle().await;
    assert!(asked.is_dropped());
    assert_eq!(texts(&thread).await, [("Half".to_owned(), true, ItemState::Cancelled)]);
}

#[tokio::test]
async fn ruling_15_a_wait_is_parked_and_the_next_daemon_asks_again() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.fails_for_now(RunErrorKind::Overloaded, Some(200_000));
    life.waiting(&thread, &run).await;
    life.engine().park().await;
    let parked = life.run(&thread, &run).await;
    assert_eq!((parked.state, parked.reason.as_deref()), (RunStatus::Paused, Some("shutdown")));
    assert_eq!(parked.waiting_on, None);
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert_eq!(life.run(&thread, &run).await.state, RunStatus::Running);
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn a_crash_during_a_wait_asks_again_without_it() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.fails_for_now(RunErrorKind::Overloaded, Some(200_000));
    life.waiting(&thread, &run).await;
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    let going = life.run(&thread, &run).await;
    assert_eq!((going.state, going.waiting_on), (RunStatus::Running, None));
    assert_eq!(asked.history(), ["user: go"]);
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}
