//! Writing a log anew on disk: at every place where the process can die, the log is the old one or the new one, whole.

use std::fs;

use crate::store::{
    Commit, FailPoint, LogName, Record, Rows as _, Sieve, Sifted, Store as _, StoreError,
    tests::support::{OnDisk, Subject as _, all_rows, commit_of, log_path, put, record, thread, within},
};

/// Keeps the last records.
struct Last(usize, usize);

impl Sieve for Last {
    fn see(&mut self, _: &Record) {
        self.1 += 1;
    }

    fn keep(&self, at: usize, record: &Record) -> Option<Record> {
        (at + self.0 >= self.1).then(|| record.clone())
    }
}

fn last(count: usize) -> Box<Last> {
    Box::new(Last(count, 0))
}

/// A log of records that have facts and no events, as the daemon's is.
async fn daemons() -> OnDisk {
    let disk = OnDisk::new();
    for count in 0..50 {
        say(&disk, count).await.unwrap();
    }
    disk
}

async fn say(disk: &OnDisk, count: u32) -> Result<(), StoreError> {
    let fact = serde_json::value::to_raw_value(&format!("fact {count} {}", "x".repeat(5_000))).unwrap();
    let record = Record { facts: vec![fact], ..record(1, &[]) };
    within(disk.store.commit(commit_of(&disk.store, &LogName::Daemon, vec![record]))).await
}

async fn facts(disk: &OnDisk) -> Vec<String> {
    let records = within(disk.store.read(&LogName::Daemon, 1, usize::MAX)).await.unwrap();
    records.iter().map(|record| record.facts[0].get()[1..8].trim().to_owned()).collect()
}

fn names(last: impl Iterator<Item = u32>) -> Vec<String> {
    last.map(|count| format!("fact {count}")).collect()
}

