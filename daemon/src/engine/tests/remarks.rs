//! Asides and steers while runs work, wait, sleep and die: what was acknowledged is said to the model, once.

use std::time::Duration;

use ropewalk_protocol::{ErrorDetail, Part, RunId, RunStatus, SubmitState};

use super::{
    client::Person,
    life::{Life, begin, idle, plain, soon},
};
use crate::{
    domain::Remark,
    engine::{QueueEdit, RemarkRequest, ThreadHandle},
};

const SECOND: Duration = Duration::from_secs(1);

fn remark(thread: &ThreadHandle, text: &str, steers: Option<&RunId>) -> RemarkRequest {
    let (branch_id, input) = (thread.id().clone().into(), vec![Part::text(text)]);
    RemarkRequest { remark: Remark { branch_id, input, steers: steers.cloned(), sender: None }, operation: None }
}

async fn aside(thread: &ThreadHandle, text: &str) -> SubmitState {
    soon(thread.remark(remark(thread, text, None))).await.unwrap().state
}

#[tokio::test]
async fn ruling_13_a_remark_joins_the_request_after_the_one_under_way() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    assert_eq!(aside(&thread, "by the way").await, SubmitState::Queued);
    asked.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    soon(thread.remark(remark(&thread, "only open ones", Some(&run)))).await.unwrap();
    person.returns(&offered, "seen").await;
    let asked = life.asked().await;
    let history = ["user: go", "assistant: ", "tool: seen", "user: by the way", "user: only open ones"];
    assert_eq!(asked.history(), history);
    asked.ends("Done.");
    assert_eq!(life.ended(&thread, &run).await.steps, 2);
    life.crash(SECOND).await;
}

#[tokio::test]
async fn a_crash_before_the_delivery_loses_nothing_and_one_after_it_repeats_nothing() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    person.offered("tool/call").await;
    aside(&thread, "by the way").await;

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let mut person = Person::new("in-A");
    idle().await;
    person.resume(&thread).await;
    let again = person.offered("tool/call").await;
    person.returns(&again, "seen").await;
    let asked = life.asked().await;
    let history = ["user: go", "assistant: ", "tool: seen", "user: by the way"];
    assert_eq!(asked.history(), history);
    drop(asked);

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert_eq!(asked.history(), history, "it is in the chain, once");
    assert!(soon(thread.queue(thread.id().clone().into())).await.unwrap().entries.is_empty());
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn a_crash_while_the_model_answers_delivers_with_the_request_that_is_made_again() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Half");
    aside(&thread, "by the way").await;
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: go", "user: by the way"]);
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(life.said(&thread).await, ["User: go", "User: by the way", "Assistant: Done."]);
}

#[tokio::test]
async fn k18_a_remark_during_the_last_answer_has_the_run_go_on_with_one_more_step() {
    for steers in [true, false] {
        let (mut life, person) = (Life::first().await, Person::new("in-A"));
        let thread = life.start(&person, Vec::new()).await;
        let run = begin(&thread, "go").await;
        let asked = life.asked().await;
        soon(thread.remark(remark(&thread, "faster", Some(&run).filter(|_| steers)))).await.unwrap();
        asked.ends("Done.");
        let asked = life.asked().await;
        let history = ["user: go", "assistant: Done.", "user: faster"];
        assert_eq!(asked.history(), history);
        asked.says("Half");

        let mut life = life.crash(SECOND).await;
        let thread = life.thread(thread.id());
        let asked = life.asked().await;
        assert_eq!(asked.history(), history, "it is in the chain, once, and the step is asked again");
        asked.ends("Faster now.");
        let ended = life.ended(&thread, &run).await;
        assert_eq!((ended.steps, ended.outcome.unwrap().text.as_deref()), (2, Some("Faster now.")));
        assert!(soon(thread.queue(thread.id().clone().into())).await.unwrap().entries.is_empty());
        idle().await;
        assert!(!life.is_asked(), "and no other run begins for it");
    }
}

