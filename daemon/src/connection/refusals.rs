//! Why a request is refused before any handler sees it.

use ropewalk_protocol::{ErrorDetail, RpcError};

/// Too many live things of one kind.
pub(super) fn overloaded(what: &str, limit: u64, next: &str) -> RpcError {
    let message = format!("There are already {limit} {what}, which is the limit. {next}");
    RpcError::retryable(ErrorDetail::Overloaded { limit, what: what.to_owned() }, message, Some(100))
}

pub(super) fn shutting_down(grace_ms: u64) -> RpcError {
    RpcError::retryable(
        ErrorDetail::ShuttingDown { grace_ms },
        "The daemon is stopping and takes no new work. Ask again when it runs again.",
        Some(grace_ms),
    )
}

pub(super) fn method_not_found(method: &str) -> RpcError {
    let shown: String = method.chars().take(100).collect();
    let message = format!("There is no method `{shown}`. The documentation of the protocol lists all of them.");
    RpcError::new(ErrorDetail::MethodNotFound { method: shown }, message)
}

pub(super) fn already_initialized() -> RpcError {
    let message = "This connection has been initialised. Open another one to introduce yourself anew.";
    RpcError::new(ErrorDetail::AlreadyInitialized {}, message)
}

pub(super) fn waits_in_batch(method: &str) -> RpcError {
    let message =
        format!("{method} may wait here, and a batch is answered as a whole. Send it as a request of its own.");
    RpcError::new(ErrorDetail::InvalidRequest { reason: "waits_in_batch".to_owned() }, message)
}

pub(super) fn cancelled() -> RpcError {
    RpcError::new(
        ErrorDetail::Cancelled { reason: None },
        "The request was cancelled by the client; nothing was undone.",
    )
}

pub(super) fn not_initialized() -> RpcError {
    let message = "The first request of a connection is `initialize`; wait for its answer before anything else.";
    RpcError::new(ErrorDetail::NotInitialized {}, message)
}

pub(super) fn starting(progress: Option<f64>) -> RpcError {
    let detail = ErrorDetail::Unavailable { reason: "starting".to_owned(), progress, party: None, effect: None };
    RpcError::retryable(detail, "The daemon is still reading what it has stored. Ask again shortly.", Some(250))
}
