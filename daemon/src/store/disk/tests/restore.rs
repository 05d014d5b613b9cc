//! Restoring: only a whole backup, only into a fresh home, and as a whole or not at all.

use std::{fs, path::Path, path::PathBuf};

use ropewalk_protocol::Timestamp;
use tempfile::TempDir;

use crate::store::{
    Store as _, StoreError,
    header::LOG_VERSION,
    restore,
    tests::support::{OnDisk, Subject as _, events, open, put, thread, within},
};

/// A backup of two threads.
async fn some_backup() -> (TempDir, PathBuf) {
    let (disk, place) = (OnDisk::new(), tempfile::tempdir().unwrap());
    for n in 1..=4 {
        put(&disk.store, &thread("aa01"), n, &["e"]).await.unwrap();
        put(&disk.store, &thread("aa02"), n, &["f"]).await.unwrap();
    }
    let file = place.path().join("b.jsonl");
    within(disk.store.backup(&file, Timestamp::from_millis(0))).await.unwrap();
    (place, file)
}

fn refusal(file: &Path, home: &Path) -> (&'static str, String) {
    match restore(file, home) {
        Err(StoreError::Refused { reason, message }) => (reason, message),
        other => panic!("it should be refused: {other:?}"),
    }
}

#[tokio::test]
async fn k38_a_backup_that_was_cut_changed_or_added_to_is_refused_and_nothing_is_written() {
    let (place, file) = some_backup().await;
    let whole = fs::read(&file).unwrap();
    let changed = place.path().join("changed.jsonl");
    let is_refused = |bytes: &[u8], what: &str| {
        fs::write(&changed, bytes).unwrap();
        let home = tempfile::tempdir().unwrap();
        match restore(&changed, home.path()) {
            Err(StoreError::Refused { reason: "not_a_backup", .. } | StoreError::Version { .. }) => {}
            other => panic!("{what}: {other:?}"),
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "{what}");
    };
    for at in (0..whole.len()).step_by(7) {
        is_refused(&whole[..at], &format!("cut at {at}"));
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        is_refused(&flipped, &format!("changed at {at}"));
    }
    is_refused(&[whole.as_slice(), b"\n"].concat(), "a line more");
    is_refused(&[whole.as_slice(), &whole].concat(), "twice");
    is_refused(b"", "nothing");
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    is_refused(&[&lines[..2], &lines[3..]].concat().concat(), "a line less");
}

#[tokio::test]
async fn k35_a_backup_of_a_newer_version_is_refused_by_name() {
    let (place, file) = some_backup().await;
    let text = fs::read_to_string(&file).unwrap();
    let newer = place.path().join("newer.jsonl");
    let logs = format!("\"logVersion\":{LOG_VERSION}");
    for (was, is, said) in [
        ("\"version\":1", "\"version\":9", "the backup"),
        (logs.as_str(), "\"logVersion\":9", "the logs in the backup"),
    ] {
        fs::write(&newer, text.replacen(was, is, 1)).unwrap();
        let home = tempfile::tempdir().unwrap();
        let refused = restore(&newer, home.path()).unwrap_err().to_string();
        assert!(refused.starts_with(said) && refused.contains("has format version 9"), "{refused}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn nothing_is_restored_over_what_is_there() {
    let (_place, file) = some_backup().await;
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("logs")).unwrap();
    let (reason, message) = refusal(&file, home.path());
    assert!(reason == "not_empty" && message.contains("there is logs"), "{message}");
    let again = OnDisk::new();
    assert_eq!(refusal(&file, again.home.path()).0, "not_empty");
}

#[tokio::test]
async fn a_restore_that_was_killed_is_no_home_until_it_is_done_again() {
    let (_place, file) = some_backup().await;
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("restoring/logs/01")).unwrap();
    fs::write(home.path().join("restoring/logs/01/aa01.jsonl"), b"half").unwrap();
    fs::create_dir_all(home.path().join("blobs")).unwrap();
    let refused = open(home.path()).unwrap_err();
    assert!(matches!(refused, StoreError::Unfinished { .. }), "{refused:?}");
    restore(&file, home.path()).unwrap();
    let disk = OnDisk::open(home);
    assert!(!disk.home.path().join("restoring").exists());
    assert_eq!(events(&disk.store, &thread("aa02"), 1).await, ["f"; 4]);
}

#[tokio::test]
async fn a_home_is_half_restored_from_the_moment_in_which_the_backup_is_read() {
    let (place, file) = some_backup().await;
    let home = tempfile::tempdir().unwrap();
    // It waits for whoever writes into it, so that the restore stands still before it has read anything.
    let pipe = place.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let (reads, restores) = (pipe.clone(), home.path().to_owned());
    let restoring = std::thread::spawn(move || restore(&reads, &restores));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !home.path().join("restoring").exists() {
        assert!(std::time::Instant::now() < deadline, "the home says that it is being restored");
        std::thread::yield_now();
    }
    let refused = open(home.path()).unwrap_err();
    assert!(matches!(refused, StoreError::Unfinished { .. }) && refused.next_step().contains("restore"), "{refused}");
    fs::write(&pipe, "no backup").unwrap();
    assert!(matches!(restoring.join().unwrap(), Err(StoreError::Refused { reason: "not_a_backup", .. })));
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "what was refused leaves nothing");

    // Killed at that moment, it is done again.
    fs::create_dir(home.path().join("restoring")).unwrap();
    restore(&file, home.path()).unwrap();
    assert_eq!(events(&OnDisk::open(home).store, &thread("aa01"), 1).await, ["e"; 4]);
}

#[tokio::test]
async fn a_log_of_a_backup_cannot_leave_its_home() {
    let (place, file) = some_backup().await;
    let text = fs::read_to_string(&file).unwrap();
    // Even a backup whose last line is right may come from somebody else.
    let evil = place.path().join("evil.jsonl");
    let lines: Vec<String> = text.lines().map(|line| line.replace("aa02", "../../x")).collect();
    let (last, before) = lines.split_last().unwrap();
    let body = before.join("\n") + "\n";
    let mut end: serde_json::Value = serde_json::from_str(last).unwrap();
    end["end"]["bytes"] = body.len().into();
    let digest = <sha2::Sha256 as sha2::Digest>::digest(body.as_bytes());
    end["end"]["sha256"] = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    fs::write(&evil, format!("{body}{end}\n")).unwrap();
    let home = tempfile::tempdir().unwrap();
    let inside = home.path().join("a/b");
    fs::create_dir_all(&inside).unwrap();
    let refused = restore(&evil, &inside).unwrap_err().to_string();
    assert!(refused.contains("cannot be the name of a file"), "{refused}");
    assert_eq!(fs::read_dir(home.path().join("a")).unwrap().count(), 1);
}
