//! The twin in memory: the same behaviour without a disk, with places to fail and crashes to survive.

mod blobs;
mod log;
mod rewrite;
mod seam;

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ropewalk_protocol::{BlobId, Seq};

use self::log::MemoryLog;
use super::{
    Commit, FailPoint, Key, LogName, Projector, Record, RowChange, Rows, Scan, StoreError,
    blobs::{Pins, blob_id, reference_rows},
    outline::Outlined,
    record::{Line, decode, encode},
    rows::scan_map,
};

/// A store in memory. Commits are made while [`super::Store::commit`] is called, so that a simulation has one order.
pub struct MemoryStore {
    state: Mutex<State>,
    projector: Option<Arc<dyn Projector>>,
    pins: Arc<Pins>,
}

#[derive(Clone, Default)]
struct State {
    logs: HashMap<LogName, MemoryLog>,
    blobs: HashMap<BlobId, Arc<[u8]>>,
    rows: BTreeMap<Key, Vec<u8>>,
    next_failure: Option<FailPoint>,
    degraded: Option<String>,
    /// How much room a test leaves; without it there is enough.
    free_bytes: Option<u64>,
}

impl MemoryStore {
    /// An empty store. Without a projector, rows that the index misses are not made up for.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Mutex::default(), projector: None, pins: Arc::default() }
    }

    /// An empty store that works out the rows of records its index missed, as the one on disk does.
    #[must_use]
    pub fn with_projector(projector: Arc<dyn Projector>) -> Self {
        Self { projector: Some(projector), ..Self::new() }
    }

    /// Makes the next commit that comes to `point` fail there.
    pub fn fail_next(&self, point: FailPoint) {
        self.lock().next_failure = Some(point);
    }

    /// Leaves so much room on its disk, or enough again.
    pub fn leave_room(&self, free_bytes: Option<u64>) {
        self.lock().free_bytes = free_bytes;
    }

    /// Changes a byte of the record that holds event `seq`, as a bad disk would.
    ///
    /// # Panics
    /// When there is no such record.
    pub fn damage(&self, log: &LogName, seq: Seq) {
        let mut state = self.lock();
        let log = state.logs.get_mut(log).expect("the log that a test damages is there");
        let at = log.first_holding(seq);
        let mut line = log.lines[at].to_vec();
        let middle = line.len() / 2;
        line[middle] ^= 1;
        log.lines[at] = line.into();
    }

    /// Loses a payload, as a bad disk would.
    ///
    /// # Panics
    /// When there is no such payload.
    pub fn lose_blob(&self, blob: &BlobId) {
        self.lock().blobs.remove(blob).expect("the payload that a test loses is there");
    }

    /// What a new process would find: every durable record, no pending failure, and rows that follow from the records.
    #[must_use]
    pub fn crash(&self) -> Self {
        let mut state = self.lock().clone();
        state.next_failure = None;
        state.degraded = None;
        for log in state.logs.values_mut() {
            log.uncut = None;
        }
        state.catch_up(self.projector.as_deref());
        state.forget_logs_that_are_gone();
        let everything = state.blobs.keys().cloned().collect();
        state.sweep(everything, &Pins::default());
        Self { state: Mutex::new(state), projector: self.projector.clone(), pins: Arc::default() }
    }

    /// As [`MemoryStore::crash`], with an index that has to be built from the logs alone.
    #[must_use]
    pub fn crash_without_index(&self) -> Self {
        let store = self.crash();
        store.lock().rebuild(store.projector.as_deref());
        store
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("MemoryStore").field("logs", &state.logs.len()).field("rows", &state.rows.len()).finish()
    }
}

impl State {
    fn take_failure(&mut self, points: &[FailPoint]) -> Option<FailPoint> {
        if self.next_failure.is_some_and(|point| points.contains(&point)) { self.next_failure.take() } else { None }
    }

    /// Makes a commit; `None` when its caller never hears of it.
    fn commit(&mut self, commit: Commit, projector: Option<&dyn Projector>) -> Option<Result<(), StoreError>> {
        let name = commit.log;
        let mut log = self.logs.remove(&name).unwrap_or_else(|| MemoryLog::new(&name));
        let outlined: Vec<Outlined<'_>> = commit.records.iter().map(Outlined::new).collect();
        let appended = self.append(&mut log, &name, &outlined);
        let is_new = log.lines.is_empty();
        let applied = log.applied + commit.records.len();
        match appended {
            Some(Ok(())) if self.degraded.is_none() && self.take_failure(&[FailPoint::Index]).is_none() => {
                log.applied = applied;
                self.apply(commit.rows);
                self.apply(outlined.iter().flat_map(|outlined| reference_rows(&name, &outlined.names)).collect());
            }
            Some(Ok(())) => self.degraded = Some("the index cannot be used: input/output error".to_owned()),
            _ => {}
        }
        if !is_new || log.uncut.is_some() {
            self.logs.insert(name, log);
        }
        if self.degraded.is_some() && projector.is_some() {
            self.rebuild(projector);
            self.degraded = None;
        }
        appended
    }

