//! The check: silent on what is whole, whatever goes on meanwhile, and precise about what is not.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use ropewalk_protocol::{CheckResult, Difference, DifferenceKind};

use crate::store::{
    FailPoint, Key, LogName, Record, RowChange, Store as _, StoreError,
    tests::support::{OnDisk, Removal, Subject as _, commit_of, put, thread, within},
};

async fn check(disk: &OnDisk) -> Vec<Difference> {
    let CheckResult { differences, truncated } = within(disk.store.check()).await.unwrap();
    assert!(!truncated);
    differences
}

async fn some_logs() -> OnDisk {
    let disk = OnDisk::new();
    for n in 1..=20 {
        for log in [LogName::Daemon, thread("aa01"), thread("aa02"), LogName::Transcript("aa03".into())] {
            put(&disk.store, &log, n, &["e"]).await.unwrap();
        }
    }
    within(disk.store.flush()).await.unwrap();
    disk
}

fn indexes(disk: &OnDisk) -> usize {
    fs::read_dir(disk.home.path().join("index")).unwrap().count()
}

#[tokio::test]
async fn a_home_that_is_whole_has_no_differences_and_nothing_is_left_of_the_check() {
    let disk = some_logs().await;
    let long = "x".repeat(30_000);
    for n in 21..=40 {
        put(&disk.store, &thread("aa01"), n, &[&long]).await.unwrap();
    }
    assert_eq!(check(&disk).await, []);
    assert_eq!(indexes(&disk), 2, "the live one, and the file that names it");
    put(&disk.store, &thread("aa01"), 41, &["more"]).await.unwrap();
    assert_eq!(check(&disk).await, []);
}

#[tokio::test]
async fn rows_that_do_not_follow_from_the_logs_are_named_each() {
    let disk = some_logs().await;
    let count = Key::of(&["count", "of thread aa01"]);
    {
        let index = disk.store.shared.index.read().unwrap();
        let changes = [
            RowChange::Put(Key::of(&["stray", "x"]), b"1".to_vec()),
            RowChange::Put(count.clone(), b"7".to_vec()),
            RowChange::Delete(Key::of(&["count", "of thread aa02"])),
        ];
        index.apply(changes.iter(), std::iter::empty()).unwrap();
    }
    let found = check(&disk).await;
    let told: Vec<_> =
        found.iter().map(|difference| (difference.place.as_str(), difference.message.as_str())).collect();
    assert_eq!(
        told,
        [
            ("row count/of thread aa01", "the index has it other than it follows from the logs"),
            ("row count/of thread aa02", "it follows from the logs, and the index does not have it"),
            ("row stray/x", "the index has it, and it does not follow from the logs"),
        ]
    );
    assert!(found.iter().all(|difference| difference.kind == DifferenceKind::Row && !difference.remedy.is_empty()));
}

#[tokio::test]
async fn k38_damage_that_nobody_knew_of_is_named_by_place_and_its_thread_takes_no_more() {
    let disk = some_logs().await;
    disk.damage(&thread("aa01"), 5, 4);
    let found = check(&disk).await;
    let log: Vec<_> = found.iter().filter(|difference| difference.kind == DifferenceKind::Log).collect();
    let path = disk.log_path(&thread("aa01"));
    assert_eq!(log.len(), 1, "{found:?}");
    assert_eq!(log[0].place, path.display().to_string());
    assert!(log[0].message.starts_with("the log of thread aa01 is damaged at byte "), "{}", log[0].message);
    let refused = put(&disk.store, &thread("aa01"), 21, &["x"]).await;
    assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
    put(&disk.store, &thread("aa02"), 21, &["fine"]).await.unwrap();
    let again = check(&disk).await;
    assert_eq!(again.iter().filter(|difference| difference.kind == DifferenceKind::Log).count(), 1, "{again:?}");
}

#[tokio::test]
async fn k38_a_log_that_is_missing_or_too_short_is_named() {
    let disk = some_logs().await;
    fs::remove_file(disk.log_path(&thread("aa01"))).unwrap();
    let path = disk.log_path(&thread("aa02"));
    let text = fs::read_to_string(&path).unwrap();
    let short: String = text.lines().take(11).map(|line| format!("{line}\n")).collect();
    fs::write(&path, &short).unwrap();
    let found = check(&disk).await;
    let told: Vec<_> =
        found.iter().filter(|found| found.kind == DifferenceKind::Log).map(|found| &found.message).collect();
    let ends = format!(
        "the log of thread aa02 is damaged at byte {}: it ends there, and {} bytes were acknowledged",
        short.len(),
        text.len()
    );
    assert_eq!(told, [&"the log of thread aa01 is missing".to_owned(), &ends]);
}

#[tokio::test]
async fn a_payload_that_is_not_what_was_stored_is_named() {
    let disk = some_logs().await;
    let blobs = disk.home.path().join("blobs/9f");
    fs::create_dir_all(&blobs).unwrap();
    let good = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    fs::write(blobs.join(good), b"test").unwrap();
    let bad = "a".repeat(64);
    fs::write(blobs.join(&bad), b"test").unwrap();
    let found = check(&disk).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].kind, found[0].place.ends_with(&bad)), (DifferenceKind::Blob, true));
    assert!(found[0].message.contains(good), "{}", found[0].message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_meanwhile_is_no_difference() {
    let disk = Arc::new(some_logs().await);
    let enough = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..6)
        .map(|at| {
            let (disk, enough) = (disk.clone(), enough.clone());
            tokio::spawn(async move {
                let log = if at == 0 { thread("aa02") } else { thread(&format!("w{at:04}")) };
                for n in (if at == 0 { 21 } else { 1 }).. {
                    if enough.load(Ordering::Relaxed) {
                        return n;
                    }
                    put(&disk.store, &log, n, &["e", "f"][..1]).await.unwrap();
                }
                0
            })
        })
        .collect();
    for _ in 0..12 {
        assert_eq!(check(&disk).await, []);
    }
    enough.store(true, Ordering::Relaxed);
    for writer in writers {
        assert!(within(writer).await.unwrap() > 2, "it wrote while it was checked");
    }
    assert_eq!(indexes(&disk), 2);
}

#[tokio::test]
async fn what_goes_with_a_deleted_log_is_no_difference() {
    let disk = some_logs().await;
    let log = thread("aa01");
    put(&disk.store, &log, 21, &[&"x".repeat(30_000)]).await.unwrap();
    let say = async |removal: Removal| {
        let commit = commit_of(&disk.store, &LogName::Daemon, vec![Record { n: 21, ..removal.record() }]);
        within(disk.store.commit(commit)).await.unwrap();
    };
    say(Removal::Decided(log.clone())).await;
    assert_eq!(check(&disk).await, [], "decided");
    disk.fail_next(FailPoint::Unlink);
    within(disk.store.remove(&log)).await.unwrap_err();
    assert_eq!(check(&disk).await, [], "its file cannot be removed");
    within(disk.store.remove(&log)).await.unwrap();
    say(Removal::Gone(log.clone())).await;
    assert_eq!(check(&disk).await, [], "its payload is still there");
    within(disk.store.release_blobs(&log)).await.unwrap();
    assert_eq!(check(&disk).await, [], "nothing is left");
}
