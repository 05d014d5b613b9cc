//! What OpenAI's responses refuse, in its words where a client may go by them.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{
    Checked, answers, arguments, fields, function, image_url, model, name_fits, output_schema, reasoning, refuse,
};
use crate::scripted::{memory::Memory, refusal::Refusal, voice::texts};

/// The fields of a request.
const FIELDS: &[&str] = &[
    "background",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// The least that an answer's limit can be.
const LEAST_OUTPUT_TOKENS: u64 = 16;

const MISSING: &str = "An item of type 'function_call' was provided without its required 'reasoning' item.";
const CHANGED: &str = "The encrypted content could not be verified: reasoning items must be passed back unchanged.";

/// The first thing in a request that would be refused.
pub(in crate::scripted) fn refusal(body: &Value, memory: &Memory) -> Option<Refusal> {
    check(body, memory).err()
}

fn check(body: &Value, memory: &Memory) -> Checked {
    model(body)?;
    fields(body, FIELDS, |name| format!("Unknown parameter: '{name}'."))?;
    if body["max_output_tokens"].as_u64().is_some_and(|limit| limit < LEAST_OUTPUT_TOKENS) {
        return refuse("max_output_tokens", "integer below minimum value. Expected a value >= 16");
    }
    if let Some(id) = body["previous_response_id"].as_str() {
        return refuse("previous_response_id", format!("Previous response with id '{id}' not found."));
    }
    if body["text"]["format"]["type"] == "json_schema" {
        output_schema(&body["text"]["format"], "text.format")?;
    }
    tools(body)?;
    match &body["input"] {
        Value::String(text) if !text.is_empty() => Ok(()),
        Value::Array(items) if !items.is_empty() => input(body, items, memory),
        _ => refuse("input", "One of \"input\" or \"previous_response_id\" must be provided."),
    }
}

fn tools(body: &Value) -> Checked {
    let mut names = HashSet::new();
    for (place, tool) in body["tools"].as_array().map_or(&[][..], Vec::as_slice).iter().enumerate() {
        // What the provider itself offers has another type and no schema.
        if tool["type"] == "function" {
            function(tool, &mut names, &format!("tools[{place}]"))?;
        }
    }
    Ok(())
}

fn input(body: &Value, items: &[Value], memory: &Memory) -> Checked {
    let (mut ids, mut call_ids, mut open) = (HashSet::new(), HashSet::new(), HashMap::new());
    for (place, item) in items.iter().enumerate() {
        let path = format!("input[{place}]");
        let kind = item["type"].as_str().unwrap_or("message");
        id(item, kind, &path, &mut ids)?;
        match kind {
            "message" => message(item, &path)?,
            "function_call" => {
                let call_id = item["call_id"].as_str().unwrap_or_default();
                if call_id.is_empty() || call_id.len() > 64 || !call_ids.insert(call_id) {
                    return refuse(path, format!("the call_id {call_id:?} is missing, too long or repeated"));
                }
                open.insert(call_id, place);
                name_fits(item["name"].as_str().unwrap_or_default(), &format!("{path}.name"))?;
                arguments(&item["arguments"], &format!("{path}.arguments"))?;
            }
            "function_call_output" => {
                let call_id = item["call_id"].as_str().unwrap_or_default();
                if open.remove(call_id).is_none() {
                    let message = format!("No tool call found for function call output with call_id {call_id}.");
                    return refuse("input", message);
                }
                parts(&item["output"], "user", &format!("{path}.output"))?;
            }
            "reasoning" => thought(item, items.get(place + 1), &path, memory)?,
            other => return refuse(path, format!("Invalid value: '{other}' is no type of an input item.")),
        }
        needs_thought(item, place.checked_sub(1).map(|before| &items[before]), &path, memory)?;
    }
    if let Some(call_id) = open.keys().min() {
        return refuse("input", format!("No tool output found for function call {call_id}."));
    }
    answers_are_whole(body, items, memory)
}

/// Ids begin with the letters of their kind and are not repeated.
fn id<'a>(item: &'a Value, kind: &str, path: &str, seen: &mut HashSet<&'a str>) -> Checked {
    let Some(id) = item["id"].as_str() else { return Ok(()) };
    let prefix = match kind {
        "message" => "msg",
        "function_call" => "fc",
        "function_call_output" => "fc",
        _ => "rs",
    };
    if !id.starts_with(prefix) {
        return refuse(
            format!("{path}.id"),
            format!("Invalid '{path}.id': '{id}'. Expected an ID that begins with '{prefix}'."),
        );
    }
    if !seen.insert(id) {
        return refuse(
            "input",
            format!("Duplicate item found with id {id}. Remove duplicate items from your input and try again."),
        );
    }
    Ok(())
}

fn message(item: &Value, path: &str) -> Checked {
    match item["role"].as_str().unwrap_or_default() {
        role @ ("user" | "system" | "developer" | "assistant") => {
            parts(&item["content"], role, &format!("{path}.content"))
        }
        other => refuse(format!("{path}.role"), format!("Invalid value: '{other}'.")),
    }
}

