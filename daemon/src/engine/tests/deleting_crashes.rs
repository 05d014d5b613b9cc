//! A crash at each place of a deletion, and others at work on what is being deleted: one is first, and nothing comes back.

use std::{sync::Arc, time::Duration};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use ropewalk_protocol::{ErrorDetail, InteractionId, Outcome, Patch, RpcError};
use serde_json::json;

use super::{
    client::{Person, Told},
    deleting::{deletion, is_not_found, operation, project, rows_with},
    life::{Life, asking, begin, idle, request, soon},
};
use crate::{
    engine::{Deletion, HeaderPatch, Resume, ThreadHandle},
    store::{FailPoint, LogName, Store as _},
};

const SECOND: Duration = Duration::from_secs(1);

/// Begins to delete, and stops where the store hangs.
async fn hang(life: &Life, person: &Person, thread: &ThreadHandle, point: FailPoint) {
    life.store.store.fail_next(point);
    let (engine, id) = (life.engine().clone(), thread.id().clone());
    let deleted = Deletion { operation: operation("op-delete"), ..deletion(person) };
    let task = tokio::spawn(async move { engine.delete_thread(&id, deleted).await });
    idle().await;
    assert!(!task.is_finished(), "nothing is answered before it is durable");
}

#[tokio::test]
async fn a_crash_before_the_tombstone_leaves_the_thread_and_one_after_it_leaves_nothing() {
    for (point, is_there) in [(FailPoint::HangBeforeSync, true), (FailPoint::HangAfterSync, false)] {
        let (life, person) = (Life::first().await, Person::new("in-A"));
        let thread = life.start(&person, Vec::new()).await;
        hang(&life, &person, &thread, point).await;
        let life = life.crash(SECOND).await;
        assert_eq!(life.engine().thread(thread.id()).is_ok(), is_there);
        let stored = life.daemon.journal.find(&"op-delete".into()).unwrap();
        assert_eq!(stored.is_some(), !is_there, "a repeat gets the stored answer, if there is one");
        let left = soon(life.store.read(&LogName::Thread(thread.id().clone()), 1, 1)).await.unwrap();
        assert_eq!(left.is_empty(), !is_there);
        assert_eq!(rows_with(&life, thread.id()).is_empty(), !is_there);
    }
}

#[tokio::test]
async fn a_crash_between_the_end_of_its_runs_and_the_tombstone_leaves_a_thread_that_was_stopped() {
    for point in [FailPoint::HangBeforeSync, FailPoint::HangAfterSync] {
        let (mut life, person) = (Life::first().await, Person::new("in-A"));
        let thread = life.start(&person, Vec::new()).await;
        let run = begin(&thread, "go").await;
        let _asked = life.asked().await;
        hang(&life, &person, &thread, point).await;
        let mut life = life.crash(SECOND).await;
        let thread = life.thread(thread.id());
        if point == FailPoint::HangBeforeSync {
            life.asked().await.ends("Here we are again.");
        }
        assert!(life.ended(&thread, &run).await.state.is_terminal());
        soon(life.engine().delete_thread(thread.id(), deletion(&person))).await.unwrap();
        assert!(rows_with(&life, thread.id()).is_empty());
    }
}

#[tokio::test]
async fn a_log_that_could_not_be_removed_is_removed_by_the_next_start() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let log = LogName::Thread(thread.id().clone());
    life.store.store.fail_next(FailPoint::Unlink);
    soon(life.engine().delete_thread(thread.id(), deletion(&person))).await.unwrap();
    assert!(!soon(life.store.read(&log, 1, 1)).await.unwrap().is_empty(), "its log is still there");
    assert!(is_not_found(&life.engine().thread(thread.id()).err().unwrap()), "and the thread is not");
    assert_eq!(rows_with(&life, thread.id()), [format!("tombstone/{}/", thread.id())]);
    let life = life.crash(SECOND).await;
    assert!(soon(life.store.read(&log, 1, 1)).await.unwrap().is_empty());
    assert!(rows_with(&life, thread.id()).is_empty());
}

#[tokio::test]
async fn a_crash_before_it_is_noted_that_a_log_is_gone_has_the_next_start_note_it() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    life.store.store.fail_next(FailPoint::Unlink);
    soon(life.engine().delete_thread(thread.id(), deletion(&person))).await.unwrap();
    soon(life.store.remove(&LogName::Thread(thread.id().clone()))).await.unwrap();
    let life = life.crash(SECOND).await;
    assert!(rows_with(&life, thread.id()).is_empty(), "its tombstone does not stand any more");
}

#[tokio::test]
async fn a_project_goes_whole_or_not_at_all() {
    for (point, is_there) in [(FailPoint::HangBeforeSync, true), (FailPoint::HangAfterSync, false)] {
        let (life, person) = (Life::first().await, Person::new("in-A"));
        let project = project(&life).await;
        for _ in 0..3 {
            let mut request = life.request(&person, Vec::new());
            request.start.project_id = project.clone();
            soon(life.engine().start(request)).await.unwrap();
        }
        life.store.store.fail_next(point);
        let (engine, id, deleted) = (life.engine().clone(), project.clone(), deletion(&person));
        tokio::spawn(async move { engine.delete_project(&id, deleted).await });
        idle().await;
        let life = life.crash(SECOND).await;
        assert_eq!(life.daemon.catalogue.snapshot().projects.contains_key(&project), is_there);
        assert_eq!(life.engine().thread_count(), if is_there { 3 } else { 0 });
        assert_eq!(rows_with(&life, &project).is_empty(), !is_there);
    }
}

