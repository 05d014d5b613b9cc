//! What is taken out of arguments, and what of results.

use ropewalk_protocol::Part;
use serde_json::{Value, json};

use super::{Secrets, is_veiled, missing, stand_in, veil, veil_text};
use crate::domain::CallEnd;

const SECRET: &str = "sk-planted-\"7\"";

fn shown(arguments: &Value, schema: &Value) -> Value {
    Value::Object(veil(arguments.as_object().unwrap(), schema).expect("the tool takes secrets").shown)
}

fn schema() -> Value {
    json!({
        "type": "object",
        "$defs": {"key": {"type": "string", "writeOnly": true}},
        "properties": {
            "name": {"type": "string"},
            "credential": {"type": ["string", "null"], "writeOnly": true},
            "byReference": {"$ref": "#/$defs/key"},
            "either": {"anyOf": [{"$ref": "#/$defs/key"}, {"type": "null"}]},
            "server": {"type": "object", "properties": {
                "env": {"type": "object", "additionalProperties": {"$ref": "#/$defs/key"}}, "path": {"type": "string"}}},
            "pins": {"type": "array", "items": {"type": "integer", "writeOnly": true}},
        },
    })
}

#[test]
fn app_138_an_argument_that_its_tool_calls_secret_is_shown_as_its_length_wherever_it_stands() {
    let arguments = json!({
        "name": "work", "credential": SECRET, "byReference": "ab", "either": "abc",
        "server": {"env": {"KEY": "four"}, "path": "/bin"}, "pins": [12, 345],
    });
    let expected = json!({
        "name": "work", "credential": "(a secret of 14 characters)", "byReference": "(a secret of 2 characters)",
        "either": "(a secret of 3 characters)",
        "server": {"env": {"KEY": "(a secret of 4 characters)"}, "path": "/bin"},
        "pins": ["(a secret of 2 characters)", "(a secret of 3 characters)"],
    });
    assert_eq!(shown(&arguments, &schema()), expected);
}

#[test]
fn a_tool_without_marks_has_no_secrets() {
    let open = json!({"type": "object", "properties": {"credential": {"type": "string"}}});
    assert!(veil(json!({"credential": SECRET}).as_object().unwrap(), &open).is_none());
    assert_eq!(veil_text("no JSON", &open), None);
}

#[test]
fn what_clears_a_secret_is_none() {
    let cleared = json!({"credential": null, "either": ""});
    assert_eq!(shown(&cleared, &schema()), cleared);
}

#[test]
fn a_misspelled_name_beside_a_secret_hides_its_value_too() {
    let slip = json!({"credental": SECRET, "server": {"unknown": "kept"}});
    let expected = json!({"credental": "(a secret of 14 characters)", "server": {"unknown": "kept"}});
    assert_eq!(shown(&slip, &schema()), expected);
}

#[test]
fn an_object_that_came_as_text_and_arguments_that_cannot_be_read_are_hidden_whole() {
    let text = json!({"server": format!("{{\"env\": {{\"KEY\": \"{SECRET}\"}}}}")});
    assert!(!shown(&text, &schema()).to_string().contains("planted"));
    let (shown, secrets) = veil_text("{\"credential\": \"sk-planted", &schema()).unwrap();
    assert_eq!(shown, "(a secret of 26 characters)");
    assert!(!secrets.is_empty());
}

#[test]
fn a_result_that_repeats_a_secret_is_scrubbed() {
    let secrets = veil(json!({"credential": SECRET}).as_object().unwrap(), &schema()).unwrap().secrets;
    let mut end = CallEnd {
        structured_content: Some(json!({"echo": [SECRET], (SECRET): 1})),
        meta: Some(json!({"log": format!("got {SECRET}")})),
        summary: Some(format!("Stored {SECRET}")),
        error: Some(ropewalk_protocol::CallError { code: "bad".to_owned(), message: format!("{SECRET} is bad") }),
        content: vec![Part::text(format!("{SECRET}, or {}", json!(SECRET)))],
        ..CallEnd::told("")
    };
    secrets.scrub_end(&mut end);
    let kept = format!("{end:?}");
    assert!(!kept.contains("planted"), "{kept}");
    assert!(kept.contains(&stand_in(SECRET)), "{kept}");
}

#[test]
fn a_short_secret_is_not_looked_for_in_texts() {
    let secrets = veil(json!({"credential": "a"}).as_object().unwrap(), &schema()).unwrap().secrets;
    assert_eq!(secrets.scrubbed("a bad day"), "a bad day");
}

#[test]
fn what_stands_for_a_secret_is_not_taken_for_one() {
    let arguments = json!({"server": {"env": {"KEY": stand_in("four")}}});
    assert_eq!(shown(&arguments, &schema()), arguments, "it is not veiled once more");
    let failure = missing(arguments.as_object().unwrap(), &schema()).unwrap();
    assert_eq!(failure.code(), "invalid_arguments");
    assert!(failure.text("app_security").contains("/server/env/KEY is not the secret itself"));
    assert!(is_veiled(&arguments.to_string()));
    assert!(missing(json!({"name": "work"}).as_object().unwrap(), &schema()).is_none());
    assert!(missing(arguments.as_object().unwrap(), &json!({"type": "object"})).is_none());
}

#[test]
fn secrets_are_not_printed() {
    let mut secrets = Secrets::default();
    secrets.add(veil(json!({"credential": SECRET}).as_object().unwrap(), &schema()).unwrap().secrets);
    assert_eq!(format!("{secrets:?}"), "1 secrets");
}
