//! Questions of a model to a person: their limits, and what the model is told.

use ropewalk_protocol::{InputAnswer, Outcome, PolicyDecision, Problem, Question};
use serde_json::{Value, json};

use super::{answered_text, check_questions, invalid_text, tool, unanswered_text};
use crate::tools::{Schema, repair::repair, schema::MAX_PROBLEMS};

fn checked(questions: Value) -> Result<Vec<Question>, Vec<Problem>> {
    check_questions(json!({"questions": questions}).as_object().unwrap())
}

fn refused(questions: Value) -> (String, String) {
    let problem = checked(questions).unwrap_err().remove(0);
    (problem.path, problem.reason)
}

fn one(fields: Value) -> Value {
    let mut question = json!({"id": "q", "text": "Where?", "options": [{"label": "here"}]});
    for (name, value) in fields.as_object().unwrap() {
        question[name] = value.clone();
    }
    json!([question])
}

/// The questions of the transcript.
fn transcript() -> Value {
    json!([
        {"id": "env", "text": "Deploy where?", "options": [{"label": "staging", "recommended": true}, {"label": "production"}],
         "allowOther": false},
        {"id": "when", "text": "When?", "options": [{"label": "now"}, {"label": "tonight"}]},
    ])
}

fn told(answer: Value) -> String {
    let answer: InputAnswer = serde_json::from_value(answer).unwrap();
    answered_text(&checked(transcript()).unwrap(), &answer)
}

#[test]
fn the_tool_is_the_one_of_the_transcript() {
    let tool = tool();
    assert_eq!(
        (tool.flat_name.as_str(), tool.source.as_str(), tool.source_name.as_str()),
        ("mcp_app__ask_user", "app", "App tools")
    );
    assert_eq!((tool.label(), tool.description.as_str()), ("Ask the person", "Ask one to five questions."));
    assert_eq!(serde_json::to_value(&tool.annotations).unwrap(), json!({"readOnlyHint": true}));
    assert_eq!((tool.default.decision, tool.default.why.as_ref()), (PolicyDecision::Allow, "exempt from asking"));
    assert_eq!(tool.default.silence_ms, 600_000);
    assert!(Schema::compile(&tool.input_schema).is_ok());
    assert_eq!(tool.input_schema["type"], "object");
}

#[test]
fn questions_are_read_as_they_were_asked() {
    assert_eq!(serde_json::to_value(checked(transcript()).unwrap()).unwrap(), transcript());
    let free = json!([{"id": "q", "text": "Why?"}]);
    assert!(checked(free).unwrap()[0].options.is_empty());
}

#[test]
fn every_limit_holds_at_its_value_and_not_one_further() {
    let many = |count: usize| (0..count).map(|n| json!({"id": n.to_string(), "text": "?"})).collect::<Value>();
    let options = |count: usize| (0..count).map(|n| json!({"label": n.to_string()})).collect::<Vec<_>>();
    let x = |count: usize| "é".repeat(count);
    let cases = [
        (many(5), many(6), "/questions"),
        (one(json!({"options": options(8)})), one(json!({"options": options(9)})), "/questions/0/options"),
        (one(json!({"text": x(500)})), one(json!({"text": x(501)})), "/questions/0/text"),
        (one(json!({"label": x(24)})), one(json!({"label": x(25)})), "/questions/0/label"),
        (one(json!({"id": x(64)})), one(json!({"id": x(65)})), "/questions/0/id"),
        (
            one(json!({"options": [{"label": x(80)}]})),
            one(json!({"options": [{"label": x(81)}]})),
            "/questions/0/options/0/label",
        ),
        (
            one(json!({"options": [{"label": "a", "description": x(160)}]})),
            one(json!({"options": [{"label": "a", "description": x(161)}]})),
            "/questions/0/options/0/description",
        ),
    ];
    for (good, bad, path) in cases {
        assert!(checked(good).is_ok(), "{path}");
        assert_eq!(refused(bad).0, path);
    }
    assert_eq!(refused(json!([])).0, "/questions");
}

#[test]
fn what_the_schema_cannot_say_is_checked_as_well() {
    assert_eq!(refused(json!([{"id": "a", "text": "1"}, {"id": "a", "text": "2"}])).0, "/questions/1/id");
    assert_eq!(refused(one(json!({"options": [], "allowOther": false}))).0, "/questions/0/options");
    assert!(checked(one(json!({"options": []}))).is_ok());
    assert_eq!(refused(one(json!({"id": ""}))).0, "/questions/0/id");
    assert_eq!(refused(one(json!({"text": "  "}))).0, "/questions/0/text");
    assert_eq!(refused(one(json!({"options": [{"label": " "}]}))).0, "/questions/0/options/0/label");
    assert_eq!(refused(one(json!({"color": "red"}))).0, "/questions/0/color");
    let bad = (0..5).map(|_| json!({"id": "a", "text": " ", "options": [], "allowOther": false})).collect();
    assert_eq!(checked(bad).unwrap_err().len(), MAX_PROBLEMS);
}

#[test]
fn questions_that_came_as_text_are_repaired() {
    let arguments = json!({"questions": transcript().to_string()});
    let repaired = repair(arguments.as_object().unwrap(), &tool().input_schema).unwrap();
    assert_eq!(check_questions(&repaired).unwrap().len(), 2);
}

#[test]
fn an_answer_is_told_as_the_transcript_has_it() {
    assert_eq!(
        told(json!({"answers": {"env": {"selected": [0]}, "when": {"selected": [], "other": "after 18:00"}}})),
        r#"{"outcome":"answered","answers":[{"id":"env","selected":["staging"]},{"id":"when","selected":[],"other":"after 18:00"}],"guidance":"Do not ask these again."}"#
    );
}

#[test]
fn questions_left_open_are_named() {
    assert_eq!(
        told(json!({"answers": {"env": {"selected": [1]}}})),
        r#"{"outcome":"answered","answers":[{"id":"env","selected":["production"]}],"guidance":"Left to you: when. Decide that yourself. Do not ask these again."}"#
    );
}

#[test]
fn dyn_31_every_ending_of_a_question_is_told_apart() {
    let texts = [
        told(json!({"answers": {}})),
        told(json!({"dismissed": true})),
        told(json!({"declined": true})),
        unanswered_text(Outcome::Expired),
        unanswered_text(Outcome::Undeliverable),
        unanswered_text(Outcome::Cancelled),
        invalid_text(&[Problem { path: "/questions".into(), reason: "must have at most 5 items".into() }]),
    ];
    let outcomes =
        texts.map(|text| serde_json::from_str::<Value>(&text).unwrap()["outcome"].as_str().unwrap().to_owned());
    assert_eq!(outcomes, ["answered", "dismissed", "declined", "expired", "undeliverable", "cancelled", "invalid"]);
}

#[test]
fn a_violation_is_told_with_what_to_correct() {
    let text = invalid_text(&checked(json!([])).unwrap_err());
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told["error"], "/questions must have at least 1 items");
    assert_eq!(told["guidance"], "Nobody was asked. Correct the questions and call ask_user again.");
}
