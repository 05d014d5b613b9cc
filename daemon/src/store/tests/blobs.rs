//! Payloads out of line, the same in both stores: there before their record, whole or named as lost, gone when nobody
//! needs them.

use ropewalk_protocol::BlobId;

use super::{
    suite::both,
    support::{InMemory, OnDisk, Subject, all_rows, commit_of, events, put, record, thread, within},
};
use crate::store::{FailPoint, LogName, Record, Sieve, Store, StoreError, blobs::blob_id};

both! {
    a_long_string_comes_back_and_its_line_is_short
    a_payload_of_two_logs_survives_the_end_of_one
    a_payload_nobody_names_goes_with_its_pin
    a_payload_that_was_put_and_named_outlives_its_pin
    a_payload_is_read_in_parts
    a_lost_payload_is_named_as_damage_and_never_empty
    a_payload_that_cannot_be_written_fails_its_commit
    a_failed_commit_leaves_no_payload_behind_a_crash
    a_read_stops_at_its_bound_before_it_loads_a_payload
    a_payload_goes_that_a_log_written_anew_lets_fall
    what_a_deleted_log_needed_is_forgotten_by_the_next_start_where_its_deleter_was_killed
}

fn long(letter: char) -> String {
    letter.to_string().repeat(20_000)
}

fn of(text: &str) -> BlobId {
    blob_id(text.as_bytes())
}

async fn has(store: &dyn Store, text: &str) -> bool {
    within(store.read_blob(&of(text), 0, 1)).await.unwrap().is_some()
}

async fn a_long_string_comes_back_and_its_line_is_short(subject: impl Subject) {
    let log = thread("aa01");
    let before = subject.store().sizes().log_bytes;
    put(subject.store(), &log, 1, &["a", &long('x'), &long('x')]).await.unwrap();
    assert!(subject.store().sizes().log_bytes - before < 1_500, "{}", subject.store().sizes().log_bytes);
    let rows = all_rows(subject.store());
    let subject = subject.crash();
    assert_eq!(subject.store().sizes().blob_bytes, 20_000, "once, however often it is said");
    assert_eq!(events(subject.store(), &log, 1).await, ["a".to_owned(), long('x'), long('x')]);
    let subject = subject.crash_without_index();
    assert_eq!(all_rows(subject.store()), rows, "rows are made of whole records, and say who needs what");
    assert_eq!(events(subject.store(), &log, 1).await[1], long('x'));
}

async fn a_payload_of_two_logs_survives_the_end_of_one(subject: impl Subject) {
    let (one, other, daemon) = (thread("aa01"), thread("aa02"), LogName::Daemon);
    for log in [&one, &other, &daemon] {
        put(subject.store(), log, 1, &[&long('x')]).await.unwrap();
    }
    put(subject.store(), &one, 2, &[&long('y')]).await.unwrap();
    within(subject.store().release_blobs(&one)).await.unwrap();
    assert!(has(subject.store(), &long('x')).await && !has(subject.store(), &long('y')).await);
    assert_eq!(events(subject.store(), &other, 1).await, [long('x')]);
    within(subject.store().release_blobs(&one)).await.unwrap();
    within(subject.store().release_blobs(&other)).await.unwrap();
    assert_eq!(events(subject.store(), &daemon, 1).await, [long('x')]);
    within(subject.store().release_blobs(&daemon)).await.unwrap();
    assert!(!has(subject.store(), &long('x')).await);
    let uses = all_rows(subject.store()).into_iter().filter(|(key, _)| key.0.starts_with(b"blob")).count();
    assert_eq!(uses, 0);
}

