//! On the wire an optional field is absent, not null; the generated schemas say both, and so mislead.

use serde_json::{Map, Value, json};

/// Marks the schema of a field in which null means something, until [`absent_instead`] has seen it.
pub(crate) const NULL_CLEARS: &str = "x-null-clears";

/// Takes null out of every optional property in which it means nothing.
pub(super) fn absent_instead(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(absent_instead);
            optional_properties(map);
        }
        Value::Array(items) => items.iter_mut().for_each(absent_instead),
        _ => {}
    }
}

fn optional_properties(map: &mut Map<String, Value>) {
    let required = map.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|other| other == name));
    let Some(Value::Object(properties)) = map.get_mut("properties") else { return };
    for (name, property) in properties.iter_mut() {
        let Value::Object(property) = property else { continue };
        if property.remove(NULL_CLEARS).is_none() && !is_required(name) {
            without_null(property);
        }
    }
}

/// `["string", "null"]` becomes `"string"`, and `anyOf` of a schema and null becomes that schema.
fn without_null(property: &mut Map<String, Value>) {
    if property.get("default") == Some(&Value::Null) {
        property.remove("default");
    }
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [single] = types.as_slice() {
            property["type"] = single.clone();
        }
    }
    if let Some(Value::Array(choices)) = property.get_mut("anyOf") {
        choices.retain(|choice| *choice != json!({ "type": "null" }));
        if let [Value::Object(single)] = choices.as_slice() {
            let single = single.clone();
            property.remove("anyOf");
            property.extend(single);
        }
    }
}
