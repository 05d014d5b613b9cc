//! What a tool gives back: text for the model, data for clients, and a line for the record of the call.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use ropewalk_protocol::RpcError;
use serde::Serialize;
use serde_json::Value;

use crate::tools::summary::RESULT_SUMMARY;

/// What a tool found or did.
#[derive(Debug)]
pub struct Answer {
    /// The data, the same for the model and for clients.
    pub structured: Value,
    /// What came of the call, in one line for a person (APP-202).
    pub summary: String,
    /// Whether it was not done, although there is data: a conflict comes with what there is.
    pub is_error: bool,
}

impl Answer {
    /// An answer with this data.
    pub fn new(data: &impl Serialize, summary: String) -> Result<Self, ToolError> {
        let written = serde_json::to_value(data);
        let structured = written.map_err(|error| ToolError(format!("The answer cannot be written: {error}.")))?;
        Ok(Self { structured, summary, is_error: false })
    }

    pub fn into_result(self) -> CallToolResult {
        let mut result = match self.is_error {
            true => CallToolResult::structured_error(self.structured),
            false => CallToolResult::structured(self.structured),
        };
        let mut meta = MetaObject::new();
        meta.0.insert(RESULT_SUMMARY.to_owned(), self.summary.into());
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
