//! An index that is missing, noise, old, or goes bad while it is used.

use std::{fs, os::unix::fs::FileExt as _, path::Path};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

use crate::store::{
    FailPoint, Rows as _, Store as _, StoreError,
    tests::support::{OnDisk, Subject as _, all_rows, events, open, put, thread},
};

async fn some_logs() -> OnDisk {
    let disk = OnDisk::new();
    for n in 1..=20 {
        put(&disk.store, &thread("aa01"), n, &["e"]).await.unwrap();
        put(&disk.store, &thread("aa02"), n, &["f"]).await.unwrap();
    }
    crate::store::tests::support::within(disk.store.flush()).await.unwrap();
    disk
}

/// The index as it comes back after `harm`, which gets the directory `index`.
async fn comes_back_after(harm: impl Fn(&Path)) {
    let disk = some_logs().await;
    let home = disk.image();
    harm(&home.path().join("index"));
    let again = OnDisk::open(home);
    assert!(again.store.notices().iter().any(|notice| notice.contains("built anew")), "{:?}", again.store.notices());
    assert_eq!(all_rows(&again.store), all_rows(&disk.store));
    put(&again.store, &thread("aa01"), 21, &["g"]).await.unwrap();
    assert!(fs::read_dir(again.home.path().join("lost")).unwrap().count() > 0, "it is moved aside, not deleted");
    let third = OnDisk::open(again.image());
    assert!(third.store.notices().is_empty(), "{:?}", third.store.notices());
}

#[tokio::test]
async fn noise_in_the_index_is_moved_aside_and_the_index_rebuilt() {
    comes_back_after(|index| fs::write(index.join("1/db"), vec![0xA5; 700_000]).unwrap()).await;
}

#[tokio::test]
async fn whatever_is_wrong_with_the_index_the_rows_are_those_of_the_logs() {
    let disk = some_logs().await;
    let rows = all_rows(&disk.store);
    let db_bytes = fs::metadata(disk.home.path().join("index/1/db")).unwrap().len();
    let mut random = StdRng::seed_from_u64(1);
    for round in 0..24 {
        let home = disk.image();
        let index = home.path().join("index/1");
        let file =
            fs::OpenOptions::new().write(true).open(index.join(if round % 8 == 7 { "conf" } else { "db" })).unwrap();
        // What sled has written lies at the beginning of its file, in its first segments.
        let place = random.random_range(0..if round % 2 == 0 { 4_000 } else { db_bytes });
        match round % 3 {
            0 => file.set_len(place).unwrap(),
            _ => file.write_all_at(&random.random::<[u8; 32]>(), place).unwrap(),
        }
        let again = OnDisk::open(home);
        assert_eq!(all_rows(&again.store), rows, "round {round}, byte {place}: {:?}", again.store.notices());
        put(&again.store, &thread("aa01"), 21, &["g"]).await.unwrap();
        assert_eq!(again.store.degraded(), None);
    }
}