fn log_id(path: &std::path::Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let header: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    header["logId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_rewritten_log_has_what_was_kept_a_new_id_and_goes_on() {
    let disk = daemons().await;
    let path = disk.log_path(&LogName::Daemon);
    let (before, rows) = (log_id(&path), all_rows(&disk.store));
    let measured = within(disk.store.sift(&LogName::Daemon, last(3))).await.unwrap();
    assert_eq!(log_id(&path), before, "to measure is to change nothing");
    let sifted = within(disk.store.rewrite(&LogName::Daemon, last(3))).await.unwrap();
    assert_eq!(sifted, measured);
    assert_eq!(fs::metadata(&path).unwrap().len(), sifted.needed_bytes);
    assert_eq!(disk.store.sizes().log_bytes, sifted.needed_bytes);
    assert_ne!(log_id(&path), before);
    assert_eq!(all_rows(&disk.store), rows);
    assert_eq!(facts(&disk).await, names(47..50));
    say(&disk, 50).await.unwrap();
    assert_eq!(facts(&disk).await, names(47..51));
    let again = OnDisk::open(disk.image());
    assert!(again.store.notices().is_empty(), "{:?}", again.store.notices());
    assert_eq!(facts(&again).await, names(47..51));
    say(&again, 51).await.unwrap();
    assert_eq!(facts(&again).await, names(47..52));
    assert!(!path.with_extension("jsonl.new").exists());
}

#[tokio::test]
async fn a_process_that_dies_while_it_writes_a_log_anew_leaves_a_whole_one() {
    for (point, kept) in [(FailPoint::BeforeRename, 0..50), (FailPoint::AfterRename, 48..50)] {
        let disk = daemons().await;
        let rows = all_rows(&disk.store);
        disk.fail_next(point);
        let failed = within(disk.store.rewrite(&LogName::Daemon, last(2))).await;
        assert!(matches!(failed, Err(StoreError::Write { .. })), "{failed:?}");
        let home = disk.image();
        // What a killed process leaves beside it, half written.
        let unfinished = log_path(home.path(), &LogName::Daemon).with_extension("jsonl.new");
        fs::write(&unfinished, b"{\"format\":\"ropewalk-log\",\"versi").unwrap();
        let again = OnDisk::open(home);
        assert_eq!(facts(&again).await, names(kept.clone()), "{point:?}");
        assert_eq!(all_rows(&again.store).len(), rows.len());
        assert!(!unfinished.exists());
        say(&again, 60).await.unwrap();
        // And a process that does not die goes on as well.
        assert_eq!(facts(&disk).await, names(kept.clone()), "{point:?}");
        say(&disk, 60).await.unwrap();
        assert_eq!(facts(&OnDisk::open(disk.image())).await, names(kept.chain([60])), "{point:?}");
    }
}

#[tokio::test]
async fn a_new_log_whose_place_the_index_does_not_know_yet_is_taken_in_whole() {
    let disk = daemons().await;
    within(disk.store.flush()).await.unwrap();
    let home = disk.image();
    within(disk.store.rewrite(&LogName::Daemon, last(50))).await.unwrap();
    fs::copy(disk.log_path(&LogName::Daemon), log_path(home.path(), &LogName::Daemon)).unwrap();
    let again = OnDisk::open(home);
    assert_eq!(facts(&again).await, names(0..50));
    assert_eq!(all_rows(&again.store), all_rows(&disk.store));
}

#[tokio::test]
async fn commits_wait_while_a_log_is_written_anew_and_none_is_lost() {
    let disk = daemons().await;
    let rewriting = disk.store.rewrite(&LogName::Daemon, last(usize::MAX / 2));
    let commits = (50..80).map(|count| say(&disk, count));
    let (rewritten, commits) = tokio::join!(rewriting, within(futures::future::join_all(commits)));
    rewritten.unwrap();
    commits.into_iter().for_each(|commit| commit.unwrap());
    assert_eq!(facts(&disk).await, names(0..80));
    assert_eq!(facts(&OnDisk::open(disk.image())).await, names(0..80));
}

#[tokio::test]
async fn a_damaged_log_is_not_written_anew() {
    let disk = daemons().await;
    disk.damage(&LogName::Daemon, 1, 20);
    let bytes = fs::read(disk.log_path(&LogName::Daemon)).unwrap();
    for _ in 0..2 {
        let refused = within(disk.store.rewrite(&LogName::Daemon, last(50))).await;
        assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
    }
    assert_eq!(fs::read(disk.log_path(&LogName::Daemon)).unwrap(), bytes);
}

#[tokio::test]
async fn a_flipped_byte_in_a_rewritten_log_is_damage_although_no_index_knows_it() {
    let disk = daemons().await;
    within(disk.store.rewrite(&LogName::Daemon, last(10))).await.unwrap();
    disk.damage(&LogName::Daemon, 1, 4);
    let home = disk.image();
    fs::remove_dir_all(home.path().join("index")).unwrap();
    let again = OnDisk::open(home);
    assert!(again.store.notices().iter().any(|notice| notice.contains("damaged")), "{:?}", again.store.notices());
    assert_eq!(facts(&again).await, names(40..44));
}

#[tokio::test]
async fn a_log_with_events_loses_none_of_them() {
    let disk = OnDisk::new();
    for n in 1..=3 {
        put(&disk.store, &thread("aa01"), n, &["e"]).await.unwrap();
    }
    assert!(within(disk.store.rewrite(&thread("aa01"), last(2))).await.is_err(), "its numbers would have a gap");
    assert_eq!(within(disk.store.rewrite(&thread("zz99"), last(2))).await.unwrap(), Sifted::default());
    let more = Commit { log: thread("aa01"), records: vec![record(4, &["e"])], rows: Vec::new() };
    within(disk.store.commit(more)).await.unwrap();
    assert_eq!(within(disk.store.read(&thread("aa01"), 1, usize::MAX)).await.unwrap().len(), 4);
    assert!(disk.store.get(&crate::store::Key::of(&["count"])).is_ok());
}

#[tokio::test]
#[allow(clippy::await_holding_lock, reason = "that the log is held by somebody else is what is tried")]
async fn what_is_dead_of_a_log_is_measured_while_it_is_written_to() {
    let disk = daemons().await;
    let bytes = fs::metadata(disk.log_path(&LogName::Daemon)).unwrap().len();
    let log = disk.store.shared.log(&LogName::Daemon).unwrap();
    let writing = super::super::log::lock(&log.file);
    let sifted = within(disk.store.sift(&LogName::Daemon, last(10))).await.unwrap();
    drop(writing);
    assert_eq!(sifted.bytes, bytes);
    assert!(sifted.needed_bytes < bytes / 4 && sifted.needed_bytes > bytes / 6, "{sifted:?}");
    assert_eq!(within(disk.store.rewrite(&LogName::Daemon, last(10))).await.unwrap(), sifted);
}
