//! The journal's row of an operation: what a repeat is compared with and answered from.

use ropewalk_protocol::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{OperationRecord, RowChange, keys};

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
    /// The row that an operation of a record made at `at` leads to.
    ///
    /// # Errors
    /// Never for what this daemon wrote; the sentence is for a log somebody else made.
    pub fn change(at: Timestamp, operation: &OperationRecord) -> Result<RowChange, String> {
        let row = Self {
            at,
            digest: operation.digest.clone(),
            method: operation.method.clone(),
            answer: operation.answer.clone(),
        };
        let value = serde_json::to_vec(&row).map_err(|cause| cause.to_string())?;
        Ok(RowChange::Put(keys::operation(&operation.id), value))
    }
}
