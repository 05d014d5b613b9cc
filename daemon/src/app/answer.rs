//! What a tool gives back: text for the model, data for clients, and a line for the record of the call.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use ropewalk_protocol::{RpcError, Severity};
use serde::Serialize;
use serde_json::Value;

use crate::tools::summary::{RESULT_SEVERITY, RESULT_SUMMARY};

/// What a tool found or did.
#[derive(Debug)]
pub struct Answer {
    /// The data, the same for the model and for clients.
    pub structured: Value,
    /// What came of the call, in one line for a person (APP-202).
    pub summary: String,
    /// How much attention it deserves: a dry run and a conflict are warnings (APP-205).
    pub severity: Severity,
    /// Whether the model is told that the call failed.
    pub is_error: bool,
}

impl Answer {
    /// An answer with this data.
    pub fn new(data: &impl Serialize, summary: String) -> Result<Self, ToolError> {
        let written = serde_json::to_value(data);
        let structured = written.map_err(|error| ToolError(format!("The answer cannot be written: {error}.")))?;
        Ok(Self { structured, summary, severity: Severity::Info, is_error: false })
    }

    pub fn into_result(self) -> CallToolResult {
        let mut result = match self.is_error {
            false => CallToolResult::structured(self.structured),
            true => CallToolResult::structured_error(self.structured),
        };
        let mut meta = MetaObject::new();
        meta.0.insert(RESULT_SUMMARY.to_owned(), self.summary.into());
        meta.0.insert(RESULT_SEVERITY.to_owned(), serde_json::to_value(self.severity).unwrap_or_default());
        result.meta = Some(meta);
        result
    }
}

/// Why a tool could not do what it was asked, as text that the model can act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError(pub String);

impl ToolError {
    pub fn into_result(self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.0)])
    }
}

impl From<RpcError> for ToolError {
    fn from(error: RpcError) -> Self {
        Self(error.message)
    }
}
