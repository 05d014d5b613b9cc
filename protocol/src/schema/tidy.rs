//! What the generated schemas need before strangers' tools read them right.

use serde_json::{Map, Value, json};

/// Makes every schema of the bundle plain JSON Schema 2020-12 that common generators understand.
pub(super) fn tidy(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(tidy);
            own_formats_out(map);
            rust_links_out(map);
            whole_variants(map);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// What the daemon writes may have fields that are not described yet: readers tolerate them.
pub(super) fn open(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("additionalProperties") == Some(&Value::Bool(false)) {
                map.remove("additionalProperties");
            }
            map.values_mut().for_each(open);
        }
        Value::Array(items) => items.iter_mut().for_each(open),
        _ => {}
    }
}

/// `uint64` and its like are no formats of JSON Schema, and strict validators refuse what they do not know.
fn own_formats_out(map: &mut Map<String, Value>) {
    let of_rust = |format: &str| ["int", "uint", "float", "double"].iter().any(|word| format.starts_with(word));
    if map.get("format").and_then(Value::as_str).is_some_and(of_rust) {
        map.remove("format");
    }
}

/// Links of Rust's documentation lead nowhere in a schema.
fn rust_links_out(map: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = map.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`").split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

/// A schema with a reference or alternatives beside its own properties becomes an `allOf` of whole schemas: generators
/// of types otherwise drop one of the halves without a word, and with it every field of the variant.
fn whole_variants(map: &mut Map<String, Value>) {
    if !map.contains_key("properties") {
        return;
    }
    let mut parts = Vec::new();
    for word in ["$ref", "oneOf", "anyOf"] {
        if let Some(other) = map.remove(word) {
            parts.push(json!({ word: other }));
        }
    }
    if parts.is_empty() {
        return;
    }
    let description = map.remove("description");
    let own = std::mem::take(map);
    parts.insert(0, Value::Object(own));
    map.extend(description.map(|text| ("description".to_owned(), text)));
    map.insert("allOf".to_owned(), Value::Array(parts));
}
