//! Rows of commits that were acknowledged and are on their way into the index.
//!
//! A commit is durable once its log is synced, so nobody need wait for the index after that. Whoever reads rows sees
//! these over those of the index, as if they had been written.

use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use super::{index::Index, log::lock};
use crate::store::{
    Key, RowChange, Rows, Scan, StoreError,
    rows::{merge, scan_map},
};

/// How long a flush waits for the rows of commits that are still being made.
const SETTLE_WITHIN: Duration = Duration::from_secs(10);

/// The rows that are on their way, each with the turn in which it was added.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    rows: Mutex<Turns>,
    settled: Condvar,
}

#[derive(Debug, Default)]
struct Turns {
    last: u64,
    rows: BTreeMap<Key, (u64, Option<Vec<u8>>)>,
}

impl Ahead {
    /// Shows rows from now on, and returns their turn.
    pub(super) fn show<'a>(&self, changes: impl Iterator<Item = &'a RowChange>) -> u64 {
        let mut turns = lock(&self.rows);
        turns.last += 1;
        let turn = turns.last;
        for change in changes {
            match change {
                RowChange::Put(key, value) => turns.rows.insert(key.clone(), (turn, Some(value.clone()))),
                RowChange::Delete(key) => turns.rows.insert(key.clone(), (turn, None)),
            };
        }
        turn
    }

    /// Forgets rows of a turn that are in the index by now; a later turn's stay.
    pub(super) fn settle<'a>(&self, turn: u64, changes: impl Iterator<Item = &'a RowChange>) {
        let mut turns = lock(&self.rows);
        for change in changes {
            let (RowChange::Put(key, _) | RowChange::Delete(key)) = change;
            if turns.rows.get(key).is_some_and(|(shown, _)| *shown == turn) {
                turns.rows.remove(key);
            }
        }
        if turns.rows.is_empty() {
            self.settled.notify_all();
        }
    }

    /// Waits until no rows are on their way, or for so long that something must be wrong with the index.
    pub(super) fn wait_until_settled(&self) {
        let turns = lock(&self.rows);
        let waited = self.settled.wait_timeout_while(turns, SETTLE_WITHIN, |turns| !turns.rows.is_empty());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
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
        let shown = lock(&self.ahead.rows).rows.get(key).map(|(_, value)| value.clone());
        shown.map_or_else(|| self.index.get(key), Ok)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        let everything = Scan { limit: usize::MAX, ..scan.clone() };
        let shown = scan_map(&lock(&self.ahead.rows).rows, &everything, |key, (_, value)| (key.clone(), value.clone()));
        merge(self.index, scan, shown)
    }
}
