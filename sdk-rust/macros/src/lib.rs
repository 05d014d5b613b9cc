//! The attribute macro of the Rust SDK, in a package of its own because Rust asks for that. Use it as `ropewalk::tool`.

mod expand;
mod options;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Turns an `async fn` into a tool: a function of the same name without parameters that returns a `ropewalk::Tool`,
/// declaration and handler in one value.
///
/// ```text
/// /// Read an issue.
/// #[ropewalk::tool(namespace = "tracker", read_only)]
/// async fn get_issue(args: GetIssue, cx: ropewalk::ToolContext) -> Result<String, ropewalk::ToolError> { … }
/// ```
///
/// * The name is the function's unless `name = "…"` is given, and the doc comment is the description the model sees;
///   without one the code does not compile.
/// * Parameters: the arguments (a type that implements `Deserialize` and `JsonSchema`), then a `ToolContext`. Either
///   may be left out.
/// * The return type implements `ropewalk::IntoToolResult`: a `String`, `()`, `Json<T>`, a `ToolOutput`, or a
///   `Result` of one of them.
/// * Text options: `name`, `namespace`, `namespace_description`, `title`, `approval = "ask"` (or `"allow"`).
///   Number: `timeout_ms`. Flags, alone or with `= false`: `read_only`, `destructive`, `idempotent`, `open_world`.
///   `crate = path` names the SDK where it is re-exported under another path.
///
/// The handler runs in this process with its permissions, and is not sandboxed: it checks for itself what the caller
/// may do.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    expand::tool(options.into(), function.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}
