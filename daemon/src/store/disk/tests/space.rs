//! A disk that fills up, can only be read, or is gone: what is still written, what is said, and how it ends.

use std::fs;

use super::super::space::RESERVE_BYTES;
use crate::store::{
    FailPoint, NEEDED_BYTES, Rows as _, Store as _, StoreError,
    tests::support::{OnDisk, Subject as _, all_rows, events, put, thread, within},
};

fn reserve(disk: &OnDisk) -> Option<u64> {
    fs::metadata(disk.home.path().join("reserve")).ok().map(|found| found.len())
}

#[tokio::test]
async fn under_16_mib_new_work_is_refused_and_everything_else_is_written() {
    let (disk, log) = (OnDisk::new(), thread("aa01"));
    put(&disk.store, &log, 1, &["a"]).await.unwrap();
    disk.store.room().unwrap();
    disk.store.tell_room(NEEDED_BYTES, false);
    disk.store.room().unwrap();
    disk.store.tell_room(NEEDED_BYTES - 1, false);
    let refused = disk.store.room().unwrap_err();
    assert!(matches!(refused, StoreError::NoRoom { free_bytes, .. } if free_bytes == NEEDED_BYTES - 1), "{refused}");
    assert_eq!((refused.reason(), refused.is_passing()), ("storage_full", true));
    assert_eq!(disk.store.degraded(), Some(refused.to_string()), "health says so");
    put(&disk.store, &log, 2, &["b"]).await.unwrap();
    let kept = within(disk.store.put_blob(b"the whole of a result".to_vec())).await;
    assert!(matches!(kept, Err(StoreError::NoRoom { .. })), "what need not be stored is not: {kept:?}");
    disk.store.tell_room(u64::MAX, false);
    disk.store.room().unwrap();
    assert_eq!(disk.store.degraded(), None);
}

#[tokio::test]
async fn a_disk_that_can_only_be_read_takes_no_new_work_and_says_why() {
    let disk = OnDisk::new();
    disk.store.tell_room(u64::MAX, true);
    let refused = disk.store.room().unwrap_err();
    assert!(refused.to_string().ends_with("is on a disk that can only be read"), "{refused}");
    assert_eq!(refused.reason(), "io_error");
}

#[tokio::test]
async fn k33_a_home_that_is_gone_is_named_as_gone() {
    let disk = OnDisk::new();
    put(&disk.store, &thread("aa01"), 1, &["a"]).await.unwrap();
    fs::remove_dir_all(disk.home.path()).unwrap();
    for failed in [disk.store.room(), put(&disk.store, &thread("aa01"), 2, &["b"]).await] {
        let failed = failed.unwrap_err();
        assert!(matches!(failed, StoreError::HomeGone { .. }), "{failed}");
        assert_eq!((failed.reason(), failed.is_passing()), ("home_gone", false));
    }
    assert!(put(&disk.store, &thread("bb02"), 1, &["x"]).await.is_err());
    let long = "x".repeat(20_000);
    assert!(put(&disk.store, &thread("bb03"), 1, &[&long]).await.is_err());
    assert!(!disk.home.path().exists(), "nothing of it comes back");
}

#[tokio::test]
async fn what_must_be_written_to_a_full_disk_is_written_on_the_reserve() {
    let (disk, log) = (OnDisk::new(), thread("aa01"));
    put(&disk.store, &log, 1, &["a"]).await.unwrap();
    assert_eq!(reserve(&disk), Some(RESERVE_BYTES));
    disk.store.tell_room(0, false);
    disk.fail_next(FailPoint::FullButForReserve);
    put(&disk.store, &log, 2, &["the end of a run"]).await.unwrap();
    assert_eq!(reserve(&disk), None);
    disk.fail_next(FailPoint::Full);
    let failed = put(&disk.store, &log, 3, &["one too many"]).await;
    assert!(matches!(failed, Err(StoreError::Write { full: true, .. })), "{failed:?}");
    assert_eq!(events(&disk.store, &log, 1).await, ["a", "the end of a run"], "reading goes on");

    disk.store.tell_room(NEEDED_BYTES + RESERVE_BYTES, false);
    put(&disk.store, &log, 3, &["c"]).await.unwrap();
    // The next record waits for whoever makes it anew after the one before.
    put(&disk.store, &log, 4, &["d"]).await.unwrap();
    assert_eq!(reserve(&disk), Some(RESERVE_BYTES));
    assert_eq!(events(OnDisk::open(disk.image()).store(), &log, 1).await.len(), 4);
}

#[tokio::test]
async fn rows_are_seen_while_the_index_cannot_be_mended_and_are_in_it_afterwards() {
    let (disk, log) = (OnDisk::new(), thread("aa01"));
    put(&disk.store, &log, 1, &["a"]).await.unwrap();
    within(disk.store.flush()).await.unwrap();
    disk.store.tell_room(0, false);
    disk.fail_next(FailPoint::Index);
    for n in 2..=9 {
        put(&disk.store, &log, n, &[&n.to_string()]).await.unwrap();
        let _ = within(disk.store.flush()).await;
        let count = disk.store.get(&crate::store::Key::of(&["count", &log.to_string()])).unwrap();
        assert_eq!(count, Some(n.to_string().into_bytes()), "a row is never older than its log");
    }
    let rows = all_rows(&disk.store);
    assert_eq!(fs::read_dir(disk.home.path().join("index")).unwrap().count(), 2, "no half-built index takes room");
    assert_eq!(all_rows(OnDisk::open(disk.image()).store()), rows);
}
