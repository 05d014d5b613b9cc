//! Records, a projector and the two stores, as the tests use them.

use std::{path::Path, sync::Arc, time::Duration};

use ropewalk_protocol::{Seq, Timestamp};
use serde_json::value::RawValue;

use crate::store::{
    Commit, DiskStore, FailPoint, Key, LogName, MemoryStore, Projector, Record, RowChange, Rows, Scan, Store,
    StoreError,
};

/// The rows of a test: one a log that counts records and holds the last event, and one an event.
pub(in crate::store) struct Counting;

impl Projector for Counting {
    fn project(&self, log: &LogName, record: &Record, rows: &dyn Rows) -> Result<Vec<RowChange>, String> {
        if record.facts.iter().any(|fact| fact.get() == "\"unreadable\"") {
            return Err("the fact is of another world".to_owned());
        }
        let count = Key::of(&["count", &log.to_string()]);
        let before = rows.get(&count).map_err(|error| error.to_string())?;
        let before: u64 = before.map_or(0, |value| String::from_utf8(value).unwrap().parse().unwrap());
        let mut changes = vec![RowChange::Put(count, (before + 1).to_string().into_bytes())];
        for (seq, event) in (record.n..).zip(&record.events) {
            let key = event_key(log, seq);
            changes.push(RowChange::Put(key, event.get().as_bytes().to_vec()));
            // Only the last three are kept, so that deletes are tested too.
            if let Some(old) = seq.checked_sub(3) {
                changes.push(RowChange::Delete(event_key(log, old)));
            }
        }
        Ok(changes)
    }
}

fn event_key(log: &LogName, seq: Seq) -> Key {
    Key::of(&["event", &log.to_string(), &format!("{seq:08}")])
}

pub(in crate::store) fn thread(id: &str) -> LogName {
    LogName::Thread(id.into())
}

pub(in crate::store) fn record(n: Seq, events: &[&str]) -> Record {
    let events = events.iter().map(|text| RawValue::from_string(format!("\"{text}\"")).unwrap()).collect();
    Record { n, at: Timestamp::from_millis(1_796_040_000_000), op: None, facts: Vec::new(), events }
}

/// A commit of records with the rows that follow from them.
pub(in crate::store) fn commit_of(store: &dyn Store, log: &LogName, records: Vec<Record>) -> Commit {
    let mut rows = Vec::new();
    for record in &records {
        assert!(records.len() == 1 || record.events.is_empty() || rows.is_empty(), "one record with events a commit");
        rows.extend(Counting.project(log, record, store).unwrap());
    }
    Commit { log: log.clone(), records, rows }
}

/// Commits one record of some events.
pub(in crate::store) async fn put(store: &dyn Store, log: &LogName, n: Seq, events: &[&str]) -> Result<(), StoreError> {
    within(store.commit(commit_of(store, log, vec![record(n, events)]))).await
}

/// A wait of a test always ends.
pub(in crate::store) async fn within<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), wait).await.expect("the store answers in time")
}

/// Every event of a log from `from` on, without its quotes.
pub(in crate::store) async fn events(store: &dyn Store, log: &LogName, from: Seq) -> Vec<String> {
    let records = within(store.read(log, from, usize::MAX)).await.unwrap();
    records.iter().flat_map(|record| &record.events).map(|event| event.get().trim_matches('"').to_owned()).collect()
}

/// Everything in the index.
pub(in crate::store) fn all_rows(store: &dyn Store) -> Vec<(Key, Vec<u8>)> {
    store.scan(&Scan { prefix: Key(Vec::new()), after: None, reverse: false, limit: usize::MAX }).unwrap()
}

/// A store that a test can break and start again.
pub(in crate::store) trait Subject: Sized {
    fn new() -> Self;
    fn store(&self) -> &dyn Store;
    fn fail_next(&self, point: FailPoint);
    /// What a new process finds after this one was killed.
    fn crash(self) -> Self;
    fn crash_without_index(self) -> Self;
    /// Flips a bit in the record that begins with `seq`, the `line`-th of the log.
    fn damage(&self, log: &LogName, seq: Seq, line: usize);
}

pub(in crate::store) struct InMemory(MemoryStore);

impl Subject for InMemory {
    fn new() -> Self {
        Self(MemoryStore::with_projector(Arc::new(Counting)))
    }

    fn store(&self) -> &dyn Store {
        &self.0
    }

    fn fail_next(&self, point: FailPoint) {
        self.0.fail_next(point);
    }

    fn crash(self) -> Self {
        Self(self.0.crash())
    }

    fn crash_without_index(self) -> Self {
        Self(self.0.crash_without_index())
    }

    fn damage(&self, log: &LogName, seq: Seq, _line: usize) {
        self.0.damage(log, seq);
    }
}

pub(in crate::store) struct OnDisk {
    pub(in crate::store) home: tempfile::TempDir,
    pub(in crate::store) store: DiskStore,
}

impl OnDisk {
    /// Opens a home that is there.
    pub(in crate::store) fn open(home: tempfile::TempDir) -> Self {
        let store = open(home.path()).unwrap();
        Self { home, store }
    }

    /// The home as it is at this moment, without the open store noticing: what a killed process leaves.
    pub(in crate::store) fn image(&self) -> tempfile::TempDir {
        let image = tempfile::tempdir().unwrap();
        copy(self.home.path(), image.path());
        image
    }

    pub(in crate::store) fn log_path(&self, log: &LogName) -> std::path::PathBuf {
        log_path(self.home.path(), log)
    }
}

pub(in crate::store) fn open(home: &Path) -> Result<DiskStore, StoreError> {
    DiskStore::open(home, Arc::new(Counting), Timestamp::from_millis(1_796_040_000_000))
}

/// The file of a log of these tests, whose ids end in two hex digits.
pub(in crate::store) fn log_path(home: &Path, log: &LogName) -> std::path::PathBuf {
    match log {
        LogName::Daemon => home.join("logs/daemon.jsonl"),
        LogName::Thread(id) => home.join(format!("logs/{}/{id}.jsonl", &id[id.len() - 2..])),
        LogName::Transcript(id) => home.join(format!("logs/{}/{id}.transcript.jsonl", &id[id.len() - 2..])),
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

impl Subject for OnDisk {
    fn new() -> Self {
        Self::open(tempfile::tempdir().unwrap())
    }

    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn fail_next(&self, point: FailPoint) {
        self.store.fail_next(point);
    }

    fn crash(self) -> Self {
        Self::open(self.image())
    }

    fn crash_without_index(self) -> Self {
        let image = self.image();
        std::fs::remove_dir_all(image.path().join("index")).unwrap();
        Self::open(image)
    }

    fn damage(&self, log: &LogName, _seq: Seq, line: usize) {
        let path = self.log_path(log);
        let mut bytes = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        bytes[ends[line + 1] - 30] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
}
