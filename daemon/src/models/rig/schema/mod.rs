//! Makes a tool's schema one that a provider takes, on a copy.
//!
//! The rules never narrow what is accepted: a call that fits the tool's own schema fits what is sent. What is lost on the
//! way is put into words, and every call is still checked against the tool's own schema before it is made.
//!
//! | Who | What changes |
//! |---|---|
//! | all | a `$ref` at the root is put in place; combinators, `not` and `enum` at the root become the properties of their branches, none of them required; `$schema` and `$id` go, and with them what only older drafts know: lists of `items` become `prefixItems`, `exclusiveMinimum: true` goes |
//! | Gemini, Ollama | every `$ref` is put in place; one that contains itself becomes any value |
//! | Gemini | only the keywords it knows stay; lists of types and `oneOf` become `anyOf`, `const` becomes `enum`, `allOf` is merged |

mod gemini;
mod inline;

use serde_json::{Map, Value, json};

use super::Shape;

/// Keywords that providers refuse at the root of a schema.
const REFUSED: [&str; 5] = ["oneOf", "anyOf", "allOf", "not", "enum"];

/// Keywords of a document, which say nothing of a tool's arguments.
const OF_DOCUMENTS: [&str; 4] = ["$schema", "$id", "id", "$comment"];

/// Keywords that hold values and no schemas.
const VALUES: [&str; 4] = ["const", "enum", "default", "examples"];

/// The schema as it is sent, and what to add to the tool's description for what the schema no longer says.
pub(super) fn sendable(shape: Shape, schema: &Value) -> (Value, String) {
    let mut lost = Map::new();
    let schema = match shape {
        Shape::Gemini | Shape::Ollama => inline::everywhere(schema),
        _ => inline::at_root(schema),
    };
    let mut root = with_plain_root(schema, &mut lost);
    modernise(&mut root);
    if shape == Shape::Gemini {
        root = gemini::subset(&root);
    }
    let note = if lost.is_empty() {
        String::new()
    } else {
        format!("\nThe arguments must also fit this JSON Schema: {}", Value::Object(lost))
    };
    (root, note)
}

/// An object with properties and no combinator at its root.
fn with_plain_root(schema: Value, lost: &mut Map<String, Value>) -> Value {
    let Value::Object(mut root) = schema else {
        return json!({"type": "object", "properties": {}});
    };
    for keyword in OF_DOCUMENTS {
        // `id` may be a keyword of old drafts only where it is text.
        if root.get(keyword).is_some_and(Value::is_string) {
            root.shift_remove(keyword);
        }
    }
    for keyword in REFUSED {
        if let Some(value) = root.shift_remove(keyword) {
            lost.insert(keyword.to_owned(), value);
        }
    }
    let inherited = inherited(lost);
    root.insert("type".to_owned(), json!("object"));
    let properties = root.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        for (name, schema) in inherited {
            properties.entry(name).or_insert(schema);
        }
    }
    Value::Object(root)
}

/// The properties of all branches; one that several branches have may be as any of them has it.
fn inherited(lost: &Map<String, Value>) -> Map<String, Value> {
    let mut inherited: Map<String, Value> = Map::new();
    let branches = ["oneOf", "anyOf", "allOf"].iter().filter_map(|keyword| lost.get(*keyword)?.as_array());
    let branches = branches.flatten().filter_map(|branch| branch.get("properties")?.as_object());
    for (name, schema) in branches.flatten() {
        let known = inherited.shift_remove(name);
        let schema = match known {
            None => schema.clone(),
            Some(known) if known == *schema => known,
            Some(mut known) => match known.get_mut("anyOf").and_then(Value::as_array_mut) {
                Some(ways) => {
                    ways.push(schema.clone());
                    known
                }
                None => json!({"anyOf": [known, schema]}),
            },
        };
        inherited.insert(name.clone(), schema);
    }
    inherited
}

/// Takes out what only older drafts of JSON Schema know, which says nothing or is refused where nobody names the draft.
fn modernise(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for bound in ["exclusiveMinimum", "exclusiveMaximum"] {
                if members.get(bound).is_some_and(Value::is_boolean) {
                    members.shift_remove(bound);
                }
            }
            if members.get("items").is_some_and(Value::is_array)
                && let Some(items) = members.shift_remove("items")
            {
                members.insert("prefixItems".to_owned(), items);
                members.shift_remove("additionalItems");
            }
            let schemas = members.iter_mut().filter(|(keyword, _)| !VALUES.contains(&keyword.as_str()));
            schemas.for_each(|(_, schema)| modernise(schema));
        }
        Value::Array(elements) => elements.iter_mut().for_each(modernise),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