async fn what_a_deleted_log_needed_is_forgotten_by_the_next_start_where_its_deleter_was_killed(subject: impl Subject) {
    let log = thread("aa01");
    put(subject.store(), &log, 1, &[&long('x')]).await.unwrap();
    within(subject.store().remove(&log)).await.unwrap();
    let subject = subject.crash();
    let is_swept = async || {
        let uses = all_rows(subject.store()).into_iter().any(|(key, _)| key.0.starts_with(b"blob"));
        !uses && !has(subject.store(), &long('x')).await
    };
    within(async {
        while !is_swept().await {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

async fn a_payload_nobody_names_goes_with_its_pin(subject: impl Subject) {
    let store = subject.store();
    put(store, &thread("aa01"), 1, &[&long('x')]).await.unwrap();
    let pin = within(store.put_blob(long('x').into_bytes())).await.unwrap();
    let again = within(store.put_blob(long('x').into_bytes())).await.unwrap();
    assert_eq!((pin.blob(), pin.blob().total_bytes), (again.blob(), 20_000));
    drop(again);
    within(store.release_blobs(&thread("aa01"))).await.unwrap();
    assert!(has(store, &long('x')).await, "it is pinned");
    drop(pin);
    put(store, &thread("aa02"), 1, &[&long('x')]).await.unwrap();
    within(store.release_blobs(&thread("aa02"))).await.unwrap();
    assert!(!has(store, &long('x')).await);
}

async fn a_payload_that_was_put_and_named_outlives_its_pin(subject: impl Subject) {
    let log = thread("aa01");
    let pin = within(subject.store().put_blob(b"whole".to_vec())).await.unwrap();
    let named = Record { blobs: vec![pin.blob().clone()], ..record(1, &["a"]) };
    within(subject.store().commit(commit_of(subject.store(), &log, vec![named]))).await.unwrap();
    drop(pin);
    let subject = subject.crash_without_index();
    let records = within(subject.store().read(&log, 1, usize::MAX)).await.unwrap();
    assert_eq!((&records[0].blobs[0].blob_id, records[0].blobs[0].total_bytes), (&of("whole"), 5));
    put(subject.store(), &log, 2, &["b"]).await.unwrap();
    assert!(has(subject.store(), "whole").await);
    within(subject.store().release_blobs(&log)).await.unwrap();
    assert!(!has(subject.store(), "whole").await);
}

async fn a_payload_is_read_in_parts(subject: impl Subject) {
    let store = subject.store();
    let _pin = within(store.put_blob(b"0123456789".to_vec())).await.unwrap();
    for (offset, limit, expected) in [(0, 4, "0123"), (4, 100, "456789"), (10, 5, ""), (50, 5, "")] {
        let part = within(store.read_blob(&of("0123456789"), offset, limit)).await.unwrap().unwrap();
        assert_eq!((part.bytes.as_slice(), part.total_bytes), (expected.as_bytes(), 10));
    }
    for strange in ["", "../../secrets", &"A".repeat(64), of("nobody put this").as_str()] {
        assert_eq!(within(store.read_blob(&strange.into(), 0, 5)).await.unwrap(), None, "{strange}");
    }
}

async fn a_lost_payload_is_named_as_damage_and_never_empty(subject: impl Subject) {
    let log = thread("aa01");
    put(subject.store(), &log, 1, &["a"]).await.unwrap();
    put(subject.store(), &log, 2, &[&long('x')]).await.unwrap();
    put(subject.store(), &log, 3, &["c"]).await.unwrap();
    subject.lose_blob(&of(&long('x')));
    let known = within(subject.store().read_blob(&of(&long('x')), 0, 1)).await;
    assert!(matches!(known, Err(StoreError::Read { .. })), "it is lost, not unknown: {known:?}");
    let subject = assert_lost(subject, &log, "bb01").await.crash();
    let subject = assert_lost(subject, &log, "bb02").await.crash_without_index();
    assert_lost(subject, &log, "bb03").await;
}

async fn assert_lost<S: Subject>(subject: S, log: &LogName, healthy: &str) -> S {
    let records = within(subject.store().read(log, 1, usize::MAX)).await.unwrap();
    assert_eq!(records.len(), 1, "what is before it can be read");
    let lost = within(subject.store().read(log, 2, usize::MAX)).await;
    assert!(matches!(lost, Err(StoreError::Damaged { .. })), "{lost:?}");
    let refused = put(subject.store(), log, 4, &["d"]).await;
    assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
    put(subject.store(), &thread(healthy), 1, &["fine"]).await.unwrap();
    subject
}

async fn a_payload_that_cannot_be_written_fails_its_commit(subject: impl Subject) {
    let log = thread("aa01");
    put(subject.store(), &log, 1, &["a"]).await.unwrap();
    subject.fail_next(FailPoint::Blob);
    let failed = put(subject.store(), &log, 2, &[&long('x')]).await;
    assert!(matches!(failed, Err(StoreError::Write { .. })), "{failed:?}");
    assert_eq!(events(subject.store(), &log, 1).await, ["a"]);
    subject.fail_next(FailPoint::Blob);
    assert!(within(subject.store().put_blob(b"b".to_vec())).await.is_err());
    put(subject.store(), &log, 2, &[&long('x')]).await.unwrap();
    assert_eq!(events(subject.crash().store(), &log, 2).await, [long('x')]);
}

async fn a_failed_commit_leaves_no_payload_behind_a_crash(subject: impl Subject) {
    let log = thread("aa01");
    put(subject.store(), &log, 1, &[&long('x')]).await.unwrap();
    subject.fail_next(FailPoint::Sync);
    put(subject.store(), &log, 2, &[&long('y')]).await.unwrap_err();
    let subject = subject.crash();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while has(subject.store(), &long('y')).await {
        assert!(std::time::Instant::now() < deadline, "a start sweeps what nobody names");
        tokio::task::yield_now().await;
    }
    assert_eq!(events(subject.store(), &log, 1).await, [long('x')]);
}

async fn a_read_stops_at_its_bound_before_it_loads_a_payload(subject: impl Subject) {
    let log = thread("aa01");
    put(subject.store(), &log, 1, &["a"]).await.unwrap();
    put(subject.store(), &log, 2, &[&long('x')]).await.unwrap();
    subject.lose_blob(&of(&long('x')));
    assert_eq!(within(subject.store().read(&log, 1, 10_000)).await.unwrap().len(), 1);
    assert!(subject.store().get(&crate::store::Key::of(&["nothing"])).unwrap().is_none());
    put(subject.store(), &log, 3, &["not damaged yet, as nobody has looked"]).await.unwrap();
}

/// Keeps the last of so many records.
struct Last(usize);

impl Sieve for Last {
    fn see(&mut self, _: &Record) {
        self.0 += 1;
    }

    fn keep(&self, at: usize, record: &Record) -> Option<Record> {
        (at + 1 == self.0).then(|| record.clone())
    }
}

async fn a_payload_goes_that_a_log_written_anew_lets_fall(subject: impl Subject) {
    for letter in ['x', 'z', 'y'] {
        let facts = vec![serde_json::value::to_raw_value(&long(letter)).unwrap()];
        let said = Record { facts, ..record(1, &[]) };
        within(subject.store().commit(commit_of(subject.store(), &LogName::Daemon, vec![said]))).await.unwrap();
    }
    put(subject.store(), &thread("aa01"), 1, &[&long('z')]).await.unwrap();
    within(subject.store().rewrite(&LogName::Daemon, Box::new(Last(0)))).await.unwrap();
    // What a start looks through at the same time is looked through once more after it.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while has(subject.store(), &long('x')).await {
        assert!(std::time::Instant::now() < deadline, "nothing names it any more");
        tokio::task::yield_now().await;
    }
    assert!(has(subject.store(), &long('y')).await, "the log has it still");
    assert!(has(subject.store(), &long('z')).await, "another log has it");
    let uses = |store: &dyn Store| -> Vec<_> {
        let blob = |key: &crate::store::Key| String::from_utf8_lossy(&key.0).contains(of(&long('x')).as_str());
        all_rows(store).into_iter().filter(|(key, _)| blob(key)).collect()
    };
    assert_eq!(uses(subject.store()), [], "no row says that it is needed");
    assert!(has(subject.crash_without_index().store(), &long('y')).await);
}
