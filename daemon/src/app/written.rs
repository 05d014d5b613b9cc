//! What a writing tool answers: whether it was done, in one phrase, and what there is now.

use ropewalk_protocol::{ErrorDetail, Revision, RpcError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    answer::{Answer, ToolError},
    spelling::capitalise,
};

/// What became of a change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// What was asked for.
    pub operation: String,
    /// Whether it was done.
    pub applied: bool,
    /// Whether it was only rehearsed.
    pub dry_run: bool,
    /// Applied; or Conflict, when it has changed since you read it: look at current, and decide anew.
    pub status: WriteStatus,
    /// What was done, or why it was not, as a sentence.
    pub effect: String,
    /// The revision there is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// What there is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<Map<String, Value>>,
    /// Whether this is the answer of an equal call with the same operationId, and nothing was done again.
    pub replayed: bool,
}

/// How a change ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum WriteStatus {
    Applied,
    Conflict,
}

impl Written {
    /// A change that was made, now or by an equal call before.
    pub fn applied(operation: &str, effect: String, replayed: bool) -> Self {
        let (operation, status) = (operation.to_owned(), WriteStatus::Applied);
        Self { operation, applied: true, dry_run: false, status, effect, revision: None, current: None, replayed }
    }

    /// The same with what there is now; `words` says where it has words of enumerations.
    pub fn showing(mut self, document: &impl Serialize, words: &[&str]) -> Self {
        self.current = shown(serde_json::to_value(document).ok(), words);
        self.revision = self.current.as_ref().and_then(|current| current.get("revision")?.as_u64());
        self
    }

    /// The answer of the tool.
    pub fn answer(&self) -> Result<Answer, ToolError> {
        Answer::new(self, self.effect.clone())
    }
}

/// A change that was not made. A conflict comes with what there is (APP-152); everything else is said.
pub fn refused(operation: &str, error: RpcError, words: &[&str]) -> Result<Answer, ToolError> {
    let ErrorDetail::Conflict { current_revision, current } = error.data.detail else {
        return Err(ToolError(error.message));
    };
    let written = Written {
        operation: operation.to_owned(),
        applied: false,
        dry_run: false,
        status: WriteStatus::Conflict,
        effect: error.message,
        revision: current_revision,
        current: shown(current, words),
        replayed: false,
    };
    Ok(Answer { is_error: true, ..written.answer()? })
}

/// Nothing but a deletion of threads, branches and projects can be rehearsed (APP-151).
pub fn no_rehearsal(tool: &str, dry_run: Option<bool>) -> Result<(), ToolError> {
    match dry_run {
        Some(true) => Err(ToolError(format!("{tool} cannot be rehearsed. Leave dryRun out. Nothing was changed."))),
        _ => Ok(()),
    }
}

/// An argument that this operation needs.
pub fn needed<T>(operation: &str, name: &str, value: Option<T>) -> Result<T, ToolError> {
    value.ok_or_else(|| ToolError(format!("{operation} needs {name}. Nothing was changed.")))
}

fn shown(document: Option<Value>, words: &[&str]) -> Option<Map<String, Value>> {
    let mut document = document?;
    capitalise(&mut document, words);
    match document {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}
