//! What Anthropic's messages refuse, in its words where a client may go by them.

use std::collections::HashSet;

use serde_json::Value;

use super::{Checked, answers, base64, fields, image, model, name_fits, new_name, reasoning, refuse, schema};
use crate::scripted::{memory::Memory, refusal::Refusal, voice::texts};

/// The fields of a request.
const FIELDS: &[&str] = &[
    "cache_control",
    "container",
    "context_management",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

/// The least that a thinking budget can be.
const LEAST_THINKING_TOKENS: u64 = 1_024;

const MISSING: &str = "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, \
                       an assistant message with `tool_use` must start with the thinking blocks it was sent with";
const CHANGED: &str = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. \
                       These blocks must remain as they were in the original response.";

/// The first thing in a request that would be refused.
pub(in crate::scripted) fn refusal(body: &Value, memory: &Memory) -> Option<Refusal> {
    check(body, memory).err()
}

fn check(body: &Value, memory: &Memory) -> Checked {
    model(body)?;
    fields(body, FIELDS, |name| format!("{name}: Extra inputs are not permitted"))?;
    limits(body)?;
    system(&body["system"])?;
    tools(body)?;
    messages(body, memory)
}

fn limits(body: &Value) -> Checked {
    let Some(limit) = body["max_tokens"].as_u64().filter(|limit| *limit > 0) else {
        return refuse("max_tokens", "max_tokens: Field required");
    };
    if body["thinking"]["type"] == "enabled" {
        let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or_default();
        if budget < LEAST_THINKING_TOKENS {
            return refuse("thinking", "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
        }
        if budget >= limit {
            return refuse("max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`");
        }
    }
    Ok(())
}

fn system(system: &Value) -> Checked {
    match system {
        Value::Null | Value::String(_) => Ok(()),
        Value::Array(blocks) => blocks.iter().try_for_each(|block| text(&block["text"], "system")),
        _ => refuse("system", "system: Input should be a valid string or list"),
    }
}

fn tools(body: &Value) -> Checked {
    let mut names = HashSet::new();
    for (place, tool) in body["tools"].as_array().map_or(&[][..], Vec::as_slice).iter().enumerate() {
        let path = format!("tools.{place}");
        new_name(tool["name"].as_str().unwrap_or_default(), &mut names, &format!("{path}.name"))?;
        // What the provider itself offers has a type and no schema.
        if tool["type"].as_str().is_none_or(|kind| kind == "custom") {
            schema(&tool["input_schema"], &format!("{path}.input_schema"))?;
        }
    }
    Ok(())
}

fn messages(body: &Value, memory: &Memory) -> Checked {
    let Some(messages) = body["messages"].as_array().filter(|messages| !messages.is_empty()) else {
        return refuse("messages", "messages: at least one message is required");
    };
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let path = format!("messages.{place}");
        let expected = if place % 2 == 0 { "user" } else { "assistant" };
        let role = message["role"].as_str().unwrap_or_default();
        if !matches!(role, "user" | "assistant") {
            return refuse(path, format!("messages.{place}.role: Input should be 'user' or 'assistant', not {role:?}"));
        }
        if role != expected {
            let message = match place {
                0 => "messages: first message must use the \"user\" role".to_owned(),
                _ => format!(
                    "messages: roles must alternate between \"user\" and \"assistant\", but found multiple {role:?} \
                     roles in a row"
                ),
            };
            return refuse(path, message);
        }
        if role == "user" {
            results(message, &path, &mut open)?;
            content(message, &path)?;
        } else {
            content(message, &path)?;
            open = calls(message, &path, &mut seen)?;
            thoughts(body, message, &path, memory)?;
        }
    }
    if !open.is_empty() {
        return refuse("messages", without_results(messages.len() - 1, &open));
    }
    if messages.len() % 2 == 0 {
        return refuse(
            "messages",
            "This model does not support assistant message prefill. The conversation must end \
                                   with a user message.",
        );
    }
    let has_calls = !seen.is_empty();
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    if has_calls && !has_tools {
        return refuse("tools", "Requests which include `tool_use` or `tool_result` blocks must define tools");
    }
    Ok(())
}

fn without_results(place: usize, ids: &[&str]) -> String {
    let ids = ids.join(", ");
    format!(
        "messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each \
         `tool_use` block must have a corresponding `tool_result` block in the next message."
    )
}

/// The results at the beginning of a user's message answer all calls of the message before it.
fn results<'a>(message: &'a Value, path: &str, open: &mut Vec<&'a str>) -> Checked {
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let (mut answered, first) = (HashSet::new(), blocks.iter().take_while(is_result).count());
    for block in blocks.iter().take(first) {
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        if !answered.insert(id) {
            return refuse(
                path,
                format!("each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"),
            );
        }
        let Some(at) = open.iter().position(|open| *open == id) else {
            return refuse(
                path,
                format!(
                    "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                ),
            );
        };
        open.remove(at);
        result(block, &format!("{path}.tool_result"))?;
    }
    let place = path.rsplit('.').next().and_then(|place| place.parse::<usize>().ok()).unwrap_or_default();
    if !open.is_empty() {
        return refuse(path, without_results(place.saturating_sub(1), open));
    }
    if blocks.iter().skip(first).any(|block| is_result(&block)) {
        return refuse(path, "`tool_result` blocks must come first in the content of a message");
    }
    Ok(())
}

fn result(block: &Value, path: &str) -> Checked {
    match &block["content"] {
        Value::Null => {}
        Value::String(_) => {}
        Value::Array(parts) => parts.iter().try_for_each(|part| part_of_content(part, "user", path))?,
        _ => return refuse(path, "tool_result.content: Input should be a valid string or list"),
    }
    let is_empty =
        texts(&block["content"]).concat().is_empty() && block["content"].as_array().is_none_or(Vec::is_empty);
    if block["is_error"] == true && is_empty {
        return refuse(path, "content cannot be empty if `is_error` is true");
    }
    Ok(())
}

/// The ids of the calls of an assistant's message.
fn calls<'a>(message: &'a Value, path: &str, seen: &mut HashSet<&'a str>) -> Result<Vec<&'a str>, Refusal> {
    let mut ids = Vec::new();
    for block in uses(message) {
        let id = block["id"].as_str().unwrap_or_default();
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if id.is_empty() || !id.chars().all(legal) {
            refuse(path, format!("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$', not {id:?}"))?;
        }
        if !seen.insert(id) {
            refuse(path, format!("`tool_use` ids must be unique: {id}"))?;
        }
        name_fits(block["name"].as_str().unwrap_or_default(), &format!("{path}.tool_use.name"))?;
        if !block["input"].is_object() {
            refuse(path, "tool_use.input: Input should be a valid dictionary")?;
        }
        ids.push(id);
    }
    Ok(ids)
}

fn uses(message: &Value) -> impl Iterator<Item = &Value> {
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    blocks.iter().filter(|block| block["type"] == "tool_use")
}

/// Thinking is from here and as it was; with calls, all of it is there, and first where it came first.
fn thoughts(body: &Value, message: &Value, path: &str, memory: &Memory) -> Checked {
    let is_thinking = |block: &&Value| matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"));
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    let came_back: Vec<Value> = blocks.iter().filter(is_thinking).cloned().collect();
    for block in &came_back {
        let proof = if block["type"] == "thinking" { "signature" } else { "data" };
        let Some(sent) = memory.reasoning(|sent| sent[proof] == block[proof] && sent["type"] == block["type"]) else {
            return refuse(
                path,
                format!("{path}: Invalid `{proof}` in `{}` block", block["type"].as_str().unwrap_or_default()),
            );
        };
        if sent != *block {
            return refuse(path, format!("{path}: {CHANGED}"));
        }
    }
    let calls: Vec<_> =
        uses(message).map(|call| (call["name"].as_str().unwrap_or_default(), call["input"].clone())).collect();
    if calls.is_empty() {
        return Ok(());
    }
    let answers = answers(memory, body, &texts(&message["content"]).concat(), &calls);
    reasoning(&answers, &came_back, path, (MISSING, CHANGED))?;
    let began_so = !answers.is_empty() && answers.iter().all(|said| said.starts_with_reasoning);
    if began_so && !blocks.first().is_some_and(|block| is_thinking(&block)) {
        return refuse(path, MISSING);
    }
    Ok(())
}

fn content(message: &Value, path: &str) -> Checked {
    let role = message["role"].as_str().unwrap_or_default();
    match &message["content"] {
        Value::String(whole) => text(&Value::String(whole.clone()), path),
        Value::Array(blocks) if !blocks.is_empty() => {
            blocks.iter().try_for_each(|block| part_of_content(block, role, path))
        }
        _ => refuse(path, format!("{path}: all messages must have non-empty content")),
    }
}

fn part_of_content(block: &Value, role: &str, path: &str) -> Checked {
    match (role, block["type"].as_str().unwrap_or_default()) {
        (_, "text") => text(&block["text"], path),
        ("user", "image" | "document") => source(&block["source"], block["type"] == "image", path),
        ("user", "tool_result") | ("assistant", "tool_use" | "thinking" | "redacted_thinking") => Ok(()),
        (_, other) => refuse(path, format!("{path}: a block of type {other:?} cannot be in a message of the {role}")),
    }
}

fn source(source: &Value, is_image: bool, path: &str) -> Checked {
    match source["type"].as_str().unwrap_or_default() {
        "url" | "file" => Ok(()),
        "text" if !is_image => text(&source["data"], path),
        "base64" => {
            let (media_type, data) = (source["media_type"].as_str(), source["data"].as_str().unwrap_or_default());
            match media_type {
                Some("application/pdf") if !is_image => base64(data, path),
                media_type => image(media_type.unwrap_or_default(), data, path),
            }
        }
        other => refuse(path, format!("{path}: unknown source {other:?}")),
    }
}

fn text(text: &Value, path: &str) -> Checked {
    match text.as_str() {
        Some("") => refuse(path, format!("{path}: text content blocks must be non-empty")),
        Some(text) if text.trim().is_empty() => {
            refuse(path, format!("{path}: text content blocks must contain non-whitespace text"))
        }
        Some(_) => Ok(()),
        None => refuse(path, format!("{path}: text: Field required")),
    }
}