    fn append(
        &mut self,
        log: &mut MemoryLog,
        name: &LogName,
        records: &[Outlined<'_>],
    ) -> Option<Result<(), StoreError>> {
        if let Some((_, offset)) = log.damaged {
            return Some(Err(StoreError::Damaged { log: name.to_string(), offset }));
        }
        if let Some(error) = log.uncut.take()
            && self.take_failure(&[FailPoint::Cut]).is_some()
        {
            log.uncut = Some(error.clone());
            return Some(Err(error));
        }
        let write = |cause: &str, full| StoreError::Write { log: name.to_string(), cause: cause.to_owned(), full };
        let mut next_seq = log.next_seq;
        for record in records.iter().map(|outlined| &outlined.record) {
            if record.n != next_seq {
                return Some(Err(write(
                    &format!("a record has the number {} where {next_seq} belongs", record.n),
                    false,
                )));
            }
            next_seq = record.next_seq();
        }
        use FailPoint::{Append, Blob, Cut, Full, FullButForReserve, HangAfterSync, HangBeforeSync, Sync};
        // Its reserve is whatever a test says.
        self.take_failure(&[FullButForReserve]);
        let mut payloads = records.iter().flat_map(|outlined| &outlined.payloads).peekable();
        if payloads.peek().is_some() && self.take_failure(&[Blob]).is_some() {
            return Some(Err(write("input/output error", false)));
        }
        for payload in payloads {
            self.blobs.entry(blob_id(payload)).or_insert_with(|| payload.as_slice().into());
        }
        let failure = self.take_failure(&[Append, Full, Sync, Cut, HangAfterSync, HangBeforeSync]);
        match failure {
            Some(HangBeforeSync) => return None,
            Some(Full) => return Some(Err(write("no storage space", true))),
            Some(Cut) => {
                log.uncut = Some(write("input/output error", false));
                return log.uncut.clone().map(Err);
            }
            Some(Append | Sync) => return Some(Err(write("input/output error", false))),
            _ => {}
        }
        let durable = log.bytes;
        for outlined in records {
            let mut line = Vec::new();
            encode(outlined, durable, &mut line);
            log.bytes += line.len() as u64;
            line.pop();
            log.lines.push(line.into());
        }
        log.next_seq = next_seq;
        (failure != Some(HangAfterSync)).then_some(Ok(()))
    }

    fn apply(&mut self, changes: Vec<RowChange>) {
        for change in changes {
            match change {
                RowChange::Put(key, value) => self.rows.insert(key, value),
                RowChange::Delete(key) => self.rows.remove(&key),
            };
        }
    }

    fn rebuild(&mut self, projector: Option<&dyn Projector>) {
        self.rows.clear();
        for log in self.logs.values_mut() {
            log.applied = 0;
        }
        self.catch_up(projector);
    }

    /// Applies what the logs have beyond the rows, the daemon's log first.
    fn catch_up(&mut self, projector: Option<&dyn Projector>) {
        let Some(projector) = projector else { return };
        let mut names: Vec<LogName> = self.logs.keys().cloned().collect();
        names.sort();
        for name in names {
            if projector.is_removed(&name, &BaseRows(&self.rows)).unwrap_or(false) {
                continue;
            }
            let mut projection = projector.begin(&name);
            while let Some((at, line)) = self.logs.get(&name).and_then(MemoryLog::first_missing) {
                let changes = decode(&line).and_then(|line| {
                    let references = reference_rows(&name, &line.names);
                    let record = line.whole(&|id, _| self.blob(id)).map_err(|trouble| format!("{trouble:?}"))?;
                    let changes = projection.project(&record, &BaseRows(&self.rows))?;
                    Ok([changes, references].concat())
                });
                let Some(log) = self.logs.get_mut(&name) else { break };
                match changes {
                    Ok(changes) => {
                        log.applied += 1;
                        self.apply(changes);
                    }
                    Err(_) => {
                        log.damaged = Some((at, log.offset_of(at)));
                        break;
                    }
                }
            }
        }
    }

    fn remove(&mut self, name: &LogName) -> Result<(), StoreError> {
        if self.take_failure(&[FailPoint::Unlink]).is_some() {
            let cause = "input/output error".to_owned();
            return Err(StoreError::Write { log: name.to_string(), cause, full: false });
        }
        self.logs.remove(name);
        Ok(())
    }

    fn read(&mut self, name: &LogName, from: Seq, max_bytes: usize) -> Result<Vec<Arc<Record>>, StoreError> {
        let Some(log) = self.logs.get(name) else { return Ok(Vec::new()) };
        let mut records = Vec::new();
        let mut bytes = 0_usize;
        let mut damaged = log.damaged;
        for at in log.first_holding(from)..log.damaged.map_or(log.lines.len(), |(line, _)| line) {
            let line = decode(&log.lines[at]).ok();
            bytes += log.lines[at].len() + line.as_ref().map_or(0, Line::outlined_bytes);
            if bytes > max_bytes && !records.is_empty() {
                break;
            }
            let Some(record) = line.and_then(|line| line.whole(&|id, _| self.blob(id)).ok()) else {
                damaged = Some((at, log.offset_of(at)));
                break;
            };
            records.push(Arc::new(record));
        }
        if let Some(log) = self.logs.get_mut(name) {
            log.damaged = damaged;
        }
        match damaged {
            Some((_, offset)) if records.is_empty() => Err(StoreError::Damaged { log: name.to_string(), offset }),
            _ => Ok(records),
        }
    }
}

/// The rows of a state, for the moment in which a record is projected.
struct BaseRows<'a>(&'a BTreeMap<Key, Vec<u8>>);

impl Rows for BaseRows<'_> {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.get(key).cloned())
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        Ok(scan_map(self.0, scan, |key, value| (key.clone(), value.clone())))
    }
}
