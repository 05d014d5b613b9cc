//! The rules and limits of declarations, checked before anything is sent so that the error can name the tool's author.

use ropewalk_protocol::{ToolDeclaration, limits};
use serde_json::Value;

use crate::Error;

/// Longest name the model sees.
const FLAT_NAME_CHARACTERS: usize = 64;

pub(super) fn check(declaration: &ToolDeclaration) -> Result<(), Error> {
    let refuse = |path: &str, reason: String| {
        Err(Error::InvalidTool { tool: declaration.name.clone(), path: path.to_owned(), reason })
    };
    if !is_name(&declaration.name) {
        return refuse("/name", name_rule(&declaration.name));
    }
    let mut flat = declaration.name.len();
    if let Some(namespace) = &declaration.namespace {
        if !is_name(namespace) {
            return refuse("/namespace", name_rule(namespace));
        }
        flat += namespace.len() + "__".len();
    }
    if flat > FLAT_NAME_CHARACTERS {
        return refuse("/name", format!("the name the model sees has {flat} characters, at most 64 are allowed"));
    }
    let first = declaration.namespace.as_ref().unwrap_or(&declaration.name);
    if first.starts_with("mcp_") {
        return refuse("/name", "names that begin with `mcp_` are reserved for servers".to_owned());
    }
    if declaration.description.trim().is_empty() {
        return refuse("/description", "the model needs a description to know when to call it".to_owned());
    }
    let characters = declaration.description.chars().count();
    if characters as u64 > limits::DESCRIPTION_CHARACTERS {
        return refuse("/description", format!("it has {characters} characters, at most 2,048 are allowed"));
    }
    if let Some(timeout_ms) = declaration.timeout_ms.filter(|ms| !(1_000..=3_600_000).contains(ms)) {
        return refuse("/timeoutMs", format!("{timeout_ms} is not between 1,000 and 3,600,000"));
    }
    if declaration.input_schema.get("type").and_then(Value::as_str) != Some("object") {
        return refuse("/inputSchema/type", "arguments are an object: the schema's type is `object`".to_owned());
    }
    for (path, schema) in
        [("/inputSchema", Some(&declaration.input_schema)), ("/outputSchema", declaration.output_schema.as_ref())]
    {
        if let Some(reason) = schema.and_then(too_large) {
            return refuse(path, reason);
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn name_rule(name: &str) -> String {
    format!("`{name}` is not 1 to 64 of A to Z, a to z, 0 to 9, `_` and `-`")
}

fn too_large(schema: &Value) -> Option<String> {
    let bytes = schema.to_string().len();
    if bytes as u64 > limits::SCHEMA_BYTES {
        return Some(format!("the schema has {bytes} bytes, at most 65,536 are allowed"));
    }
    let levels = levels(schema);
    (levels > limits::SCHEMA_LEVELS).then(|| format!("the schema is nested {levels} deep, at most 64 are allowed"))
}

fn levels(value: &Value) -> u64 {
    match value {
        Value::Array(members) => 1 + members.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}
