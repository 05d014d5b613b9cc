//! Final answers as data: told, checked, mended, over a crash too.

use std::time::Duration;

use ropewalk_protocol::{OutcomeStatus, RunErrorKind, RunId, Unattended};
use serde_json::{Value, json};

use super::{
    client::Person,
    life::{Life, begin, plain, request, soon},
};
use crate::engine::ThreadHandle;

fn schema() -> Value {
    json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}})
}

async fn begin_with_schema(thread: &ThreadHandle, text: &str) -> RunId {
    let mut request = request(thread, text, Unattended::Decline);
    request.submission.output_schema = Some(schema());
    soon(thread.submit(request)).await.unwrap().run_id.unwrap()
}

#[tokio::test]
async fn an_answer_that_fits_is_data_and_text() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin_with_schema(&thread, "go").await;
    let asked = life.asked().await;
    assert!(asked.request.instructions.ends_with(&schema().to_string()), "{}", asked.request.instructions);
    asked.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "seen").await;
    life.asked().await.ends("{\"n\": 7}");
    let outcome = life.ended(&thread, &run).await.outcome.unwrap();
    assert_eq!((outcome.status, outcome.structured), (OutcomeStatus::Completed, Some(json!({"n": 7}))));
    assert_eq!(outcome.text.as_deref(), Some("{\"n\": 7}"));

    begin(&thread, "and now").await;
    let asked = life.asked().await;
    assert!(!asked.request.instructions.contains("JSON Schema"), "the next run has none");
    asked.ends("no data");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_mended() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin_with_schema(&thread, "go").await;
    life.asked().await.ends("Seven.");
    let asked = life.asked().await;
    assert!(asked.history()[2].contains("it is not JSON alone"), "{:?}", asked.history());
    asked.ends("{\"n\":\"seven\"}");
    let asked = life.asked().await;
    assert!(asked.history()[4].contains("/n must be an integer"), "{:?}", asked.history());
    asked.ends("```json\n{\"n\":7}\n```");
    let outcome = life.ended(&thread, &run).await.outcome.unwrap();
    assert_eq!(outcome.structured, Some(json!({"n": 7})));
    assert_eq!(life.said(&thread).await.len(), 6, "all of it stays in the chain");
}

#[tokio::test]
async fn repairs_are_bounded_also_over_a_crash() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin_with_schema(&thread, "go").await;
    life.asked().await.ends("One.");
    life.asked().await.ends("Two.");
    drop(life.asked().await);
    let mut life = life.crash(Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert_eq!(asked.history().len(), 5);
    assert!(asked.request.instructions.contains("JSON Schema"));
    asked.ends("Three.");
    let outcome = life.ended(&thread, &run).await.outcome.unwrap();
    assert_eq!(outcome.error.unwrap().kind, RunErrorKind::OutputInvalid);
    assert_eq!(life.said(&thread).await.last().unwrap(), "Assistant: Three.");
}

#[tokio::test]
async fn silence_is_no_data_either() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin_with_schema(&thread, "go").await;
    for _ in 0..3 {
        life.asked().await.ends("");
    }
    let outcome = life.ended(&thread, &run).await.outcome.unwrap();
    assert_eq!((outcome.status, outcome.structured), (OutcomeStatus::Failed, None));
    assert_eq!(life.said(&thread).await.len(), 3, "the input and two notes");
}

#[tokio::test]
async fn a_queued_run_keeps_its_schema_over_a_restart() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    begin(&thread, "first").await;
    let queued = begin_with_schema(&thread, "second").await;
    drop(life.asked().await);
    let mut life = life.crash(Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    life.asked().await.ends("no data");
    let asked = life.asked().await;
    assert!(asked.request.instructions.contains("JSON Schema"));
    asked.ends("{\"n\":1}");
    assert_eq!(life.ended(&thread, &queued).await.outcome.unwrap().structured, Some(json!({"n": 1})));
}
