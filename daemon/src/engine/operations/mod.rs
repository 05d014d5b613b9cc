//! What can be done to a thread, one file a kind. Each is a method of [`ThreadHandle`](super::ThreadHandle).

mod answer;
mod attach;
mod header;
mod offer;
mod preview;
mod read;
mod settled;
mod start;
mod stop;
mod submit;
mod sweep;

pub use answer::Answering;
pub use attach::{Resume, Resumed};
pub use header::HeaderPatch;
pub use start::{StartRequest, Started};
pub use stop::StopTarget;
pub use submit::SubmitRequest;

pub(super) use answer::acknowledge;
pub(super) use offer::{is_able, offer_interaction, offer_to};

use ropewalk_protocol::{ErrorDetail, RpcError, Thread};

use crate::domain::DomainError;

/// The domain's refusals as the wire shows them. The one place where they are translated.
pub(super) fn refusal(error: DomainError, thread: &Thread) -> RpcError {
    match &error {
        DomainError::NoBranch(id) => RpcError::not_found("branch", id),
        DomainError::NoRun(id) => RpcError::not_found("run", id),
        DomainError::QueueFull(limit) => RpcError::retryable(
            ErrorDetail::Overloaded { limit: *limit, what: "queueEntries".to_owned() },
            format!("{limit} inputs wait on this branch already. Wait until some have begun, or remove some."),
            Some(1_000),
        ),
        DomainError::Revision { current } => RpcError::new(
            ErrorDetail::Conflict { current_revision: Some(*current), current: serde_json::to_value(thread).ok() },
            format!("The thread is at revision {current} now. Read it again and repeat the change."),
        ),
        DomainError::ToolBound { flat_name, owner } => RpcError::new(
            ErrorDetail::Conflict {
                current_revision: None,
                current: Some(serde_json::json!({ "flatName": flat_name, "owner": owner })),
            },
            format!(
                "The tool {flat_name} belongs to another process, of {}. Resume with takeover to replace it.",
                owner.client_name
            ),
        ),
    }
}
