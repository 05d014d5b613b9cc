//! The part of JSON Schema that Gemini and what stands before it take.

use serde_json::{Map, Value, json};

/// Keywords that stay as they are.
const KEPT: [&str; 6] = ["description", "nullable", "minItems", "maxItems", "minimum", "maximum"];

/// Keywords that only annotate, so that nobody misses them.
const SILENT: [&str; 6] = ["title", "examples", "example", "additionalProperties", "$comment", "$schema"];

/// Formats it knows.
const FORMATS: [&str; 6] = ["float", "double", "int32", "int64", "enum", "date-time"];

/// The schema in that part; what it loses is told in the description of the place that lost it.
pub(super) fn subset(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return json!({}) };
    let mut members = members.clone();
    merge_all_of(&mut members);
    if let Some(constant) = members.shift_remove("const") {
        members.insert("enum".to_owned(), json!([constant]));
    }
    if let Some(types) = types(&members).filter(|types| types.len() > 1) {
        return by_type(members, &types);
    }
    let (mut kept, mut lost) = (Map::new(), Map::new());
    for (keyword, value) in members {
        match (keyword.as_str(), &value) {
            ("type", Value::Array(types)) => {
                kept.insert(keyword, types.first().cloned().unwrap_or_default());
            }
            ("type", _) => {
                kept.insert(keyword, value);
            }
            ("properties", Value::Object(properties)) if !properties.is_empty() => {
                let properties = properties.iter().map(|(name, schema)| (name.clone(), subset(schema))).collect();
                kept.insert(keyword, properties);
            }
            ("properties", _) => {}
            ("items", Value::Object(_)) => {
                kept.insert(keyword, subset(&value));
            }
            ("anyOf" | "oneOf", Value::Array(ways)) => {
                kept.insert("anyOf".to_owned(), ways.iter().map(subset).collect());
            }
            ("enum", Value::Array(values)) if values.iter().all(Value::is_string) => {
                kept.insert("type".to_owned(), json!("string"));
                kept.insert(keyword, value);
            }
            ("format", Value::String(format)) if FORMATS.contains(&format.as_str()) => {
                kept.insert(keyword, value);
            }
            ("required", Value::Array(_)) => {
                kept.insert(keyword, value);
            }
            // A map of values has no other way to say what they are.
            ("additionalProperties", Value::Object(_)) => {
                lost.insert(keyword, value);
            }
            (name, _) if KEPT.contains(&name) => {
                kept.insert(keyword, value);
            }
            (name, _) if SILENT.contains(&name) => {}
            _ => {
                lost.insert(keyword, value);
            }
        }
    }
    complete(&mut kept);
    tell(&mut kept, lost);
    Value::Object(kept)
}

/// What is demanded besides: only what is declared is required, and an array says what it holds.
fn complete(kept: &mut Map<String, Value>) {
    let declared = kept.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(required) = kept.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_some_and(|name| declared.contains_key(name)));
        if required.is_empty() {
            kept.shift_remove("required");
        }
    }
    if kept.get("type") == Some(&json!("array")) {
        kept.entry("items").or_insert_with(|| json!({}));
    }
}

/// Puts what was lost into the description.
fn tell(kept: &mut Map<String, Value>, lost: Map<String, Value>) {
    if lost.is_empty() {
        return;
    }
    let said = kept.get("description").and_then(Value::as_str).map(|said| format!("{said} ")).unwrap_or_default();
    let description = format!("{said}Must fit this JSON Schema: {}", Value::Object(lost));
    kept.insert("description".to_owned(), json!(description));
}

/// The types a schema allows, also by values that it lists.
fn types(members: &Map<String, Value>) -> Option<Vec<String>> {
    if let Some(types) = members.get("type").and_then(Value::as_array) {
        return Some(types.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    let values = members.get("enum")?.as_array()?;
    let has_null = values.iter().any(Value::is_null);
    let are_text = values.iter().all(|value| value.is_string() || value.is_null());
    (has_null && are_text && values.len() > 1).then(|| vec!["string".to_owned(), "null".to_owned()])
}

/// One way for each type, with what concerns it.
fn by_type(mut members: Map<String, Value>, types: &[String]) -> Value {
    let description = members.shift_remove("description");
    let ways = types.iter().map(|kind| {
        let mut way = members.clone();
        way.insert("type".to_owned(), json!(kind));
        if let Some(values) = way.get_mut("enum").and_then(Value::as_array_mut) {
            values.retain(|value| is_of(value, kind));
        }
        if way.get("enum").and_then(Value::as_array).is_some_and(|values| values.is_empty() || kind == "null") {
            way.shift_remove("enum");
        }
        subset(&Value::Object(concerning(way, kind)))
    });
    let mut any = json!({"anyOf": ways.collect::<Vec<_>>()});
    if let Some(description) = description {
        any["description"] = description;
    }
    any
}

/// The keywords that concern values of a type; the others say nothing about them.
fn concerning(mut members: Map<String, Value>, kind: &str) -> Map<String, Value> {
    let foreign: &[(&str, &[&str])] = &[
        (
            "object",
            &["properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"],
        ),
        ("array", &["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]),
        ("string", &["pattern", "minLength", "maxLength"]),
        ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ];
    let kind = if kind == "integer" { "number" } else { kind };
    for (_, keywords) in foreign.iter().filter(|(other, _)| *other != kind) {
        members.retain(|keyword, _| !keywords.contains(&keyword.as_str()));
    }
    members
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" | "integer" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}

/// Takes the branches of `allOf` into the schema, as far as neither knows the keyword yet. All of them hold, so what is
/// taken is true, and what is left out only makes the schema wider.
fn merge_all_of(members: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = members.shift_remove("allOf") else { return };
    for branch in branches {
        let Value::Object(mut branch) = branch else { continue };
        merge_all_of(&mut branch);
        for (keyword, value) in branch {
            match (members.get_mut(&keyword), value) {
                (Some(Value::Object(known)), Value::Object(more)) if keyword == "properties" => {
                    for (name, schema) in more {
                        known.entry(name).or_insert(schema);
                    }
                }
                (Some(Value::Array(known)), Value::Array(more)) if keyword == "required" => {
                    known.extend(more.into_iter().filter(|name| !known.contains(name)).collect::<Vec<_>>());
                }
                (Some(_), _) => {}
                (None, value) => {
                    members.insert(keyword, value);
                }
            }
        }
    }
}
