//! The errors of the wire: a stable kind, a code from the reserved range, and the data each kind carries.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{By, InteractionId, OperationId, Outcome, PolicyId, Timestamp};

/// An error as JSON-RPC carries it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcError {
    /// The number of the kind, in JSON-RPC's reserved range.
    pub code: i32,
    /// One or two sentences for a person: what, where, and what to do next.
    pub message: String,
    /// What a program reads.
    pub data: ErrorData,
}

/// What a program reads of an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorData {
    /// The kind and what belongs to it.
    #[serde(flatten)]
    pub detail: ErrorDetail,
    /// Whether the same request may succeed later without a change.
    pub retryable: bool,
    /// The shortest wait before a repeat makes sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// One problem of the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Where, as a JSON Pointer into the parameters.
    pub path: String,
    /// What is wrong there; never the refused value.
    pub reason: String,
}

/// The protocol versions a side speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolRange {
    /// The oldest.
    pub min: u32,
    /// The newest.
    pub max: u32,
}

/// The build of a daemon that refused a handshake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonVersion {
    /// Its version.
    pub version: String,
}

/// What is known of the outside effect of something that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// Nothing happened.
    None,
    /// It may have happened, and nobody can tell.
    Unknown,
    /// It happened.
    Done,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $code:literal $body:tt)*) => {
        /// The kind of an error and the data that belongs to it. `kind` is the stable name.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
        pub enum ErrorDetail {
            $($(#[$doc])* $kind $body,)*
        }

        impl ErrorDetail {
            /// The JSON-RPC code of this kind.
            #[must_use]
            pub const fn code(&self) -> i32 {
                match self { $(Self::$kind { .. } => $code,)* }
            }
        }

        /// Each kind's name and code, in the order of the documentation.
        pub const ERROR_CODES: &[(&str, i32)] = &[$((stringify!($kind), $code),)*];
    };
}

kinds! {
    /// The line is no JSON.
    Parse = -32700 {
        /// Where the text stops being JSON, in bytes from the start of the line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<u64>,
    }
    /// The line is JSON, but no JSON-RPC 2.0 request.
    InvalidRequest = -32600 {
        /// What is wrong with it.
        reason: String,
    }
    /// There is no method of this name.
    MethodNotFound = -32601 {
        /// The name.
        method: String,
    }
    /// The parameters do not fit the method.
    InvalidParams = -32602 {
        /// Where, as a JSON Pointer into the parameters, such as `/tools/1/nmae`.
        path: String,
        /// What is wrong there.
        reason: String,
        /// Further problems, five at most.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        problems: Vec<Problem>,
    }
    /// A fault of ours.
    Internal = -32603 {
        /// What the log calls this occurrence.
        reference: String,
    }
    /// A count of live things is at its limit.
    Overloaded = -32001 {
        /// The limit.
        limit: u64,
        /// What there are too many of.
        what: String,
    }
    /// The connection has not been initialised.
    NotInitialized = -32002 {}
    /// The connection has been initialised already.
    AlreadyInitialized = -32003 {}
    /// No protocol version in common.
    UnsupportedProtocol = -32004 {
        /// What we speak.
        supported: ProtocolRange,
        /// Who we are.
        daemon: DaemonVersion,
    }
    /// There is no such thing.
    NotFound = -32005 {
        /// What was looked for.
        noun: String,
        /// Its id as given.
        id: String,
    }
    /// The thing has changed since it was read.
    Conflict = -32006 {
        /// Its revision now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        current_revision: Option<u64>,
        /// The thing now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        current: Option<Value>,
    }
    /// The operation id was used for another request.
    IdempotencyConflict = -32007 {
        /// The id.
        operation_id: OperationId,
        /// When it was first used.
        first_at: Timestamp,
    }
    /// The caller may not do this.
    Forbidden = -32008 {
        /// Why: `deny_rule`, `not_owner`, `not_offered`, …
        reason: String,
        /// The rule that says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy_id: Option<PolicyId>,
    }
    /// Somebody settled this interaction first.
    AlreadySettled = -32009 {
        /// Which interaction.
        interaction_id: InteractionId,
        /// Who settled it.
        by: By,
        /// When.
        at: Timestamp,
        /// How.
        outcome: Outcome,
        /// The answer that counted; not for tool calls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Value>,
    }
    /// The thing is in a state in which this cannot be done.
    InvalidState = -32010 {
        /// Its state.
        state: String,
        /// The states in which it can be done.
        expected: Vec<String>,
    }
    /// Too many bytes, or nested too deep.
    TooLarge = -32011 {
        /// The limit.
        limit: u64,
        /// How much there was; 0 when nobody counted to the end.
        actual: u64,
        /// What is too large: `message`, `depth`, `schema`, `image`, …
        what: String,
    }
    /// Something this needs is not there now.
    Unavailable = -32012 {
        /// What: `starting`, `storage_full`, `read_only`, `io_error`, `log_damaged`, …
        reason: String,
        /// How far a start has come, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<f64>,
        /// Whose fault it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        party: Option<String>,
        /// Whether anything happened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<Effect>,
    }
    /// A party did not answer in time.
    Timeout = -32013 {
        /// How long was waited.
        after_ms: u64,
        /// Who did not answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        party: Option<String>,
    }
    /// The request was cancelled.
    Cancelled = -32014 {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// The daemon is stopping and takes no new work.
    ShuttingDown = -32015 {
        /// How long it gives to what is under way.
        grace_ms: u64,
    }
}

impl RpcError {
    /// An error that the same request would meet again.
    pub fn new(detail: ErrorDetail, message: impl Into<String>) -> Self {
        Self {
            code: detail.code(),
            message: message.into(),
            data: ErrorData { detail, retryable: false, retry_after_ms: None },
        }
    }

    /// An error that may be gone later; `after_ms` is the shortest wait that makes sense.
    pub fn retryable(detail: ErrorDetail, message: impl Into<String>, after_ms: Option<u64>) -> Self {
        let mut error = Self::new(detail, message);
        error.data.retryable = true;
        error.data.retry_after_ms = after_ms;
        error
    }

    /// Parameters that do not fit: where, why in one word or sentence, and the sentence for a person.
    pub fn invalid_params(path: impl Into<String>, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(
            ErrorDetail::InvalidParams { path: path.into(), reason: reason.into(), problems: Vec::new() },
            message,
        )
    }

    /// There is no `noun` with this id.
    pub fn not_found(noun: &str, id: impl fmt::Display) -> Self {
        let id = id.to_string();
        let message = format!("There is no {noun} {id}.");
        Self::new(ErrorDetail::NotFound { noun: noun.to_owned(), id }, message)
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RpcError {}
