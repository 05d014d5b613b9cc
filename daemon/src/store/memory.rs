//! The twin in memory: the same behaviour without a disk, with places to fail and crashes to survive.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::{self, BoxFuture, FutureExt as _};
use ropewalk_protocol::Seq;

use super::{
    Commit, FailPoint, Key, LogName, Projector, Record, RowChange, Rows, Scan, Store, StoreError, StoreSizes,
    header::Header,
    record::{decode, encode, peek_seq},
    rows::scan_map,
};

/// A store in memory. Commits are made while [`Store::commit`] is called, so that a simulation has one order.
pub struct MemoryStore {
    state: Mutex<State>,
    projector: Option<Arc<dyn Projector>>,
}

#[derive(Clone, Default)]
struct State {
    logs: HashMap<LogName, MemoryLog>,
    rows: BTreeMap<Key, Vec<u8>>,
    next_failure: Option<FailPoint>,
    degraded: Option<String>,
}

#[derive(Clone)]
struct MemoryLog {
    /// Every record as the line it would be on disk.
    lines: Vec<Arc<[u8]>>,
    next_seq: Seq,
    bytes: u64,
    /// How many lines the rows contain.
    applied: usize,
    /// Why the log has to be cut before it takes anything.
    uncut: Option<StoreError>,
    /// The line and the byte from which nothing can be read.
    damaged: Option<(usize, u64)>,
}

impl MemoryStore {
    /// An empty store. Without a projector, rows that the index misses are not made up for.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Mutex::default(), projector: None }
    }

    /// An empty store that works out the rows of records its index missed, as the one on disk does.
    #[must_use]
    pub fn with_projector(projector: Arc<dyn Projector>) -> Self {
        Self { state: Mutex::default(), projector: Some(projector) }
    }

    /// Makes the next commit that comes to `point` fail there.
    pub fn fail_next(&self, point: FailPoint) {
        self.lock().next_failure = Some(point);
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

    /// What a new process would find: every durable record, no pending failure, and rows that follow from the records.
    #[must_use]
    pub fn crash(&self) -> Self {
        let mut state = self.lock().clone();
        state.next_failure = None;
        state.degraded = None;
        for log in state.logs.values_mut() {
            log.uncut = None;
        }
        let store = Self { state: Mutex::new(state), projector: self.projector.clone() };
        store.lock().catch_up(store.projector.as_deref());
        store
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
        let appended = self.append(&mut log, &name, &commit.records);
        let is_new = log.lines.is_empty();
        let applied = log.applied + commit.records.len();
        match appended {
            Some(Ok(())) if self.degraded.is_none() && self.take_failure(&[FailPoint::Index]).is_none() => {
                log.applied = applied;
                self.apply(commit.rows);
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

    fn append(&mut self, log: &mut MemoryLog, name: &LogName, records: &[Record]) -> Option<Result<(), StoreError>> {
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
        for record in records {
            if record.n != next_seq {
                return Some(Err(write(
                    &format!("a record has the number {} where {next_seq} belongs", record.n),
                    false,
                )));
            }
            next_seq = record.next_seq();
        }
        use FailPoint::{Append, Cut, Full, HangAfterSync, HangBeforeSync, Sync};
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
        for record in records {
            let mut line = Vec::new();
            encode(record, durable, &mut line);
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
            while let Some((at, line)) = self.logs.get(&name).and_then(MemoryLog::first_missing) {
                let changes = decode(&line).and_then(|line| {
                    let rows = BaseRows(&self.rows);
                    projector.project(&name, &line.record, &rows)
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

    fn read(&mut self, name: &LogName, from: Seq, max_bytes: usize) -> Result<Vec<Arc<Record>>, StoreError> {
        let Some(log) = self.logs.get_mut(name) else { return Ok(Vec::new()) };
        let mut records = Vec::new();
        let mut bytes = 0;
        for at in log.first_holding(from)..log.damaged.map_or(log.lines.len(), |(line, _)| line) {
            let Ok(line) = decode(&log.lines[at]) else {
                log.damaged = Some((at, log.offset_of(at)));
                break;
            };
            bytes += log.lines[at].len();
            if bytes > max_bytes && !records.is_empty() {
                break;
            }
            records.push(Arc::new(line.record));
        }
        match log.damaged {
            Some((_, offset)) if records.is_empty() => Err(StoreError::Damaged { log: name.to_string(), offset }),
            _ => Ok(records),
        }
    }
}

impl MemoryLog {
    fn new(name: &LogName) -> Self {
        let mut header = Vec::new();
        Header::new(name).encode(&mut header);
        Self { lines: Vec::new(), next_seq: 1, bytes: header.len() as u64, applied: 0, uncut: None, damaged: None }
    }

    /// The first line that holds `seq`, counting a line without events as holding the one after it.
    fn first_holding(&self, seq: Seq) -> usize {
        let first_from = self.lines.partition_point(|line| peek_seq(line).unwrap_or(0) < seq);
        let before = first_from.checked_sub(1).filter(|at| {
            let next = self.lines.get(at + 1).and_then(|line| peek_seq(line)).unwrap_or(self.next_seq);
            next > seq
        });
        before.unwrap_or(first_from)
    }

    fn first_missing(&self) -> Option<(usize, Arc<[u8]>)> {
        let end = self.damaged.map_or(self.lines.len(), |(line, _)| line);
        (self.applied < end).then(|| (self.applied, Arc::clone(&self.lines[self.applied])))
    }

    fn offset_of(&self, at: usize) -> u64 {
        self.bytes - self.lines[at..].iter().map(|line| line.len() as u64 + 1).sum::<u64>()
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

impl Rows for MemoryStore {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        BaseRows(&self.lock().rows).get(key)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        BaseRows(&self.lock().rows).scan(scan)
    }
}

impl Store for MemoryStore {
    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), StoreError>> {
        match self.lock().commit(commit, self.projector.as_deref()) {
            Some(answer) => future::ready(answer).boxed(),
            None => future::pending().boxed(),
        }
    }

    fn read(
        &self,
        log: &LogName,
        from: Seq,
        max_bytes: usize,
    ) -> BoxFuture<'static, Result<Vec<Arc<Record>>, StoreError>> {
        future::ready(self.lock().read(log, from, max_bytes)).boxed()
    }

    fn sizes(&self) -> StoreSizes {
        let state = self.lock();
        StoreSizes { log_bytes: state.logs.values().map(|log| log.bytes).sum(), ..StoreSizes::default() }
    }

    fn degraded(&self) -> Option<String> {
        self.lock().degraded.clone()
    }

    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        future::ready(Ok(())).boxed()
    }
}
