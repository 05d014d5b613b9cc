//! Commits: what shares a sync, what an answer means, and what a failure leaves behind.

use std::sync::atomic::Ordering;

use futures::future::{join, join_all};
use ropewalk_protocol::{ErrorDetail, RpcError, SubmitState};
use serde_json::json;

use super::{
    client::Person,
    life::{Life, asking, begin, events, idle, soon, submit, types},
};
use crate::{
    engine::{Batch, Cursor, StopTarget, ThreadHandle, Wants},
    store::FailPoint,
};

fn reason(error: &RpcError) -> &str {
    match &error.data.detail {
        ErrorDetail::Unavailable { reason, .. } => reason,
        other => panic!("{other:?} is no failure of the store"),
    }
}

fn published(life: &Life, thread: &ThreadHandle, cursor: &mut Cursor) -> usize {
    use crate::clock::Clock as _;
    let wants = Wants { deltas: true, progress: true };
    match thread.bus().next(cursor, thread.id(), life.clock.now(), wants, usize::MAX) {
        Batch::Lines(lines) => lines.len(),
        Batch::FromLog(_) => panic!("the hot end has everything"),
        Batch::Nothing => 0,
    }
}

#[tokio::test]
async fn what_arrives_while_a_record_is_synced_shares_the_next_sync_in_its_order() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    life.store.commits.lock().unwrap().clear();
    life.store.hold(true);
    let mut handles = Vec::new();
    for number in 0..10 {
        let thread = thread.clone();
        handles.push(tokio::spawn(async move { submit(&thread, &format!("Input {number}")).await }));
        if number == 0 {
            idle().await;
        }
    }
    idle().await;
    assert!(handles.iter().all(|handle| !handle.is_finished()), "nothing is answered before it is durable");
    life.store.hold(false);
    let answers: Vec<_> = soon(join_all(handles)).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(life.store.commits.lock().unwrap()[..2], [1, 9]);
    assert_eq!(answers[0].state, SubmitState::Running);
    let queue = thread.queue(thread.id().clone().into()).await.unwrap();
    let waiting: Vec<_> = queue.entries.into_iter().map(|entry| Some(entry.run_id)).collect();
    assert_eq!(waiting, answers[1..].iter().map(|answer| answer.run_id.clone()).collect::<Vec<_>>());
}

#[tokio::test]
async fn k37_a_record_that_fails_is_answered_published_and_remembered_nowhere() {
    for (point, word) in
        [(FailPoint::Append, "io_error"), (FailPoint::Sync, "io_error"), (FailPoint::Full, "storage_full")]
    {
        let (life, person) = (Life::first().await, Person::new("in-A"));
        let thread = life.start(&person, Vec::new()).await;
        let before = events(&thread).await;
        let mut cursor = Cursor::after(before.len() as u64);
        life.store.store.fail_next(point);
        let refused = thread.submit(super::life::request(&thread, "lost", Default::default())).await.unwrap_err();
        assert_eq!(reason(&refused), word);
        assert!(refused.data.retryable);
        assert_eq!(published(&life, &thread, &mut cursor), 0);
        assert_eq!(events(&thread).await, before);
        assert_eq!(life.said(&thread).await, Vec::<String>::new());

        begin(&thread, "kept").await;
        assert_eq!(published(&life, &thread, &mut cursor), 2);
        assert_eq!(life.said(&thread).await, ["User: kept"]);
        life.crash(std::time::Duration::ZERO).await;
    }
}

#[tokio::test]
async fn ruling_39_what_was_validated_on_top_of_a_failed_record_fails_with_it() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    life.store.hold(true);
    let submits: Vec<_> = (0..3)
        .map(|_| {
            let thread = thread.clone();
            tokio::spawn(async move { thread.submit(super::life::request(&thread, "in", Default::default())).await })
        })
        .collect();
    let reading = thread.clone();
    let read = tokio::spawn(async move { reading.queue(reading.id().clone().into()).await });
    idle().await;
    assert_eq!(*life.store.commits.lock().unwrap().last().unwrap(), 3, "all three share a sync");
    life.store.store.fail_next(FailPoint::Sync);
    life.store.hold(false);
    let answers = soon(join_all(submits)).await.into_iter().map(Result::unwrap);
    let reasons: Vec<String> = answers.map(|answer| reason(&answer.unwrap_err()).to_owned()).collect();
    assert_eq!(reasons, ["io_error", "io_error", "io_error"]);
    assert_eq!(
        soon(read).await.unwrap().unwrap().entries,
        [],
        "whoever only looks sees what is stored, and nothing else"
    );
    assert_eq!(submit(&thread, "kept").await.state, SubmitState::Running);
}

#[tokio::test]
async fn a_log_that_cannot_be_cut_takes_nothing_and_stays_readable() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    for _ in 0..3 {
        life.store.store.fail_next(FailPoint::Cut);
        let refused = thread.submit(super::life::request(&thread, "lost", Default::default())).await.unwrap_err();
        assert_eq!(reason(&refused), "io_error");
        assert_eq!(types(&thread).await.len(), 2);
    }
    begin(&thread, "kept").await;
}

