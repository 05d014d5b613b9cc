//! Checks what a client answers to `tool/call`: success needs positive proof, and what enters the model's context has a bound.

use ropewalk_protocol::{Part, Problem, limits};
use serde_json::{Map, Value};

use super::{
    CallFailure,
    json::{bytes_of, join},
    media::{MediaProblem, check_audio, check_image},
    schema::Schema,
};
use crate::context::cut::first_characters;

#[cfg(test)]
mod tests;

/// Parts of one result.
pub const RESULT_PARTS: usize = 256;

/// Bytes of one answer as JSON. It is shown in one line of ours together with the arguments and the rest of its item.
pub const ANSWER_BYTES: u64 = limits::MAX_MESSAGE_BYTES - (1 << 20);

/// Characters of a code a client reports.
pub const CODE_CHARACTERS: usize = 128;

/// Characters of a message a client reports that are kept; the rest is cut.
const MESSAGE_CHARACTERS: usize = limits::RESULT_CHARACTERS as usize / 2;

/// A result that breaks no rule.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedResult {
    /// What the model is told, whole; see [`super::budget::cut_content`].
    pub content: Vec<Part>,
    /// Data for clients. It never enters the model's context.
    pub structured_content: Option<Value>,
    /// The failure the client reports, where it does not report success.
    pub failure: Option<CallFailure>,
    /// What is odd about the result, though no rule forbids it.
    pub warning: Option<&'static str>,
}

/// Reads the answer to `tool/call`. `output` is the tool's output schema. A field that is null counts as absent.
///
/// # Errors
/// [`CallFailure::InvalidResult`] with the path and the reason when the answer breaks a rule, and
/// [`CallFailure::ResultTooLarge`] when an image, or all of it, is over its limit. The call is settled all the same
/// (ruling 5).
pub fn check_result(answer: &Value, output: Option<&Schema>) -> Result<CheckedResult, CallFailure> {
    if bytes_of(answer) > ANSWER_BYTES {
        return Err(CallFailure::ResultTooLarge { limit: ANSWER_BYTES, what: "bytes".to_owned() });
    }
    let fields = object(answer, "", &["success", "contentItems", "structuredContent", "errorCode", "errorMessage"])?;
    let success = match fields.get("success") {
        Some(Value::Bool(success)) => *success,
        Some(_) => return Err(invalid("/success", "must be true or false")),
        None => return Err(invalid("/success", "is missing")),
    };
    let content = content(present(fields, "contentItems"))?;
    let structured_content = present(fields, "structuredContent").cloned();
    let failure = if success { None } else { Some(reported(fields)?) };
    let mut warning = None;
    if success {
        warning = check_success(fields, &content, structured_content.as_ref(), output)?;
    }
    Ok(CheckedResult { content, structured_content, failure, warning })
}

/// The content a model is told of a result: what a failure says comes before what else the client sent.
#[must_use]
pub fn told_to_model(result: &CheckedResult, tool: &str) -> Vec<Part> {
    let failure = result.failure.iter().flat_map(|failure| failure.content(tool));
    failure.chain(result.content.iter().cloned()).collect()
}

/// Characters of all texts of a content.
#[must_use]
pub fn text_characters(content: &[Part]) -> u64 {
    content.iter().map(part_characters).sum()
}

/// All texts of a content, a line each: what is kept of a result that has to be cut.
#[must_use]
pub fn whole_text(content: &[Part]) -> String {
    content.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
}

fn check_success(
    fields: &Map<String, Value>,
    content: &[Part],
    structured: Option<&Value>,
    output: Option<&Schema>,
) -> Result<Option<&'static str>, CallFailure> {
    if content.is_empty() {
        return Err(invalid("/contentItems", "must have at least one item on success"));
    }
    for field in ["errorCode", "errorMessage"] {
        if present(fields, field).is_some() {
            return Err(invalid(&join("", field), "must be absent on success"));
        }
    }
    match (structured, output) {
        (Some(value), Some(schema)) => schema.check(value).map(|()| None).map_err(|problems| {
            let first = problems.into_iter().next().unwrap_or(Problem { path: String::new(), reason: String::new() });
            invalid(&format!("/structuredContent{}", first.path), format!("{}, says the output schema", first.reason))
        }),
        (None, Some(_)) => Ok(Some("the tool has an output schema, and its result has no structured content")),
        (_, None) => Ok(None),
    }
}

