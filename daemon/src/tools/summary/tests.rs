//! The one line that says what a call is about.

use serde_json::{Value, json};

use super::{SUMMARY_CHARACTERS, summary};

fn of(arguments: &Value, schema: &Value) -> String {
    summary("get_issue", arguments.as_object().unwrap(), schema)
}

#[test]
fn strings_and_numbers_follow_in_the_order_of_the_schema() {
    let schema = json!({"properties": {"id": {}, "flag": {}, "page": {}}});
    assert_eq!(of(&json!({"id": "7"}), &schema), "get_issue 7");
    assert_eq!(of(&json!({"zz": "last", "page": 2.5, "flag": true, "id": "7"}), &schema), "get_issue 7 2.5 last");
    assert_eq!(of(&json!({"id": ["a", {"b": 1}]}), &json!({})), "get_issue a 1");
    assert_eq!(of(&json!({}), &schema), "get_issue");
}

#[test]
fn it_is_one_line_without_control_characters() {
    let arguments = json!({"id": " a\n\tb\u{0}\u{1b}[31mc\u{202e}d\u{2028}e  f "});
    assert_eq!(of(&arguments, &json!({})), "get_issue a b [31mc d e f");
}

#[test]
fn it_is_cut_at_160_characters() {
    let exact = "é".repeat(SUMMARY_CHARACTERS - "get_issue ".len());
    assert_eq!(of(&json!({"id": exact}), &json!({})), format!("get_issue {exact}"));
    let cut = of(&json!({"id": format!("{exact}x"), "more": "y".repeat(1_000)}), &json!({}));
    assert_eq!(cut.chars().count(), SUMMARY_CHARACTERS);
    assert!(cut.ends_with("é…"), "{cut}");
}
