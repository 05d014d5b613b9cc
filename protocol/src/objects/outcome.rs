//! How a run ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::By;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunOutcome {
    /// The ending.
    pub status: OutcomeStatus,
    /// The final answer, for a completed run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The final answer as data, when an output schema was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Why, in a word, for a stopped or interrupted run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// What went wrong, for a failed run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
}

/// The endings of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OutcomeStatus {
    /// It ended well.
    Completed,
    /// It ended badly.
    Failed,
    /// Somebody stopped it.
    Stopped,
    /// A crash ended it.
    Interrupted,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunError {
    /// The kind.
    pub kind: RunErrorKind,
    /// One or two sentences for a person.
    pub message: String,
    /// Whether the same run may succeed later.
    pub retryable: bool,
    /// The shortest wait before a retry makes sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The provider whose fault it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

/// Kinds of failure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunErrorKind {
    /// The provider limits the rate.
    RateLimited,
    /// The account has no quota left.
    Quota,
    /// The provider has too much to do.
    Overloaded,
    /// The key is missing or refused.
    Auth,
    /// The provider refuses the request.
    BadRequest,
    /// The provider does not know the model.
    ModelNotFound,
    /// The request does not fit the model's window.
    ContextWindow,
    /// The provider's answer cannot be read.
    BadResponse,
    /// The answer ended before it was complete.
    CutOff,
    /// The provider fell silent.
    Stalled,
    /// The provider cannot be reached.
    Unreachable,
    /// No usable endpoint is configured.
    NoEndpoint,
    /// The answer does not fit the output schema.
    OutputInvalid,
    /// A budget of the run is used up.
    Budget,
    /// The model repeats itself without progress.
    Stuck,
    /// The message the input follows is gone.
    ParentMissing,
    /// The branch was deleted.
    BranchDeleted,
    /// The store could not keep what happened.
    Storage,
    /// A fault of ours.
    Internal,
}
