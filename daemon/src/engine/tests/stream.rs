//! Texts while they stream: what is stored of them, and when.

use std::time::Duration;

use ropewalk_protocol::{ItemBody, ItemState, OutcomeStatus};

use super::{
    client::Person,
    life::{Life, begin, completed, idle, soon, submit, types},
};
use crate::engine::{StopTarget, ThreadHandle, history};

const SECOND: Duration = Duration::from_secs(1);

/// The checkpoints of a thread's log.
async fn checkpoints(thread: &ThreadHandle) -> Vec<String> {
    let records = history::records(thread.shared(), thread.id(), 1).await.unwrap();
    let facts = records.iter().flat_map(|record| &record.facts);
    let facts = facts.map(|fact| serde_json::from_str::<serde_json::Value>(fact.get()).unwrap());
    facts.filter(|fact| fact["fact"] == "checkpoint").map(|fact| fact["text"].as_str().unwrap().to_owned()).collect()
}

async fn only_text(thread: &ThreadHandle) -> (String, bool, ItemState) {
    let item = completed(thread).await.pop().unwrap();
    match item.body {
        ItemBody::AssistantMessage { text, incomplete, .. } => (text, incomplete, item.state),
        other => panic!("{other:?} is no text"),
    }
}

#[tokio::test]
async fn ruling_33_what_has_streamed_is_kept_about_once_a_second_and_once() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    for word in ["One ", "two ", "three ", "four "] {
        asked.says(word);
        life.passes(SECOND / 2).await;
    }
    assert_eq!(checkpoints(&thread).await, ["One two three "], "two half seconds make a second");
    asked.says("five");
    life.passes(SECOND).await;
    asked.says("!");
    idle().await;
    assert_eq!(checkpoints(&thread).await, ["One two three ", "four five", "!"], "none says again what another said");
    asked.ends("One two three four five!");
    life.ended(&thread, &run).await;
    assert_eq!(only_text(&thread).await, ("One two three four five!".to_owned(), false, ItemState::Completed));
}

#[tokio::test]
async fn k37_a_stop_keeps_all_that_was_said() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Half ");
    idle().await;
    asked.says("a sentence");
    // The last words and the stop are done in one go.
    let stop = thread.stop(StopTarget::Run(run.clone()), person.end.client_ref().clone(), None);
    let (_, stopped) = tokio::join!(idle(), stop);
    stopped.unwrap();
    let ended = life.ended(&thread, &run).await;
    assert_eq!(ended.outcome.unwrap().status, OutcomeStatus::Stopped);
    let (text, incomplete, state) = only_text(&thread).await;
    assert!(incomplete && state == ItemState::Cancelled && "Half a sentence".starts_with(&text), "{text}");
    assert_eq!(life.said(&thread).await, ["User: go".to_owned(), format!("Assistant: {text}")]);
    idle().await;
    assert!(asked.is_dropped(), "the model is not listened to any more");
}

#[tokio::test]
async fn a_failing_model_fails_the_run_and_what_it_said_stays() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Half a sent");
    asked.fails();
    let ended = life.ended(&thread, &run).await;
    assert_eq!(ended.outcome.unwrap().status, OutcomeStatus::Failed);
    assert_eq!(life.said(&thread).await, ["User: go", "Assistant: Half a sent"]);
    begin(&thread, "and?").await;
    assert_eq!(life.asked().await.history(), ["user: go", "assistant: Half a sent", "user: and?"]);
}

#[tokio::test]
async fn a_crash_while_text_streams_asks_again_and_keeps_what_a_checkpoint_had() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Once ");
    life.passes(SECOND).await;
    asked.says("upon ");
    idle().await;
    asked.says("a time");
    idle().await;
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: go"], "what was cut off is no part of the chain");
    assert_eq!(only_text(&thread).await, ("Once upon ".to_owned(), true, ItemState::Cancelled));
    asked.says("Once more");
    asked.ends("Once more");
    life.ended(&thread, &run).await;
    assert_eq!(life.said(&thread).await, ["User: go", "Assistant: Once more"]);
    let expected = ["itemStarted", "itemCompleted", "itemStarted", "itemCompleted", "runCompleted"];
    assert_eq!(types(&thread).await[4..], expected);
}

#[tokio::test]
async fn what_was_said_in_the_moment_of_a_stop_is_kept() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Half ");
    idle().await;
    // The owner of the thread is busy with a commit while the last words and the stop come in.
    life.store.hold(true);
    let (busy, stopping) = (thread.clone(), thread.clone());
    let queued = tokio::spawn(async move { submit(&busy, "next").await });
    idle().await;
    asked.says("a sentence");
    idle().await;
    let (by, id) = (person.end.client_ref().clone(), run.clone());
    let stopped = tokio::spawn(async move { stopping.stop(StopTarget::Run(id), by, None).await });
    idle().await;
    life.store.hold(false);
    soon(queued).await.unwrap();
    soon(stopped).await.unwrap().unwrap();
    life.ended(&thread, &run).await;
    assert_eq!(only_text(&thread).await.0, "Half a sentence");
}

#[tokio::test]
async fn a_log_full_of_checkpoints_is_read_to_its_end() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    let line = "x".repeat(12_000);
    for _ in 0..60 {
        asked.says(&line);
        idle().await;
        life.clock.advance(SECOND);
    }
    asked.ends(&line.repeat(60));
    life.ended(&thread, &run).await;
    assert!(checkpoints(&thread).await.len() > 50);
    let mut after = 0;
    let mut count = 0;
    loop {
        let page = thread.events(after, 1).await.unwrap();
        let Some(last) = page.events.last() else { break };
        (after, count) = (last.seq.unwrap(), count + 1);
    }
    assert_eq!(count, types(&thread).await.len());
    assert_eq!(count, 7);
    assert_eq!(life.said(&thread).await.len(), 2);
    begin(&thread, "more").await;
    assert_eq!(life.asked().await.history().len(), 3);
}
