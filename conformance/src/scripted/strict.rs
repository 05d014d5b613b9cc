//! Refuses what real providers refuse.

use std::collections::HashSet;

use axum::http::StatusCode;
use serde_json::{Value, json};

/// Why a request is refused, in the shape of OpenAI's errors.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
    param: Option<String>,
    code: Option<&'static str>,
}

impl Refusal {
    pub(super) fn bad_request(message: impl Into<String>, param: Option<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into(), param, code: None }
    }

    pub(super) fn wrong_key() -> Self {
        let message = "Incorrect API key provided.".to_owned();
        Self { status: StatusCode::UNAUTHORIZED, message, param: None, code: Some("invalid_api_key") }
    }

    pub(super) fn body(&self) -> Value {
        let Self { message, param, code, .. } = self;
        json!({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}})
    }
}

type Checked = Result<(), Refusal>;

fn refuse(param: impl Into<String>, message: impl Into<String>) -> Checked {
    Err(Refusal::bad_request(message, Some(param.into())))
}

/// The first thing in a chat completions request that a real provider would refuse.
pub(super) fn refusal(body: &Value) -> Option<Refusal> {
    model(body).and_then(|()| tools(body)).and_then(|()| messages(body)).err()
}

fn model(body: &Value) -> Checked {
    match body["model"].as_str() {
        Some(model) if !model.is_empty() => Ok(()),
        _ => refuse("model", "you must provide a model parameter"),
    }
}

fn tools(body: &Value) -> Checked {
    let Some(tools) = body.get("tools") else { return Ok(()) };
    let Some(tools) = tools.as_array().filter(|tools| !tools.is_empty()) else {
        return refuse("tools", "tools is too short: expected an array with at least one element");
    };
    let mut names = HashSet::new();
    for (place, tool) in tools.iter().enumerate() {
        let path = format!("tools[{place}].function");
        let name = tool["function"]["name"].as_str().unwrap_or_default();
        name_fits(name, &format!("{path}.name"))?;
        if !names.insert(name) {
            return refuse(format!("{path}.name"), format!("tool names must be unique: {name}"));
        }
        parameters(&tool["function"]["parameters"], &format!("{path}.parameters"))?;
    }
    Ok(())
}

fn name_fits(name: &str, path: &str) -> Checked {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(legal) {
        return refuse(path, format!("the name {name:?} does not match ^[a-zA-Z0-9_-]{{1,64}}$"));
    }
    Ok(())
}

fn parameters(schema: &Value, path: &str) -> Checked {
    if schema["type"] != "object" {
        return refuse(path, "the schema of a function must be of type object");
    }
    if !schema["properties"].is_object() {
        return refuse(path, "object schema missing properties");
    }
    if let Some(keyword) = ["oneOf", "anyOf", "allOf", "not", "enum"].iter().find(|k| schema.get(**k).is_some()) {
        return refuse(path, format!("the schema must not have {keyword} at the top level"));
    }
    references(schema, schema, path)
}

fn references(root: &Value, schema: &Value, path: &str) -> Checked {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        if target.is_none() {
            return refuse(path, format!("the reference {reference} cannot be resolved"));
        }
    }
    let members: Vec<&Value> = match schema {
        Value::Object(members) => members.values().collect(),
        Value::Array(members) => members.iter().collect(),
        _ => Vec::new(),
    };
    members.into_iter().try_for_each(|member| references(root, member, path))
}

fn messages(body: &Value) -> Checked {
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
            "system" | "developer" | "user" => content(&message["content"], &format!("{path}.content"))?,
            "assistant" => open = assistant(message, &path, &mut seen)?,
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let Some(answered) = open.iter().position(|open| *open == id) else {
                    return refuse(path, format!("a tool message must follow the tool_calls it answers: {id:?}"));
                };
                open.remove(answered);
                content(&message["content"], &format!("{path}.content"))?;
            }
            other => return refuse(format!("{path}.role"), format!("unknown role {other:?}")),
        }
    }
    if open.is_empty() { Ok(()) } else { refuse("messages", format!("calls without results: {}", open.join(", "))) }
}

/// Checks an assistant message; the ids of its calls.
fn assistant<'a>(message: &'a Value, path: &str, seen: &mut HashSet<&'a str>) -> Result<Vec<&'a str>, Refusal> {
    let Some(calls) = message.get("tool_calls").filter(|calls| !calls.is_null()) else {
        content(&message["content"], &format!("{path}.content"))?;
        return Ok(Vec::new());
    };
    if message.get("content").is_some_and(|content| !content.is_null()) {
        content(&message["content"], &format!("{path}.content"))?;
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
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object()) {
            refuse(format!("{path}.function.arguments"), "arguments must be the text of a JSON object")?;
        }
        ids.push(id);
    }
    Ok(ids)
}

fn content(content: &Value, path: &str) -> Checked {
    match content {
        Value::String(text) if !text.is_empty() => Ok(()),
        Value::Array(parts) if !parts.is_empty() => {
            let empty = |part: &&Value| part["type"] == "text" && part["text"].as_str().is_none_or(str::is_empty);
            match parts.iter().find(empty) {
                Some(_) => refuse(path, "text content blocks must not be empty"),
                None => Ok(()),
            }
        }
        _ => refuse(path, "content must not be empty"),
    }
}
