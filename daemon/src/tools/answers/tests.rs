//! Answers of people: which are taken, and where a wrong one is wrong.

use ropewalk_protocol::{Decision, Outcome, Question};
use serde_json::{Value, json};

use super::{
    NOTE_CHARACTERS, OTHER_CHARACTERS, approval_outcome, check_approval, check_input, input_outcome, same_approval,
    same_input,
};

const ALL: [Decision; 5] =
    [Decision::Accept, Decision::AcceptForSession, Decision::AcceptAlways, Decision::Decline, Decision::Cancel];

fn approval(answer: Value) -> Result<Value, (String, String)> {
    check_approval(&answer, &ALL)
        .map(|answer| serde_json::to_value(answer).unwrap())
        .map_err(|invalid| (invalid.path, invalid.reason.word()))
}

/// The questions of the transcript, and one that takes several options.
fn questions() -> Vec<Question> {
    serde_json::from_value(json!([
        {"id": "env", "text": "Deploy where?", "options": [{"label": "staging"}, {"label": "production"}], "allowOther": false},
        {"id": "when", "text": "When?", "options": [{"label": "now"}, {"label": "tonight"}]},
        {"id": "who/all", "text": "Who?", "options": [{"label": "a"}, {"label": "b"}, {"label": "c"}], "multiSelect": true},
    ]))
    .unwrap()
}

fn input(answer: Value) -> Result<Value, (String, String)> {
    check_input(&answer, &questions())
        .map(|answer| serde_json::to_value(answer).unwrap())
        .map_err(|invalid| (invalid.path, invalid.reason.word()))
}

fn refused(path: &str, reason: &str) -> Result<Value, (String, String)> {
    Err((path.to_owned(), reason.to_owned()))
}

#[test]
fn every_decision_is_read() {
    for decision in ["accept", "acceptForSession", "acceptAlways", "decline", "cancel"] {
        assert_eq!(approval(json!({"decision": decision})), Ok(json!({"decision": decision})));
    }
    let whole = json!({"decision": "acceptAlways", "scope": "global", "note": "fine"});
    assert_eq!(approval(whole.clone()), Ok(whole));
    assert_eq!(
        approval(json!({"decision": "decline", "scope": null, "note": " "})),
        Ok(json!({"decision": "decline"}))
    );
    assert_eq!(approval(json!({"decision": "accept", "scope": "global"})), Ok(json!({"decision": "accept"})));
}

#[test]
fn an_approval_that_breaks_a_rule_is_refused_with_path_and_reason() {
    assert_eq!(approval(json!({"decision": "yes"})), refused("/decision", "unknown_decision"));
    assert_eq!(approval(json!({"decision": true})), refused("/decision", "wrong_type"));
    assert_eq!(approval(json!({})), refused("/decision", "wrong_type"));
    assert_eq!(approval(json!({"decision": "accept", "a/b": 1})), refused("/a~1b", "unknown_field"));
    assert_eq!(approval(json!({"decision": "accept", "note": 1})), refused("/note", "wrong_type"));
    assert_eq!(approval(json!({"decision": "acceptAlways", "scope": "here"})), refused("/scope", "wrong_type"));
    assert_eq!(approval(json!("accept")), refused("", "wrong_type"));
}

#[test]
fn what_would_not_be_remembered_counts_as_accept() {
    let few = [Decision::Accept, Decision::Decline];
    for decision in ["acceptForSession", "acceptAlways"] {
        let answer = check_approval(&json!({"decision": decision, "scope": "global"}), &few).unwrap();
        assert_eq!((answer.decision, answer.scope), (Decision::Accept, None));
    }
    let cancelled = check_approval(&json!({"decision": "cancel"}), &few).unwrap();
    assert_eq!(cancelled.decision, Decision::Cancel, "a refusal always counts");
}

#[test]
fn a_note_is_cut() {
    let answer = approval(json!({"decision": "decline", "note": "n".repeat(NOTE_CHARACTERS + 1)})).unwrap();
    assert_eq!(answer["note"].as_str().unwrap().chars().count(), NOTE_CHARACTERS + 1, "the mark of the cut included");
    assert!(answer["note"].as_str().unwrap().ends_with('…'));
}

#[test]
fn two_approvals_are_the_same_whatever_their_notes() {
    let read = |answer: Value| check_approval(&answer, &ALL).unwrap();
    let same = |one: Value, other: Value| same_approval(&read(one), &read(other));
    assert!(same(json!({"decision": "decline", "note": "a"}), json!({"decision": "decline"})));
    assert!(same(json!({"decision": "acceptAlways"}), json!({"decision": "acceptAlways", "scope": "project"})));
    assert!(!same(json!({"decision": "acceptAlways"}), json!({"decision": "acceptAlways", "scope": "global"})));
    assert!(!same(json!({"decision": "decline"}), json!({"decision": "cancel"})));
}

