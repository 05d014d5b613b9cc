//! Why the catalogue does not do something, and how the wire says it.

use std::borrow::Cow;

use ropewalk_protocol::{Effect, ErrorDetail, Revision, RpcError};
use serde::Serialize;
use serde_json::Value;

use super::storage_error;
use crate::store::StoreError;

/// Why a change, or a look at something, was refused. Nothing has happened when one of these is returned.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A parameter does not fit.
    #[error("{message}")]
    Invalid {
        /// Where, as a JSON Pointer into the parameters.
        path: Cow<'static, str>,
        /// Why, in one word.
        reason: &'static str,
        /// Why and what next, for a person.
        message: String,
    },
    /// There is no such document.
    #[error("there is no {noun} {id}")]
    NotFound {
        /// What was looked for.
        noun: &'static str,
        /// Its id.
        id: String,
    },
    /// The document has changed since the caller read it.
    #[error("the {noun} has changed")]
    Conflict {
        /// What has changed.
        noun: &'static str,
        /// Its revision now; none when it is gone.
        current_revision: Option<Revision>,
        /// The document now.
        current: Option<Value>,
    },
    /// There are as many as there may be.
    #[error("{message}")]
    Full {
        /// How many there may be.
        limit: u64,
        /// Of what.
        what: &'static str,
        /// Why and what next, for a person.
        message: String,
    },
    /// The store could not keep the change.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The keeper of keys could not do its part.
    #[error("{0}")]
    Secrets(String),
    /// The file system did not answer in time.
    #[error("{path} did not answer within {after_ms} ms")]
    Silent {
        /// The path that was asked about.
        path: String,
        /// How long was waited.
        after_ms: u64,
    },
    /// The daemon is going down.
    #[error("the daemon is stopping")]
    Stopping,
}

impl Refusal {
    /// A parameter that does not fit.
    pub(super) fn invalid(
        path: impl Into<Cow<'static, str>>,
        reason: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self::Invalid { path: path.into(), reason, message: message.into() }
    }

    /// No `noun` has this id.
    pub(super) fn not_found(noun: &'static str, id: &str) -> Self {
        Self::NotFound { noun, id: id.to_owned() }
    }
}

/// Compares the revision a change is based on with the one there is.
pub(super) fn expect_revision(
    noun: &'static str,
    expected: Option<Revision>,
    actual: Revision,
    document: &impl Serialize,
) -> Result<(), Refusal> {
    match expected {
        Some(expected) if expected != actual => Err(Refusal::Conflict {
            noun,
            current_revision: Some(actual),
            current: serde_json::to_value(document).ok(),
        }),
        _ => Ok(()),
    }
}

impl From<Refusal> for RpcError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid { path, reason, message } => Self::invalid_params(path, reason, message),
            Refusal::NotFound { noun, id } => Self::not_found(noun, id),
            Refusal::Conflict { noun, current_revision, current } => Self::new(
                ErrorDetail::Conflict { current_revision, current },
                match current_revision {
                    Some(revision) => format!(
                        "The {noun} has changed: its revision is {revision} now. Look at it again, then repeat the change."
                    ),
                    None => format!("The {noun} this change is based on is gone. Look again, then repeat the change."),
                },
            ),
            Refusal::Full { limit, what, message } => {
                Self::new(ErrorDetail::Overloaded { limit, what: what.to_owned() }, message)
            }
            Refusal::Store(cause) => storage_error(&cause),
            Refusal::Secrets(cause) => Self::retryable(
                unavailable("no_secret_store"),
                format!("The key cannot be read, stored or removed: {cause}. Nothing was changed; try again."),
                None,
            ),
            Refusal::Silent { path, after_ms } => Self::retryable(
                unavailable("no_answer"),
                format!(
                    "The file system did not answer about {path} within {after_ms} ms. Nothing was changed; try again."
                ),
                None,
            ),
            Refusal::Stopping => Self::new(
                ErrorDetail::ShuttingDown { grace_ms: 0 },
                "The daemon is stopping. Nothing was changed; connect again.",
            ),
        }
    }
}

fn unavailable(reason: &str) -> ErrorDetail {
    ErrorDetail::Unavailable { reason: reason.to_owned(), progress: None, party: None, effect: Some(Effect::None) }
}