/// What others do to a thread that is being deleted.
async fn other(what: u32, thread: ThreadHandle, person: &Person, approval: InteractionId) -> Result<(), RpcError> {
    match what {
        0 => thread.submit(request(&thread, "more", Default::default())).await.map(drop),
        1 => {
            let patch = HeaderPatch { title: Patch::Set("mine".into()), ..HeaderPatch::default() };
            thread.update(patch, None).await.map(drop)
        }
        2 => {
            let resume = Resume {
                client: person.end.clone(),
                tools: None,
                after: None,
                takeover: false,
                subscribe: true,
                operation: operation("op-resume"),
            };
            thread.resume(resume).await.map(drop)
        }
        3 => {
            let client = person.end.client_ref().clone();
            thread.settle(client, approval, json!({"decision": "accept"}), operation("op-settle")).await.map(drop)
        }
        _ => {
            let by = person.end.client_ref().clone();
            thread.stop(crate::engine::StopTarget::Branch(thread.id().clone().into()), by, None).await.map(drop)
        }
    }
}

/// The approval a thread asks for, whatever else of threads before it has been offered.
async fn approval_of(person: &mut Person, thread: &ThreadHandle) -> InteractionId {
    loop {
        if let Told::Offer(offer, of) = person.told().await
            && of.id() == thread.id()
        {
            return offer.interaction_id;
        }
    }
}

/// Told precisely: the thread is not there, or the approval was settled, by whom and when.
fn is_precise(error: &RpcError) -> bool {
    is_not_found(error) || matches!(error.data.detail, ErrorDetail::AlreadySettled { .. })
}

#[tokio::test]
async fn k40_of_all_who_change_and_delete_a_thread_at_once_one_deletes_it_and_the_rest_are_told_precisely() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    let other_person = Arc::new(Person::new("in-B"));
    let mut gone = Vec::new();
    for seed in 0..1_000 {
        let mut random = StdRng::seed_from_u64(seed);
        let thread = life.start(&person, asking("write")).await;
        begin(&thread, "go").await;
        life.asked().await.calls(&[("write", "{}")]);
        let approval = approval_of(&mut person, &thread).await;
        let mut deletions = Vec::new();
        let mut others = Vec::new();
        let mut order: Vec<u32> = (0..7).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, random.random_range(0..=at));
        }
        for what in order {
            for _ in 0..random.random_range(0..6) {
                tokio::task::yield_now().await;
            }
            let thread = thread.clone();
            if what < 2 {
                let (engine, by) = (life.engine().clone(), deletion(&person));
                deletions.push(tokio::spawn(async move { engine.delete_thread(thread.id(), by).await }));
            } else {
                let (person, approval) = (other_person.clone(), approval.clone());
                others.push(tokio::spawn(async move { other(what - 2, thread, &person, approval).await }));
            }
        }
        let deleted = soon(futures::future::join_all(deletions)).await.into_iter().map(Result::unwrap);
        let deleted: Vec<_> = deleted.collect();
        assert_eq!(deleted.iter().filter(|deleted| deleted.is_ok()).count(), 1, "seed {seed}: {deleted:?}");
        assert!(
            deleted.iter().filter_map(|deleted| deleted.as_ref().err()).all(is_not_found),
            "seed {seed}: {deleted:?}"
        );
        for other in soon(futures::future::join_all(others)).await {
            assert!(other.as_ref().unwrap().as_ref().err().is_none_or(is_precise), "seed {seed}: {other:?}");
        }
        assert_eq!(rows_with(&life, thread.id()), Vec::<String>::new(), "seed {seed}");
        while life.is_asked() {
            drop(life.asked().await);
        }
        gone.push(thread.id().clone());
    }
    assert_eq!(life.engine().thread_count(), 0);
    let life = life.crash(SECOND).await;
    for id in &gone {
        assert!(is_not_found(&life.engine().thread(id).err().unwrap()));
        assert!(soon(life.store.read(&LogName::Thread(id.clone()), 1, 1)).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn whoever_was_asked_is_told_the_end_also_when_the_record_of_it_could_not_be_stored() {
    for point in [FailPoint::Sync, FailPoint::Full] {
        let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
        let thread = life.start(&person, asking("write")).await;
        begin(&thread, "go").await;
        life.asked().await.calls(&[("write", "{}")]);
        let approval = approval_of(&mut person, &thread).await;
        life.store.store.fail_next(point);
        soon(life.engine().delete_thread(thread.id(), deletion(&person))).await.unwrap();
        let settled = person.settled().await;
        assert_eq!((settled.interaction_id, settled.outcome), (approval, Outcome::Cancelled));
    }
}
