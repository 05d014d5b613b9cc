//! Schemas as tools have them, and as each provider gets them; nothing that fits before is refused after.

use super::*;

const ALL: [Shape; 5] = [Shape::Chat, Shape::Responses, Shape::Anthropic, Shape::Gemini, Shape::Ollama];

#[test]
fn a_plain_schema_is_sent_as_it_is() {
    let schema = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}});
    for shape in ALL {
        assert_eq!(sendable(shape, &schema), (schema.clone(), String::new()), "{shape:?}");
    }
    assert_eq!(sendable(Shape::Chat, &json!({"type": "object"})).0, json!({"type": "object", "properties": {}}));
    assert_eq!(sendable(Shape::Chat, &json!(true)).0, json!({"type": "object", "properties": {}}));
}

#[test]
fn a_combinator_at_the_root_becomes_properties_and_a_note() {
    let branch = |name: &str, kind: &str| json!({"properties": {name: {"type": kind}}, "required": [name]});
    let schema =
        json!({"type": "object", "oneOf": [branch("a", "string"), branch("b", "string"), branch("a", "number")]});
    let (sent, note) = sendable(Shape::Chat, &schema);
    let (string, number) = (json!({"type": "string"}), json!({"type": "number"}));
    let expected = json!({"type": "object", "properties": {"b": string, "a": {"anyOf": [string, number]}}});
    assert_eq!(sent, expected);
    assert!(note.contains(r#""oneOf":[{"#), "{note}");
}

/// A schema with all that some provider refuses.
fn odd() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/root",
        "definitions": {
            "root": {
                "type": "object",
                "properties": {
                    "kind": {"const": "issue"},
                    "level": {"enum": ["low", "high", null], "description": "How loud."},
                    "count": {"type": ["integer", "null"], "minimum": 1},
                    "name": {"type": "string", "pattern": "^[a-z]+$", "format": "hostname"},
                    "both": {"allOf": [{"type": "object", "properties": {"x": {"type": "string"}}}, {"required": ["x"]}]},
                    "either": {"oneOf": [{"type": "string"}, {"$ref": "#/definitions/tree"}]},
                    "pair": {"type": "array", "items": [{"type": "string"}, {"type": "number"}]},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "bound": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
                    "any": true,
                },
                "required": ["kind", "undeclared"],
                "additionalProperties": false,
            },
            "tree": {"type": "object", "properties": {"child": {"$ref": "#/definitions/tree"}}},
        },
    })
}

#[test]
fn gemini_gets_the_part_it_knows_and_the_rest_in_words() {
    let (sent, _) = sendable(Shape::Gemini, &odd());
    let properties = &sent["properties"];
    assert_eq!(properties["kind"], json!({"type": "string", "enum": ["issue"]}));
    let level =
        json!({"anyOf": [{"type": "string", "enum": ["low", "high"]}, {"type": "null"}], "description": "How loud."});
    assert_eq!(properties["level"], level);
    assert_eq!(properties["count"], json!({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}));
    let name = r#"Must fit this JSON Schema: {"pattern":"^[a-z]+$","format":"hostname"}"#;
    assert_eq!(properties["name"], json!({"type": "string", "description": name}));
    let both = json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]});
    assert_eq!(properties["both"], both);
    let child = json!({"description": "A value of #/definitions/tree."});
    let tree = json!({"type": "object", "properties": {"child": child}});
    assert_eq!(properties["either"], json!({"anyOf": [{"type": "string"}, tree]}));
    assert_eq!(properties["any"], json!({}));
    assert!(properties["labels"]["description"].as_str().unwrap().contains("additionalProperties"));
    assert_eq!(sent["required"], json!(["kind"]));
    let text = sent.to_string();
    for refused in ["\"$ref\":", "\"definitions\":", "\"const\":", "\"oneOf\":", "\"allOf\":", "\"$schema\":"] {
        assert!(!text.contains(refused), "{refused}: {text}");
    }
}

#[test]
fn k02_what_fits_a_tool_fits_what_any_provider_is_told() {
    let mut schema = odd();
    let root = &mut schema["definitions"]["root"];
    root["required"] = json!(["kind"]);
    root["properties"].as_object_mut().unwrap().shift_remove("bound");
    let own = jsonschema::validator_for(&schema).unwrap();
    for arguments in [
        json!({"kind": "issue"}),
        json!({"kind": "issue", "level": null, "count": null}),
        json!({"kind": "issue", "level": "low", "count": 3, "name": "abc", "both": {"x": "y"}}),
        json!({"kind": "issue", "either": {"child": {"child": {}}}, "pair": ["a", 1], "any": [1]}),
        json!({"kind": "issue", "labels": {"a": "b"}, "either": "x"}),
    ] {
        assert!(own.is_valid(&arguments), "{arguments}");
        for shape in ALL {
            let sent = sendable(shape, &schema).0;
            let told = jsonschema::validator_for(&sent).unwrap();
            assert!(told.is_valid(&arguments), "{shape:?}: {arguments} does not fit {sent}");
        }
    }
}

#[test]
fn nobody_gets_words_of_older_drafts() {
    let sent = sendable(Shape::Anthropic, &odd()).0;
    assert_eq!(
        sent["properties"]["pair"],
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]})
    );
    assert_eq!(sent["properties"]["bound"], json!({"type": "number", "minimum": 0}));
    assert_eq!((sent.get("$schema"), sent.get("$ref"), &sent["type"]), (None, None, &json!("object")));
}

#[test]
fn ollama_gets_everything_in_place() {
    let text = sendable(Shape::Ollama, &odd()).0.to_string();
    assert!(!text.contains("\"$ref\"") && !text.contains("\"definitions\""), "{text}");
}
