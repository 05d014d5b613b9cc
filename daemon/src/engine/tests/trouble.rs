//! Storage trouble while runs are under way: nobody is left behind, and no model is asked again and again.

use std::time::Duration;

use ropewalk_protocol::{OutcomeStatus, RunErrorKind};

use super::{
    client::Person,
    life::{Life, begin, idle, plain, soon, submit},
};
use crate::{engine::StopTarget, store::FailPoint};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn k38_a_run_whose_answer_cannot_be_stored_ends_as_failed_once_it_can() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    life.store.store.fail_next(FailPoint::Full);
    asked.ends("Done.");
    idle().await;
    assert!(!life.run(&thread, &run).await.state.is_terminal());
    // One second, then two: each try that fails doubles the wait.
    life.store.store.fail_next(FailPoint::Full);
    life.passes(SECOND).await;
    life.passes(SECOND).await;
    assert!(!life.run(&thread, &run).await.state.is_terminal(), "the second try is two seconds after the first");
    life.passes(SECOND).await;
    let outcome = life.ended(&thread, &run).await.outcome.unwrap();
    assert_eq!((outcome.status, outcome.error.unwrap().kind), (OutcomeStatus::Failed, RunErrorKind::Storage));
    assert!(!life.is_asked(), "no model was asked again");
    assert_eq!(life.said(&thread).await, ["User: go"]);

    begin(&thread, "again").await;
    life.asked().await.ends("Done.");
    life.crash(SECOND).await;
}

#[tokio::test]
async fn k38_a_batch_is_taken_up_again_and_its_call_is_not_started_twice() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    life.store.store.fail_next(FailPoint::Sync);
    person.returns(&offered, "seen").await;
    life.passes(SECOND).await;
    let again = person.offered("tool/call").await;
    assert_eq!(again.id(), offered.id());
    assert!(again.offer.attempt > offered.offer.attempt);
    person.returns(&again, "seen").await;
    let settled = person.settled().await;
    assert_eq!(settled.interaction_id, *offered.id(), "only now may the client forget its result");
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(life.said(&thread).await[2..], ["Tool: seen", "Assistant: Done."]);
}

#[tokio::test]
async fn ruling_39_a_reader_does_not_fail_with_the_record_that_was_asked_for_before_it() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let before = thread.events(0, 1_000).await.unwrap().events.len();
    life.store.store.fail_next(FailPoint::Full);
    // Both wait in the mailbox when the thread is next at work.
    let lost = thread.submit(super::life::request(&thread, "lost", Default::default()));
    let (lost, page) = soon(async { tokio::join!(lost, thread.events(0, 1_000)) }).await;
    assert!(lost.is_err());
    assert_eq!(page.unwrap().events.len(), before, "nothing that is not durable is shown");
}

#[tokio::test]
async fn another_record_that_is_stored_rescues_runs_at_once() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Half");
    idle().await;
    life.store.store.fail_next(FailPoint::Append);
    let lost = thread.submit(super::life::request(&thread, "lost", Default::default())).await;
    assert!(lost.is_err());
    idle().await;
    assert!(asked.is_dropped());
    submit(&thread, "kept").await;
    assert_eq!(life.ended(&thread, &run).await.outcome.unwrap().status, OutcomeStatus::Failed);
    let queue = thread.queue(thread.id().clone().into()).await.unwrap();
    assert!(queue.held, "what waits behind a bad end is held");
}

#[tokio::test]
async fn ruling_4_who_was_asked_before_the_trouble_is_told_the_end_all_the_same() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    life.store.store.fail_next(FailPoint::Full);
    assert!(thread.submit(super::life::request(&thread, "lost", Default::default())).await.is_err());
    let stop = thread.stop(StopTarget::Run(run), person.end.client_ref().clone(), None);
    soon(stop).await.unwrap();
    assert_eq!(person.settled().await.interaction_id, *offered.id(), "its prompt is closed");
}