fn reported(fields: &Map<String, Value>) -> Result<CallFailure, CallFailure> {
    let needed = |field: &str| match present(fields, field) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Some(Value::String(_)) => Err(invalid(&join("", field), "must not be empty")),
        Some(_) => Err(invalid(&join("", field), "must be a string")),
        None => Err(invalid(&join("", field), "is needed when success is false")),
    };
    let (code, message) = (needed("errorCode")?, needed("errorMessage")?);
    if characters(&code) > CODE_CHARACTERS as u64 {
        return Err(invalid("/errorCode", format!("must have at most {CODE_CHARACTERS} characters")));
    }
    Ok(CallFailure::Reported { code, message: first_characters(&message, MESSAGE_CHARACTERS) })
}

fn content(items: Option<&Value>) -> Result<Vec<Part>, CallFailure> {
    let items = match items {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(invalid("/contentItems", "must be a list")),
    };
    if items.len() > RESULT_PARTS {
        return Err(invalid("/contentItems", format!("must have at most {RESULT_PARTS} items")));
    }
    items.iter().enumerate().map(|(index, item)| part(item, &format!("/contentItems/{index}"))).collect()
}

fn part(item: &Value, path: &str) -> Result<Part, CallFailure> {
    let kind = item.get("type").and_then(Value::as_str);
    let fields = |known: &[&str]| object(item, path, known);
    let needed = |name: &str| match item.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(invalid(&join(path, name), "must be a string")),
        None => Err(invalid(&join(path, name), "is missing")),
    };
    match kind {
        Some("text") => fields(&["type", "text"]).and_then(|_| Ok(Part::Text { text: needed("text")? })),
        Some("resourceLink") => {
            fields(&["type", "uri", "name"])?;
            Ok(Part::ResourceLink { uri: needed("uri")?, name: needed("name")? })
        }
        Some(kind @ ("image" | "audio")) => {
            fields(&["type", "mediaType", "data"])?;
            let (media_type, data) = (needed("mediaType")?, needed("data")?);
            check_media(kind, &media_type, &data, path)?;
            let image = kind == "image";
            Ok(if image { Part::Image { media_type, data } } else { Part::Audio { media_type, data } })
        }
        _ => {
            object(item, path, &["type", "text", "uri", "name", "mediaType", "data", "resourceId", "reviewId"])?;
            Err(invalid(&join(path, "type"), "must be text, image, audio or resourceLink"))
        }
    }
}

/// Checked the same way as what a user sends.
fn check_media(kind: &str, media_type: &str, data: &str, path: &str) -> Result<(), CallFailure> {
    let checked = if kind == "image" { check_image(media_type, data) } else { check_audio(media_type, data) };
    checked.map_err(|problem| match problem {
        MediaProblem::Field { field, words, .. } => invalid(&join(path, field), words),
        MediaProblem::TooLarge { .. } => {
            CallFailure::ResultTooLarge { limit: limits::IMAGE_BYTES, what: format!("bytes for the {kind} at {path}") }
        }
    })
}

/// How much of a part enters the model's context as text.
pub(super) fn part_characters(part: &Part) -> u64 {
    match part {
        Part::Text { text } => characters(text),
        Part::ResourceLink { uri, name } => characters(uri) + characters(name) + 1,
        _ => 0,
    }
}

fn object<'a>(value: &'a Value, path: &str, known: &[&str]) -> Result<&'a Map<String, Value>, CallFailure> {
    let fields = value.as_object().ok_or_else(|| invalid(path, "must be an object"))?;
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(invalid(&join(path, unknown), "is no field of it")),
        None => Ok(fields),
    }
}

fn present<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn invalid(path: &str, reason: impl Into<String>) -> CallFailure {
    CallFailure::InvalidResult { problem: Problem { path: path.to_owned(), reason: reason.into() } }
}

fn characters(text: &str) -> u64 {
    text.chars().count() as u64
}
