//! What came of a change, in one shape for all of them.

use ropewalk_protocol::{ErrorDetail, RpcError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::answer::ToolError;

/// How a change ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Status {
    Applied,
    DryRun,
    Conflict,
    NotFound,
}

/// What came of a change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// The operation.
    pub operation: String,
    /// How it ended.
    pub status: Status,
    /// Whether it was done.
    pub applied: bool,
    /// Whether it was only said what would be done.
    pub dry_run: bool,
    /// Whether this is the answer of the same operation that was asked for before; nothing was done now.
    pub replayed: bool,
    /// What was done, or would be, in a sentence.
    pub effect: String,
    /// The project it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The thread it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The branch it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<String>,
    /// The message it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The run it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The revision there is now, of what was changed or was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// What was changed or was to be, as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<Value>,
    /// Why it was not done, and what next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The documents that answers of the wire have in them.
const DOCUMENTS: [&str; 11] = [
    "project",
    "thread",
    "branch",
    "policy",
    "grant",
    "endpoint",
    "settings",
    "server",
    "run",
    "entry",
    "instructions",
];

impl Written {
    /// A change that the wire answered like this.
    pub(super) fn done(operation: &str, effect: String, answer: Value) -> Self {
        let told = |name: &str| answer.get(name).and_then(Value::as_bool).unwrap_or(false);
        let is_rehearsal = told("dryRun");
        let effect = answer.get("effect").and_then(Value::as_str).map_or(effect, ToOwned::to_owned);
        let document = DOCUMENTS.iter().find_map(|name| answer.get(name)).cloned();
        let replayed = told("replayed");
        let mut written = Self {
            status: if is_rehearsal { Status::DryRun } else { Status::Applied },
            applied: !is_rehearsal,
            dry_run: is_rehearsal,
            replayed,
            effect,
            ..Self::blank(operation, Status::Applied)
        };
        written.names(&answer);
        if let Some(document) = document {
            written.names(&document);
            written.revision = document.get("revision").and_then(Value::as_u64);
            written.current = Some(document);
        }
        written
    }

    /// A change that was refused. What nobody could have done anything about is no answer of the tool.
    ///
    /// # Errors
    /// The refusal, where it says nothing about what there is.
    pub(super) fn refused(operation: &str, error: RpcError) -> Result<Self, ToolError> {
        let blank = |status, message| Self { error: Some(message), ..Self::blank(operation, status) };
        match error.data.detail {
            ErrorDetail::Conflict { current_revision, current } => {
                let mut refused = blank(Status::Conflict, error.message);
                refused.effect =
                    "Nothing was done: it has changed since you read it. Look at current, then decide.".to_owned();
                refused.revision = current_revision;
                if let Some(current) = current {
                    refused.names(&current);
                    refused.current = Some(current);
                }
                Ok(refused)
            }
            ErrorDetail::NotFound { .. } => {
                let mut refused = blank(Status::NotFound, error.message);
                refused.effect = "Nothing was done: there is no such thing.".to_owned();
                Ok(refused)
            }
            _ => Err(ToolError(format!("{operation} was not done. {}", error.message))),
        }
    }

    fn blank(operation: &str, status: Status) -> Self {
        Self {
            operation: operation.to_owned(),
            status,
            applied: false,
            dry_run: false,
            replayed: false,
            effect: String::new(),
            project_id: None,
            thread_id: None,
            branch_id: None,
            message_id: None,
            run_id: None,
            revision: None,
            current: None,
            error: None,
        }
    }

    fn names(&mut self, of: &Value) {
        let named = |name: &str, kept: &mut Option<String>| {
            if kept.is_none() {
                *kept = of.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
            }
        };
        named("projectId", &mut self.project_id);
        named("threadId", &mut self.thread_id);
        named("branchId", &mut self.branch_id);
        named("messageId", &mut self.message_id);
        named("runId", &mut self.run_id);
    }
}
