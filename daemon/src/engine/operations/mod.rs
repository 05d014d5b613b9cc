//! What can be done to a thread, one file a kind. Each is a method of [`ThreadHandle`](super::ThreadHandle).

mod answer;
mod attach;
mod attention;
mod branch_refusals;
mod branches;
mod fork;
mod header;
mod items;
mod mark_read;
mod offer;
mod preview;
mod queue;
mod read;
mod recover_run;
mod remark;
mod seal;
mod server_change;
mod settled;
mod standing;
mod start;
mod stop;
mod submit;
mod sweep;

pub use answer::Answering;
pub use attach::{Resume, Resumed};
pub use fork::{ForkRequest, ReplaceRequest};
pub use header::HeaderPatch;
pub use items::ItemQuery;
pub use queue::QueueEdit;
pub use recover_run::Recovering;
pub use remark::RemarkRequest;
pub use standing::BranchStanding;
pub use start::{StartRequest, Started};
pub use stop::StopTarget;
pub use submit::SubmitRequest;

pub(super) use answer::acknowledge;
pub(super) use offer::{is_able, offer_interaction, offer_to, withdraw};
pub(super) use seal::{Sealed, counted};
pub(super) use server_change::{ShownServerTools, note_server_tools};

use ropewalk_protocol::{Effect, ErrorDetail, RpcError, RunStatus, Thread};

use self::remark::nothing_to_steer;
use crate::domain::DomainError;

/// The domain's refusals as the wire shows them. The one place where they are translated.
pub(super) fn refusal(error: DomainError, thread: &Thread) -> RpcError {
    match &error {
        DomainError::NoBranch(id) => RpcError::not_found("branch", id),
        DomainError::NoRun(id) => RpcError::not_found("run", id),
        DomainError::NothingWaits(id) => RpcError::not_found("attention", id),
        DomainError::NotPaused(state) => {
            let message = format!("The run is {}. Only a paused run goes on under its id.", state.word());
            let expected = vec![RunStatus::Paused.word().to_owned()];
            RpcError::new(ErrorDetail::InvalidState { state: state.word().to_owned(), expected }, message)
        }
        DomainError::NotRecoverable => RpcError::new(
            ErrorDetail::InvalidState { state: "idle".to_owned(), expected: Vec::new() },
            "The run cannot be continued so. Its `recovery` lists how it can.",
        ),
        DomainError::NoEndpoint => {
            let reason = "no_endpoint".to_owned();
            let detail = ErrorDetail::Unavailable { reason, progress: None, party: None, effect: Some(Effect::None) };
            let message = "The run's endpoint is gone and its thread has no other that can be used. Enable it, or choose \
                           another one for the thread, its project or as the default, and resume the run again.";
            RpcError::new(detail, message)
        }
        DomainError::NotQueued(id) => RpcError::new(
            ErrorDetail::NotFound { noun: "message".to_owned(), id: id.to_string() },
            format!(
                "The input {id} does not wait on this branch: it was taken back, or has begun. Read the queue again."
            ),
        ),
        DomainError::NotEditable(id) => RpcError::new(
            ErrorDetail::InvalidState { state: "fixed".to_owned(), expected: vec!["editable".to_owned()] },
            format!("The input {id} may not be changed. Wait until it has begun."),
        ),
        DomainError::OtherEntries(current) => RpcError::new(
            ErrorDetail::Conflict { current_revision: None, current: serde_json::to_value(current).ok() },
            "The order does not name what waits on this branch, each input once. Its order now is in current.",
        ),
        DomainError::OtherRun(id) => RpcError::new(
            ErrorDetail::Conflict { current_revision: None, current: None },
            format!("Another run is under way on this branch: {id}."),
        ),
        DomainError::NothingToSteer => nothing_to_steer("idle"),
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
