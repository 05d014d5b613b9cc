//! The marks in a schema that say which values are secret.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Schemas that apply to one value and are looked at; one that has more is of no use to anybody.
const APPLYING: usize = 256;

/// Whether a schema itself says that its value is secret.
pub fn is_secret(schema: &Value) -> bool {
    schema["writeOnly"] == true
}

/// Whether any part of a schema is marked. References need not be followed: they lead inside the whole.
pub fn has_marks(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => is_secret(schema) || members.values().any(has_marks),
        Value::Array(elements) => elements.iter().any(has_marks),
        _ => false,
    }
}

/// Whether any part of schemas, or of what they refer to, is marked.
pub fn leads_to_a_mark(schemas: &[&Value], root: &Value) -> bool {
    let mut seen: HashSet<*const Value> = HashSet::new();
    let mut left: Vec<&Value> = schemas.to_vec();
    while let Some(schema) = left.pop() {
        if !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        if is_secret(schema) {
            return true;
        }
        left.extend(schema["$ref"].as_str().and_then(|path| root.pointer(path.strip_prefix('#')?)));
        left.extend(schema.as_object().into_iter().flat_map(Map::values));
        left.extend(schema.as_array().into_iter().flatten());
    }
    false
}

/// Every schema that applies to a value, or may: itself, what it refers to, and the branches it is made of.
pub fn applying<'a>(schemas: &[&'a Value], root: &'a Value) -> Vec<&'a Value> {
    let mut all: Vec<&Value> = Vec::new();
    let mut left: Vec<&Value> = schemas.to_vec();
    while let Some(schema) = left.pop().filter(|_| all.len() < APPLYING) {
        if all.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        all.push(schema);
        left.extend(schema["$ref"].as_str().and_then(|path| root.pointer(path.strip_prefix('#')?)));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            left.extend(schema[keyword].as_array().into_iter().flatten());
        }
        left.extend(["then", "else"].iter().filter_map(|keyword| schema.get(keyword)));
    }
    all
}

/// What applies to a member of an object, by its name or because it has no other.
pub fn children<'a>(schemas: &[&'a Value], name: &str) -> Vec<&'a Value> {
    let named: Vec<&Value> = schemas.iter().filter_map(|schema| schema.get("properties")?.get(name)).collect();
    if !named.is_empty() {
        return named;
    }
    let others = schemas.iter().flat_map(|schema| {
        let patterns = schema["patternProperties"].as_object().into_iter().flat_map(Map::values);
        patterns.chain(schema.get("additionalProperties").filter(|others| others.is_object()))
    });
    others.collect()
}

/// What applies to the elements of a list.
pub fn elements(schema: &Value) -> impl Iterator<Item = &Value> {
    let items = schema.get("items").filter(|items| items.is_object());
    items.into_iter().chain(schema["prefixItems"].as_array().into_iter().flatten())
}