#[tokio::test]
async fn a_truncated_index_is_rebuilt() {
    comes_back_after(|index| {
        let _ = fs::remove_dir_all(index.join("1/blobs"));
        fs::OpenOptions::new().write(true).open(index.join("1/db")).unwrap().set_len(0).unwrap();
        for entry in fs::read_dir(index.join("1")).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("snap") {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    })
    .await;
}

#[tokio::test]
async fn an_index_of_another_version_is_rebuilt() {
    comes_back_after(|index| fs::write(index.join("live"), br#"{"version":9,"number":1}"#).unwrap()).await;
}

#[tokio::test]
async fn an_index_that_nothing_names_is_rebuilt() {
    comes_back_after(|index| fs::remove_file(index.join("live")).unwrap()).await;
    comes_back_after(|index| fs::write(index.join("live"), b"{").unwrap()).await;
    comes_back_after(|index| fs::write(index.join("live"), br#"{"version":2,"number":7}"#).unwrap()).await;
}

#[tokio::test]
async fn a_rebuild_that_was_killed_half_way_leaves_the_old_index_in_use() {
    let disk = some_logs().await;
    let home = disk.image();
    fs::create_dir(home.path().join("index/2")).unwrap();
    let again = OnDisk::open(home);
    assert!(again.store.notices().is_empty());
    assert_eq!(all_rows(&again.store), all_rows(&disk.store));
    assert!(!again.home.path().join("index/2").exists());
}

#[tokio::test]
async fn a_second_store_on_the_same_home_is_refused_and_harms_nothing() {
    let disk = some_logs().await;
    assert!(matches!(open(disk.home.path()), Err(StoreError::InUse { .. })));
    put(&disk.store, &thread("aa01"), 21, &["g"]).await.unwrap();
    assert_eq!(fs::read_dir(disk.home.path().join("lost")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_store_that_was_dropped_can_be_opened_again_at_once() {
    let OnDisk { home, store } = some_logs().await;
    let rows = all_rows(&store);
    drop(store);
    let disk = OnDisk::open(home);
    assert_eq!(all_rows(&disk.store), rows);
    assert!(disk.store.notices().is_empty());
}

#[tokio::test]
async fn an_index_that_cannot_be_rebuilt_is_said_and_commits_stand() {
    let disk = some_logs().await;
    let indexes = disk.home.path().join("index");
    fs::rename(&indexes, disk.home.path().join("away")).unwrap();
    disk.fail_next(FailPoint::Index);
    put(&disk.store, &thread("aa01"), 21, &["g"]).await.unwrap();
    put(&disk.store, &thread("aa01"), 22, &["h"]).await.unwrap();
    // The index follows the answers; that it cannot be written down is what this is about.
    let _ = disk.store.flush().await;
    let said = disk.store.degraded().unwrap();
    assert!(said.starts_with("the index cannot be used: "), "{said}");
    assert_eq!(events(&disk.store, &thread("aa01"), 20).await, ["e", "g", "h"]);
    assert!(disk.store.get(&crate::store::Key::of(&["count"])).is_ok(), "reading goes on");

    fs::rename(disk.home.path().join("away"), &indexes).unwrap();
    let again = OnDisk::open(disk.image());
    assert_eq!(events(&again.store, &thread("aa01"), 20).await, ["e", "g", "h"]);
    assert_eq!(again.store.degraded(), None);
    put(&again.store, &thread("aa01"), 23, &["i"]).await.unwrap();
}

#[tokio::test]
async fn a_file_where_the_index_belongs_is_moved_aside_and_the_start_goes_on() {
    let disk = some_logs().await;
    let home = disk.image();
    fs::remove_dir_all(home.path().join("index")).unwrap();
    fs::write(home.path().join("index"), "a letter").unwrap();
    let again = OnDisk::open(home);
    let notices = again.store.notices();
    assert!(notices.iter().any(|notice| notice.contains("index is no directory; it is moved to")), "{notices:?}");
    assert_eq!(all_rows(&again.store), all_rows(&disk.store));
    let lost: Vec<_> =
        fs::read_dir(again.home.path().join("lost")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(fs::read_to_string(&lost[0]).unwrap(), "a letter", "nothing is thrown away");
    assert!(OnDisk::open(again.image()).store.notices().is_empty());
}

#[tokio::test]
async fn k35_a_format_that_says_nothing_is_said_and_written_anew_after_every_log_was_asked() {
    let disk = some_logs().await;
    for garbled in ["", "{", "{\"format\":\"another\",\"version\":1}"] {
        let home = disk.image();
        let format = home.path().join("format");
        let right = fs::read(&format).unwrap();
        fs::write(&format, garbled).unwrap();
        let again = OnDisk::open(home);
        let notices = again.store.notices();
        assert!(notices.iter().any(|notice| notice.contains("the file format of the home")), "{garbled}: {notices:?}");
        assert_eq!(fs::read(&format).unwrap(), right);
        assert_eq!(all_rows(&again.store), all_rows(&disk.store));
        assert!(OnDisk::open(again.image()).store.notices().is_empty());
    }
}
