//! What goes with a thread: the rows it has in the index, and what the daemon's log says about that.

use std::borrow::Cow;

use ropewalk_protocol::{Method as _, OperationId, ThreadId, ThreadStart};

use super::rows::{self, ThreadRow};
use crate::{
    catalogue::{self, Outlived},
    store::{Key, OperationRow, Record, RowChange, Rows, StoreError, expired_before, keys, keys_below},
};

/// The kinds of rows that a thread's id stands in front of.
const PARTS: [&str; 9] =
    ["attention", "branch", "queue", "tools", "openRun", "openItem", "openBatch", "openCall", "interaction"];

/// The changes that take every row of a thread away. They go with the record that says that the thread is deleted, so that
/// nobody ever sees a part of it.
///
/// # Errors
/// When the index cannot be read.
pub fn rows_of_thread(rows: &dyn Rows, id: &ThreadId) -> Result<Vec<RowChange>, StoreError> {
    let mut changes = Vec::new();
    if let Some(ThreadRow { thread, .. }) = rows::get(rows, &keys::thread(id))? {
        changes.push(RowChange::Delete(keys::by_activity(thread.archived, thread.updated_at, id)));
        changes.push(RowChange::Delete(keys::in_project(&thread.project_id, id)));
        changes.push(RowChange::Delete(keys::thread(id)));
    }
    for kind in PARTS {
        changes.extend(keys_below(rows, keys::of_thread(kind, id))?.into_iter().map(RowChange::Delete));
    }
    for owned in keys_below(rows, keys::owned_by(id))? {
        let part = |at: usize| owned.0.split(|byte| *byte == 0).nth(at).and_then(|part| std::str::from_utf8(part).ok());
        match (part(2), part(3)) {
            (Some("run"), Some(run)) => changes.push(RowChange::Delete(keys::run(run))),
            (Some("home"), Some(interaction)) => changes.push(RowChange::Delete(keys::home_of(interaction))),
            (Some("operation"), Some(operation)) => {
                changes.extend(OperationRow::removal(rows, &OperationId::from(operation.to_owned()))?);
            }
            _ => {}
        }
        changes.push(RowChange::Delete(owned));
    }
    Ok(changes)
}

/// The operation that began a thread, as long as it is known.
///
/// # Errors
/// When the index cannot be read.
pub fn what_began(rows: &dyn Rows, id: &ThreadId) -> Result<Option<Outlived>, StoreError> {
    for owned in keys_below(rows, Key::of(&["owned", id, "operation"]))? {
        let Some(operation_id) = owned.last_part().map(|part| OperationId::from(part.to_owned())) else { continue };
        let Some(row) = rows::get::<OperationRow>(rows, &keys::operation(&operation_id))? else { continue };
        if row.method == ThreadStart::NAME {
            let OperationRow { at, digest, method, .. } = row;
            return Ok(Some(Outlived { thread_id: id.clone(), operation_id, digest, method, at }));
        }
    }
    Ok(None)
}

/// The rows that follow from a record of the daemon's log: its documents, its operation, and the end of the threads it says
/// are deleted.
///
/// # Errors
/// A sentence, when a fact cannot be understood or the index cannot be read.
pub fn rows_of_daemon(record: &Record, rows: &dyn Rows) -> Result<Vec<RowChange>, String> {
    let mut changes = Vec::new();
    for thread in catalogue::buried_in(record)? {
        changes.extend(rows_of_thread(rows, &thread).map_err(|error| error.to_string())?);
    }
    // What began a thread is known longer than the thread.
    changes.extend(catalogue::rows_of(record, rows)?);
    Ok(changes)
}

/// A record without its operation, where that has expired: a log that is read again must not bring it back.
///
/// # Errors
/// A sentence, when the index cannot be read.
pub fn without_expired<'a>(record: &'a Record, rows: &dyn Rows) -> Result<Cow<'a, Record>, String> {
    if record.op.is_none() || record.at >= expired_before(rows).map_err(|error| error.to_string())? {
        return Ok(Cow::Borrowed(record));
    }
    Ok(Cow::Owned(Record { op: None, ..record.clone() }))
}
