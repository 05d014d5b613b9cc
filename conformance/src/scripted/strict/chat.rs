//! What chat completions refuse.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    Checked, answers, arguments, fields, function, image_url, model, name_fits, output_schema, reasoning, refuse,
};
use crate::scripted::{memory::Memory, refusal::Refusal, voice::texts};

/// The fields of a request. `top_k` and `chat_template_kwargs` are of servers at home, and known to many of them.
const FIELDS: &[&str] = &[
    "audio",
    "chat_template_kwargs",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_k",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

const MISSING: &str = "the reasoning_content of an assistant message with tool_calls must be passed back";
const CHANGED: &str = "the reasoning_content of an assistant message with tool_calls must be passed back unchanged";

/// The first thing in a request that would be refused.
pub(in crate::scripted) fn refusal(body: &Value, memory: &Memory) -> Option<Refusal> {
    check(body, memory).err()
}

fn check(body: &Value, memory: &Memory) -> Checked {
    model(body)?;
    fields(body, FIELDS, |name| format!("Unrecognized request argument supplied: {name}"))?;
    if body["response_format"]["type"] == "json_schema" {
        output_schema(&body["response_format"]["json_schema"], "response_format.json_schema")?;
    }
    tools(body)?;
    messages(body, memory)
}

fn tools(body: &Value) -> Checked {
    let Some(tools) = body.get("tools") else { return Ok(()) };
    let Some(tools) = tools.as_array().filter(|tools| !tools.is_empty()) else {
        return refuse("tools", "tools is too short: expected an array with at least one element");
    };
    let mut names = HashSet::new();
    for (place, tool) in tools.iter().enumerate() {
        function(&tool["function"], &mut names, &format!("tools[{place}].function"))?;
    }
    Ok(())
}

fn messages(body: &Value, memory: &Memory) -> Checked {
    let Some(messages) = body["messages"].as_array().filter(|messages| !messages.is_empty()) else {
        return refuse("messages", "messages must be an array with at least one element");
    };
    let mut seen = HashSet::new();
    // The calls of the last assistant message that have no result yet.
    let mut open: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let path = format!("messages[{place}]");
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" && !open.is_empty() {
            let open = open.join(", ");
            return refuse(path, format!("tool_calls must be followed by results; without one: {open}"));
        }
        match role {
            "system" | "developer" | "user" => content(message, &path)?,
            "assistant" => {
                open = assistant(message, &path, &mut seen)?;
                thoughts(body, message, &path, memory)?;
            }
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let Some(answered) = open.iter().position(|open| *open == id) else {
                    return refuse(path, format!("a tool message must follow the tool_calls it answers: {id:?}"));
                };
                open.remove(answered);
                content(message, &path)?;
            }
            other => return refuse(format!("{path}.role"), format!("unknown role {other:?}")),
        }
    }
    if open.is_empty() { Ok(()) } else { refuse("messages", format!("calls without results: {}", open.join(", "))) }
}

/// Checks an assistant message; the ids of its calls.
fn assistant<'a>(message: &'a Value, path: &str, seen: &mut HashSet<&'a str>) -> Result<Vec<&'a str>, Refusal> {
    let Some(calls) = message.get("tool_calls").filter(|calls| !calls.is_null()) else {
        content(message, path)?;
        return Ok(Vec::new());
    };
    if message.get("content").is_some_and(|content| !content.is_null()) {
        content(message, path)?;
    }
    let mut ids = Vec::new();
    let calls = calls.as_array().filter(|calls| !calls.is_empty());
    let calls = calls.ok_or_else(|| Refusal::bad_request("tool_calls is empty", Some(path.to_owned())))?;
    for (place, call) in calls.iter().enumerate() {
        let path = format!("{path}.tool_calls[{place}]");
        let id = call["id"].as_str().unwrap_or_default();
        if id.is_empty() || !seen.insert(id) {
            refuse(format!("{path}.id"), format!("the id {id:?} is missing or repeated"))?;
        }
        if call["type"] != "function" {
            refuse(format!("{path}.type"), "the type must be function")?;
        }
        name_fits(call["function"]["name"].as_str().unwrap_or_default(), &format!("{path}.function.name"))?;
        arguments(&call["function"]["arguments"], &format!("{path}.function.arguments"))?;
        ids.push(id);
    }
    Ok(ids)
}

/// A message with calls has the reasoning that the server sent with them.
fn thoughts(body: &Value, message: &Value, path: &str, memory: &Memory) -> Checked {
    let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
    if calls.is_empty() {
        return Ok(());
    }
    let parsed = |call: &Value| {
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        serde_json::from_str(arguments).unwrap_or_default()
    };
    let calls: Vec<_> =
        calls.iter().map(|call| (call["function"]["name"].as_str().unwrap_or_default(), parsed(call))).collect();
    let answers = answers(memory, body, &texts(&message["content"]).concat(), &calls);
    let thought = message.get("reasoning_content").filter(|thought| !thought.is_null());
    let came_back: Vec<Value> = thought.cloned().into_iter().collect();
    reasoning(&answers, &came_back, &format!("{path}.reasoning_content"), (MISSING, CHANGED))
}

fn content(message: &Value, path: &str) -> Checked {
    let path = format!("{path}.content");
    let parts = match &message["content"] {
        Value::String(text) if !text.is_empty() => return Ok(()),
        Value::Array(parts) if !parts.is_empty() => parts,
        _ => return refuse(path, "content must not be empty"),
    };
    for part in parts {
        match part["type"].as_str().unwrap_or_default() {
            "text" | "refusal" if part["text"].as_str().or(part["refusal"].as_str()).is_none_or(str::is_empty) => {
                return refuse(path, "text content blocks must not be empty");
            }
            "text" | "refusal" => {}
            "image_url" if message["role"] == "user" => image_url(&part["image_url"]["url"], &path)?,
            "image_url" => return refuse(path, "image URLs are only allowed for messages with role 'user'"),
            "input_audio" | "file" if message["role"] == "user" => {}
            other => return refuse(path, format!("invalid value: {other:?} is no type of content here")),
        }
    }
    Ok(())
}
