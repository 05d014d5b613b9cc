//! Keeps what a provider wants back of an answer, and puts it back where it was.
//!
//! The first part is the head of rig's message, which says who made it. Each other part stands for one block of the
//! answer, in order: `{"text": bytes}` and `{"call": name}` for what the chain has anyway, `{"block": …}` for what only
//! the provider can read, such as signed thinking. `item` beside a text or a call is the provider's own form of it, where
//! that holds more than text, name and arguments: an item's id, a signature. What it repeats of the chain is not stored
//! again.

use rig_core::{
    completion::CompletionResponse,
    message::{AssistantContent, AssistantMessage, Text, ToolCall},
};
use serde_json::{Value, json};

use super::Shape;
use crate::models::ProviderParts;

/// The member that stands for a value the chain has.
const SAME: &str = "$same";

/// What of an answer goes back to its provider and model; `None` when nothing does that the chain does not have.
pub(super) fn kept(shape: Shape, response: &CompletionResponse, model: &str) -> Option<ProviderParts> {
    // How it ended is judged already; rig would judge again and leave out what ended otherwise than it likes.
    let head = response.head().with_stop(None);
    let mut parts = vec![serde_json::to_value(head).ok()?];
    let mut is_worth_it = false;
    for block in &response.choice {
        let item = block.native_item();
        let extra = item.filter(|item| says_more(shape, block, item));
        let same = same_in(block);
        let part = match block {
            AssistantContent::Text(text) => part("text", json!(text.text.len()), extra, &same),
            AssistantContent::ToolCall(call) => part("call", json!(call.function.name), extra, &same),
            AssistantContent::Reasoning(_) if item.is_some() => {
                is_worth_it = true;
                json!({"block": hollowed(&serde_json::to_value(block).ok()?, &same)})
            }
            AssistantContent::Opaque(opaque) if opaque.replay => {
                is_worth_it = true;
                json!({"block": block})
            }
            _ => continue,
        };
        // Responses are items with ids throughout; they matter to the reasoning they follow, and else to nobody.
        is_worth_it |= extra.is_some() && shape != Shape::Responses;
        parts.push(part);
    }
    let provider = shape.provider().to_owned();
    is_worth_it.then(|| ProviderParts { provider, model: model.to_owned(), parts })
}

/// The message with its provider's parts among its text and calls. Where the two no longer fit, because the message was
/// changed since, the provider's own come first and text and calls follow.
pub(super) fn restored(parts: &ProviderParts, text: &str, calls: &[ToolCall]) -> Option<AssistantMessage> {
    let (head, parts) = parts.parts.split_first()?;
    let head: AssistantMessage = serde_json::from_value(head.clone()).ok()?;
    let content = in_place(parts, text, calls).unwrap_or_else(|| {
        let blocks = parts.iter().filter_map(block);
        let said = (!text.trim().is_empty()).then(|| AssistantContent::Text(Text::new(text)));
        blocks.chain(said).chain(calls.iter().cloned().map(AssistantContent::ToolCall)).collect()
    });
    Some(head.with_content(content))
}

fn in_place(parts: &[Value], text: &str, calls: &[ToolCall]) -> Option<Vec<AssistantContent>> {
    let (mut text, mut calls) = (text, calls.iter());
    let mut content = Vec::with_capacity(parts.len());
    for part in parts {
        if let Some(block) = block(part) {
            content.push(block);
            continue;
        }
        let block = if let Some(bytes) = part.get("text") {
            let (said, rest) = text.split_at_checked(usize::try_from(bytes.as_u64()?).ok()?)?;
            text = rest;
            AssistantContent::Text(Text::new(said))
        } else {
            let call = calls.next().filter(|call| part["call"] == call.function.name.as_str())?;
            AssistantContent::ToolCall(call.clone())
        };
        content.push(match part.get("item") {
            Some(item) => {
                let item = filled(item, &same_in(&block));
                block.with_native(item)
            }
            None => block,
        });
    }
    (text.is_empty() && calls.next().is_none()).then_some(content)
}

fn block(part: &Value) -> Option<AssistantContent> {
    let block = part.get("block")?;
    let same = [("text", block.get("text").cloned().unwrap_or_default())];
    serde_json::from_value(filled(block, &same)).ok()
}

fn part(kind: &str, value: Value, item: Option<&Value>, same: &[(&'static str, Value)]) -> Value {
    let mut part = json!({});
    part[kind] = value;
    if let Some(item) = item {
        part["item"] = hollowed(item, same);
    }
    part
}

/// Whether a provider's own form of a block says more than text, name and arguments.
fn says_more(shape: Shape, block: &AssistantContent, item: &Value) -> bool {
    let beyond = |known: &[&str]| {
        item.as_object().is_some_and(|item| item.keys().any(|member| !known.contains(&member.as_str())))
    };
    let is_call = matches!(block, AssistantContent::ToolCall(_));
    match shape {
        Shape::Responses => true,
        Shape::Gemini => item.get("thoughtSignature").is_some(),
        Shape::Chat => is_call && beyond(&["id", "type", "index", "function"]),
        Shape::Anthropic => is_call && beyond(&["type", "id", "name", "input"]),
        Shape::Ollama => false,
    }
}

/// What the chain has of a block.
fn same_in(block: &AssistantContent) -> Vec<(&'static str, Value)> {
    let mut same = match block {
        AssistantContent::Text(text) => vec![("text", json!(text.text))],
        AssistantContent::Reasoning(reasoning) => vec![("text", json!(reasoning.text))],
        AssistantContent::ToolCall(call) => {
            let arguments = call.function.arguments_value();
            vec![("argumentsText", json!(arguments.to_string())), ("arguments", arguments)]
        }
        _ => Vec::new(),
    };
    same.retain(|(_, value)| value.as_str() != Some(""));
    same
}

fn hollowed(value: &Value, same: &[(&'static str, Value)]) -> Value {
    let is_known = |known: &&(&'static str, Value)| known.1 == *value;
    match (same.iter().find(is_known), value) {
        (Some((name, _)), _) => json!({SAME: name}),
        (None, Value::Object(members)) => {
            // The block's own text is what the rest of it is filled from.
            let keep = |name: &str| name == "text" && members.contains_key("native");
            members
                .iter()
                .map(|(name, value)| {
                    let value = if keep(name) { value.clone() } else { hollowed(value, same) };
                    (name.clone(), value)
                })
                .collect()
        }
        (None, Value::Array(elements)) => elements.iter().map(|element| hollowed(element, same)).collect(),
        (None, other) => other.clone(),
    }
}

fn filled(value: &Value, same: &[(&'static str, Value)]) -> Value {
    let known = |value: &Value| {
        let name = value.get(SAME)?.as_str()?;
        same.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    };
    match value {
        Value::Object(members) => known(value)
            .unwrap_or_else(|| members.iter().map(|(name, value)| (name.clone(), filled(value, same))).collect()),
        Value::Array(elements) => elements.iter().map(|element| filled(element, same)).collect(),
        other => other.clone(),
    }
}