fn parts(content: &Value, role: &str, path: &str) -> Checked {
    let parts = match content {
        Value::String(text) if !text.is_empty() => return Ok(()),
        Value::Array(parts) if !parts.is_empty() => parts,
        _ => return refuse(path, "content must not be empty"),
    };
    for part in parts {
        let text = if role == "assistant" { "output_text" } else { "input_text" };
        match part["type"].as_str().unwrap_or_default() {
            kind if kind == text && part["text"].as_str().is_some_and(|text| !text.is_empty()) => {}
            kind if kind == text => return refuse(path, "text content blocks must not be empty"),
            "refusal" if role == "assistant" => {}
            "input_image" if role == "user" => image_url(&part["image_url"], path)?,
            "input_file" if role == "user" => {}
            other => return refuse(path, format!("Invalid value: '{other}'. Supported values are: '{text}'.")),
        }
    }
    Ok(())
}

/// A reasoning item is from here, as it was, and before the item that it belongs before.
fn thought(item: &Value, next: Option<&Value>, path: &str, memory: &Memory) -> Checked {
    let id = item["id"].as_str().unwrap_or_default();
    let encrypted = &item["encrypted_content"];
    let known = memory.reasoning(|sent| match encrypted {
        Value::Null => sent["item"]["id"] == id,
        encrypted => sent["item"]["encrypted_content"] == *encrypted,
    });
    let Some(sent) = known else {
        return match encrypted {
            Value::Null => refuse("input", format!("Item with id '{id}' not found.")),
            _ => refuse("input", format!("The encrypted content for item {id} could not be verified.")),
        };
    };
    if encrypted.is_null() && sent["stored"] == false {
        let why = "Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove \
                   this item from your input.";
        return refuse("input", format!("Item with id '{id}' not found. {why}"));
    }
    if !id.is_empty() && sent["item"]["id"] != id || sent["item"]["summary"] != item["summary"] {
        return refuse(path, CHANGED);
    }
    let next_fits = next.is_some_and(|next| match (next["type"].as_str(), next["role"].as_str()) {
        (Some("function_call" | "reasoning"), _) => true,
        (Some("message") | None, role) => role == Some("assistant"),
        _ => false,
    });
    if next_fits {
        Ok(())
    } else {
        refuse("input", format!("Item '{id}' of type 'reasoning' was provided without its required following item."))
    }
}

/// An item that comes back under its id comes with the reasoning that was before it.
fn needs_thought(item: &Value, before: Option<&Value>, path: &str, memory: &Memory) -> Checked {
    let Some(id) = item["id"].as_str() else { return Ok(()) };
    let Some(sent) = memory.reasoning(|sent| sent["next"] == id) else { return Ok(()) };
    let same = |before: &Value| {
        before["type"] == "reasoning"
            && (before["id"] == sent["item"]["id"] || before["encrypted_content"] == sent["item"]["encrypted_content"])
    };
    if before.is_some_and(same) {
        return Ok(());
    }
    let (kind, thought) = (item["type"].as_str().unwrap_or("message"), sent["item"]["id"].as_str().unwrap_or_default());
    let message =
        format!("Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: '{thought}'.");
    refuse(path, message)
}

/// Every answer with calls has the reasoning it was sent with, whether its items have ids or not.
fn answers_are_whole(body: &Value, items: &[Value], memory: &Memory) -> Checked {
    let of_model = |item: &Value| match item["type"].as_str() {
        Some("reasoning" | "function_call") => true,
        Some("message") | None => item["role"] == "assistant",
        _ => false,
    };
    let of_kind = |answer: &[Value], kind: &str| -> Vec<Value> {
        answer.iter().filter(|item| item["type"] == kind).cloned().collect()
    };
    for answer in items.chunk_by(|one, other| of_model(one) == of_model(other)) {
        let calls = of_kind(answer, "function_call");
        let parsed =
            |call: &Value| serde_json::from_str(call["arguments"].as_str().unwrap_or_default()).unwrap_or_default();
        let calls: Vec<_> =
            calls.iter().map(|call| (call["name"].as_str().unwrap_or_default(), parsed(call))).collect();
        if calls.is_empty() {
            continue;
        }
        let text: String = answer.iter().flat_map(|item| texts(&item["content"])).collect();
        let key = |item: &Value| match &item["encrypted_content"] {
            Value::Null => item["id"].clone(),
            encrypted => encrypted.clone(),
        };
        let mut answers = answers(memory, body, &text, &calls);
        for said in &mut answers {
            said.reasoning = said.reasoning.iter().map(|sent| key(&sent["item"])).collect();
        }
        let came_back: Vec<Value> = of_kind(answer, "reasoning").iter().map(key).collect();
        reasoning(&answers, &came_back, "input", (MISSING, CHANGED))?;
    }
    Ok(())
}
