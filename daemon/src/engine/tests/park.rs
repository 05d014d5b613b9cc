//! A clean exit, and sleep.

use std::time::Duration;

use ropewalk_protocol::{ItemBody, RunStatus};

use super::{
    client::Person,
    life::{Life, begin, completed, idle, plain, submit},
};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn ruling_15_what_works_is_paused_and_goes_on_by_itself_after_the_next_start() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    asked.says("Half");
    idle().await;
    life.engine().park().await;
    let parked = life.run(&thread, &run).await;
    assert_eq!((parked.state, parked.reason.as_deref()), (RunStatus::Paused, Some("shutdown")));
    assert_eq!(life.engine().counts().unwrap().0.get(&RunStatus::Paused), Some(&1));
    idle().await;
    assert!(asked.is_dropped());

    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    let going = life.run(&thread, &run).await;
    assert_eq!((going.state, going.reason), (RunStatus::Running, None));
    let ItemBody::AssistantMessage { text, incomplete, .. } = completed(&thread).await.remove(0).body else {
        panic!("the text is closed")
    };
    assert_eq!((text.as_str(), incomplete), ("Half", true), "all that had streamed was kept");
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn what_waits_for_a_client_stays_waiting_with_its_interaction_open() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("look", "{}")]);
    let offered = person.offered("tool/call").await;
    life.engine().park().await;
    assert_eq!(life.run(&thread, &run).await.state, RunStatus::Waiting);
    let mut life = life.crash(SECOND).await;
    let thread = life.thread(thread.id());
    idle().await;
    let mut person = Person::new("in-A");
    person.resume(&thread).await;
    let again = person.offered("tool/call").await;
    assert_eq!(again.id(), offered.id());
    person.returns(&again, "seen").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn a_run_that_begins_while_the_daemon_goes_is_driven_by_the_next_one() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    life.engine().park().await;
    begin(&thread, "go").await;
    idle().await;
    assert!(!life.is_asked());
    let mut life = life.crash(SECOND).await;
    life.asked().await.ends("Done.");
}

#[tokio::test]
async fn an_idle_thread_ends_its_task_and_wakes_as_it_was() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, plain(&["look"])).await;
    let run = begin(&thread, "go").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let id = thread.id().clone();
    life.passes(60 * SECOND).await;
    assert_eq!(life.engine().awake().len(), 1, "somebody is attached");
    person.breaks(&thread).await;
    life.passes(60 * SECOND).await;
    assert_eq!(life.engine().awake().len(), 1, "somebody has its handle");
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    drop(thread);
    life.passes(20 * SECOND).await;
    assert_eq!(life.engine().awake().len(), 0);
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), tasks - 1, "its task has ended");

    let thread = life.thread(&id);
    let tools = thread.tools(false).await.unwrap();
    assert!(tools.iter().any(|tool| tool.flat_name == "look"));
    submit(&thread, "more").await;
    let asked = life.asked().await;
    assert_eq!(asked.history(), ["user: go", "assistant: Done.", "user: more"]);
    let named = asked.request.tools.iter().any(|tool| tool.name == "look");
    assert!(!named, "a tool whose owner has been away for long is left out");
    asked.ends("Done.");
}

#[tokio::test]
async fn a_thread_with_a_run_stays_awake_without_anybody() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let (id, run) = (thread.id().clone(), begin(&thread, "go").await);
    let asked = life.asked().await;
    person.breaks(&thread).await;
    drop(thread);
    life.passes(300 * SECOND).await;
    asked.ends("Done.");
    life.ended(&life.thread(&id), &run).await;
}
