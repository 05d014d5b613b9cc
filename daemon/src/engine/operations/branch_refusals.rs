//! Why an operation on a branch is refused, as the wire shows it.

use ropewalk_protocol::{Branch, ErrorDetail, MessageId, RpcError, Thread};

use super::refusal;
use crate::domain::BranchError;

/// The domain's refusals.
pub fn refused(error: BranchError, thread: &Thread) -> RpcError {
    match error {
        BranchError::Refused(error) => refusal(error, thread),
        BranchError::Original => RpcError::new(
            ErrorDetail::InvalidState { state: "original".to_owned(), expected: vec!["forked".to_owned()] },
            "The original branch of a thread cannot be deleted: it goes with its thread. Only branches made by a fork can.",
        ),
        BranchError::Revision(branch) => {
            let message =
                format!("The branch is at revision {} now. Read it again and repeat the change.", branch.revision);
            RpcError::new(conflict(*branch), message)
        }
        BranchError::TooMany(limit) => RpcError::new(
            ErrorDetail::Overloaded { limit, what: "branches".to_owned() },
            format!("The thread has {limit} branches already. Delete some, or start another thread."),
        ),
        BranchError::NotInChain(branch) => {
            let message = format!("The message is not in the chain of branch {}.", branch.branch_id);
            RpcError::new(conflict(*branch), message)
        }
    }
}

/// The message is not in the chain of the branch it was named for.
pub fn not_in_chain(message_id: &MessageId, branch: Branch) -> RpcError {
    let message = format!(
        "Message {message_id} is not, or will not be, in the chain of branch {}: it is one of another branch, or another \
         input has taken its place or waits to. Nothing was submitted. Read `thread/messages` and choose again.",
        branch.branch_id
    );
    RpcError::new(conflict(branch), message)
}

/// A chain may not end between the calls of a message and their results.
pub fn inside_a_batch(message_id: &MessageId) -> RpcError {
    let message = format!(
        "Message {message_id} is a call, or a result that others come after: a branch that began here would lack results. \
         Fork after the last result of the batch, once there is one, or at the message before its calls."
    );
    RpcError::invalid_params("/fromMessageId", "inside_a_batch", message)
}

/// Only an input can be replaced.
pub fn not_a_user_message(message_id: &MessageId) -> RpcError {
    let message = format!(
        "Message {message_id} is none of a user. A replacement takes the place of one: name the input that led to this \
         message, or fork at it."
    );
    RpcError::invalid_params("/fromMessageId", "not_a_user_message", message)
}

/// No branch that there is has, or had, such a message.
pub fn unknown_message(message_id: &str) -> RpcError {
    let message = format!(
        "Nothing has been said in this thread as message {message_id}: it is unknown, waits in a queue, is still being \
         said, or went with its branch. `thread/messages` shows what can be named."
    );
    RpcError::new(ErrorDetail::NotFound { noun: "message".to_owned(), id: message_id.to_owned() }, message)
}

fn conflict(branch: Branch) -> ErrorDetail {
    ErrorDetail::Conflict { current_revision: Some(branch.revision), current: serde_json::to_value(branch).ok() }
}
