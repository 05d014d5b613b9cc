//! Writes messages as lines. The only place that knows how one looks from the outside.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use ropewalk_protocol::{ErrorDetail, Notification, RequestId, RpcError};
use serde::Serialize;

/// A notification as a line with its line break, to be sent to many with [`Peer::send_line`](crate::Peer::send_line).
///
/// # Errors
/// When the parameters cannot be written as JSON, which no type of the protocol makes happen.
pub fn notification_line<N: Notification>(params: &N::Params) -> serde_json::Result<Bytes> {
    call_line(None, N::NAME, Some(params))
}

/// A request, or without id a notification.
pub(crate) fn call_line<P: Serialize>(id: Option<i64>, method: &str, params: Option<&P>) -> serde_json::Result<Bytes> {
    let mut line = Vec::with_capacity(128);
    line.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        line.extend_from_slice(br#","id":"#);
        serde_json::to_writer(&mut line, &id)?;
    }
    line.extend_from_slice(br#","method":"#);
    serde_json::to_writer(&mut line, method)?;
    if let Some(params) = params {
        line.extend_from_slice(br#","params":"#);
        serde_json::to_writer(&mut line, params)?;
    }
    line.extend_from_slice(b"}\n");
    Ok(line.into())
}

/// An answer, without a line break: it may become part of a batch.
pub(crate) fn result<R: Serialize + ?Sized>(id: &RequestId, result: &R) -> serde_json::Result<Vec<u8>> {
    let mut answer = answer_head(id);
    answer.extend_from_slice(br#","result":"#);
    serde_json::to_writer(&mut answer, result)?;
    answer.push(b'}');
    Ok(answer)
}

/// An answer whose result is JSON text already.
pub(crate) fn raw_result(id: &RequestId, result: &str) -> Vec<u8> {
    let mut answer = answer_head(id);
    answer.reserve(result.len() + 16);
    answer.extend_from_slice(br#","result":"#);
    answer.extend_from_slice(result.as_bytes());
    answer.push(b'}');
    answer
}

/// An answer that is an error.
pub(crate) fn error(id: &RequestId, error: &RpcError) -> Vec<u8> {
    let mut answer = answer_head(id);
    answer.extend_from_slice(br#","error":"#);
    serde_json::to_writer(&mut answer, error).expect("an error of the protocol has only string keys");
    answer.push(b'}');
    answer
}

/// The error for a fault of this end. `what` goes to the log, under the reference the caller is told.
#[must_use]
pub fn internal_error(what: &str) -> RpcError {
    let reference = new_reference();
    tracing::error!(reference, "{what}");
    let message =
        format!("The request could not be answered because of a fault on this end; its log has it as {reference}.");
    RpcError::new(ErrorDetail::Internal { reference }, message)
}

/// A message of `actual` bytes where `limit` are allowed.
pub(crate) fn too_large(what: &str, limit: usize, actual: u64) -> RpcError {
    let unit = if what == "depth" { "levels of nesting" } else { "bytes" };
    RpcError::new(
        ErrorDetail::TooLarge { limit: limit as u64, actual, what: what.to_owned() },
        format!("The {what} has {actual} {unit}; {limit} are allowed. Send less at once."),
    )
}

fn answer_head(id: &RequestId) -> Vec<u8> {
    let mut answer = Vec::with_capacity(128);
    answer.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    match id {
        RequestId::Null => answer.extend_from_slice(b"null"),
        RequestId::Number(number) => answer.extend_from_slice(number.to_string().as_bytes()),
        RequestId::Text(text) => {
            serde_json::to_writer(&mut answer, text).expect("a string can be written");
        }
    }
    answer
}

/// Tells occurrences apart, within this process and from those of earlier ones.
fn new_reference() -> String {
    static PROCESS: OnceLock<u64> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let process = PROCESS.get_or_init(|| {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        since_epoch.as_secs() << 16 | u64::from(std::process::id() & 0xffff)
    });
    format!("wire-{process:x}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}
