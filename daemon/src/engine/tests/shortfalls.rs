//! Answers that came whole and are not enough: cut by the output limit, or without a word.

use ropewalk_protocol::{ItemBody, ItemState, RunError, RunErrorKind, RunId};
use serde_json::json;

use super::{
    client::Person,
    life::{Life, begin, call_ends, completed, plain},
};
use crate::engine::ThreadHandle;

async fn error(life: &Life, thread: &ThreadHandle, run: &RunId) -> RunError {
    life.ended(thread, run).await.outcome.unwrap().error.unwrap()
}

#[tokio::test]
async fn l27_no_call_of_a_cut_answer_is_made_and_the_model_is_told_to_repeat_it() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["write"])).await;
    let run = begin(&thread, "go").await;
    // The second call happens to be valid JSON where it was cut.
    life.asked().await.breaks_off("Let me write.", &[("write", r#"{"n":1}"#), ("write", "{}")]);
    let again = life.asked().await;
    assert_eq!(person.unread(), 0, "the client is asked for nothing");
    let told = "tool: Your answer was cut off by its output limit, so none of its calls was made: the arguments of write may be incomplete. Make the call again, with less in one answer.";
    assert_eq!(again.history(), ["user: go", "assistant: Let me write.", told, told]);
    let not_made = json!(["failed", "invalid_arguments", "none"]);
    assert_eq!(call_ends(&thread).await, [not_made.clone(), not_made]);
    again.ends("I leave it.");
    assert_eq!(life.ended(&thread, &run).await.steps, 2);
}

#[tokio::test]
async fn l27_after_three_cut_answers_in_a_row_the_run_fails() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["write"])).await;
    let run = begin(&thread, "go").await;
    for _ in 0..3 {
        life.asked().await.breaks_off("", &[("write", "{}")]);
    }
    let error = error(&life, &thread, &run).await;
    assert_eq!((error.kind, error.retryable), (RunErrorKind::CutOff, false));
    assert!(error.message.starts_with("3 answers in a row were cut off"), "{}", error.message);
    assert_eq!(call_ends(&thread).await, vec![json!(["failed", "invalid_arguments", "none"]); 3]);
    assert_eq!(life.said(&thread).await.len(), 7, "every call has its result");
    assert!(!life.is_asked());
}

#[tokio::test]
async fn l27_only_cut_answers_in_a_row_count() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["write"])).await;
    let run = begin(&thread, "go").await;
    for _ in 0..3 {
        life.asked().await.breaks_off("", &[("write", "{}")]);
        life.asked().await.breaks_off("", &[("write", "{}")]);
        life.asked().await.calls(&[("write", "{}")]);
        let offered = person.offered("tool/call").await;
        person.returns(&offered, "written").await;
    }
    life.asked().await.ends("Done.");
    assert_eq!(life.ended(&thread, &run).await.outcome.unwrap().text.as_deref(), Some("Done."));
}

#[tokio::test]
async fn l27_a_cut_text_is_kept_as_incomplete_and_fails_the_run() {
    for streams in [true, false] {
        let (mut life, person) = (Life::first().await, Person::new("in-A"));
        let thread = life.start(&person, Vec::new()).await;
        let run = begin(&thread, "go").await;
        let asked = life.asked().await;
        if streams {
            asked.says("A long st");
        }
        asked.breaks_off("A long st", &[]);
        let error = error(&life, &thread, &run).await;
        assert_eq!((error.kind, error.retryable), (RunErrorKind::CutOff, false));
        assert!(error.message.contains("maxOutputTokens"), "{}", error.message);
        assert_eq!(error.provider.as_deref(), Some("Scripted"));
        let item = completed(&thread).await.pop().unwrap();
        let ItemBody::AssistantMessage { text, incomplete, .. } = item.body else { panic!("the text is kept") };
        assert_eq!((text.as_str(), incomplete, item.state), ("A long st", true, ItemState::Failed));
        assert_eq!(life.said(&thread).await, ["User: go", "Assistant: A long st"]);
        assert_eq!(life.run(&thread, &run).await.usage.requests, 1, "what it cost is counted");
        let crashed = life.crash(std::time::Duration::ZERO).await;
        let thread = crashed.thread(thread.id());
        assert_eq!(crashed.said(&thread).await, ["User: go", "Assistant: A long st"]);
    }
}

#[tokio::test]
async fn l25_an_empty_answer_is_asked_about_with_another_request_twice_at_most() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let mut requests = Vec::new();
    for _ in 0..3 {
        let asked = life.asked().await;
        requests.push(asked.history());
        asked.ends("");
    }
    let note = "user: Your answer was empty. If the work is done, say so in a sentence; otherwise go on with it.";
    assert_eq!(requests[1], ["user: go", note]);
    assert_eq!(requests[2], ["user: go", note, note], "no request is the same as the one before it");
    let error = error(&life, &thread, &run).await;
    assert_eq!((error.kind, error.retryable), (RunErrorKind::BadResponse, false));
    let expected = "The model gave 3 empty answers in a row; after 2 of them it was asked to say something.";
    assert_eq!(error.message, expected);
    assert!(!life.is_asked());
}

#[tokio::test]
async fn l21_reasoning_alone_leaves_a_valid_next_request() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.only_thinks();
    let again = life.asked().await;
    assert_eq!(again.history().len(), 2);
    let note = &again.request.messages[1].message;
    assert_eq!(note.sender.as_ref().unwrap().intent.as_deref(), Some("emptyAnswer"));
    again.ends("Done.");
    let ended = life.ended(&thread, &run).await;
    assert_eq!((ended.steps, ended.usage.requests), (2, 2), "thinking costs too");
    let thought = completed(&thread).await.remove(0);
    assert!(matches!(thought.body, ItemBody::Reasoning { incomplete: false, .. }));
}

#[tokio::test]
async fn l21_silence_after_the_results_of_tools_is_asked_about_too() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["send"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("send", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "sent").await;
    let asked = life.asked().await;
    asked.says(" \n");
    asked.ends(" \n");
    let again = life.asked().await;
    let history = again.history();
    assert_eq!(history[..3], ["user: go", "assistant: ", "tool: sent"], "blanks are no message");
    assert_eq!(history.len(), 4);
    again.ends("It is sent.");
    let ended = life.ended(&thread, &run).await;
    assert_eq!((ended.outcome.unwrap().text.as_deref(), ended.tool_calls), (Some("It is sent."), 1));
    assert_eq!(life.said(&thread).await.last().unwrap(), "Assistant: It is sent.");
}
