//! Rows of commits that were acknowledged and are on their way into the index.
//!
//! A commit is durable once its log is synced, so nobody need wait for the index after that. Whoever reads rows sees
//! these over those of the index, as if they had been written. They are put in together, a moment later: rows of one
//! thread change with every record of it, and the index writes whole nodes, so that putting them in one by one would
//! cost more than the log itself.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use ropewalk_protocol::Seq;

use super::{
    index::{Index, Reached},
    log::{Appended, lock},
    position::Position,
};
use crate::store::{
    Key, LogName, RowChange, Rows, Scan, StoreError,
    rows::{merge, scan_map},
};

/// How long rows wait for more to be put into the index with them.
const LAG: Duration = Duration::from_millis(50);
/// Rows that wait at most; whoever brings more puts them in first.
const MOST_ROWS: usize = 4_096;

/// The rows that are on their way, and how far their logs are with them.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    turns: Mutex<Turns>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Turns {
    last: u64,
    rows: BTreeMap<Key, (u64, Option<Vec<u8>>)>,
    reached: HashMap<LogName, Way>,
    closed: bool,
}

#[derive(Clone, Debug)]
struct Way {
    position: Position,
    marks: Vec<(Seq, u64)>,
}

/// What was on its way at one moment.
pub(super) struct Taken {
    pub(super) rows: Vec<RowChange>,
    reached: HashMap<LogName, Way>,
    last: u64,
}

impl Ahead {
    /// Shows the rows of a commit from now on. Whether there are so many now that somebody must put them in.
    pub(super) fn show(&self, log: &LogName, changes: Vec<RowChange>, appended: Appended) -> bool {
        let mut turns = lock(&self.turns);
        turns.last += 1;
        let turn = turns.last;
        for change in changes {
            match change {
                RowChange::Put(key, value) => turns.rows.insert(key, (turn, Some(value))),
                RowChange::Delete(key) => turns.rows.insert(key, (turn, None)),
            };
        }
        let is_first = turns.reached.is_empty();
        let Appended { position, mut marks, .. } = appended;
        if let Some(before) = turns.reached.remove(log) {
            marks = [before.marks, marks].concat();
        }
        turns.reached.insert(log.clone(), Way { position, marks });
        if is_first {
            self.news.notify_all();
        }
        turns.rows.len() > MOST_ROWS
    }

    /// What is on its way now; it goes on being shown until it is settled. Nothing when nothing is.
    pub(super) fn take(&self) -> Option<Taken> {
        let mut turns = lock(&self.turns);
        if turns.reached.is_empty() {
            return None;
        }
        let change = |(key, (_, value)): (&Key, &(u64, Option<Vec<u8>>))| match value {
            Some(value) => RowChange::Put(key.clone(), value.clone()),
            None => RowChange::Delete(key.clone()),
        };
        let rows = turns.rows.iter().map(change).collect();
        Some(Taken { rows, reached: std::mem::take(&mut turns.reached), last: turns.last })
    }

    /// How many rows are on their way.
    pub(super) fn len(&self) -> usize {
        lock(&self.turns).rows.len()
    }

    /// Takes back what could not be put into the index; its rows were shown all the time.
    pub(super) fn give_back(&self, taken: Taken) {
        let mut turns = lock(&self.turns);
        for (log, before) in taken.reached {
            let marks = turns.reached.get(&log).map(|way| [before.marks.as_slice(), &way.marks].concat());
            match (turns.reached.get_mut(&log), marks) {
                (Some(way), Some(marks)) => way.marks = marks,
                _ => drop(turns.reached.insert(log, before)),
            }
        }
    }

    /// How far the logs are whose rows are on their way.
    pub(super) fn positions(&self) -> Vec<(LogName, Position)> {
        lock(&self.turns).reached.iter().map(|(log, way)| (log.clone(), way.position.clone())).collect()
    }

    /// Forgets what is in the index by now; what was shown since it was taken stays.
    pub(super) fn settle(&self, taken: &Taken) {
        lock(&self.turns).rows.retain(|_, (turn, _)| *turn > taken.last);
    }

    /// Waits until something is on its way and has waited for more. `false` when nothing more will be.
    pub(super) fn wait(&self) -> bool {
        let turns = lock(&self.turns);
        let waits = |turns: &mut Turns| turns.reached.is_empty() && !turns.closed;
        let turns = self.news.wait_while(turns, waits).unwrap_or_else(PoisonError::into_inner);
        let open = |turns: &mut Turns| !turns.closed;
        let waited = self.news.wait_timeout_while(turns, LAG, open).unwrap_or_else(PoisonError::into_inner);
        !waited.0.closed
    }

    /// Nothing more will be shown.
    pub(super) fn close(&self) {
        lock(&self.turns).closed = true;
        self.news.notify_all();
    }
}

impl Taken {
    /// How far each log is with these rows.
    pub(super) fn reached(&self) -> impl Iterator<Item = Reached<'_>> {
        self.reached.iter().map(|(log, way)| Reached { log, position: &way.position, marks: &way.marks })
    }
}

/// The rows as readers see them.
pub(super) struct View<'a> {
    pub(super) ahead: &'a Ahead,
    pub(super) index: &'a Index,
}

impl Rows for View<'_> {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        // Asked first: what is gone from here is in the index.
        let shown = lock(&self.ahead.turns).rows.get(key).map(|(_, value)| value.clone());
        shown.map_or_else(|| self.index.get(key), Ok)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        let everything = Scan { limit: usize::MAX, ..scan.clone() };
        let shown =
            scan_map(&lock(&self.ahead.turns).rows, &everything, |key, (_, value)| (key.clone(), value.clone()));
        merge(self.index, scan, shown)
    }
}
