//! The journal's rows of an operation: what a repeat is compared with and answered from, and how it goes again.

use ropewalk_protocol::{OperationId, ThreadId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Key, OperationRecord, RowChange, Rows, Scan, StoreError, keys};

/// The value of the row [`keys::operation`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationRow {
    /// When the operation was done.
    pub at: Timestamp,
    /// A keyed digest of method and parameters.
    pub digest: String,
    /// The method.
    pub method: String,
    /// The answer as it was given, `replayed: false`.
    pub answer: Box<RawValue>,
}

impl OperationRow {
    /// The rows that an operation of a record made at `at` leads to, in the log of a thread or of none.
    ///
    /// # Errors
    /// Never for what this daemon wrote; the sentence is for a log somebody else made.
    pub fn changes(
        at: Timestamp,
        operation: &OperationRecord,
        thread: Option<&ThreadId>,
    ) -> Result<Vec<RowChange>, String> {
        let row = Self {
            at,
            digest: operation.digest.clone(),
            method: operation.method.clone(),
            answer: operation.answer.clone(),
        };
        let value = serde_json::to_vec(&row).map_err(|cause| cause.to_string())?;
        let owner = thread.map_or_else(Vec::new, |thread| thread.as_str().as_bytes().to_vec());
        let mut changes = vec![
            RowChange::Put(keys::operation(&operation.id), value),
            RowChange::Put(keys::operation_at(at, &operation.id), owner),
        ];
        changes.extend(thread.map(|thread| RowChange::Put(keys::owned(thread, KIND, &operation.id), Vec::new())));
        Ok(changes)
    }

    /// Takes an operation of a thread out of the journal, because the thread goes.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn removal(rows: &dyn Rows, id: &OperationId) -> Result<Vec<RowChange>, StoreError> {
        let key = keys::operation(id);
        let Some(value) = rows.get(&key)? else { return Ok(Vec::new()) };
        let row: Self = serde_json::from_slice(&value).map_err(|cause| unreadable(&cause.to_string()))?;
        Ok(vec![RowChange::Delete(keys::operation_at(row.at, id)), RowChange::Delete(key)])
    }
}

/// Rows that are read at once.
const ROWS_AT_ONCE: usize = 1_000;

/// The word for operations among what a thread owns.
const KIND: &str = "operation";

/// An operation that is about to expire, as the rows in the order of time have it.
struct Dated {
    at: Timestamp,
    key: Key,
    thread: Option<ThreadId>,
}

/// The moment before which operations have expired already.
///
/// # Errors
/// When the index cannot be read.
pub fn expired_before(rows: &dyn Rows) -> Result<Timestamp, StoreError> {
    let never = Timestamp::from_millis(i64::MIN);
    let Some(value) = rows.get(&keys::operations_expired())? else { return Ok(never) };
    serde_json::from_slice(&value).map_err(|cause| unreadable(&cause.to_string()))
}

/// The moment up to which at most about `limit` operations would expire, all of them older than `before`. `None` when none
/// is so old. Operations of the same millisecond expire together, however many there are.
///
/// # Errors
/// When the index cannot be read.
pub fn next_to_expire(rows: &dyn Rows, before: Timestamp, limit: usize) -> Result<Option<Timestamp>, StoreError> {
    let oldest = dated(rows, None, limit + 1)?;
    let Some(first) = oldest.first().filter(|first| first.at < before) else { return Ok(None) };
    match oldest.get(limit) {
        Some(next) if next.at < before => Ok(Some(next.at.max(first.at.plus_millis(1)))),
        _ => Ok(Some(before)),
    }
}

/// The rows that go when operations older than `before` expire, and the note that they have.
///
/// # Errors
/// When the index cannot be read.
pub fn expiry(rows: &dyn Rows, before: Timestamp) -> Result<Vec<RowChange>, StoreError> {
    let mut changes = Vec::new();
    let mut after = None;
    loop {
        let part = dated(rows, after, ROWS_AT_ONCE)?;
        let is_last = part.len() < ROWS_AT_ONCE || part.last().is_some_and(|last| last.at >= before);
        after = part.last().map(|last| last.key.clone());
        for Dated { key, thread, .. } in part.into_iter().take_while(|dated| dated.at < before) {
            let id = key.last_part().unwrap_or_default();
            changes.push(RowChange::Delete(keys::operation(id)));
            changes.extend(thread.map(|thread| RowChange::Delete(keys::owned(&thread, KIND, id))));
            changes.push(RowChange::Delete(key));
        }
        if is_last {
            break;
        }
    }
    let value = serde_json::to_vec(&before).map_err(|cause| unreadable(&cause.to_string()))?;
    changes.push(RowChange::Put(keys::operations_expired(), value));
    Ok(changes)
}

fn dated(rows: &dyn Rows, after: Option<Key>, limit: usize) -> Result<Vec<Dated>, StoreError> {
    let scan = Scan { prefix: keys::operations_by_time(), after, reverse: false, limit };
    let read = |(key, value): (Key, Vec<u8>)| {
        let at = key.0.split(|byte| *byte == 0).nth(1).and_then(|part| std::str::from_utf8(part).ok()?.parse().ok());
        let thread = String::from_utf8(value).ok().filter(|thread| !thread.is_empty()).map(ThreadId::from);
        let at = Timestamp::from_millis(at.ok_or_else(|| unreadable("the time in the key of an operation"))?);
        Ok(Dated { at, key, thread })
    };
    rows.scan(&scan)?.into_iter().map(read).collect()
}

fn unreadable(cause: &str) -> StoreError {
    StoreError::Read { what: "the journal of operations".to_owned(), cause: cause.to_owned() }
}
