//! What a model writes as arguments, and how it is read.

use serde_json::json;

use super::{ARGUMENT_LEVELS, ArgumentProblem, parse_arguments};

fn invalid(text: &str) -> (String, String) {
    match parse_arguments(text) {
        Err(ArgumentProblem::Invalid(problem)) => (problem.path, problem.reason),
        other => panic!("expected invalid arguments, got {other:?}"),
    }
}

#[test]
fn nothing_blanks_and_null_are_an_empty_object() {
    for text in ["", "  \n", "null", " null ", "{}"] {
        assert!(parse_arguments(text).unwrap().is_empty(), "{text:?}");
    }
}

#[test]
fn an_object_is_read_as_it_stands() {
    let arguments = parse_arguments(r#"{"id":"00713","n":9007199254740993}"#).unwrap();
    assert_eq!(serde_json::Value::Object(arguments).to_string(), r#"{"id":"00713","n":9007199254740993}"#);
}

#[test]
fn what_is_no_json_is_told_with_its_position() {
    let Err(ArgumentProblem::InvalidJson(reason)) = parse_arguments(r#"{"id": }"#) else { panic!() };
    assert_eq!(reason, "expected value, at line 1, column 8");
    for text in [r#"{"id":"\ud800"}"#, "{\"id\":1", "hunter2"] {
        assert!(matches!(parse_arguments(text), Err(ArgumentProblem::InvalidJson(_))), "{text}");
    }
}

#[test]
fn what_is_no_object_is_no_arguments() {
    for text in ["[]", "1", "\"{}\"", "true"] {
        assert_eq!(invalid(text), (String::new(), "must be a JSON object".into()), "{text}");
    }
}

#[test]
fn what_could_not_be_kept_as_it_is_is_refused_rather_than_changed() {
    assert_eq!(invalid(r#"{"a":{"n":18446744073709551616}}"#).0, "/a/n");
    assert_eq!(invalid(r#"{"a":1,"a":2}"#), ("/a".into(), "is a repeated key".into()));
    let deep = |levels: usize| format!("{}{}", r#"{"a":"#.repeat(levels) + "1", "}".repeat(levels));
    assert!(parse_arguments(&deep(ARGUMENT_LEVELS)).is_ok());
    assert_eq!(invalid(&deep(ARGUMENT_LEVELS + 1)).1, "is nested too deep");
}

#[test]
fn length_is_limited_in_characters() {
    let text = |characters: usize| json!({"t": "é".repeat(characters - 8)}).to_string();
    assert!(parse_arguments(&text(65_536)).is_ok());
    assert_eq!(invalid(&text(65_537)).1, "have 65537 characters; at most 65536 are allowed");
}
