//! Facts of the daemon's log that are about no document: what became of deleted threads, and how long operations are kept.

use ropewalk_protocol::{OperationId, ThreadId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::store::{OperationRecord, OperationRow, Record, RowChange, Rows, expired_before, expiry, keys};

/// A fact that is about no document. The names are part of the log format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum OtherFact {
    /// A thread is deleted: this decides it, whatever is still there of its log.
    Tombstone {
        /// Which.
        thread_id: ThreadId,
    },
    /// Nothing is left of a deleted thread's log.
    Gone {
        /// Which.
        thread_id: ThreadId,
    },
    /// What began a deleted thread: it is known for as long as any operation, so that a repeat begins no second thread.
    Outlived(Outlived),
    /// Operations that were done before this moment are not recognised any more.
    OperationsExpired {
        /// The moment.
        before: Timestamp,
    },
}

/// The operation that began a thread which is deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outlived {
    /// The thread.
    pub thread_id: ThreadId,
    /// The operation.
    pub operation_id: OperationId,
    /// The keyed digest of its method and parameters.
    pub digest: String,
    /// Its method.
    pub method: String,
    /// When it was done.
    pub at: Timestamp,
}

impl Outlived {
    /// The rows of the journal, unless the operation has expired. In place of the answer, which spoke of the thread, stands
    /// the thread's id alone.
    fn rows(&self, known: &dyn Rows) -> Result<Vec<RowChange>, String> {
        if self.at < expired_before(known).map_err(|error| error.to_string())? {
            return Ok(Vec::new());
        }
        let answer = serde_json::value::to_raw_value(&self.thread_id).map_err(|cause| cause.to_string())?;
        let (id, digest, method) = (self.operation_id.clone(), self.digest.clone(), self.method.clone());
        OperationRow::changes(self.at, &OperationRecord { id, digest, method, answer }, None)
    }
}

impl OtherFact {
    /// Reads one.
    ///
    /// # Errors
    /// A sentence, when it is none of these.
    pub(super) fn read(fact: &RawValue) -> Result<Self, String> {
        serde_json::from_str(fact.get()).map_err(|cause| cause.to_string())
    }

    /// The fact as it stands in a record.
    pub(super) fn write(&self) -> Result<Box<RawValue>, serde_json::Error> {
        serde_json::value::to_raw_value(self)
    }

    /// The rows that follow from it; those of a deleted thread itself are the engine's to know.
    pub(super) fn rows(&self, known: &dyn Rows) -> Result<Vec<RowChange>, String> {
        match self {
            Self::Tombstone { thread_id } => Ok(vec![RowChange::Put(keys::tombstone(thread_id), Vec::new())]),
            Self::Gone { thread_id } => Ok(vec![RowChange::Delete(keys::tombstone(thread_id))]),
            Self::Outlived(outlived) => outlived.rows(known),
            Self::OperationsExpired { before } => expiry(known, *before).map_err(|error| error.to_string()),
        }
    }
}

/// The threads that a record says are deleted.
///
/// # Errors
/// A sentence, when a fact of the record cannot be understood.
pub fn buried_in(record: &Record) -> Result<Vec<ThreadId>, String> {
    let tombstones = record.facts.iter().filter(|fact| fact.get().starts_with("{\"fact\":\"tombstone\""));
    let read = |fact: &RawValue| match OtherFact::read(fact)? {
        OtherFact::Tombstone { thread_id } => Ok(Some(thread_id)),
        _ => Ok(None),
    };
    tombstones.filter_map(|fact| read(fact).transpose()).collect()
}
