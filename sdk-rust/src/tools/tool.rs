//! A tool as one value: what is declared to the daemon, and the function that answers its calls.

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use ropewalk_protocol::{ToolCallAnswer, ToolDeclaration};
use serde_json::Value;

use super::{NoArguments, ToolBuilder, ToolContext, names, result::ToolError};
use crate::Error;

/// What runs a call: arguments in, a result of the wire out.
pub(crate) type Handler =
    dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<ToolCallAnswer, ToolError>> + Send + Sync;

/// A function of this process that a model can call: its declaration and its handler.
///
/// Made by [`#[ropewalk::tool]`](macro@crate::tool) or by [`Tool::new`]. Cheap to clone; clones share the handler. One
/// value can be bound to any number of threads and is called by them at the same time.
///
/// **Handlers are not sandboxed.** They run in this process with its permissions, whatever the model has put into the
/// arguments: a handler checks for itself what its caller may do.
#[derive(Clone)]
pub struct Tool {
    declaration: Arc<ToolDeclaration>,
    handler: Arc<Handler>,
}

/// What tells tools of one client apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ToolKey {
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

impl Tool {
    /// Begins a tool. It is complete when its [`handler`](ToolBuilder::handler) is given.
    ///
    /// ```no_run
    /// # use ropewalk::{Tool, ToolError};
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Add { a: i64, b: i64 }
    ///
    /// let add = Tool::new("add")
    ///     .description("Add two numbers.")
    ///     .read_only(true)
    ///     .input::<Add>()
    ///     .handler(|args, _| async move { (args.a + args.b).to_string() });
    /// ```
    #[expect(clippy::new_ret_no_self, reason = "a tool begins as its builder")]
    pub fn new(name: impl Into<String>) -> ToolBuilder<NoArguments> {
        ToolBuilder::new(name.into())
    }

    pub(crate) fn from_parts(declaration: ToolDeclaration, handler: Arc<Handler>) -> Self {
        Self { declaration: Arc::new(declaration), handler }
    }

    /// What the daemon is told about the tool.
    #[must_use]
    pub fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    /// Whether the declaration keeps the rules and limits of the wire.
    ///
    /// Binding a tool to a thread checks this first, before anything is sent.
    ///
    /// # Errors
    /// [`Error::InvalidTool`] with the field and what is wrong with it.
    pub fn check(&self) -> Result<(), Error> {
        names::check(&self.declaration)
    }

    pub(crate) fn key(&self) -> ToolKey {
        ToolKey { namespace: self.declaration.namespace.clone(), name: self.declaration.name.clone() }
    }

    pub(crate) fn call(
        &self,
        arguments: Value,
        context: ToolContext,
    ) -> BoxFuture<'static, Result<ToolCallAnswer, ToolError>> {
        (self.handler)(arguments, context)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("declaration", &self.declaration).finish_non_exhaustive()
    }
}

impl fmt::Display for ToolKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}__{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}
