//! Client tools: functions of this process that a model can call. Declaration and handler are one value, a [`Tool`].

mod builder;
mod context;
mod names;
mod registry;
mod result;
mod schema;
mod tool;

pub use builder::{NoArguments, ToolBuilder};
pub use context::ToolContext;
pub use registry::Tools;
pub use result::{IntoToolResult, Json, ToolError, ToolOutput};
pub use tool::Tool;

pub(crate) use context::CallControl;
pub(crate) use schema::of_output as output_schema;
pub(crate) use tool::ToolKey;

#[cfg(test)]
mod tests;
