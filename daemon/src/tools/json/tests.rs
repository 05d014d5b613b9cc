//! JSON from outside: what can be represented, and where the rest is refused.

use serde_json::{Value, json};

use super::{JsonProblem, join, levels, parse};

fn refused(text: &str) -> (String, &'static str) {
    match parse(text, 8) {
        Err(JsonProblem::Refused { path, reason }) => (path, reason),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn ordinary_json_is_read_as_it_is_and_in_its_order() {
    let text = r#"{"b":[1,-2,3.5,1e2,true,null],"a":"x\"1\\"}"#;
    let value = parse(text, 8).unwrap();
    assert_eq!(value.to_string(), r#"{"b":[1,-2,3.5,100.0,true,null],"a":"x\"1\\"}"#);
}

#[test]
fn integers_of_64_bits_are_kept_and_wider_ones_refused_with_their_path() {
    let text = "[18446744073709551615,-9223372036854775808]";
    assert_eq!(parse(text, 8).unwrap(), json!([u64::MAX, i64::MIN]));
    let wide = r#"{"text":"99999999999999999999","n":1,"list":[1e30,[18446744073709551616]]}"#;
    assert_eq!(refused(wide), ("/list/1/0".into(), "is an integer of more than 64 bits"));
    assert_eq!(refused("-9223372036854775809"), (String::new(), "is an integer of more than 64 bits"));
}

#[test]
fn what_only_begins_like_an_integer_is_no_json_and_no_wide_integer() {
    for text in ["[1+2]", "[1-2]", "[-]", "[0-1]", "[1+18446744073709551616]", "[--1]"] {
        assert!(matches!(parse(text, 8), Err(JsonProblem::Syntax { .. })), "{text}");
    }
}

#[test]
fn a_repeated_key_is_refused_with_its_path() {
    assert_eq!(refused(r#"{"a":{"b/c":1,"b/c":2}}"#), ("/a/b~1c".into(), "is a repeated key"));
    assert!(parse(r#"[{"a":1},{"a":1}]"#, 8).is_ok());
}

#[test]
fn depth_is_bounded_exactly() {
    assert!(parse("[[[[[[[[1]]]]]]]]", 8).is_ok());
    assert_eq!(refused("[[[[[[[[[1]]]]]]]]]").1, "is nested too deep");
    assert_eq!(refused("[[[],[[[[[[[1]]]]]]]]]").0, "/0/1/0/0/0/0/0/0");
}

#[test]
fn what_is_no_json_is_told_with_its_place_and_without_its_value() {
    let secret = "{\"key\": hunter2}";
    let Err(problem @ JsonProblem::Syntax { line: 1, column: 9, .. }) = parse(secret, 8) else { panic!() };
    assert!(!problem.to_string().contains("hunter2"), "{problem}");
    for text in ["", "{", "{} x", r#""\ud800""#, r#""\udc00 ""#, "1e999", "NaN", "{'a':1}"] {
        assert!(matches!(parse(text, 8), Err(JsonProblem::Syntax { .. })), "{text}");
    }
}

#[test]
fn levels_are_levels_of_nesting() {
    for (value, count) in [(json!(1), 0), (json!({}), 1), (json!({"a": [1, {"b": []}]}), 4), (Value::Null, 0)] {
        assert_eq!(levels(&value), count, "{value}");
    }
}

#[test]
fn steps_are_escaped_as_rfc_6901_wants() {
    assert_eq!(join("/a", "b~/c"), "/a/b~0~1c");
}
