//! What a server answers to a call, as what a model is told and what clients are shown.

use base64::{Engine, engine::general_purpose::STANDARD};
use ropewalk_protocol::{Effect, Part, Problem, Severity, limits};
use serde_json::{Map, Value};

use crate::{
    context::cut::first_characters,
    tools::{
        CallFailure, Schema, SourceResult,
        json::levels,
        media::{MediaProblem, check_audio, check_image},
    },
};

#[cfg(test)]
mod tests;

/// Blocks of one result that are taken (MCP-50).
pub const BLOCKS: usize = 256;

/// Characters of an error that a server reports, the mark of a cut not counted.
const ERROR_CHARACTERS: usize = 299;

/// Levels of nesting of data for clients: with what is around them they stay within one message of ours.
const LEVELS: usize = limits::MAX_DEPTH as usize - 10;

/// Reads the result of `tools/call`. `output` is the tool's output schema, where it has one that can be checked with.
///
/// # Errors
/// `invalid_result` when it is no result, or its structured content does not fit the output schema (APP-7);
/// `result_too_large` when its data is nested too deep.
pub fn result_of(
    result: &Value,
    has_output_schema: bool,
    output: Option<&Schema>,
) -> Result<SourceResult, CallFailure> {
    let fields = result.as_object().ok_or_else(|| invalid("", "must be an object"))?;
    if fields.get("resultType").and_then(Value::as_str).is_some_and(|kind| kind != "complete") {
        return Err(invalid("/resultType", "must be complete: this client offers nothing to ask of it"));
    }
    let is_error = fields.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let structured = present(fields, "structuredContent");
    let meta = present(fields, "_meta").filter(|meta| levels(meta) <= LEVELS);
    if structured.is_some_and(|value| levels(value) > LEVELS) {
        return Err(CallFailure::ResultTooLarge { limit: LEVELS as u64, what: "levels of nesting".to_owned() });
    }
    let mut content = content_of(fields)?;
    let mut severity = Severity::Info;
    if !is_error && has_output_schema {
        severity = checked(structured, output)?;
    }
    // A model that is told nothing makes something up: data without text is told as its text (M23).
    if !content.iter().any(|part| part.as_text().is_some_and(|text| !text.trim().is_empty()))
        && let Some(structured) = structured
    {
        content.push(Part::text(structured.to_string()));
    }
    let failure = is_error.then(|| tool_error(&content));
    if content.is_empty() {
        let told = if is_error {
            "The tool failed and did not say why."
        } else {
            "The tool was carried out, and says nothing."
        };
        content.push(Part::text(told));
    }
    Ok(SourceResult {
        content,
        structured_content: structured.cloned(),
        meta: meta.cloned(),
        failure,
        effect: Effect::Done,
        severity,
        call_ms: None,
    })
}

/// A JSON-RPC error as the answer to a call: the server's own, of which no more than 300 characters are told (MCP-107).
pub fn error_of(code: i32, message: &str) -> CallFailure {
    let message = first_characters(message.trim(), ERROR_CHARACTERS);
    let message = if message.is_empty() { format!("The server answered with the error {code}.") } else { message };
    CallFailure::Reported { code: "server_error".to_owned(), message }
}

fn tool_error(content: &[Part]) -> CallFailure {
    let text = content.iter().filter_map(Part::as_text).map(str::trim).find(|text| !text.is_empty());
    let message = first_characters(text.unwrap_or("The tool failed and did not say why."), ERROR_CHARACTERS);
    CallFailure::Reported { code: "tool_error".to_owned(), message }
}

/// Structured content that is missing although the tool has a schema for it is odd, and no loss: the text is there (M25).
fn checked(structured: Option<&Value>, output: Option<&Schema>) -> Result<Severity, CallFailure> {
    let Some(structured) = structured else { return Ok(Severity::Warning) };
    let Some(schema) = output else { return Ok(Severity::Warning) };
    let off = |problems: Vec<Problem>| {
        let first = problems.into_iter().next().unwrap_or(Problem { path: String::new(), reason: String::new() });
        invalid(&format!("/structuredContent{}", first.path), format!("{}, says the output schema", first.reason))
    };
    schema.check(structured).map(|()| Severity::Info).map_err(off)
}

fn content_of(fields: &Map<String, Value>) -> Result<Vec<Part>, CallFailure> {
    let blocks = match fields.get("content") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(blocks)) => blocks,
        Some(_) => return Err(invalid("/content", "must be a list")),
    };
    let mut parts: Vec<Part> = blocks.iter().take(BLOCKS).map(part_of).collect();
    if blocks.len() > BLOCKS {
        parts.push(Part::text(format!("[{} more blocks of this result were cut]", blocks.len() - BLOCKS)));
    }
    Ok(parts)
}

/// A block that cannot be shown says so in words, and takes nothing else with it.
fn part_of(block: &Value) -> Part {
    let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match block.get("type").and_then(Value::as_str) {
        Some("text") => Part::text(text("text")),
        Some("image") => media("image", text("mimeType"), text("data")),
        Some("audio") => media("audio", text("mimeType"), text("data")),
        Some("resource_link") => {
            let (uri, name) = (text("uri"), text("name"));
            Part::ResourceLink { name: if name.is_empty() { uri.clone() } else { name }, uri }
        }
        Some("resource") => resource(block.get("resource").unwrap_or(&Value::Null)),
        Some(other) => {
            Part::text(format!("[a block of the unknown kind {} is not shown]", first_characters(other, 40)))
        }
        None => Part::text("[a block without a kind is not shown]"),
    }
}

fn media(kind: &str, media_type: String, data: String) -> Part {
    let checked = if kind == "image" { check_image(&media_type, &data) } else { check_audio(&media_type, &data) };
    match checked {
        Ok(()) if kind == "image" => Part::Image { media_type, data },
        Ok(()) => Part::Audio { media_type, data },
        Err(MediaProblem::TooLarge { actual }) => {
            Part::text(format!("[an {kind} of {actual} bytes is not shown: at most {} are]", limits::IMAGE_BYTES))
        }
        Err(MediaProblem::Field { field, words, .. }) => {
            Part::text(format!("[an {kind} is not shown: its {field} {words}]"))
        }
    }
}

/// An embedded text is its text (MCP-54); of bytes there is a note (MCP-55).
fn resource(resource: &Value) -> Part {
    if let Some(text) = resource.get("text").and_then(Value::as_str) {
        return Part::text(text);
    }
    let named = |name: &str| resource.get(name).and_then(Value::as_str).map(|text| first_characters(text, 200));
    let bytes = resource.get("blob").and_then(Value::as_str).and_then(|blob| STANDARD.decode(blob).ok());
    let uri = named("uri").unwrap_or_else(|| "without an address".to_owned());
    let kind = named("mimeType").unwrap_or_else(|| "unknown type".to_owned());
    let size = bytes.map_or_else(String::new, |bytes| format!(", {} bytes", bytes.len()));
    Part::text(format!("[the binary resource {uri} ({kind}{size}) is not shown]"))
}

fn present<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn invalid(path: &str, reason: impl Into<String>) -> CallFailure {
    CallFailure::InvalidResult { problem: Problem { path: path.to_owned(), reason: reason.into() } }
}
