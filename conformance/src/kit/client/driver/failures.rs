//! Errors of the SDK in the words of the driver language, which all SDKs share.

use ropewalk::Error;
use serde_json::{Value, json};

/// A failure as it is reported: `kind` is the wire's when the daemon refused, else a word of the SDK's own.
pub(super) fn failure(error: &Error) -> Value {
    let message = error.to_string();
    if let Error::Rpc(refusal) = error {
        let data = serde_json::to_value(&refusal.data).unwrap_or_default();
        let mut failure = json!({
            "origin": "daemon", "kind": data["kind"], "code": refusal.code, "message": message,
            "retryable": refusal.data.retryable, "data": data,
        });
        if let Some(ms) = refusal.data.retry_after_ms {
            failure["retryAfterMs"] = ms.into();
        }
        return failure;
    }
    json!({"origin": "sdk", "kind": kind(error), "message": message, "retryable": error.is_retryable()})
}

/// A failure of the driver itself: it was told to use what it does not have.
pub(super) fn of_driver(message: &str) -> Value {
    json!({"origin": "driver", "kind": "driver", "message": message, "retryable": false})
}

const fn kind(error: &Error) -> &'static str {
    match error {
        Error::Disconnected => "disconnected",
        Error::ReconnectFailed { .. } => "reconnectFailed",
        Error::EffectUnknown { .. } => "effectUnknown",
        Error::LogShortened { .. } => "logShortened",
        Error::Timeout { .. } => "timeout",
        Error::Dial { .. } | Error::Connect { .. } | Error::NotRunning { .. } => "unreachable",
        Error::StartFailed { .. } => "startFailed",
        Error::MissingHandler { .. } => "missingHandler",
        Error::InvalidOption { .. } => "invalidOption",
        Error::InvalidTool { .. } => "invalidTool",
        Error::TooLarge { .. } => "tooLarge",
        Error::Unreadable { .. } => "unreadable",
        Error::RunRemoved { .. } => "runRemoved",
        Error::RunNotCompleted(_) => "runNotCompleted",
        _ => "other",
    }
}
