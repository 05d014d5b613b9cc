//! The journal as dispatch sees it: which operations were answered, and how.

use ropewalk_protocol::{ErrorDetail, OperationId, RpcError, ThreadId, Timestamp};
use serde_json::{Value, value::RawValue};

/// The durable record of operations.
pub trait Journal: Send + Sync {
    /// The operation of this id, if one was committed.
    ///
    /// # Errors
    /// When the journal cannot be read.
    fn find(&self, id: &OperationId) -> Result<Option<StoredOperation>, RpcError>;

    /// A keyed digest of a method and its parameters in canonical form.
    fn digest(&self, method: &str, canonical_params: &[u8]) -> String;
}

/// An operation that was committed.
#[derive(Clone, Debug)]
pub struct StoredOperation {
    /// The digest of its method and parameters.
    pub digest: String,
    /// Its method.
    pub method: String,
    /// When it was committed.
    pub at: Timestamp,
    /// The answer as it was given.
    pub answer: Box<RawValue>,
}

impl StoredOperation {
    /// The answer to a repeat: `replayed: true` in it, unless it is empty.
    ///
    /// # Errors
    /// `notFound`, where the operation began a thread that is deleted: the journal has the thread's id in place of the
    /// answer then. `internal`, when the stored answer is no object, which no answer of ours is.
    pub fn replayed(&self) -> Result<Box<RawValue>, RpcError> {
        if let Ok(thread) = serde_json::from_str::<ThreadId>(self.answer.get()) {
            return Err(began_what_is_gone(&thread));
        }
        let unreadable =
            |error: serde_json::Error| ropewalk_peer::internal_error(&format!("a stored answer is no object: {error}"));
        let mut answer: serde_json::Map<String, Value> = serde_json::from_str(self.answer.get()).map_err(unreadable)?;
        if !answer.is_empty() {
            answer.insert("replayed".to_owned(), Value::Bool(true));
        }
        serde_json::value::to_raw_value(&answer).map_err(unreadable)
    }
}

/// A repeat of what began a thread that has been deleted since.
fn began_what_is_gone(thread: &ThreadId) -> RpcError {
    RpcError::new(
        ErrorDetail::NotFound { noun: "thread".to_owned(), id: thread.to_string() },
        format!(
            "The thread {thread}, which this operationId has started, was deleted. No other is started in its place; use \
             a new operationId for a new thread."
        ),
    )
}

/// An operation id that stands for another request.
pub(crate) fn conflict(id: &OperationId, first_at: Timestamp) -> RpcError {
    RpcError::new(
        ErrorDetail::IdempotencyConflict { operation_id: id.clone(), first_at },
        "This operationId was used for another request before. Use a new one for a new request.",
    )
}
