//! The file of a log that is removed: at every place where the process can die, nobody misses it and it stays away.

use std::fs;

use crate::store::{
    FailPoint, LogName, Store as _,
    tests::support::{OnDisk, Removal, Subject as _, all_rows, commit_of, events, log_path, put, thread, within},
};

async fn doomed() -> (OnDisk, LogName) {
    let (disk, log) = (OnDisk::new(), thread("aa01"));
    for n in 1..=3 {
        put(&disk.store, &log, n, &["a"]).await.unwrap();
    }
    within(disk.store.flush()).await.unwrap();
    say(&disk, &Removal::Decided(log.clone())).await;
    (disk, log)
}

async fn say(disk: &OnDisk, removal: &Removal) {
    within(disk.store.commit(commit_of(&disk.store, &LogName::Daemon, vec![removal.record()]))).await.unwrap();
}

#[tokio::test]
async fn k39_a_removed_log_leaves_no_file_and_nobody_misses_it() {
    let (disk, log) = doomed().await;
    within(disk.store.remove(&log)).await.unwrap();
    assert!(!disk.log_path(&log).exists());
    // Before its end is written down, and after.
    for is_gone in [false, true] {
        if is_gone {
            say(&disk, &Removal::Gone(log.clone())).await;
        }
        for without_index in [false, true] {
            let home = disk.image();
            if without_index {
                fs::remove_dir_all(home.path().join("index")).unwrap();
            }
            let again = OnDisk::open(home);
            assert!(again.store.notices().is_empty(), "{is_gone}: {:?}", again.store.notices());
            assert_eq!(all_rows(&again.store), all_rows(&disk.store));
            assert!(events(&again.store, &log, 1).await.is_empty());
            assert!(!again.log_path(&log).exists());
        }
    }
}

#[tokio::test]
async fn a_log_whose_tombstone_stands_is_left_for_its_removal_whatever_became_of_it() {
    let (disk, log) = doomed().await;
    disk.fail_next(FailPoint::Unlink);
    within(disk.store.remove(&log)).await.unwrap_err();
    let home = disk.image();
    let path = log_path(home.path(), &log);
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 7);
    fs::write(&path, &bytes).unwrap();
    let again = OnDisk::open(home);
    assert!(again.store.notices().is_empty(), "{:?}", again.store.notices());
    assert_eq!(fs::read(&path).unwrap(), bytes, "nothing of it is mended or kept aside");
    within(again.store.remove(&log)).await.unwrap();
    assert!(!path.exists());
    assert_eq!(fs::read_dir(again.home.path().join("lost")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_log_that_is_removed_while_the_index_is_broken_is_removed_once_it_is_whole() {
    let (disk, log) = doomed().await;
    let indexes = disk.home.path().join("index");
    fs::rename(&indexes, disk.home.path().join("away")).unwrap();
    disk.fail_next(FailPoint::Index);
    put(&disk.store, &thread("aa02"), 1, &["a"]).await.unwrap();
    within(disk.store.remove(&log)).await.unwrap_err();
    assert!(disk.log_path(&log).exists(), "an index that knows a log without a file would take it for lost");
    fs::rename(disk.home.path().join("away"), &indexes).unwrap();
    let again = OnDisk::open(disk.image());
    within(again.store.remove(&log)).await.unwrap();
    assert!(!again.log_path(&log).exists());
}
