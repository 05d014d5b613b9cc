//! How long an operation is recognised: for as long as was promised, over crashes and rebuilt indexes, and not for ever.

use std::time::Duration;

use ropewalk_protocol::{ProjectCreateParams, limits::OPERATION_RETENTION_MS};

use super::{
    client::Person,
    deleting::operation,
    life::{Life, idle, soon},
    spy::Spy,
};
use crate::{
    catalogue::Caller,
    engine::HeaderPatch,
    store::{FailPoint, Store as _},
};

const KEPT: Duration = Duration::from_millis(OPERATION_RETENTION_MS);
const HOUR: Duration = Duration::from_secs(3_600);

fn is_known(life: &Life, id: &str) -> bool {
    life.daemon.journal.find(&id.into()).unwrap().is_some()
}

async fn make_project(life: &Life, id: &str) {
    let caller = Caller { client: None, operation: operation(id) };
    let params = ProjectCreateParams { name: id.to_owned(), ..Default::default() };
    life.daemon.catalogue.create_project(caller, params).await.unwrap();
}

/// Rows of the journal.
fn rows(life: &Life) -> usize {
    let of_operations = |(key, _): &(String, String)| key.starts_with("operation/") || key.starts_with("operationAt/");
    Spy::rows(&life.store.store).iter().filter(|row| of_operations(row)).count()
}

#[tokio::test]
async fn operations_are_kept_for_a_day_and_then_swept_by_the_daemon_itself() {
    let (life, person) = (Life::first().await, Person::new("in-A"));
    let mut request = life.request(&person, Vec::new());
    request.operation = operation("op-thread");
    let thread = soon(life.engine().start(request)).await.unwrap().thread;
    make_project(&life, "op-old").await;
    life.passes(HOUR).await;
    make_project(&life, "op-new").await;
    life.passes(KEPT - HOUR).await;
    let life = life.crash(Duration::ZERO).await;
    assert!(["op-thread", "op-old", "op-new"].iter().all(|id| is_known(&life, id)), "exactly a day is not too long");
    life.passes(HOUR / 2).await;
    idle().await;
    let check = |life: &Life| {
        assert_eq!(["op-thread", "op-old", "op-new"].map(|id| is_known(life, id)), [false, false, true]);
        assert_eq!(rows(life), 2, "the row of the one, and its place in the order of time");
        let owned = format!("owned/{}/operation/op-thread/", thread.id());
        assert!(Spy::rows(&life.store.store).iter().all(|(key, _)| *key != owned));
    };
    check(&life);
    // An index that is built from the logs, which still have them, does not bring them back.
    let life = life.crash(Duration::ZERO).await;
    check(&life);
    make_project(&life, "op-old").await;
    assert!(is_known(&life, "op-old"), "its id may be used again");
    life.crash(Duration::ZERO).await;
}

#[tokio::test]
async fn many_operations_expire_a_bounded_number_at_a_time() {
    let life = Life::first().await;
    for count in 0..2_300 {
        make_project(&life, &format!("op-{count}")).await;
        life.clock.advance(Duration::from_millis(1));
    }
    life.daemon.stop(0);
    idle().await;
    life.clock.advance(KEPT);
    let mut left = vec![rows(&life)];
    while life.daemon.catalogue.expire_operations().await.unwrap() {
        left.push(rows(&life));
    }
    left.push(rows(&life));
    assert_eq!(left, [4_600, 2_600, 600, 0]);
    assert!(!life.daemon.catalogue.expire_operations().await.unwrap());
    life.crash(Duration::ZERO).await;
}

#[tokio::test]
async fn operations_of_one_moment_expire_together_however_many_they_are() {
    let life = Life::first().await;
    for count in 0..1_100 {
        make_project(&life, &format!("op-{count}")).await;
    }
    life.daemon.stop(0);
    idle().await;
    life.clock.advance(KEPT + Duration::from_millis(2));
    assert!(life.daemon.catalogue.expire_operations().await.unwrap());
    assert_eq!(rows(&life), 0);
}

#[tokio::test]
async fn a_crash_between_commit_and_answer_leaves_the_answer_for_the_repeat() {
    for (point, is_kept) in [(FailPoint::HangBeforeSync, false), (FailPoint::HangAfterSync, true)] {
        let (life, person) = (Life::first().await, Person::new("in-A"));
        let thread = life.start(&person, Vec::new()).await;
        life.store.store.fail_next(point);
        let asking = thread.clone();
        let patch = HeaderPatch { title: ropewalk_protocol::Patch::Set("mine".into()), ..HeaderPatch::default() };
        tokio::spawn(async move { asking.update(patch, operation("op-title")).await });
        idle().await;
        let life = life.crash(Duration::ZERO).await;
        let stored = life.daemon.journal.find(&"op-title".into()).unwrap();
        assert_eq!(stored.is_some(), is_kept);
        let title = life.thread(thread.id()).read().await.unwrap().title;
        assert_eq!(title.is_some(), is_kept);
        if let Some(stored) = stored {
            assert_eq!(stored.digest, "digest of op-title");
            assert!(stored.answer.get().contains("mine"), "{}", stored.answer);
        }
    }
}

#[tokio::test]
async fn a_failed_expiry_leaves_the_operations_for_the_next_time() {
    let life = Life::first().await;
    make_project(&life, "op-1").await;
    // Nobody but the test looks after the store from here on.
    life.daemon.stop(0);
    idle().await;
    life.clock.advance(KEPT + HOUR);
    life.store.store.fail_next(FailPoint::Sync);
    life.daemon.catalogue.expire_operations().await.unwrap_err();
    assert!(is_known(&life, "op-1"));
    assert!(life.store.degraded().is_none());
    life.daemon.tend_store().await;
    assert!(!is_known(&life, "op-1"));
}
