//! What counts as JSON and what fits, and what a model is told otherwise.

use serde_json::{Value, json};

use super::*;

fn schema() -> Value {
    json!({
        "type": "object", "required": ["n"], "additionalProperties": false,
        "properties": {"n": {"type": "integer"}, "s": {"type": "string"}},
    })
}

fn structured(schema: &Value, text: &str) -> Option<Value> {
    match judge_by(schema, 0, text.to_owned()) {
        Judged::Ends(outcome) => {
            assert_eq!((outcome.status, outcome.text.as_deref()), (OutcomeStatus::Completed, Some(text)));
            outcome.structured
        }
        Judged::Repairs(_) => None,
    }
}

fn told(text: &str) -> String {
    match judge_by(&schema(), 1, text.to_owned()) {
        Judged::Repairs(told) => told,
        Judged::Ends(outcome) => panic!("{outcome:?}"),
    }
}

#[test]
fn an_answer_is_the_value_alone_or_in_one_fence() {
    let fits = [
        "{\"n\":1}",
        "  {\"n\": 1}\n",
        "```json\n{\"n\":1}\n```",
        "```JSON  \n{\n\"n\":1}```\n",
        "```\n{\"n\":1}\n```",
    ];
    for text in fits {
        assert_eq!(structured(&schema(), text), Some(json!({"n": 1})), "{text}");
    }
    let does_not = [
        "",
        "  ",
        "Here it is: {\"n\":1}",
        "{\"n\":1} That is all.",
        "```yaml\n{\"n\":1}\n```",
        "```json {\"n\":1}```",
        "Sure!\n```json\n{\"n\":1}\n```",
        "```json\n{\"n\":1}\n```\n```json\n{\"n\":2}\n```",
        "{\"n\":1}{\"n\":2}",
        "{\"n\":1",
        "{'n':1}",
        "{\"n\":1,\"n\":2}",
        "{\"n\":99999999999999999999}",
    ];
    for text in does_not {
        assert_eq!(structured(&schema(), text), None, "{text}");
    }
}

#[test]
fn a_schema_may_ask_for_any_type() {
    for (schema, text) in [
        (json!({"type": "string"}), "\"yes\""),
        (json!({"type": "array", "items": {"type": "number"}}), "[1,2.5]"),
        (json!({"type": "null"}), "null"),
        (json!({"enum": [true, 7]}), "7"),
        (json!(true), "{\"a\":[]}"),
    ] {
        assert_eq!(structured(&schema, text), Some(serde_json::from_str(text).unwrap()));
    }
    assert_eq!(structured(&json!({"type": "string"}), "yes"), None, "a string is written as JSON too");
}

#[test]
fn what_is_wrong_is_told_with_paths_and_places_and_without_the_value() {
    assert_eq!(told("{\"n\":\"secret\",\"x\":1}").matches("secret").count(), 0);
    let text = told("{\"n\":\"one\",\"s\":2,\"x\":1}");
    for part in ["/n must be an integer", "/s must be a string", "/x is no known property"] {
        assert!(text.contains(part), "{text}");
    }
    let text = told("{\"n\":1,}");
    assert!(text.contains("line 1, column 8"), "{text}");
    assert!(told("").contains("it is empty"));
    assert!(told("{\"n\":1,\"n\":2}").contains("/n is a repeated key"));
    let many = told(&json!({"n": 1, "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}).to_string());
    assert_eq!(many.matches("is no known property").count(), 5, "at most five");
    assert!(told("[]").contains("it must be an object"));
}

#[test]
fn after_two_repairs_the_run_fails_and_says_what_was_wrong() {
    assert!(matches!(judge_by(&schema(), REPAIRS - 1, "no".to_owned()), Judged::Repairs(_)));
    let Judged::Ends(outcome) = judge_by(&schema(), REPAIRS, "{}".to_owned()) else { panic!("it ends") };
    let error = outcome.error.unwrap();
    assert_eq!(error.kind, RunErrorKind::OutputInvalid);
    assert!(error.message.contains("/n is missing"), "{}", error.message);
}

#[test]
fn nesting_that_no_message_of_ours_could_carry_is_told() {
    let deep = format!("{}1{}", "[".repeat(93), "]".repeat(93));
    let Judged::Repairs(text) = judge_by(&json!(true), 0, deep) else { panic!("it is refused") };
    assert!(text.contains("is nested too deep"), "{text}");
    let fits = format!("{}1{}", "[".repeat(92), "]".repeat(92));
    assert!(structured(&json!(true), &fits).is_some());
}
