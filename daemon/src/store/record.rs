//! One record of a log: everything one commit says about its thread.

use ropewalk_protocol::{OperationId, Seq, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One line of a log, without what the store itself adds (`durable`, `sum`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The sequence number of its first event; of the next event to come, when it has none.
    pub n: Seq,
    /// When.
    pub at: Timestamp,
    /// The operation this record answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<OperationRecord>,
    /// What rows need and no event says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Box<RawValue>>,
    /// The wire's events, byte for byte: `event` of `thread/event`, the k-th with the sequence number `n + k`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Box<RawValue>>,
}

impl Record {
    /// The sequence number of the event after this record.
    #[must_use]
    pub fn next_seq(&self) -> Seq {
        self.n + self.events.len() as Seq
    }
}

/// An operation as the journal keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationRecord {
    /// Its id.
    pub id: OperationId,
    /// A keyed digest of method and parameters.
    pub digest: String,
    /// The method.
    pub method: String,
    /// The answer as it was given, `replayed: false`.
    pub answer: Box<RawValue>,
}
