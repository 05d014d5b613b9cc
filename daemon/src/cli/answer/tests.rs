//! What an answer on the command line means.

use serde_json::{Value, json};

use super::*;

fn args(answers: &[&str]) -> AnswerArgs {
    AnswerArgs {
        id: "int-1".to_owned(),
        answers: answers.iter().map(|answer| (*answer).to_owned()).collect(),
        scope: None,
        note: None,
        decline: false,
    }
}

fn approval() -> ApprovalRequest {
    let request = json!({
        "interactionId": "int-1", "threadId": "th-1", "runId": "run-1", "callId": "call-1", "attempt": 1,
        "tool": {"name": "act", "source": "client:bot", "annotations": {}}, "index": 1, "total": 1, "summary": "act 1",
        "choices": ["accept", "acceptForSession", "acceptAlways", "decline", "cancel"],
    });
    serde_json::from_value(request).unwrap()
}

fn questions() -> InputRequest {
    let request = json!({
        "interactionId": "int-1", "threadId": "th-1", "runId": "run-1", "callId": "call-1", "attempt": 1,
        "questions": [
            {"id": "where", "text": "Where to?", "options": [{"label": "staging"}, {"label": "production"}]},
            {"id": "what", "text": "What?", "options": [{"label": "a"}, {"label": "b"}, {"label": "c"}], "multiSelect": true, "allowOther": false},
            {"id": "when", "text": "When?"},
        ],
    });
    serde_json::from_value(request).unwrap()
}

fn said(given: &[&str]) -> Result<Value, String> {
    answers(&questions(), &args(given)).map(|answer| as_json(&answer)).map_err(|failure| failure.to_string())
}

#[test]
fn an_approval_takes_one_of_its_words_with_a_note_and_a_scope_where_it_has_one() {
    let decided = decision(&approval(), &AnswerArgs { note: Some("Fine.".to_owned()), ..args(&["accept"]) }).unwrap();
    assert_eq!(as_json(&decided), json!({"decision": "accept", "note": "Fine."}));
    let always = AnswerArgs { scope: Some(DecisionScope::Global), ..args(&["accept-always"]) };
    assert_eq!(
        as_json(&decision(&approval(), &always).unwrap()),
        json!({"decision": "acceptAlways", "scope": "global"})
    );
    let refused = |args: &AnswerArgs| decision(&approval(), args).unwrap_err().to_string();
    assert!(refused(&args(&["yes"])).contains("There is: accept, accept-for-session, accept-always, decline, cancel."));
    assert!(refused(&args(&["accept", "accept"])).contains("takes one answer"));
    assert!(refused(&AnswerArgs { scope: always.scope, ..args(&["accept"]) }).contains("--scope goes with"));
}

#[test]
fn questions_are_answered_in_order_by_number_letter_or_words() {
    let whole = said(&["2", "1,3", "after 18:00"]).unwrap();
    let expected = json!({"answers": {
        "where": {"selected": [1]}, "what": {"selected": [0, 2]}, "when": {"selected": [], "other": "after 18:00"},
    }});
    assert_eq!(whole, expected);
    let some = said(&["to the moon", "b", ""]).unwrap();
    let expected = json!({"answers": {"where": {"selected": [], "other": "to the moon"}, "what": {"selected": [1]}}});
    assert_eq!(some, expected);
    assert_eq!(said(&["", "", "7"]).unwrap(), json!({"answers": {"when": {"selected": [], "other": "7"}}}));
    assert_eq!(said(&["", "", " "]).unwrap(), json!({"dismissed": true}));
    assert_eq!(
        as_json(&answers(&questions(), &AnswerArgs { decline: true, ..args(&[]) }).unwrap()),
        json!({"declined": true})
    );
}

#[test]
fn an_answer_that_fits_no_question_is_refused_with_what_there_is() {
    let two = said(&["1,2", "", ""]).unwrap_err();
    assert!(two.contains("Only one of them, please. There is: [a] or 1 staging, [b] or 2 production."), "{two}");
    assert!(said(&["1", "4", ""]).unwrap_err().contains("`4` does not answer \"What?\""));
    for (given, count) in [(&["1"][..], 1), (&["1", "1", "x", "y"], 4)] {
        let refused = said(given).unwrap_err();
        assert!(refused.contains(&format!("Answers given: {count}, questions asked: 3.")), "{refused}");
        assert!(refused.contains("`\"\"` leaves a question to the model"), "{refused}");
    }
    let noted = AnswerArgs { note: Some("x".to_owned()), ..args(&["1"]) };
    assert!(answers(&questions(), &noted).unwrap_err().to_string().contains("go with approvals"));
}

#[test]
fn a_number_is_only_taken_where_a_person_sees_what_it_stands_for() {
    let item: Interaction = serde_json::from_value(json!({
        "interactionId": "int-1", "state": "open", "threadId": "th-1", "runId": "run-1", "callId": "call-1",
        "kind": "approval", "request": approval(), "attempt": 1, "offeredTo": [], "openedAt": "2026-11-30T10:00:00Z",
    }))
    .unwrap();
    let items = [item];
    let number = |answers: &[&str]| AnswerArgs { id: "1".to_owned(), ..args(answers) };
    assert!(find(&items, &number(&[]), true).unwrap().is_some());
    assert!(find(&items, &number(&["accept"]), true).unwrap_err().to_string().contains("Name the id"));
    assert!(find(&items, &number(&[]), false).is_err());
    assert!(
        find(&items, &AnswerArgs { id: "2".to_owned(), ..args(&[]) }, true).unwrap_err().to_string().contains("1 wait")
    );
    assert!(find(&items, &args(&["accept"]), false).unwrap().is_some());
    assert!(find(&items, &AnswerArgs { id: "int-9".to_owned(), ..args(&[]) }, true).unwrap().is_none());
}

#[test]
fn what_each_question_was_taken_to_be_answered_with_is_said() {
    let item: Interaction = serde_json::from_value(json!({
        "interactionId": "int-1", "state": "open", "threadId": "th-1", "runId": "run-1", "callId": "call-1",
        "kind": "input", "request": questions(), "attempt": 1, "offeredTo": [], "openedAt": "2026-11-30T10:00:00Z",
    }))
    .unwrap();
    let said = taken(&item, &said(&["production", "1,3", ""]).unwrap());
    assert_eq!(said, "\n  Where to? = production\n  What? = a, c\n  When? = left to the model");
}