#[tokio::test]
async fn a_thread_whose_first_record_fails_is_no_thread() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    life.store.store.fail_next(FailPoint::Full);
    let refused = life.engine().start(life.request(&person, Vec::new())).await.err().unwrap();
    assert_eq!(reason(&refused), "storage_full");
    idle().await;
    assert_eq!(life.engine().awake().len(), 0);
    life.start(&person, Vec::new()).await;
}

#[tokio::test]
async fn k38_rows_that_cannot_be_read_again_are_an_error_until_they_can() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    life.store.is_blind.store(true, Ordering::SeqCst);
    life.store.store.fail_next(FailPoint::Append);
    for _ in 0..2 {
        let refused = thread.submit(super::life::request(&thread, "lost", Default::default())).await.unwrap_err();
        assert_eq!(reason(&refused), "io_error");
    }
    assert!(thread.read().await.is_err(), "nothing that is not true is shown");
    life.store.is_blind.store(false, Ordering::SeqCst);
    begin(&thread, "kept").await;
    assert_eq!(life.said(&thread).await, ["User: kept"]);
}

#[tokio::test]
async fn a_job_that_panics_ends_itself_and_not_its_thread() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let gone = thread.turn(|turn| -> Result<(), RpcError> {
        turn.change
            .submit(crate::domain::Submission {
                branch_id: turn.thread.id().clone().into(),
                input: Vec::new(),
                operation_id: None,
                asked_endpoint: None,
                unattended: Default::default(),
                output_schema: None,
                sender: None,
            })
            .unwrap();
        panic!("a fault of ours")
    });
    assert!(matches!(soon(gone).await.unwrap_err().data.detail, ErrorDetail::Internal { .. }));
    assert_eq!(life.said(&thread).await, Vec::<String>::new());
    begin(&thread, "kept").await;
}

#[tokio::test]
async fn a_client_whose_attaching_failed_is_not_attached() {
    let (life, person, late) = (Life::first().await, Person::new("in-A"), Person::new("in-B"));
    let thread = life.start(&person, Vec::new()).await;
    life.store.store.fail_next(FailPoint::Append);
    let resume = crate::engine::Resume {
        client: late.end.clone(),
        tools: Some(super::life::plain(&["look"])),
        after: None,
        takeover: false,
        subscribe: true,
        operation: None,
    };
    assert!(thread.resume(resume).await.is_err());
    let attached = thread.turn(|turn| Ok(turn.live.attached.len())).await.unwrap();
    assert_eq!(attached, 1);
}

#[tokio::test]
async fn a_commit_whose_index_cannot_be_written_stands() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    life.store.store.fail_next(FailPoint::Index);
    begin(&thread, "kept").await;
    assert_eq!(life.said(&thread).await, ["User: kept"]);
    life.crash(std::time::Duration::ZERO).await;
}

#[tokio::test]
async fn a_crash_before_the_sync_loses_what_was_never_answered_and_one_after_it_loses_nothing() {
    for (point, said) in [(FailPoint::HangBeforeSync, Vec::new()), (FailPoint::HangAfterSync, vec!["User: in"])] {
        let (life, person) = (Life::first().await, Person::new("in-A"));
        let thread = life.start(&person, Vec::new()).await;
        life.store.store.fail_next(point);
        let (id, asking) = (thread.id().clone(), thread.clone());
        let answer =
            tokio::spawn(async move { asking.submit(super::life::request(&asking, "in", Default::default())).await });
        idle().await;
        assert!(!answer.is_finished());
        let mut life = life.crash(std::time::Duration::ZERO).await;
        let thread = life.thread(&id);
        assert_eq!(life.said(&thread).await, said);
        if !said.is_empty() {
            life.asked().await.ends("Done.");
        }
        idle().await;
        assert!(!life.is_asked());
    }
}

#[tokio::test]
async fn an_answer_that_shares_its_sync_with_a_stop_before_it_comes_too_late() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let asked = person.offered("approval/request").await;
    let client = person.end.client_ref().clone();
    let stop = thread.stop(StopTarget::Run(run), client.clone(), None);
    let answer = thread.settle(client, asked.id().clone(), json!({"decision": "accept"}), None);
    let (stopped, answered) = soon(join(stop, answer)).await;
    stopped.unwrap();
    assert!(matches!(answered.unwrap_err().data.detail, ErrorDetail::AlreadySettled { .. }));
}

#[tokio::test]
async fn two_reasons_to_ask_a_client_again_that_share_a_sync_make_one_request() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, asking("write")).await;
    begin(&thread, "go").await;
    life.asked().await.calls(&[("write", "{}")]);
    let first = person.offered("approval/request").await;
    let again = || thread.offer_once_more(person.end.clone(), first.id().clone());
    soon(join(again(), again())).await;
    let second = person.offered("approval/request").await;
    assert!(second.offer.attempt > first.offer.attempt);
    idle().await;
    assert_eq!(person.unread(), 0, "a request has an attempt of its own");
}
