//! The store's errors as the wire shows them, whoever meets them.

use ropewalk_protocol::{Effect, ErrorDetail, RpcError};

use crate::store::StoreError;

/// The store's errors as the wire shows them.
#[must_use]
pub fn storage_error(error: &StoreError) -> RpcError {
    if let Some(error) = of_upkeep(error) {
        return error;
    }
    let effect = match error {
        StoreError::Read { .. }
        | StoreError::Version { .. }
        | StoreError::InUse { .. }
        | StoreError::Unfinished { .. }
        | StoreError::InMemory => None,
        _ => Some(Effect::None),
    };
    let reason = error.reason().to_owned();
    let detail = ErrorDetail::Unavailable { reason, progress: None, party: None, effect };
    let what = match error {
        StoreError::Read { .. } => "What is stored could not be read",
        StoreError::Version { .. } | StoreError::Unfinished { .. } => "What is stored cannot be opened",
        StoreError::InMemory => "There are no files to keep or to check",
        StoreError::Damaged { .. } => "Nothing can be written to it, and it can be read up to there",
        _ => "Nothing was stored",
    };
    let message = format!("{what}: {error}.{}", error.next_step());
    if error.is_passing() { RpcError::retryable(detail, message, None) } else { RpcError::new(detail, message) }
}

/// What is said while the daemon has not read yet what it would need.
#[must_use]
pub fn starting(progress: Option<f64>) -> RpcError {
    let reason = "starting".to_owned();
    let detail = ErrorDetail::Unavailable { reason, progress, party: None, effect: Some(Effect::None) };
    RpcError::retryable(detail, "The daemon is still reading what it has stored. Ask again shortly.", Some(250))
}

/// Errors that are not about something stored.
fn of_upkeep(error: &StoreError) -> Option<RpcError> {
    match error {
        StoreError::Refused { reason, message } => Some(RpcError::invalid_params("/path", *reason, message)),
        StoreError::Starting { progress } => Some(starting(*progress)),
        StoreError::Closed => {
            let message = "The daemon has stopped. Connect again and repeat the request.";
            Some(RpcError::retryable(ErrorDetail::ShuttingDown { grace_ms: 0 }, message, Some(1_000)))
        }
        StoreError::Busy => {
            let detail = ErrorDetail::Overloaded { limit: 1, what: "backups and checks".to_owned() };
            let message = "A backup or a check is under way, and there is one of them at a time. Wait for it.";
            Some(RpcError::retryable(detail, message, Some(1_000)))
        }
        _ => None,
    }
}
