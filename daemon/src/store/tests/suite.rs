//! The promises of the seam, each as one function that runs against both stores.

use std::time::Duration;

use super::support::{InMemory, OnDisk, Subject, all_rows, commit_of, events, put, record, thread, within};
use crate::store::{Commit, FailPoint, Key, LogName, Rows as _, Store as _, StoreError};

macro_rules! both {
    ($($name:ident)*) => {
        mod in_memory {
            $(#[tokio::test] async fn $name() { super::$name(<super::InMemory as super::Subject>::new()).await; })*
        }
        mod on_disk {
            $(#[tokio::test] async fn $name() { super::$name(<super::OnDisk as super::Subject>::new()).await; })*
        }
    };
}

pub(super) use both;

both! {
    what_was_committed_is_read_back_in_order
    a_record_without_events_counts_as_holding_the_next_one
    a_read_begins_with_the_record_that_holds_the_event_and_stops_at_its_bound
    commits_of_one_log_keep_the_order_of_their_calls
    a_record_out_of_turn_is_refused_and_harms_nothing
    rows_and_records_survive_a_crash
    rows_come_back_from_the_logs_alone
    a_failed_commit_leaves_nothing_and_the_next_one_works
    a_full_disk_is_told_as_such
    a_failed_first_commit_leaves_no_log
    a_log_that_could_not_be_cut_takes_nothing_until_it_can_be
    a_failed_commit_takes_those_behind_it_along
    a_commit_stands_although_the_index_failed
    damage_ends_what_can_be_read_and_refuses_commits
    logs_of_all_kinds_are_apart
    sizes_count_the_logs
}

async fn what_was_committed_is_read_back_in_order(subject: impl Subject) {
    let (store, log) = (subject.store(), thread("aa01"));
    assert!(events(store, &log, 1).await.is_empty());
    put(store, &log, 1, &["a", "b"]).await.unwrap();
    put(store, &log, 3, &["c"]).await.unwrap();
    assert_eq!(events(store, &log, 1).await, ["a", "b", "c"]);
    assert!(events(store, &log, 4).await.is_empty());
    let count = store.get(&Key::of(&["count", &log.to_string()])).unwrap();
    assert_eq!(count.as_deref(), Some(b"2".as_slice()));
}

async fn a_record_without_events_counts_as_holding_the_next_one(subject: impl Subject) {
    let (store, log) = (subject.store(), thread("aa01"));
    let all = vec![record(1, &["a"]), record(2, &[]), record(2, &[]), record(2, &["b"])];
    within(store.commit(Commit { log: log.clone(), records: all, rows: Vec::new() })).await.unwrap();
    assert_eq!(within(store.read(&log, 1, usize::MAX)).await.unwrap().len(), 4);
    assert_eq!(within(store.read(&log, 2, usize::MAX)).await.unwrap().len(), 3);
    assert!(within(store.read(&log, 3, usize::MAX)).await.unwrap().is_empty());
}

async fn a_read_begins_with_the_record_that_holds_the_event_and_stops_at_its_bound(subject: impl Subject) {
    let (store, log) = (subject.store(), thread("aa01"));
    let long = "x".repeat(9_000);
    for n in 0..60 {
        put(store, &log, 1 + 2 * n, &[&format!("{}", 1 + 2 * n), &long]).await.unwrap();
    }
    for from in [1, 2, 3, 40, 41, 42, 87, 119, 120] {
        let records = within(store.read(&log, from, 30_000)).await.unwrap();
        let first = (from - 1) / 2 * 2 + 1;
        let expected: Vec<u64> = (0..3).map(|k| first + 2 * k).filter(|n| *n < 120).collect();
        assert_eq!(records.iter().map(|record| record.n).collect::<Vec<_>>(), expected, "from {from}");
    }
    assert_eq!(within(store.read(&log, 5, 1)).await.unwrap().len(), 1, "the first is always there");
    assert!(within(store.read(&log, 121, 1)).await.unwrap().is_empty());
}

async fn commits_of_one_log_keep_the_order_of_their_calls(subject: impl Subject) {
    let (store, log) = (subject.store(), thread("aa01"));
    let commits: Vec<_> = (1..=500)
        .map(|n| {
            let records = vec![record(n, &[&n.to_string()])];
            store.commit(Commit { log: log.clone(), records, rows: Vec::new() })
        })
        .collect();
    for answer in within(futures::future::join_all(commits)).await {
        answer.unwrap();
    }
    let expected: Vec<String> = (1..=500).map(|n| n.to_string()).collect();
    assert_eq!(events(store, &log, 1).await, expected);
}

async fn a_record_out_of_turn_is_refused_and_harms_nothing(subject: impl Subject) {
    let (store, log) = (subject.store(), thread("aa01"));
    put(store, &log, 1, &["a"]).await.unwrap();
    assert!(matches!(put(store, &log, 3, &["c"]).await, Err(StoreError::Write { .. })));
    put(store, &log, 2, &["b"]).await.unwrap();
    assert_eq!(events(store, &log, 1).await, ["a", "b"]);
}

async fn rows_and_records_survive_a_crash(subject: impl Subject) {
    let log = thread("aa01");
    for n in 1..=9 {
        put(subject.store(), &log, n, &["e"]).await.unwrap();
    }
    let before = all_rows(subject.store());
    let subject = subject.crash();
    assert_eq!(all_rows(subject.store()), before);
    assert_eq!(events(subject.store(), &log, 1).await.len(), 9);
    put(subject.store(), &log, 10, &["f"]).await.unwrap();
    assert_eq!(events(subject.store(), &log, 9).await, ["e", "f"]);
}

async fn rows_come_back_from_the_logs_alone(subject: impl Subject) {
    put(subject.store(), &LogName::Daemon, 1, &["d"]).await.unwrap();
    for n in 1..=9 {
        put(subject.store(), &thread("aa01"), n, &["e"]).await.unwrap();
        put(subject.store(), &thread("aa02"), n, &["e"]).await.unwrap();
    }
    let before = all_rows(subject.store());
    let subject = subject.crash_without_index();
    assert_eq!(all_rows(subject.store()), before);
    put(subject.store(), &thread("aa02"), 10, &["f"]).await.unwrap();
}

async fn a_failed_commit_leaves_nothing_and_the_next_one_works(subject: impl Subject) {
    let log = thread("aa01");
    put(subject.store(), &log, 1, &["a"]).await.unwrap();
    let before = all_rows(subject.store());
    for point in [FailPoint::Append, FailPoint::Sync] {
        subject.fail_next(point);
        let failed = put(subject.store(), &log, 2, &["lost"]).await;
        assert!(matches!(failed, Err(StoreError::Write { full: false, .. })), "{point:?}: {failed:?}");
        assert_eq!(events(subject.store(), &log, 1).await, ["a"]);
        assert_eq!(all_rows(subject.store()), before);
    }
    put(subject.store(), &log, 2, &["b"]).await.unwrap();
    let subject = subject.crash();
    assert_eq!(events(subject.store(), &log, 1).await, ["a", "b"]);
}

async fn a_full_disk_is_told_as_such(subject: impl Subject) {
    put(subject.store(), &thread("aa01"), 1, &["a"]).await.unwrap();
    subject.fail_next(FailPoint::FullButForReserve);
    put(subject.store(), &thread("aa01"), 2, &["on the reserve"]).await.unwrap();
    subject.fail_next(FailPoint::Full);
    let failed = put(subject.store(), &thread("aa01"), 3, &["b"]).await;
    assert!(matches!(failed, Err(StoreError::Write { full: true, .. })), "{failed:?}");
}

async fn a_failed_first_commit_leaves_no_log(subject: impl Subject) {
    let log = thread("aa01");
    subject.fail_next(FailPoint::Sync);
    put(subject.store(), &log, 1, &["lost"]).await.unwrap_err();
    assert!(events(subject.store(), &log, 1).await.is_empty());
    put(subject.store(), &log, 1, &["a"]).await.unwrap();
    assert_eq!(events(subject.crash().store(), &log, 1).await, ["a"]);
}

async fn a_log_that_could_not_be_cut_takes_nothing_until_it_can_be(subject: impl Subject) {
    let log = thread("aa01");
    put(subject.store(), &log, 1, &["a"]).await.unwrap();
    subject.fail_next(FailPoint::Cut);
    put(subject.store(), &log, 2, &["lost"]).await.unwrap_err();
    assert_eq!(events(subject.store(), &log, 1).await, ["a"], "reading goes on");
    subject.fail_next(FailPoint::Cut);
    put(subject.store(), &log, 2, &["lost"]).await.unwrap_err();
    put(subject.store(), &thread("aa02"), 1, &["other"]).await.unwrap();
    put(subject.store(), &log, 2, &["b"]).await.unwrap();
    assert_eq!(events(subject.crash().store(), &log, 1).await, ["a", "b"]);
}

async fn a_failed_commit_takes_those_behind_it_along(subject: impl Subject) {
    let (store, log) = (subject.store(), thread("aa01"));
    put(store, &log, 1, &["a"]).await.unwrap();
    subject.fail_next(FailPoint::Sync);
    let commits: Vec<_> = (2..5)
        .map(|n| store.commit(Commit { log: log.clone(), records: vec![record(n, &["x"])], rows: Vec::new() }))
        .collect();
    for answer in within(futures::future::join_all(commits)).await {
        assert!(matches!(answer, Err(StoreError::Write { .. })));
    }
    assert_eq!(events(store, &log, 1).await, ["a"]);
}

async fn a_commit_stands_although_the_index_failed(subject: impl Subject) {
    let log = thread("aa01");
    put(subject.store(), &log, 1, &["a"]).await.unwrap();
    subject.fail_next(FailPoint::Index);
    put(subject.store(), &log, 2, &["b"]).await.unwrap();
    put(subject.store(), &log, 3, &["c"]).await.unwrap();
    within(subject.store().flush()).await.unwrap();
    assert_eq!(subject.store().degraded(), None, "it was built anew");
    let count = subject.store().get(&Key::of(&["count", &log.to_string()])).unwrap();
    assert_eq!(count.as_deref(), Some(b"3".as_slice()));
    let before = all_rows(subject.store());
    let subject = subject.crash();
    assert_eq!(all_rows(subject.store()), before);
    assert_eq!(events(subject.store(), &log, 1).await, ["a", "b", "c"]);
}

async fn damage_ends_what_can_be_read_and_refuses_commits(subject: impl Subject) {
    let log = thread("aa01");
    for n in 1..=5 {
        put(subject.store(), &log, n, &[&n.to_string()]).await.unwrap();
    }
    subject.damage(&log, 3, 2);
    let subject = assert_damaged(subject, &log, "bb01").await.crash();
    let subject = assert_damaged(subject, &log, "bb02").await.crash_without_index();
    assert_damaged(subject, &log, "bb03").await;
}

async fn assert_damaged<S: Subject>(subject: S, log: &LogName, healthy: &str) -> S {
    assert_eq!(events(subject.store(), log, 1).await, ["1", "2"]);
    let beyond = within(subject.store().read(log, 3, usize::MAX)).await;
    assert!(matches!(beyond, Err(StoreError::Damaged { .. })), "{beyond:?}");
    for n in [3, 6] {
        let refused = put(subject.store(), log, n, &["x"]).await;
        assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
    }
    put(subject.store(), &thread(healthy), 1, &["fine"]).await.unwrap();
    subject
}

async fn logs_of_all_kinds_are_apart(subject: impl Subject) {
    let logs = [LogName::Daemon, thread("aa01"), LogName::Transcript("aa01".into()), thread("aa011")];
    for (at, log) in logs.iter().enumerate() {
        put(subject.store(), log, 1, &[&at.to_string()]).await.unwrap();
    }
    let subject = subject.crash_without_index();
    for (at, log) in logs.iter().enumerate() {
        assert_eq!(events(subject.store(), log, 1).await, [at.to_string()]);
    }
}

async fn sizes_count_the_logs(subject: impl Subject) {
    let before = subject.store().sizes().log_bytes;
    put(subject.store(), &thread("aa01"), 1, &["a"]).await.unwrap();
    let first = subject.store().sizes().log_bytes;
    put(subject.store(), &thread("aa01"), 2, &["b"]).await.unwrap();
    let second = subject.store().sizes().log_bytes;
    assert!(before < first && first < second);
    let subject = subject.crash();
    assert_eq!(subject.store().sizes().log_bytes, second);
}

#[tokio::test]
async fn a_commit_that_hangs_before_its_sync_is_gone_after_a_crash() {
    let store = crate::store::MemoryStore::with_projector(std::sync::Arc::new(super::support::Counting));
    let log = thread("aa01");
    for (point, expected) in [(FailPoint::HangBeforeSync, vec!["a"]), (FailPoint::HangAfterSync, vec!["a", "b"])] {
        let store = store.crash();
        put(&store, &log, 1, &["a"]).await.unwrap();
        store.fail_next(point);
        let commit = store.commit(commit_of(&store, &log, vec![record(2, &["b"])]));
        assert!(tokio::time::timeout(Duration::ZERO, commit).await.is_err());
        let crashed = store.crash();
        assert_eq!(events(&crashed, &log, 1).await, expected);
        let count = crashed.get(&Key::of(&["count", &log.to_string()])).unwrap().unwrap();
        assert_eq!(String::from_utf8(count).unwrap(), expected.len().to_string(), "rows follow the log");
    }
}
