//! Removing a log: what is left of it at every place where that can stop, on disk and in memory.

use super::{
    suite::both,
    support::{InMemory, OnDisk, Removal, Subject, all_rows, commit_of, events, put, thread, within},
};
use crate::store::{FailPoint, LogName, Store, StoreError};

both! {
    a_removed_log_is_as_if_it_had_never_been
    a_log_that_is_not_there_can_be_removed
    what_a_removed_log_took_is_free
    others_go_on_while_a_log_is_removed
    a_tombstone_alone_takes_the_rows_away_and_keeps_them_away
    a_removal_that_failed_can_be_repeated_by_the_next_process
    a_tombstone_that_the_index_missed_is_taken_in_with_all_that_follows
}

async fn say(store: &dyn Store, removal: &Removal) -> Result<(), StoreError> {
    within(store.commit(commit_of(store, &LogName::Daemon, vec![removal.record()]))).await
}

/// Two logs of which one is about to go.
async fn two_logs(subject: &impl Subject) -> (LogName, LogName) {
    let (doomed, other) = (thread("aa01"), thread("ab01"));
    put(subject.store(), &LogName::Daemon, 1, &[]).await.unwrap();
    for n in 1..=9 {
        put(subject.store(), &other, n, &["kept"]).await.unwrap();
        put(subject.store(), &doomed, n, &["y".repeat(9_000).as_str()]).await.unwrap();
    }
    (doomed, other)
}

/// Nothing of the log is there, whatever happens, and the other one is whole.
async fn assert_gone<S: Subject>(subject: S, doomed: &LogName, other: &LogName) {
    let check = async |subject: &S| {
        assert!(events(subject.store(), doomed, 1).await.is_empty());
        assert_eq!(events(subject.store(), other, 1).await, ["kept"; 9]);
        let rows = all_rows(subject.store());
        assert!(rows.iter().all(|(key, _)| !String::from_utf8_lossy(&key.0).contains("aa01")), "{rows:?}");
        assert_eq!(subject.store().degraded(), None);
    };
    check(&subject).await;
    let subject = subject.crash();
    check(&subject).await;
    let subject = subject.crash_without_index();
    check(&subject).await;
}

async fn a_removed_log_is_as_if_it_had_never_been(subject: impl Subject) {
    let (doomed, other) = two_logs(&subject).await;
    say(subject.store(), &Removal::Decided(doomed.clone())).await.unwrap();
    within(subject.store().remove(&doomed)).await.unwrap();
    assert!(put(subject.store(), &doomed, 10, &["late"]).await.is_err(), "a record that comes late finds no log");
    say(subject.store(), &Removal::Gone(doomed.clone())).await.unwrap();
    assert_gone(subject, &doomed, &other).await;
}

async fn a_log_that_is_not_there_can_be_removed(subject: impl Subject) {
    let log = thread("aa01");
    within(subject.store().remove(&log)).await.unwrap();
    put(subject.store(), &log, 1, &["a"]).await.unwrap();
    for _ in 0..2 {
        within(subject.store().remove(&log)).await.unwrap();
    }
    assert!(events(subject.store(), &log, 1).await.is_empty());
}

async fn what_a_removed_log_took_is_free(subject: impl Subject) {
    let before = subject.store().sizes().log_bytes;
    put(subject.store(), &thread("aa01"), 1, &["a"]).await.unwrap();
    within(subject.store().remove(&thread("aa01"))).await.unwrap();
    assert_eq!(subject.store().sizes().log_bytes, before);
}

async fn others_go_on_while_a_log_is_removed(subject: impl Subject) {
    let logs: Vec<LogName> = (0..20).map(|at| thread(&format!("t{at:04}"))).collect();
    for log in &logs {
        put(subject.store(), log, 1, &["a"]).await.unwrap();
    }
    let (doomed, kept) = logs.split_at(10);
    let removals = futures::future::join_all(doomed.iter().map(|log| subject.store().remove(log)));
    let commits = async {
        for n in 2..=5 {
            for log in kept {
                put(subject.store(), log, n, &["b"]).await.unwrap();
            }
        }
    };
    let (removed, ()) = within(async { tokio::join!(removals, commits) }).await;
    removed.into_iter().for_each(|removed| removed.unwrap());
    for log in doomed {
        assert!(events(subject.store(), log, 1).await.is_empty());
    }
    for log in kept {
        assert_eq!(events(subject.store(), log, 1).await.len(), 5);
    }
}

async fn a_tombstone_alone_takes_the_rows_away_and_keeps_them_away(subject: impl Subject) {
    let (doomed, _) = two_logs(&subject).await;
    say(subject.store(), &Removal::Decided(doomed.clone())).await.unwrap();
    let before = all_rows(subject.store());
    assert_eq!(before.iter().filter(|(key, _)| String::from_utf8_lossy(&key.0).contains("aa01")).count(), 1);
    let subject = subject.crash();
    assert_eq!(all_rows(subject.store()), before);
    let subject = subject.crash_without_index();
    assert_eq!(all_rows(subject.store()), before, "an index that is built anew does not bring them back");
}

async fn a_removal_that_failed_can_be_repeated_by_the_next_process(subject: impl Subject) {
    let (doomed, other) = two_logs(&subject).await;
    say(subject.store(), &Removal::Decided(doomed.clone())).await.unwrap();
    subject.fail_next(FailPoint::Unlink);
    let failed = within(subject.store().remove(&doomed)).await;
    assert!(matches!(failed, Err(StoreError::Write { .. })), "{failed:?}");
    let subject = subject.crash().crash_without_index();
    within(subject.store().remove(&doomed)).await.unwrap();
    say(subject.store(), &Removal::Gone(doomed.clone())).await.unwrap();
    assert_gone(subject, &doomed, &other).await;
}

async fn a_tombstone_that_the_index_missed_is_taken_in_with_all_that_follows(subject: impl Subject) {
    let (doomed, other) = two_logs(&subject).await;
    subject.fail_next(FailPoint::Index);
    say(subject.store(), &Removal::Decided(doomed.clone())).await.unwrap();
    let subject = subject.crash();
    within(subject.store().remove(&doomed)).await.unwrap();
    let subject = subject.crash();
    say(subject.store(), &Removal::Gone(doomed.clone())).await.unwrap();
    assert_gone(subject, &doomed, &other).await;
}