#[tokio::test]
async fn a_run_that_ends_badly_leaves_its_remarks_recorded_for_the_next_one() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    soon(thread.remark(remark(&thread, "faster", Some(&run)))).await.unwrap();
    asked.fails();
    life.ended(&thread, &run).await;
    idle().await;
    assert!(!life.is_asked(), "no run begins for it");
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let next = begin(&thread, "on").await;
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: go", "user: faster", "user: on"]);
    asked.ends("Done too.");
    life.ended(&thread, &next).await;
}

#[tokio::test]
async fn ruling_15_a_run_that_was_parked_takes_the_remark_when_it_goes_on() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let _asked = life.asked().await;
    life.engine().park().await;
    assert_eq!(life.run(&thread, &run).await.state, RunStatus::Paused);
    let steered = soon(thread.remark(remark(&thread, "faster", Some(&run)))).await.unwrap();
    assert_eq!((steered.state, steered.run_id), (SubmitState::Queued, Some(run.clone())));
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: go", "user: faster"]);
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn ruling_13_a_steer_names_the_run_under_way_or_is_refused_with_it() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    let refused = soon(thread.remark(remark(&thread, "x", Some(&"nope".into())))).await.unwrap_err();
    let ErrorDetail::Conflict { current: Some(current), .. } = refused.data.detail else { panic!("it is a conflict") };
    assert_eq!(current["runId"], run.to_string());
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    for (expected, word) in [(run, "completed"), ("nope".into(), "idle")] {
        let refused = soon(thread.remark(remark(&thread, "x", Some(&expected)))).await.unwrap_err();
        let ErrorDetail::InvalidState { state, .. } = refused.data.detail else { panic!("nothing runs") };
        assert_eq!(state, word);
    }
}

#[tokio::test]
async fn a_queue_of_too_many_bytes_takes_neither_a_remark_nor_a_longer_input() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let _asked = life.asked().await;
    let long = "x".repeat(9 << 20);
    let first = super::life::submit(&thread, &long).await;
    let second = super::life::submit(&thread, "short").await;
    let branch = || thread.id().clone().into();
    let edit = QueueEdit::Update(second.message_id.clone(), vec![Part::text(long.clone())]);
    for refused in [
        soon(thread.edit_queue(branch(), edit, None)).await.unwrap_err(),
        soon(thread.remark(remark(&thread, &long, Some(&run)))).await.unwrap_err(),
    ] {
        let ErrorDetail::Overloaded { what, .. } = refused.data.detail else { panic!("it is too much") };
        assert_eq!(what, "queueBytes");
    }
    let edit = QueueEdit::Update(first.message_id, vec![Part::text("y".repeat(9 << 20))]);
    soon(thread.edit_queue(branch(), edit, None)).await.unwrap();
    soon(thread.edit_queue(branch(), QueueEdit::Remove(second.message_id), None)).await.unwrap();
    let left = soon(thread.queue(branch())).await.unwrap();
    assert_eq!(left.entries.len(), 1, "what takes its own place fits");
}

#[tokio::test]
async fn what_was_edited_is_what_begins_after_a_crash() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    begin(&thread, "go").await;
    let _asked = life.asked().await;
    let (one, two) = (super::life::submit(&thread, "one").await, super::life::submit(&thread, "two").await);
    let branch = thread.id().clone();
    let edits = [
        QueueEdit::Update(two.message_id.clone(), vec![Part::text("zwei")]),
        QueueEdit::Reorder(vec![two.message_id.clone(), one.message_id.clone()]),
        QueueEdit::Remove(one.message_id),
    ];
    for edit in edits {
        soon(thread.edit_queue(branch.clone().into(), edit, None)).await.unwrap();
    }
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    life.asked().await.ends("Done.");
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: go", "assistant: Done.", "user: zwei"]);
    assert!(life.engine().run(&one.run_id.unwrap()).is_err(), "a run that was taken back is none");
    asked.ends("Fertig.");
    life.ended(&thread, &two.run_id.unwrap()).await;
}
