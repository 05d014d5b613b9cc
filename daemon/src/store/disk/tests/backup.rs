//! Backups: of a home that is being written to, of one with damage, and to places that will not do.

use std::{
    collections::HashSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use ropewalk_protocol::Timestamp;
use tempfile::TempDir;

use super::super::{log::lock, target::Target};
use crate::store::{
    Commit, DiskStore, FailPoint, LogName, Store as _, StoreError, restore,
    tests::support::{OnDisk, Subject as _, all_rows, events, log_path, put, record, thread, within},
};

const WRITERS: u64 = 8;

async fn backup(store: &DiskStore, path: &Path) -> Result<crate::store::BackupSize, StoreError> {
    within(store.backup(path, Timestamp::from_millis(0))).await
}

/// A directory for a backup and a home that is made of it.
fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The home that a backup makes.
fn restored(file: &Path) -> OnDisk {
    let home = tempfile::tempdir().unwrap();
    restore(file, home.path()).unwrap();
    OnDisk::open(home)
}

async fn write(store: &DiskStore, log: &LogName, n: u64, event: &str) {
    within(store.commit(Commit { log: log.clone(), records: vec![record(n, &[event])], rows: Vec::new() }))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_backup_has_every_log_and_payload_and_counts_them() {
    let (disk, place) = (OnDisk::new(), place());
    let logs = [LogName::Daemon, thread("aa01"), LogName::Transcript("aa02".into())];
    for log in &logs {
        for n in 1..=3 {
            put(&disk.store, log, n, &[&n.to_string()]).await.unwrap();
        }
    }
    let long = "long ".repeat(4_000);
    put(&disk.store, &logs[1], 4, &[&long]).await.unwrap();
    let file = place.path().join("home.jsonl");
    let size = backup(&disk.store, &file).await.unwrap();

    let text = fs::read_to_string(&file).unwrap();
    assert_eq!((size.lines, size.bytes), (text.lines().count() as u64, text.len() as u64));
    assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "lines of JSON");
    assert!(text.lines().last().unwrap().contains(r#""logs":3,"blobs":1"#), "{text}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing else is left there");

    let again = restored(&file);
    for log in &logs {
        assert_eq!(fs::read(again.log_path(log)).unwrap(), fs::read(disk.log_path(log)).unwrap());
        assert_eq!(events(&again.store, log, 1).await[..3], ["1", "2", "3"]);
    }
    assert_eq!(events(&again.store, &logs[1], 4).await, [long]);
    assert_eq!(all_rows(&again.store), all_rows(&disk.store));
    put(&again.store, &logs[1], 5, &["5"]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ruling_45_a_backup_beside_writers_is_of_one_moment() {
    let (disk, place) = (OnDisk::new(), place());
    let OnDisk { home: _home, store } = disk;
    let store = Arc::new(store);
    let acknowledged: Arc<Vec<AtomicU64>> = Arc::new((0..WRITERS).map(|_| AtomicU64::new(0)).collect());
    let (enough, decided) = (Arc::new(AtomicBool::new(false)), Arc::new(tokio::sync::Mutex::new(1)));
    let writers: Vec<_> = (0..WRITERS)
        .map(|at| {
            let (store, acknowledged) = (store.clone(), acknowledged.clone());
            let (enough, decided) = (enough.clone(), decided.clone());
            tokio::spawn(async move {
                let log = thread(&format!("t{at:04}"));
                for n in 1.. {
                    if enough.load(Ordering::Relaxed) {
                        return;
                    }
                    // The daemon's log decides, and what follows in the thread's log is never there without it.
                    let mut decision = decided.lock().await;
                    write(&store, &LogName::Daemon, *decision, &format!("t{at:04}-{n}")).await;
                    *decision += 1;
                    drop(decision);
                    write(&store, &log, n, &n.to_string()).await;
                    acknowledged[usize::try_from(at).unwrap()].store(n, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for round in 0..5 {
        while acknowledged.iter().any(|count| count.load(Ordering::SeqCst) < round * 5 + 1) {
            tokio::task::yield_now().await;
        }
        let before: Vec<u64> = acknowledged.iter().map(|count| count.load(Ordering::SeqCst)).collect();
        let file = place.path().join(format!("{round}.jsonl"));
        backup(&store, &file).await.unwrap();
        let again = restored(&file);
        assert!(again.store.notices().iter().all(|notice| !notice.contains("never acknowledged")));
        let decisions: HashSet<String> = events(&again.store, &LogName::Daemon, 1).await.into_iter().collect();
        for (at, before) in before.iter().enumerate() {
            let there = events(&again.store, &thread(&format!("t{at:04}")), 1).await;
            assert!(there.len() as u64 >= *before, "{} of {before} acknowledged records of t{at:04}", there.len());
            for n in there {
                assert!(decisions.contains(&format!("t{at:04}-{n}")), "t{at:04} has {n} without its decision");
            }
        }
    }
    enough.store(true, Ordering::Relaxed);
    for writer in writers {
        within(writer).await.unwrap();
    }
}

#[tokio::test]
async fn a_backup_is_refused_where_it_would_do_harm() {
    let (disk, place) = (OnDisk::new(), place());
    put(&disk.store, &thread("aa01"), 1, &["a"]).await.unwrap();
    let taken = place.path().join("taken");
    fs::write(&taken, "a letter").unwrap();
    for (path, why) in [
        (taken.clone(), "exists"),
        (place.path().to_owned(), "exists"),
        ("relative.jsonl".into(), "not_absolute"),
        (place.path().join("no/such/file"), "no_directory"),
        (disk.home.path().join("logs/b.jsonl"), "inside_the_home"),
        ("/".into(), "not_a_file"),
    ] {
        match backup(&disk.store, &path).await {
            Err(StoreError::Refused { reason, message }) => assert_eq!(reason, why, "{message}"),
            other => panic!("{}: {other:?}", path.display()),
        }
    }
    assert_eq!(fs::read_to_string(&taken).unwrap(), "a letter");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn k38_a_full_disk_fails_a_backup_with_its_cause_and_leaves_no_part_of_it() {
    let (disk, place) = (OnDisk::new(), place());
    put(&disk.store, &thread("aa01"), 1, &["a"]).await.unwrap();
    disk.fail_next(FailPoint::Full);
    let failed = backup(&disk.store, &place.path().join("b.jsonl")).await;
    assert!(matches!(failed, Err(StoreError::File { full: true, .. })), "{failed:?}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    put(&disk.store, &thread("aa01"), 2, &["b"]).await.unwrap();
    backup(&disk.store, &place.path().join("b.jsonl")).await.unwrap();
}

#[tokio::test]
async fn there_is_one_backup_at_a_time() {
    let (disk, place) = (OnDisk::new(), place());
    let upkeep = disk.store.shared.clone();
    let held = lock(&upkeep.upkeep);
    assert!(matches!(
        disk.store.shared.backup(&place.path().join("b"), Timestamp::from_millis(0)),
        Err(StoreError::Busy)
    ));
    assert!(matches!(disk.store.shared.check(), Err(StoreError::Busy)));
    drop(held);
    backup(&disk.store, &place.path().join("b")).await.unwrap();
}

#[tokio::test]
async fn a_backup_and_a_check_end_when_the_store_is_closed() {
    let (OnDisk { home: _home, store }, place) = (OnDisk::new(), place());
    put(&store, &thread("aa01"), 1, &["a"]).await.unwrap();
    let shared = store.shared.clone();
    drop(store);
    let said = "the store could not be read: it is being closed";
    assert_eq!(shared.backup(&place.path().join("b"), Timestamp::from_millis(0)).unwrap_err().to_string(), said);
    assert_eq!(shared.check().unwrap_err().to_string(), said);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn k38_a_damaged_log_is_in_the_backup_as_it_is_and_a_missing_one_is_named() {
    let (disk, place) = (OnDisk::new(), place());
    for id in ["aa01", "aa02", "aa03"] {
        for n in 1..=3 {
            put(&disk.store, &thread(id), n, &[&n.to_string()]).await.unwrap();
        }
    }
    within(disk.store.flush()).await.unwrap();
    disk.damage(&thread("aa01"), 2, 1);
    fs::remove_file(disk.log_path(&thread("aa02"))).unwrap();
    let file = place.path().join("b.jsonl");
    backup(&disk.store, &file).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let found = restore(&file, home.path()).unwrap();
    assert_eq!((found.logs, found.missing), (2, vec!["the log of thread aa02".to_owned()]));
    let (was, is) = (disk.log_path(&thread("aa01")), log_path(home.path(), &thread("aa01")));
    assert_eq!(fs::read(is).unwrap(), fs::read(was).unwrap());
    let again = OnDisk::open(home);
    assert_eq!(events(&again.store, &thread("aa01"), 1).await, ["1"]);
    assert!(matches!(put(&again.store, &thread("aa01"), 2, &["x"]).await, Err(StoreError::Damaged { .. })));
    assert_eq!(events(&again.store, &thread("aa03"), 1).await, ["1", "2", "3"]);
}

#[tokio::test]
async fn what_killed_backups_have_left_of_a_file_goes_with_the_next_one() {
    let (disk, place) = (OnDisk::new(), tempfile::tempdir().unwrap());
    put(&disk.store, &thread("aa01"), 1, &["e"]).await.unwrap();
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let (dead, ours, alive) = (gone.id(), std::process::id(), std::os::unix::process::parent_id());
    let named = |pid: u32| place.path().join(format!("b.jsonl.{pid}.partial"));
    for path in [named(dead), named(ours), named(alive), place.path().join("a.jsonl.partial")] {
        std::fs::write(path, "half").unwrap();
    }
    let file = place.path().join("b.jsonl");
    within(disk.store.backup(&file, Timestamp::from_millis(0))).await.unwrap();
    assert!(file.exists() && !named(dead).exists() && !named(ours).exists());
    assert!(named(alive).exists() && place.path().join("a.jsonl.partial").exists(), "others are left alone");
}

#[test]
fn a_backup_that_is_killed_before_it_is_whole_leaves_nothing_for_ever() {
    let (place, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = place.path().join("b.jsonl");
    // A killed process drops nothing.
    let (target, file) = Target::begin(&path, home.path()).unwrap();
    std::mem::forget(target);
    drop(file);
    assert!(!path.exists());
    let (target, file) = Target::begin(&path, home.path()).unwrap();
    target.publish(&file).unwrap();
    let there: Vec<_> = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, ["b.jsonl"]);
    assert!(Target::begin(&path, home.path()).is_err(), "nothing is written over");
}
