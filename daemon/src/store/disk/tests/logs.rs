//! Logs that a crash, a bad disk or a person has changed.

use std::{fs, io::Write as _, path::Path};

use crate::store::{
    DiskStore, Key, LogName, Rows as _, Store as _, StoreError,
    tests::support::{OnDisk, Subject as _, all_rows, commit_of, events, log_path, open, put, record, thread, within},
};

fn append(path: &Path, bytes: &[u8]) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

async fn three_records() -> (OnDisk, LogName) {
    let (disk, log) = (OnDisk::new(), thread("aa01"));
    for n in 1..=3 {
        put(&disk.store, &log, n, &[&n.to_string()]).await.unwrap();
    }
    // Of a log that the index does not know yet nobody can say later that it is missing, or another.
    within(disk.store.flush()).await.unwrap();
    (disk, log)
}

fn lost(home: &Path) -> Vec<String> {
    let names = fs::read_dir(home.join("lost")).unwrap();
    names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

fn said(store: &DiskStore, words: &str) -> bool {
    store.notices().iter().any(|notice| notice.contains(words))
}

#[tokio::test]
async fn a_torn_last_line_is_moved_to_lost_and_cut() {
    for without_index in [false, true] {
        let (disk, log) = three_records().await;
        let home = disk.image();
        append(&log_path(home.path(), &log), br#"{"n":4,"at":"2026-11-30T"#);
        if without_index {
            fs::remove_dir_all(home.path().join("index")).unwrap();
        }
        let disk = OnDisk::open(home);
        assert!(said(&disk.store, "24 bytes that were never acknowledged"), "{:?}", disk.store.notices());
        let kept = lost(disk.home.path());
        let kept = kept.iter().find(|name| name.contains("aa01.jsonl-from-")).unwrap();
        assert_eq!(fs::read(disk.home.path().join("lost").join(kept)).unwrap(), br#"{"n":4,"at":"2026-11-30T"#);
        put(&disk.store, &log, 4, &["4"]).await.unwrap();
        assert_eq!(events(&disk.store, &log, 1).await, ["1", "2", "3", "4"]);
    }
}

#[tokio::test]
async fn a_whole_last_line_that_the_index_missed_is_taken_in() {
    let (disk, log) = three_records().await;
    let (home, rows) = (disk.image(), all_rows(&disk.store));
    put(&disk.store, &log, 4, &["4"]).await.unwrap();
    fs::copy(disk.log_path(&log), log_path(home.path(), &log)).unwrap();
    let again = OnDisk::open(home);
    assert_ne!(all_rows(&again.store), rows);
    assert_eq!(all_rows(&again.store), all_rows(&disk.store));
    assert!(again.store.notices().is_empty());
}

#[tokio::test]
async fn a_flipped_byte_before_an_acknowledged_place_is_never_cut_away() {
    for without_index in [false, true] {
        let (disk, log) = three_records().await;
        disk.damage(&log, 2, 1);
        let home = disk.image();
        let length = fs::metadata(log_path(home.path(), &log)).unwrap().len();
        if without_index {
            fs::remove_dir_all(home.path().join("index")).unwrap();
        }
        let disk = OnDisk::open(home);
        assert_eq!(events(&disk.store, &log, 1).await, ["1"]);
        let refused = put(&disk.store, &log, 2, &["x"]).await.unwrap_err();
        assert!(refused.to_string().starts_with("the log of thread aa01 is damaged at byte "), "{refused}");
        assert_eq!(fs::metadata(disk.log_path(&log)).unwrap().len(), length);
        let again = OnDisk::open(disk.image());
        assert!(said(&again.store, "is damaged at byte"), "it is said at every start");
    }
}

#[tokio::test]
async fn a_flipped_byte_in_the_last_record_is_known_by_the_index() {
    let (disk, log) = three_records().await;
    disk.damage(&log, 3, 2);
    let disk = OnDisk::open(disk.image());
    let damaged = within(disk.store.read(&log, 3, 1)).await.map(drop);
    assert!(matches!(damaged, Err(StoreError::Damaged { .. })), "{damaged:?}");
    let refused = put(&disk.store, &log, 4, &["x"]).await;
    assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_log_that_never_got_a_record_is_moved_to_lost() {
    for bytes in [b"".as_slice(), b"{\"format\":\"rope", b"noise\n", b"\n"] {
        let (disk, _) = three_records().await;
        let home = disk.image();
        fs::write(home.path().join("logs/01/bb01.jsonl"), bytes).unwrap();
        let disk = OnDisk::open(home);
        assert!(said(&disk.store, "has no whole record"), "{:?}", disk.store.notices());
        put(&disk.store, &thread("bb01"), 1, &["a"]).await.unwrap();
        assert!(OnDisk::open(disk.image()).store.notices().is_empty());
    }
}

#[tokio::test]
async fn a_log_of_a_newer_version_is_refused_by_name() {
    for log in [LogName::Daemon, thread("aa01")] {
        let disk = OnDisk::new();
        put(&disk.store, &log, 1, &["a"]).await.unwrap();
        put(&disk.store, &log, 2, &["b"]).await.unwrap();
        let home = disk.image();
        let path = log_path(home.path(), &log);
        let known = crate::store::FORMAT_VERSION;
        let text = fs::read_to_string(&path).unwrap().replacen(&format!("\"version\":{known}"), "\"version\":9", 1);
        fs::write(&path, text + "{\"n\":3}\n").unwrap();
        let refused = open(home.path()).unwrap_err().to_string();
        assert_eq!(refused, format!("the log {log} has format version 9, and this build knows up to {known}"));
    }
}

#[tokio::test]
async fn a_missing_log_is_named_and_not_begun_anew() {
    let (disk, log) = three_records().await;
    put(&disk.store, &LogName::Daemon, 1, &["d"]).await.unwrap();
    let home = disk.image();
    fs::remove_file(log_path(home.path(), &log)).unwrap();
    let mut disk = OnDisk::open(home);
    for _ in 0..2 {
        assert!(said(&disk.store, "the log of thread aa01 is missing"), "{:?}", disk.store.notices());
        assert!(matches!(put(&disk.store, &log, 1, &["a"]).await, Err(StoreError::Damaged { .. })));
        assert!(matches!(within(disk.store.read(&log, 1, 1)).await, Err(StoreError::Damaged { .. })));
        disk = OnDisk::open(disk.image());
    }
}

#[tokio::test]
async fn a_missing_log_that_comes_back_is_whole_again() {
    let (disk, log) = three_records().await;
    let (home, rows) = (disk.image(), all_rows(&disk.store));
    fs::remove_file(log_path(home.path(), &log)).unwrap();
    let away = OnDisk::open(home);
    let home = away.image();
    fs::copy(disk.log_path(&log), log_path(home.path(), &log)).unwrap();
    let back = OnDisk::open(home);
    assert_eq!(all_rows(&back.store), rows);
    put(&back.store, &log, 4, &["4"]).await.unwrap();
}

#[tokio::test]
async fn another_log_in_the_place_of_one_gets_its_own_rows() {
    let (disk, log) = three_records().await;
    let other = OnDisk::new();
    for n in 1..=5 {
        put(&other.store, &log, n, &["another"]).await.unwrap();
    }
    let home = disk.image();
    fs::copy(other.log_path(&log), log_path(home.path(), &log)).unwrap();
    let disk = OnDisk::open(home);
    assert!(said(&disk.store, "a log is not the one the index knew"));
    assert_eq!(all_rows(&disk.store), all_rows(&other.store));
    put(&disk.store, &log, 6, &["more"]).await.unwrap();
}

#[tokio::test]
async fn an_older_copy_of_a_log_gets_the_rows_it_had() {
    let (disk, log) = three_records().await;
    let (old, rows) = (disk.image(), all_rows(&disk.store));
    put(&disk.store, &log, 4, &["4"]).await.unwrap();
    let home = disk.image();
    fs::copy(log_path(old.path(), &log), log_path(home.path(), &log)).unwrap();
    let disk = OnDisk::open(home);
    assert_eq!(all_rows(&disk.store), rows);
    put(&disk.store, &log, 4, &["again"]).await.unwrap();
}

#[tokio::test]
async fn a_record_the_projector_refuses_ends_its_log_and_no_other() {
    let (disk, log) = three_records().await;
    let mut strange = record(4, &["4"]);
    strange.facts.push(serde_json::value::RawValue::from_string("\"unreadable\"".to_owned()).unwrap());
    let commit = crate::store::Commit { log: log.clone(), records: vec![strange], rows: Vec::new() };
    within(disk.store.commit(commit)).await.unwrap();
    put(&disk.store, &thread("aa02"), 1, &["fine"]).await.unwrap();
    let disk = disk.crash_without_index();
    assert!(said(&disk.store, "the fact is of another world"), "{:?}", disk.store.notices());
    assert_eq!(events(&disk.store, &log, 1).await, ["1", "2", "3"]);
    assert!(matches!(put(&disk.store, &log, 4, &["x"]).await, Err(StoreError::Damaged { .. })));
    put(&disk.store, &thread("aa02"), 2, &["fine"]).await.unwrap();
}

#[tokio::test]
async fn an_id_that_leaves_its_directory_is_refused() {
    let disk = OnDisk::new();
    for id in ["../aa01", "a/b", "", ".", "a.jsonl", &"x".repeat(129)] {
        put(&disk.store, &thread(id), 1, &["a"]).await.unwrap_err();
        within(disk.store.read(&thread(id), 1, 1)).await.unwrap_err();
    }
}

#[tokio::test]
async fn what_a_commit_wrote_is_plain_lines_under_the_names_of_the_design() {
    let disk = OnDisk::new();
    let commit = commit_of(&disk.store, &thread("0199AbC1"), vec![record(1, &["a"])]);
    within(disk.store.commit(commit)).await.unwrap();
    let text = fs::read_to_string(disk.home.path().join("logs/c1/0199AbC1.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(r#"{"format":"ropewalk-log","version":2,"kind":"thread","logId":""#), "{text}");
    assert!(lines[1].starts_with(r#"{"n":1,"at":"2026-11-30T12:00:00Z","durable":0,"facts":[],"#), "{text}");
    assert_eq!(lines.len(), 2);
    assert!(disk.store.get(&Key::of(&["nothing"])).unwrap().is_none());
}
