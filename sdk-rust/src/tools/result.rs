//! What handlers may return, and what becomes of it on the wire.

use std::{any::type_name, borrow::Cow, error::Error as StdError, fmt};

use ropewalk_protocol::{Part, ToolCallAnswer};
use serde::Serialize;
use serde_json::Value;

/// The code of a failure for which the handler gave none.
pub(crate) const FAILED: &str = "AdapterToolCallFailed";

/// A failure of a call, told to the model and shown to clients.
///
/// Made from any error by `?`, then with the code `AdapterToolCallFailed`; or with a code of one's own.
///
/// ```no_run
/// # use ropewalk::ToolError;
/// # fn find(id: &str) -> Option<String> { None }
/// async fn read(path: String) -> Result<String, ToolError> {
///     let id = std::fs::read_to_string(path)?;
///     find(&id).ok_or_else(|| ToolError::with_code("not_found", format!("There is no issue {id}.")))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    code: Cow<'static, str>,
    message: String,
}

impl ToolError {
    /// A failure in a sentence.
    pub fn new(message: impl fmt::Display) -> Self {
        Self { code: Cow::Borrowed(FAILED), message: message.to_string() }
    }

    /// A failure with a stable word that programs can tell from others.
    pub fn with_code(code: impl Into<Cow<'static, str>>, message: impl fmt::Display) -> Self {
        Self { code: code.into(), message: message.to_string() }
    }

    /// The stable word.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The failure as the wire has it, which needs both words to be there.
    pub(crate) fn into_answer(self) -> ToolCallAnswer {
        let or = |text: String, other: &str| if text.is_empty() { other.to_owned() } else { text };
        ToolCallAnswer {
            success: false,
            error_code: Some(or(self.code.into_owned(), FAILED)),
            error_message: Some(or(self.message, "The tool failed without saying why.")),
            ..ToolCallAnswer::default()
        }
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        let error = error.into();
        let mut message = error.to_string();
        let mut cause = error.source();
        // The sentence carries the whole chain, as the model and the record see nothing else of it.
        while let Some(error) = cause {
            let text = error.to_string();
            if !message.ends_with(&text) {
                message = format!("{message}: {text}");
            }
            cause = error.source();
        }
        Self::new(message)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// A result in full: what the model is told, and data for clients beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model is told. Empty counts as the word `Done.`, because a success needs content.
    pub content: Vec<Part>,
    /// Data for clients; never enters the model's context. Fits the tool's output schema, if it declares one.
    pub structured: Option<Value>,
}

impl ToolOutput {
    /// Text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Part::text(text)], structured: None }
    }

    /// Adds data for clients.
    #[must_use]
    pub fn with_structured(mut self, structured: impl Into<Value>) -> Self {
        self.structured = Some(structured.into());
        self
    }
}

/// A result as data: the model is told its JSON, clients get it as structured content too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// What a handler may return: `String`, `&str`, [`Json`], [`ToolOutput`], `()` (the model is told `Done.`), and a
/// `Result` of any of them with an error that becomes a [`ToolError`].
pub trait IntoToolResult {
    /// The answer to the call.
    ///
    /// # Errors
    /// The failure the model is told.
    fn into_tool_result(self) -> Result<ToolCallAnswer, ToolError>;
}

impl IntoToolResult for ToolOutput {
    fn into_tool_result(self) -> Result<ToolCallAnswer, ToolError> {
        let content = if self.content.is_empty() { vec![Part::text("Done.")] } else { self.content };
        Ok(ToolCallAnswer {
            success: true,
            content_items: Some(content),
            structured_content: self.structured,
            ..ToolCallAnswer::default()
        })
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<ToolCallAnswer, ToolError> {
        ToolOutput::text(self).into_tool_result()
    }
}

impl IntoToolResult for &str {
    fn into_tool_result(self) -> Result<ToolCallAnswer, ToolError> {
        ToolOutput::text(self).into_tool_result()
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<ToolCallAnswer, ToolError> {
        ToolOutput::default().into_tool_result()
    }
}

impl<T: Serialize> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<ToolCallAnswer, ToolError> {
        let value = serde_json::to_value(self.0)
            .map_err(|error| ToolError::new(format!("The result, a {}, is no JSON: {error}.", type_name::<T>())))?;
        ToolOutput::text(value.to_string()).with_structured(value).into_tool_result()
    }
}

impl<R: IntoToolResult, E: Into<ToolError>> IntoToolResult for Result<R, E> {
    fn into_tool_result(self) -> Result<ToolCallAnswer, ToolError> {
        self.map_err(Into::into)?.into_tool_result()
    }
}
