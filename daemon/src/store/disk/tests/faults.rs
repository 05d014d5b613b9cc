//! Many logs at once, files that vanish, modes, and descriptors.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, sync::Barrier};

use futures::future::join_all;
use tempfile::TempDir;

use super::super::{blobs::Keeper, fault::Faults, log::Log};
use crate::store::{
    Commit, FailPoint, LogName, Store as _, StoreError,
    tests::support::{OnDisk, Subject as _, events, put, record, thread, within},
};

/// How many logs this process has open below a home.
fn open_logs(home: &Path) -> usize {
    let logs = home.join("logs");
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().flatten();
    descriptors.filter(|entry| fs::read_link(entry.path()).is_ok_and(|target| target.starts_with(&logs))).count()
}

#[tokio::test]
async fn more_logs_than_may_be_open_are_written_all_the_same() {
    let disk = OnDisk::new();
    let logs: Vec<LogName> = (0..300).map(|at| thread(&format!("t{at:04}"))).collect();
    for n in 1..=2 {
        let commits = logs.iter().map(|log| {
            disk.store.commit(Commit { log: log.clone(), records: vec![record(n, &["e"])], rows: Vec::new() })
        });
        for answer in within(join_all(commits)).await {
            answer.unwrap();
        }
        let open = open_logs(disk.home.path());
        assert!((200..=super::super::shared::OPEN_LOGS).contains(&open), "{open} logs are open");
    }
    assert_eq!(events(&disk.store, &logs[0], 1).await.len(), 2);
    assert_eq!(events(OnDisk::open(disk.image()).store(), &logs[299], 1).await.len(), 2);
}

#[tokio::test]
async fn k38_a_write_that_breaks_down_fails_alone_and_leaves_the_log_as_it_was() {
    let (disk, log) = (OnDisk::new(), thread("t0001"));
    for (n, is_there) in [(1, false), (2, true)] {
        disk.fail_next(FailPoint::BreakDown);
        let commits = [put(&disk.store, &log, n, &["lost"]), put(&disk.store, &log, n + 1, &["behind"])];
        for answer in within(join_all(commits)).await {
            assert!(matches!(answer.unwrap_err(), StoreError::Write { full: false, .. }));
        }
        assert_eq!(events(&disk.store, &log, 1).await.len(), usize::from(is_there));
        put(&disk.store, &log, n, &["kept"]).await.unwrap();
    }
    assert_eq!(events(&disk.store, &log, 1).await, ["kept", "kept"]);
    assert_eq!(events(OnDisk::open(disk.image()).store(), &log, 1).await, ["kept", "kept"]);
}

#[test]
fn more_logs_than_may_be_open_are_written_from_many_threads_at_once() {
    const LOGS: u64 = 320;
    const ROUNDS: u64 = 3;
    let disk = OnDisk::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(8).enable_all().build().unwrap();
    let (store, handle) = (&disk.store, runtime.handle());
    std::thread::scope(|scope| {
        for writer in 0..8 {
            scope.spawn(move || {
                let own = (0..LOGS).filter(|at| at % 8 == writer).map(|at| thread(&format!("t{at:04}")));
                let own: Vec<LogName> = own.collect();
                for n in 1..=ROUNDS {
                    let commits = own.iter().map(|log| put(store, log, n, &["e"]));
                    let answers = handle.block_on(join_all(commits));
                    answers.into_iter().collect::<Result<Vec<()>, _>>().unwrap();
                }
            });
        }
    });
    let open = open_logs(disk.home.path());
    assert!(open <= super::super::shared::OPEN_LOGS, "{open} logs are open");
    let image = OnDisk::open(disk.image());
    for at in 0..LOGS {
        let kept = runtime.block_on(events(image.store(), &thread(&format!("t{at:04}")), 1));
        assert_eq!(kept.len() as u64, ROUNDS, "of log {at}");
    }
}

#[tokio::test]
async fn logs_are_written_in_parallel_and_each_in_its_order() {
    let disk = OnDisk::new();
    let commits = (0..8).flat_map(|at| (1..=50).map(move |n| (at, n))).map(|(at, n)| {
        let records = vec![record(n, &[&n.to_string()])];
        disk.store.commit(Commit { log: thread(&format!("t{at:04}")), records, rows: Vec::new() })
    });
    for answer in within(join_all(commits.collect::<Vec<_>>())).await {
        answer.unwrap();
    }
    let expected: Vec<String> = (1..=50).map(|n| n.to_string()).collect();
    for at in 0..8 {
        assert_eq!(events(&disk.store, &thread(&format!("t{at:04}")), 1).await, expected);
    }
}

