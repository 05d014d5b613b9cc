//! Makes a tool's schema one that no provider refuses. What is lost on the way is still checked before every call.

use serde_json::{Map, Value, json};

use super::Shape;

/// Keywords that providers refuse at the root of a schema.
const REFUSED: [&str; 5] = ["oneOf", "anyOf", "allOf", "not", "enum"];

/// The schema as it is sent, and what to add to the tool's description for what the schema no longer says.
///
/// A combinator at the root becomes the properties of all its branches, none of them required.
pub(super) fn sendable(_shape: Shape, schema: &Value) -> (Value, String) {
    let mut root = schema.as_object().cloned().unwrap_or_default();
    let removed = REFUSED.iter().filter_map(|keyword| Some((*keyword, root.shift_remove(*keyword)?)));
    let removed = removed.map(|(keyword, value)| (keyword.to_owned(), value)).collect::<Map<_, _>>();
    let branches = ["oneOf", "anyOf", "allOf"].iter().filter_map(|keyword| removed.get(*keyword)?.as_array());
    let branches = branches.flatten().filter_map(|branch| branch.get("properties")?.as_object());
    let inherited = branches.flatten().map(|(name, schema)| (name.clone(), schema.clone())).collect::<Vec<_>>();
    root.insert("type".to_owned(), json!("object"));
    let properties = root.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        for (name, schema) in inherited {
            properties.entry(name).or_insert(schema);
        }
    }
    let note = if removed.is_empty() {
        String::new()
    } else {
        format!("\nThe arguments must also fit this JSON Schema: {}", Value::Object(removed))
    };
    (Value::Object(root), note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_schema_is_sent_as_it_is() {
        let schema = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}});
        assert_eq!(sendable(Shape::Chat, &schema), (schema, String::new()));
        assert_eq!(sendable(Shape::Chat, &json!({"type": "object"})).0, json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn a_combinator_at_the_root_becomes_properties_and_a_note() {
        let branch = |name: &str| json!({"properties": {name: {"type": "string"}}, "required": [name]});
        let schema = json!({"type": "object", "oneOf": [branch("a"), branch("b")], "$defs": {"x": {}}});
        let (sent, note) = sendable(Shape::Chat, &schema);
        let string = json!({"type": "string"});
        let expected = json!({"type": "object", "$defs": {"x": {}}, "properties": {"a": string, "b": string}});
        assert_eq!(sent, expected);
        assert!(note.contains(r#""oneOf":[{"#), "{note}");
    }
}