#[test]
fn answers_are_read_as_the_transcript_has_them() {
    let whole = json!({"answers": {"env": {"selected": [0]}, "when": {"selected": [], "other": "after 18:00"}}});
    assert_eq!(input(whole.clone()), Ok(whole));
    assert_eq!(input(json!({"dismissed": true})), Ok(json!({"dismissed": true})));
    assert_eq!(input(json!({"declined": true, "answers": null})), Ok(json!({"declined": true})));
    assert_eq!(input(json!({"answers": {}})), Ok(json!({"answers": {}})));
}

#[test]
fn answers_that_break_a_rule_are_refused_with_path_and_reason() {
    let one = |id: &str, answer: Value| input(json!({"answers": {id: answer}}));
    assert_eq!(one("env", json!({"selected": [0, 1]})), refused("/answers/env/selected", "one_option_only"));
    assert_eq!(one("env", json!({"other": "mars"})), refused("/answers/env/other", "no_free_text"));
    assert_eq!(one("a/b", json!({})), refused("/answers/a~1b", "unknown_question"));
    assert_eq!(one("env", json!({"text": 1})), refused("/answers/env/text", "unknown_field"));
    assert_eq!(one("env", json!([0])), refused("/answers/env", "wrong_type"));
    assert_eq!(one("env", json!({"selected": 0})), refused("/answers/env/selected", "wrong_type"));
    assert_eq!(one("env", json!({"selected": [0, "1"]})), refused("/answers/env/selected/1", "wrong_type"));
    assert_eq!(one("env", json!({"selected": [1.0]})), refused("/answers/env/selected/0", "wrong_type"));
    assert_eq!(one("when", json!({"other": 18})), refused("/answers/when/other", "wrong_type"));
    assert_eq!(input(json!({})), refused("", "wrong_type"));
    assert_eq!(input(json!({"dismissed": false})), refused("/dismissed", "wrong_type"));
    assert_eq!(input(json!({"answers": {}, "dismissed": true})), refused("/dismissed", "wrong_type"));
    assert_eq!(input(json!({"answer": {}})), refused("/answer", "unknown_field"));
}

#[test]
fn positions_out_of_range_and_repeated_ones_are_dropped_not_guessed() {
    let one = |id: &str, answer: Value| input(json!({"answers": {id: answer}})).unwrap()["answers"].clone();
    assert_eq!(one("env", json!({"selected": [1, 1, 7, -1, u64::MAX]})), json!({"env": {"selected": [1]}}));
    assert_eq!(one("who/all", json!({"selected": [2, 0, 2]})), json!({"who/all": {"selected": [0, 2]}}));
    assert_eq!(one("env", json!({"selected": [2]})), json!({}), "nothing is left of it");
    assert_eq!(one("env", json!({"selected": [0], "other": "  "})), json!({"env": {"selected": [0]}}));
}

#[test]
fn a_free_answer_is_cut() {
    let answer = input(json!({"answers": {"when": {"other": "x".repeat(OTHER_CHARACTERS + 9)}}})).unwrap();
    assert_eq!(answer["answers"]["when"]["other"].as_str().unwrap().chars().count(), OTHER_CHARACTERS + 1);
}

#[test]
fn two_answers_are_the_same_when_selections_and_texts_are() {
    let read = |answer: Value| check_input(&json!({"answers": answer}), &questions()).unwrap();
    let several = read(json!({"who/all": {"selected": [0, 2]}, "env": {"selected": []}}));
    assert!(same_input(&several, &read(json!({"who/all": {"selected": [2, 0]}}))));
    assert!(!same_input(&several, &read(json!({"who/all": {"selected": [2, 0], "other": "d"}}))));
}

#[test]
fn a_refusal_is_declined_and_all_else_answered() {
    let of = |decision: &str| approval_outcome(&check_approval(&json!({"decision": decision}), &ALL).unwrap());
    assert_eq!([of("decline"), of("cancel")], [Outcome::Declined; 2]);
    assert_eq!([of("accept"), of("acceptAlways")], [Outcome::Answered; 2]);
    let of = |answer: Value| input_outcome(&check_input(&answer, &questions()).unwrap());
    assert_eq!([of(json!({"dismissed": true})), of(json!({"answers": {}}))], [Outcome::Answered; 2]);
    assert_eq!(of(json!({"declined": true})), Outcome::Declined);
}
