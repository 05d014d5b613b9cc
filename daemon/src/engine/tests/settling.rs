//! Answers by `interaction/settle` under an operation: the settlement and its operation are durable together or not at all.

use std::time::Duration;

use ropewalk_protocol::Outcome;
use serde_json::{Value, json};

use super::{
    client::Person,
    deleting::operation,
    life::{Life, asking, begin, idle, soon},
};
use crate::{
    engine::StopTarget,
    store::{FailPoint, OperationRow},
};

const SECOND: Duration = Duration::from_secs(1);

fn accept() -> Value {
    json!({"decision": "accept"})
}

fn stored(life: &Life, id: &str) -> Option<OperationRow> {
    life.daemon.journal.find(&id.into()).unwrap()
}

#[tokio::test]
async fn k21_a_crash_around_a_settlement_leaves_it_with_its_operation_or_neither() {
    for (point, is_settled) in [(FailPoint::HangBeforeSync, false), (FailPoint::HangAfterSync, true)] {
        let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
        let thread = life.start(&person, asking("write")).await;
        let run = begin(&thread, "go").await;
        life.asked().await.calls(&[("write", "{}")]);
        let id = person.offered("approval/request").await.id().clone();
        life.waiting(&thread, &run).await;
        idle().await;
        life.store.store.fail_next(point);
        let (answering, client, asked) = (thread.clone(), person.end.client_ref().clone(), id.clone());
        let task = tokio::spawn(async move { answering.settle(client, asked, accept(), operation("op-settle")).await });
        idle().await;
        assert!(!task.is_finished(), "nothing is answered before it is durable");

        let life = life.crash(SECOND).await;
        let operation = stored(&life, "op-settle");
        assert_eq!(operation.is_some(), is_settled, "the operation is there exactly where the settlement is");
        let open = soon(life.thread(thread.id()).open_interactions()).await.unwrap();
        assert_eq!(open.iter().any(|interaction| interaction.interaction_id == id), !is_settled);
        if let Some(operation) = operation {
            assert_eq!(operation.digest, "digest of op-settle", "another request of this id is told from a repeat");
            let answer: Value = serde_json::from_str(operation.answer.get()).unwrap();
            assert_eq!(answer, json!({"interactionId": id, "outcome": "answered", "replayed": false}));
        }
    }
}

#[tokio::test]
async fn a_settlement_and_a_stop_in_one_record_are_both_known_by_their_operations() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let id = person.offered("approval/request").await.id().clone();
    life.waiting(&thread, &run).await;
    let client = person.end.client_ref().clone();
    // Both wait in the mailbox when the thread is next at work, so that the stop finds the answer decided and not stored.
    let settle = thread.settle(client.clone(), id, accept(), operation("op-settle"));
    let stop = thread.stop(StopTarget::Run(run), client, operation("op-stop"));
    let (settled, stopped) = soon(async { tokio::join!(settle, stop) }).await;
    let settled = settled.unwrap();
    assert_eq!((settled.outcome, settled.replayed), (Outcome::Answered, false), "the answer was first");
    stopped.unwrap();
    let life = life.crash(SECOND).await;
    for id in ["op-settle", "op-stop"] {
        assert_eq!(stored(&life, id).expect("it was answered").digest, format!("digest of {id}"));
    }
}