#[test]
fn new_logs_that_begin_at_once_share_a_directory_that_nobody_has_made_yet() {
    let home = TempDir::new().unwrap();
    let keeper = Keeper::new(home.path().join("blobs"));
    for round in 0..128 {
        let directory = home.path().join(round.to_string());
        let together = Barrier::new(4);
        std::thread::scope(|scope| {
            for at in 0..4 {
                let log = Log::new(thread(&format!("t{at}")), directory.join(format!("t{at}.jsonl")));
                let (together, keeper) = (&together, &keeper);
                scope.spawn(move || {
                    together.wait();
                    log.append(&mut None, [record(1, &["e"])].iter(), keeper, &Faults::default()).unwrap();
                });
            }
        });
    }
}

#[tokio::test]
async fn nobody_else_can_read_what_the_store_wrote() {
    let disk = OnDisk::new();
    put(&disk.store, &LogName::Daemon, 1, &["a"]).await.unwrap();
    put(&disk.store, &thread("aa01"), 1, &["a"]).await.unwrap();
    put(&disk.store, &LogName::Transcript("aa02".into()), 1, &["a"]).await.unwrap();
    let mode = |path: &str| fs::metadata(disk.home.path().join(path)).unwrap().permissions().mode() & 0o777;
    for directory in ["logs", "logs/01", "logs/02", "blobs", "index", "index/1", "lost"] {
        assert_eq!(mode(directory), 0o700, "{directory}");
    }
    for file in ["logs/daemon.jsonl", "logs/01/aa01.jsonl", "logs/02/aa02.transcript.jsonl", "index/live"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_home_that_others_could_read_is_closed_to_them() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("logs")).unwrap();
    fs::set_permissions(home.path().join("logs"), fs::Permissions::from_mode(0o755)).unwrap();
    let disk = OnDisk::open(home);
    assert_eq!(fs::metadata(disk.home.path().join("logs")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_log_deleted_under_the_daemon_fails_its_commits() {
    let (disk, log) = (OnDisk::new(), thread("aa01"));
    put(&disk.store, &log, 1, &["a"]).await.unwrap();
    fs::remove_file(disk.log_path(&log)).unwrap();
    for _ in 0..2 {
        let failed = put(&disk.store, &log, 2, &["b"]).await;
        assert!(matches!(failed, Err(StoreError::Write { .. })), "{failed:?}");
    }
    put(&disk.store, &thread("aa02"), 1, &["a"]).await.unwrap();
}

#[tokio::test]
async fn a_home_deleted_under_the_daemon_does_not_come_back() {
    let disk = OnDisk::new();
    put(&disk.store, &thread("aa01"), 1, &["a"]).await.unwrap();
    fs::remove_dir_all(disk.home.path().join("logs")).unwrap();
    for (id, n) in [("aa01", 2), ("aa01", 2), ("bb02", 1)] {
        let failed = put(&disk.store, &thread(id), n, &["b"]).await;
        assert!(matches!(failed, Err(StoreError::Write { .. })), "{failed:?}");
    }
    assert!(!disk.home.path().join("logs").exists());
}

#[tokio::test]
async fn a_log_that_others_wrote_to_is_not_written_over() {
    let (disk, log) = (OnDisk::new(), thread("aa01"));
    put(&disk.store, &log, 1, &["a"]).await.unwrap();
    let again = OnDisk::open(disk.image());
    let mut bytes = fs::read(again.log_path(&log)).unwrap();
    bytes.extend_from_slice(b"a note by hand\n");
    fs::write(again.log_path(&log), &bytes).unwrap();
    let refused = put(&again.store, &log, 2, &["b"]).await;
    assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
    assert_eq!(events(&again.store, &log, 1).await, ["a"]);
    assert_eq!(fs::read(again.log_path(&log)).unwrap(), bytes);
}

#[tokio::test]
async fn commits_that_were_given_are_finished_when_the_store_is_dropped() {
    let OnDisk { home, store } = OnDisk::new();
    let log = thread("aa01");
    let commits: Vec<_> = (1..=20)
        .map(|n| store.commit(Commit { log: log.clone(), records: vec![record(n, &["e"])], rows: Vec::new() }))
        .collect();
    drop(store);
    for answer in within(join_all(commits)).await {
        answer.unwrap();
    }
    assert_eq!(events(OnDisk::open(home).store(), &log, 1).await.len(), 20);
}
