//! Records, a projector and the two stores, as the tests use them.

use std::{path::Path, sync::Arc, time::Duration};

use ropewalk_protocol::{BlobId, Seq, Timestamp};
use serde_json::value::RawValue;

use crate::store::{
    Commit, DiskStore, FailPoint, Key, LogName, MemoryStore, Projection, Projector, Record, RowChange, Rows, Scan,
    Store, StoreError,
};

/// The rows of a test: one a log that counts records and holds the last event, and one an event.
pub(in crate::store) struct Counting;

impl Projector for Counting {
    fn begin(&self, log: &LogName) -> Box<dyn Projection> {
        Box::new(CountingOne(log.clone()))
    }

    fn is_removed(&self, log: &LogName, rows: &dyn Rows) -> Result<bool, StoreError> {
        rows.get(&removed_key(log)).map(|row| row.is_some())
    }
}

/// The rows of one log.
struct CountingOne(LogName);

impl Projection for CountingOne {
    fn project(&mut self, record: &Record, rows: &dyn Rows) -> Result<Vec<RowChange>, String> {
        let log = &self.0;
        if record.facts.iter().any(|fact| fact.get() == "\"unreadable\"") {
            return Err("the fact is of another world".to_owned());
        }
        if let Some(removal) = Removal::in_record(record) {
            return removal.rows(rows);
        }
        let count = Key::of(&["count", &log.to_string()]);
        let before = rows.get(&count).map_err(|error| error.to_string())?;
        let before: u64 = before.map_or(0, |value| String::from_utf8(value).unwrap().parse().unwrap());
        let mut changes = vec![RowChange::Put(count, (before + 1).to_string().into_bytes())];
        for (seq, event) in (record.n..).zip(&record.events) {
            let key = event_key(log, seq);
            // As in the real index no value is long; one that was made of a mark would be another.
            let value = match event.get() {
                short if short.len() < 1_000 => short.to_owned(),
                long => format!("{} bytes, sum {:08x}", long.len(), crc32c::crc32c(long.as_bytes())),
            };
            changes.push(RowChange::Put(key, value.into_bytes()));
            // Only the last three are kept, so that deletes are tested too.
            if let Some(old) = seq.checked_sub(3) {
                changes.push(RowChange::Delete(event_key(log, old)));
            }
        }
        Ok(changes)
    }
}

/// What a record of the daemon's log says about the removal of a thread's log.
pub(in crate::store) enum Removal {
    Decided(LogName),
    Gone(LogName),
}

impl Removal {
    /// A record that says it.
    pub(in crate::store) fn record(&self) -> Record {
        let (word, log) = match self {
            Self::Decided(log) => ("removed", log),
            Self::Gone(log) => ("gone", log),
        };
        let LogName::Thread(id) = log else { panic!("only logs of threads are removed") };
        let fact = RawValue::from_string(format!("\"{word} {id}\"")).unwrap();
        Record { facts: vec![fact], ..record(1, &[]) }
    }

    fn in_record(record: &Record) -> Option<Self> {
        let (word, id) = record.facts.first()?.get().trim_matches('"').split_once(' ')?;
        Some(if word == "gone" { Self::Gone(thread(id)) } else { Self::Decided(thread(id)) })
    }

    fn rows(&self, rows: &dyn Rows) -> Result<Vec<RowChange>, String> {
        let log = match self {
            Self::Gone(log) => return Ok(vec![RowChange::Delete(removed_key(log))]),
            Self::Decided(log) => log,
        };
        let mut changes = vec![RowChange::Put(removed_key(log), Vec::new())];
        for kind in ["count", "event"] {
            let prefix = Key::of(&[kind, &log.to_string()]);
            let scan = Scan { prefix, after: None, reverse: false, limit: usize::MAX };
            let found = rows.scan(&scan).map_err(|error| error.to_string())?;
            changes.extend(found.into_iter().map(|(key, _)| RowChange::Delete(key)));
        }
        Ok(changes)
    }
}

fn removed_key(log: &LogName) -> Key {
    Key::of(&["removed", &log.to_string()])
}

fn event_key(log: &LogName, seq: Seq) -> Key {
    Key::of(&["event", &log.to_string(), &format!("{seq:08}")])
}

pub(in crate::store) fn thread(id: &str) -> LogName {
    LogName::Thread(id.into())
}

pub(in crate::store) fn record(n: Seq, events: &[&str]) -> Record {
    let events = events.iter().map(|text| RawValue::from_string(format!("\"{text}\"")).unwrap()).collect();
    let at = Timestamp::from_millis(1_796_040_000_000);
    Record { n, at, blobs: Vec::new(), op: None, facts: Vec::new(), events }
}

/// A commit of records with the rows that follow from them.
pub(in crate::store) fn commit_of(store: &dyn Store, log: &LogName, records: Vec<Record>) -> Commit {
    let mut rows = Vec::new();
    for record in &records {
        assert!(records.len() == 1 || record.events.is_empty() || rows.is_empty(), "one record with events a commit");
        rows.extend(Counting.begin(log).project(record, store).unwrap());
    }
    Commit { log: log.clone(), records, rows }
}

/// Commits one record of some events.
pub(in crate::store) async fn put(store: &dyn Store, log: &LogName, n: Seq, events: &[&str]) -> Result<(), StoreError> {
    within(store.commit(commit_of(store, log, vec![record(n, events)]))).await
}

/// A wait of a test always ends.
pub(in crate::store) async fn within<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), wait).await.expect("the store answers in time")
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
    /// Loses the payload.
    fn lose_blob(&self, blob: &BlobId);
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

    fn lose_blob(&self, blob: &BlobId) {
        self.0.lose_blob(blob);
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

/// The file of a payload.
pub(in crate::store) fn blob_path(home: &Path, blob: &BlobId) -> std::path::PathBuf {
    home.join("blobs").join(&blob[..2]).join(blob.as_str())
}

/// Copies a directory that may be in use: what is removed meanwhile, a payload that nothing needs or a file on its way to
/// another name, is in the copy or is not, and never in the way.
pub(in crate::store) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in there(std::fs::read_dir(from), from).into_iter().flatten() {
        let Some(entry) = there(entry, from) else { continue };
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match there(entry.file_type(), &path) {
            Some(kind) if kind.is_dir() => copy(&path, &target),
            Some(_) => drop(there(std::fs::copy(&path, target), &path)),
            None => {}
        }
    }
}

/// What was read of a path, unless it is gone.
fn there<T>(read: std::io::Result<T>, path: &Path) -> Option<T> {
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        read => Some(read.unwrap_or_else(|error| panic!("{}: {error}", path.display()))),
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

    fn lose_blob(&self, blob: &BlobId) {
        std::fs::remove_file(blob_path(self.home.path(), blob)).unwrap();
    }

    fn damage(&self, log: &LogName, _seq: Seq, line: usize) {
        let path = self.log_path(log);
        let mut bytes = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        bytes[ends[line + 1] - 30] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
}
