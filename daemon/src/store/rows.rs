//! Ranges of rows, and rows that are not in the index yet laid over it.

use std::{collections::BTreeMap, ops::Bound};

use super::{Key, RowChange, Rows, Scan, StoreError};

#[cfg(test)]
mod tests;

/// The keys a scan may return; `None` when there can be none.
pub(super) fn bounds(scan: &Scan) -> Option<(Bound<Key>, Bound<Key>)> {
    let prefix = &scan.prefix.0;
    let mut low = Bound::Included(Key(prefix.clone()));
    let mut high = successor(prefix).map_or(Bound::Unbounded, |key| Bound::Excluded(Key(key)));
    if let Some(after) = &scan.after {
        if scan.reverse {
            if after <= &scan.prefix {
                return None;
            }
            if after.0.starts_with(prefix) {
                high = Bound::Excluded(after.clone());
            }
        } else if after >= &scan.prefix {
            if !after.0.starts_with(prefix) {
                return None;
            }
            low = Bound::Excluded(after.clone());
        }
    }
    Some((low, high))
}

/// The first key beyond everything that begins with `prefix`.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte < u8::MAX)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

/// Answers a scan from rows in memory.
pub(super) fn scan_map<V, T>(map: &BTreeMap<Key, V>, scan: &Scan, take: impl Fn(&Key, &V) -> T) -> Vec<T> {
    let Some(range) = bounds(scan) else { return Vec::new() };
    let mut found = Vec::new();
    let mut range = map.range(range);
    while found.len() < scan.limit {
        let Some((key, value)) = (if scan.reverse { range.next_back() } else { range.next() }) else { break };
        found.push(take(key, value));
    }
    found
}

/// All keys that begin with `prefix`, in order.
///
/// # Errors
/// When the index cannot be read.
pub fn keys_below(rows: &dyn Rows, prefix: Key) -> Result<Vec<Key>, StoreError> {
    let scan = Scan { prefix, after: None, reverse: false, limit: usize::MAX };
    Ok(rows.scan(&scan)?.into_iter().map(|(key, _)| key).collect())
}

/// Changes that wait to be written, seen as if they were.
pub(super) struct Overlay<'a> {
    base: &'a dyn Rows,
    pending: BTreeMap<Key, Option<Vec<u8>>>,
}

impl<'a> Overlay<'a> {
    /// Nothing over `base`.
    pub(super) fn new(base: &'a dyn Rows) -> Self {
        Self { base, pending: BTreeMap::new() }
    }

    /// Lays changes over what is there.
    pub(super) fn add(&mut self, changes: Vec<RowChange>) {
        for change in changes {
            match change {
                RowChange::Put(key, value) => self.pending.insert(key, Some(value)),
                RowChange::Delete(key) => self.pending.insert(key, None),
            };
        }
    }

    /// How many rows wait.
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    /// Takes what waits, to write it.
    pub(super) fn take(&mut self) -> Vec<RowChange> {
        std::mem::take(&mut self.pending)
            .into_iter()
            .map(|(key, value)| match value {
                Some(value) => RowChange::Put(key, value),
                None => RowChange::Delete(key),
            })
            .collect()
    }
}

impl Rows for Overlay<'_> {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        match self.pending.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.base.get(key),
        }
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        let everything = Scan { limit: usize::MAX, ..scan.clone() };
        let changed = scan_map(&self.pending, &everything, |key, value| (key.clone(), value.clone()));
        merge(self.base, scan, changed)
    }
}

/// Answers a scan from `base` as it is with `changed`, all changes within the scan's bounds, made to it.
pub(super) fn merge(
    base: &dyn Rows,
    scan: &Scan,
    changed: Vec<(Key, Option<Vec<u8>>)>,
) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
    if changed.is_empty() {
        return base.scan(scan);
    }
    // Each change can hide at most one row of the base, so this many are enough whatever the changes are.
    let wanted = scan.limit.saturating_add(changed.len());
    let mut merged: BTreeMap<_, _> = base.scan(&Scan { limit: wanted, ..scan.clone() })?.into_iter().collect();
    for (key, value) in changed {
        match value {
            Some(value) => merged.insert(key, value),
            None => merged.remove(&key),
        };
    }
    Ok(if scan.reverse {
        merged.into_iter().rev().take(scan.limit).collect()
    } else {
        merged.into_iter().take(scan.limit).collect()
    })
}
