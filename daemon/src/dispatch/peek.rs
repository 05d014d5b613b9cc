//! What dispatch itself needs of the parameters, read before the handler's own reading.

use ropewalk_protocol::{
    DaemonStatus, Method, MethodEntry, OperationId, RpcError, RunSubmit, RunWait, ServerAdd, ThreadEvents,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What dispatch reads of one request's parameters.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Peek {
    /// The operation id of a method that changes something.
    pub(crate) operation_id: Option<OperationId>,
    /// Whether the answer may come only when something else has happened.
    pub(crate) waits: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Raw<'a> {
    #[serde(borrow)]
    operation_id: Option<&'a RawValue>,
    #[serde(borrow)]
    dry_run: Option<&'a RawValue>,
    #[serde(borrow)]
    wait: Option<&'a RawValue>,
    #[serde(borrow)]
    wait_ms: Option<&'a RawValue>,
}

/// The methods that can be rehearsed with `dryRun`.
const REHEARSED: [&str; 4] = ["thread/delete", "branch/delete", "project/delete", "project/security/replace"];

impl Peek {
    /// Looks at the parameters, which are valid JSON without repeated keys.
    ///
    /// # Errors
    /// `invalidParams` for parameters by position, an operation id that is none, or a rehearsal of a method that knows
    /// none.
    pub(crate) fn at(entry: &MethodEntry, params: Option<&RawValue>) -> Result<Self, RpcError> {
        let waits_always = entry.name == RunWait::NAME;
        let Some(params) = params else { return Ok(Self { operation_id: None, waits: waits_always }) };
        if params.get().starts_with('[') {
            return Err(RpcError::invalid_params(
                "",
                "positional",
                "Parameters are given by name, as an object; this is an array.",
            ));
        }
        if !entry.mutates && entry.name != ThreadEvents::NAME {
            return Ok(Self { operation_id: None, waits: waits_always });
        }
        let Ok(raw) = serde_json::from_str::<Raw<'_>>(params.get()) else {
            return Err(ropewalk_peer::internal_error("parameters that are an object cannot be read as one"));
        };
        let waits = waits_always
            || entry.name == ServerAdd::NAME && raw.wait.is_none_or(|wait| wait.get() != "false")
            || entry.name == RunSubmit::NAME && raw.wait.is_some_and(|wait| wait.get() == "true")
            || entry.name == ThreadEvents::NAME && raw.wait_ms.is_some_and(|wait_ms| wait_ms.get() != "0");
        if !entry.mutates {
            return Ok(Self { operation_id: None, waits });
        }
        let rehearses = raw.dry_run.is_some_and(|dry_run| dry_run.get() == "true");
        if rehearses && !REHEARSED.contains(&entry.name) {
            return Err(RpcError::invalid_params(
                "/dryRun",
                "not_supported",
                format!(
                    "{} cannot be rehearsed; only deletions and replacements can. Nothing was changed.",
                    entry.name
                ),
            ));
        }
        Ok(Self { operation_id: raw.operation_id.map(operation_id).transpose()?, waits })
    }
}

/// Whether a method is answered before the index is open.
pub(crate) fn is_answered_while_starting(entry: &MethodEntry) -> bool {
    entry.name == ropewalk_protocol::Initialize::NAME || entry.name == DaemonStatus::NAME
}

fn operation_id(raw: &RawValue) -> Result<OperationId, RpcError> {
    const EXPECTED: &str = "operationId is 1 to 128 characters of A-Z, a-z, 0-9, _, ., : and -.";
    let Ok(text) = serde_json::from_str::<String>(raw.get()) else {
        return Err(RpcError::invalid_params("/operationId", "wrong_type", EXPECTED));
    };
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    if !(1..=128).contains(&text.len()) || !text.bytes().all(is_allowed) {
        return Err(RpcError::invalid_params("/operationId", "invalid_value", EXPECTED));
    }
    Ok(text.into())
}
