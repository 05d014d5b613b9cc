//! Refuses what real providers refuse: what the shapes have in common, and below it each shape's own.

pub(super) mod chat;
pub(super) mod messages;
pub(super) mod responses;

use std::collections::HashSet;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::{
    memory::{Memory, Said},
    refusal::Refusal,
};

type Checked = Result<(), Refusal>;

/// The images every provider takes.
const IMAGE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What no provider takes at the top of a tool's schema.
const COMBINATORS: &[&str] = &["oneOf", "anyOf", "allOf", "not", "enum"];

fn refuse(param: impl Into<String>, message: impl Into<String>) -> Checked {
    Err(Refusal::bad_request(message, Some(param.into())))
}

fn model(body: &Value) -> Checked {
    match body["model"].as_str() {
        Some(model) if !model.is_empty() => Ok(()),
        _ => refuse("model", "you must provide a model parameter"),
    }
}

/// Refuses fields that the provider does not know; `words` makes the message of one.
fn fields(body: &Value, known: &[&str], words: impl Fn(&str) -> String) -> Checked {
    let names = body.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    names.filter(|name| !known.contains(name)).try_for_each(|name| refuse(name, words(name)))
}

fn name_fits(name: &str, path: &str) -> Checked {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(legal) {
        return refuse(path, format!("the name {name:?} does not match ^[a-zA-Z0-9_-]{{1,64}}$"));
    }
    Ok(())
}

fn new_name<'a>(name: &'a str, names: &mut HashSet<&'a str>, path: &str) -> Checked {
    name_fits(name, path)?;
    if names.insert(name) { Ok(()) } else { refuse(path, format!("tool names must be unique: {name}")) }
}

/// A tool's schema: of an object, without what would make it one of several, with references that lead somewhere.
fn schema(schema: &Value, path: &str) -> Checked {
    if schema["type"] != "object" {
        return refuse(path, "the schema of a function must be of type object");
    }
    if !schema["properties"].is_object() {
        return refuse(path, "object schema missing properties");
    }
    if let Some(keyword) = COMBINATORS.iter().find(|keyword| schema.get(**keyword).is_some()) {
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
    members(schema).into_iter().try_for_each(|member| references(root, member, path))
}

fn members(schema: &Value) -> Vec<&Value> {
    match schema {
        Value::Object(members) => members.values().collect(),
        Value::Array(members) => members.iter().collect(),
        _ => Vec::new(),
    }
}

/// What a schema promises that the answer will fit for certain: every object in it is closed and needs all it names.
fn strict_schema(schema: &Value, path: &str) -> Checked {
    if schema["type"] == "object" {
        if schema["additionalProperties"] != false {
            return refuse(path, "'additionalProperties' is required to be supplied and to be false");
        }
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        let names = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
        if let Some(missing) = names.into_iter().find(|name| !required.iter().any(|required| required == *name)) {
            return refuse(path, format!("'required' is required to include every key of properties: {missing}"));
        }
    }
    members(schema).into_iter().try_for_each(|member| strict_schema(member, path))
}

/// A function that may be called, as both of OpenAI's shapes declare it.
fn function<'a>(function: &'a Value, names: &mut HashSet<&'a str>, path: &str) -> Checked {
    let parameters = format!("{path}.parameters");
    new_name(function["name"].as_str().unwrap_or_default(), names, &format!("{path}.name"))?;
    schema(&function["parameters"], &parameters)?;
    if function["strict"] == true { strict_schema(&function["parameters"], &parameters) } else { Ok(()) }
}

/// A schema that an answer must fit, as OpenAI has it.
fn output_schema(format: &Value, path: &str) -> Checked {
    name_fits(format["name"].as_str().unwrap_or_default(), &format!("{path}.name"))?;
    if !format["schema"].is_object() {
        return refuse(format!("{path}.schema"), "the schema must be an object");
    }
    if format["strict"] == true { strict_schema(&format["schema"], &format!("{path}.schema")) } else { Ok(()) }
}

fn arguments(arguments: &Value, path: &str) -> Checked {
    let text = arguments.as_str().unwrap_or_default();
    if serde_json::from_str::<Value>(text).is_ok_and(|arguments| arguments.is_object()) {
        return Ok(());
    }
    refuse(path, "arguments must be the text of a JSON object")
}

fn image(media_type: &str, data: &str, path: &str) -> Checked {
    if !IMAGE_TYPES.contains(&media_type) {
        return refuse(path, format!("unsupported image: {media_type:?} is none of {}", IMAGE_TYPES.join(", ")));
    }
    base64(data, path)
}

fn base64(data: &str, path: &str) -> Checked {
    match BASE64_STANDARD.decode(data) {
        Ok(bytes) if !bytes.is_empty() => Ok(()),
        _ => refuse(path, "invalid base64 data"),
    }
}

/// An address of an image: elsewhere, or with all of the image in it.
fn image_url(url: &Value, path: &str) -> Checked {
    let url = url.as_str().unwrap_or_default();
    if url.starts_with("https://") || url.starts_with("http://") {
        return Ok(());
    }
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, data)) => image(media_type, data, path),
        None => refuse(path, "invalid image_url: expected an http(s) address or a base64-encoded data URL"),
    }
}

/// Checks that the reasoning of an answer that made calls came back as it was. `words` has the message for reasoning
/// that is missing and for reasoning that is another.
fn reasoning(answers: &[Said], came_back: &[Value], path: &str, words: (&str, &str)) -> Checked {
    if answers.is_empty() || answers.iter().any(|said| said.reasoning == came_back) {
        return Ok(());
    }
    refuse(path, if came_back.is_empty() { words.0 } else { words.1 })
}

/// The answers of the server that a message with these calls can be.
fn answers(memory: &Memory, body: &Value, text: &str, calls: &[(&str, Value)]) -> Vec<Said> {
    memory.answers(body["model"].as_str().unwrap_or_default(), text, calls)
}
