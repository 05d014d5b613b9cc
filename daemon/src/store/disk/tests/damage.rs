//! Bytes that change by themselves, anywhere: what is shown is right, or it is said that it is not there.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

use crate::store::{
    DiskStore, FailPoint, LogName, Store as _, StoreError,
    tests::support::{OnDisk, Subject as _, all_rows, events, log_path, put, thread, within},
};

const RECORDS: u64 = 12;

/// How often each file is changed: more often behind `SLOW=1`.
fn rounds() -> usize {
    if std::env::var_os("SLOW").is_some() { 3_000 } else { 96 }
}

async fn some_logs() -> OnDisk {
    let disk = OnDisk::new();
    for n in 1..=RECORDS {
        put(&disk.store, &thread("aa01"), n, &[&format!("event {n}")]).await.unwrap();
        put(&disk.store, &thread("aa02"), n, &["other"]).await.unwrap();
    }
    within(disk.store.flush()).await.unwrap();
    disk
}

/// Everything that can be read of a log, and whether it says that there should be more.
async fn readable(store: &DiskStore, log: &LogName) -> (Vec<String>, bool) {
    let (mut found, mut from) = (Vec::new(), 1);
    loop {
        match within(store.read(log, from, usize::MAX)).await {
            Ok(records) if records.is_empty() => return (found, false),
            Ok(records) => {
                from = records.last().unwrap().next_seq();
                let events = records.iter().flat_map(|record| &record.events);
                found.extend(events.map(|event| event.get().trim_matches('"').to_owned()));
            }
            Err(StoreError::Damaged { .. }) => return (found, true),
            Err(error) => panic!("{error}"),
        }
    }
}

fn change_a_byte(path: &Path, random: &mut StdRng) -> usize {
    let mut bytes = fs::read(path).unwrap();
    let place = random.random_range(0..bytes.len());
    bytes[place] ^= 1 << random.random_range(0..8);
    fs::write(path, bytes).unwrap();
    place
}

#[tokio::test]
async fn k38_a_changed_byte_anywhere_in_a_log_is_never_shown_as_good() {
    let disk = some_logs().await;
    let log = thread("aa01");
    let all: Vec<String> = (1..=RECORDS).map(|n| format!("event {n}")).collect();
    let mut random = StdRng::seed_from_u64(38);
    for round in 0..rounds() {
        let home = disk.image();
        let place = change_a_byte(&log_path(home.path(), &log), &mut random);
        if round % 2 == 0 {
            fs::remove_dir_all(home.path().join("index")).unwrap();
        }
        let what = format!("round {round}, byte {place}");
        let again = match crate::store::tests::support::open(home.path()) {
            Ok(store) => OnDisk { home, store },
            // A header whose version has changed is one of a newer version.
            Err(error) => {
                assert!(matches!(error, StoreError::Version { .. }) && place < 512, "{what}: {error}");
                continue;
            }
        };
        let (found, more) = readable(&again.store, &log).await;
        assert!(all.starts_with(&found), "{what}: {found:?}");
        let said = more || !again.store.notices().is_empty();
        assert!(said || found == all, "{what}: only {} events, and nothing is said", found.len());
        assert_eq!(readable(&again.store, &thread("aa02")).await.0.len() as u64, RECORDS, "{what}");
        if more {
            let refused = put(&again.store, &log, found.len() as u64 + 1, &["x"]).await;
            assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{what}: {refused:?}");
        }
    }
}

#[tokio::test]
async fn k38_a_byte_that_changes_under_a_running_daemon_is_never_shown_as_good() {
    let disk = some_logs().await;
    let all: Vec<String> = (1..=RECORDS).map(|n| format!("event {n}")).collect();
    let mut random = StdRng::seed_from_u64(39);
    for round in 0..48 {
        let again = OnDisk::open(disk.image());
        let place = change_a_byte(&again.log_path(&thread("aa01")), &mut random);
        let (found, more) = readable(&again.store, &thread("aa01")).await;
        assert!(all.starts_with(&found) && (more || found == all), "round {round}, byte {place}: {found:?}");
        assert_eq!(readable(&again.store, &thread("aa02")).await.0.len() as u64, RECORDS);
    }
}

/// Every file below a directory.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut directories) = (Vec::new(), vec![root.to_owned()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { directories.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn k38_a_changed_byte_anywhere_in_the_index_changes_no_row() {
    let disk = some_logs().await;
    let rows = all_rows(&disk.store);
    // Closed in good order, so that everything sled has is in its files.
    let OnDisk { home, store } = disk;
    drop(store);
    let disk = OnDisk::open(home);
    let mut random = StdRng::seed_from_u64(40);
    for round in 0..rounds() {
        let home = disk.image();
        let among: Vec<_> = files(&home.path().join("index"))
            .into_iter()
            .filter(|path| fs::metadata(path).unwrap().len() > 0)
            .collect();
        let path = &among[round % among.len()];
        let mut bytes = fs::read(path).unwrap();
        // Most of sled's file is empty; what it has written stands at the beginning of its segments.
        let written: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
        let place = if round % 3 == 0 {
            random.random_range(0..bytes.len())
        } else {
            written[random.random_range(0..written.len())]
        };
        bytes[place] ^= 1 << random.random_range(0..8);
        fs::write(path, bytes).unwrap();
        let what = format!("round {round}, byte {place} of {}", path.display());
        let again = OnDisk::open(home);
        assert_eq!(all_rows(&again.store), rows, "{what}: {:?}", again.store.notices());
        put(&again.store, &thread("aa01"), RECORDS + 1, &["more"]).await.unwrap();
        assert_eq!(again.store.degraded(), None, "{what}");
    }
}

#[tokio::test]
async fn k38_an_index_that_fails_while_it_is_used_is_closed_and_built_anew_in_another_place() {
    let disk = some_logs().await;
    let live = || fs::read_to_string(disk.home.path().join("index/live")).unwrap();
    let before = live();
    disk.fail_next(FailPoint::Index);
    put(&disk.store, &thread("aa01"), RECORDS + 1, &["more"]).await.unwrap();
    within(disk.store.flush()).await.unwrap();
    assert_ne!(live(), before, "the handle that failed is of no use any more");
    assert_eq!(disk.store.degraded(), None);
    assert_eq!(events(&disk.store, &thread("aa01"), RECORDS + 1).await, ["more"]);
    assert_eq!(within(disk.store.check()).await.unwrap().differences, []);
    let again = OnDisk::open(disk.image());
    assert!(again.store.notices().is_empty(), "{:?}", again.store.notices());
    assert_eq!(all_rows(&again.store), all_rows(&disk.store));
}
