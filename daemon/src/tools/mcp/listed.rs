//! Tools as a server lists them.

use std::sync::Arc;

use ropewalk_protocol::{Annotations, ServerToolKind};
use serde_json::Value;

/// Tools of one listing that are looked at; the rest is ignored (MCP-120).
pub const MAX_TOOLS: usize = 512;

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    /// Its name.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments, whatever the server sent for one.
    pub input_schema: Arc<Value>,
    /// JSON Schema of its structured results.
    pub output_schema: Option<Arc<Value>>,
    /// What it does to the world.
    pub annotations: Annotations,
    /// Whether it can be called as a task only.
    pub needs_task: bool,
}

/// What a server said when it was asked for its tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// Its tools, in its order.
    pub tools: Vec<ListedTool>,
    /// Entries that could not be read as a tool at all, or were beyond a bound of the session.
    pub ignored: u64,
}

/// Whether a tool only reads: the server says exactly so (MCP-21, MCP-22).
#[must_use]
pub fn kind(annotations: &Annotations) -> ServerToolKind {
    if annotations.read_only_hint == Some(true) { ServerToolKind::Read } else { ServerToolKind::Write }
}

/// The annotations of a tool as they came. A hint that is no boolean says nothing.
#[must_use]
pub fn read_annotations(annotations: Option<&Value>) -> Annotations {
    let hint = |name: &str| annotations.and_then(|all| all.get(name)).and_then(Value::as_bool);
    Annotations {
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
    }
}
