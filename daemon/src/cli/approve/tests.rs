//! What a person sees of an approval, and what the answers mean.

use ropewalk_protocol::ApprovalTool;
use serde_json::json;

use super::*;
use crate::cli::{
    out::testing::{captured, styled},
    person::testing::person,
};

fn request(arguments: Value, choices: &[Decision]) -> ApprovalRequest {
    ApprovalRequest {
        interaction_id: "int-1".into(),
        thread_id: "th-1".into(),
        run_id: "run-1".into(),
        call_id: "call-1".into(),
        attempt: 1,
        tool: ApprovalTool {
            name: "ring_bell".to_owned(),
            source: "client:demo".to_owned(),
            title: None,
            annotations: Annotations { read_only_hint: Some(true), ..Annotations::default() },
        },
        arguments: Some(arguments),
        original_arguments: None,
        connection: None,
        change: None,
        index: 1,
        total: 2,
        summary: "ring_bell 6".to_owned(),
        choices: choices.to_vec(),
        path: Vec::new(),
        expires_at: None,
    }
}

const ALL: &[Decision] =
    &[Decision::Accept, Decision::AcceptForSession, Decision::AcceptAlways, Decision::Decline, Decision::Cancel];

#[tokio::test]
async fn the_person_sees_summary_source_arguments_and_choices() {
    let (out, stdout, stderr) = captured(true);
    let answer = ask(&person(&["a"], &out), &request(json!({"bells": 6}), ALL)).await;
    assert_eq!(answer, ApprovalAnswer { decision: Decision::Accept, scope: None, note: None });
    let expected = "\
? Allow ring_bell 6? (call 1 of 2)
  client:demo/ring_bell (read only)
  {
    \"bells\": 6
  }
  [a] accept  [d] decline  [s] decline and stop the run
  [t] always in this thread  [p] always in this project  [e] always and everywhere
  > ";
    assert_eq!(stderr.text(), expected);
    assert_eq!(stdout.text(), "", "the result of a command is not mixed with questions");
}

#[tokio::test]
async fn only_the_choices_that_count_are_offered_and_understood() {
    let (out, _, stderr) = captured(true);
    let request = request(json!({}), &[Decision::Accept, Decision::Decline]);
    let answer = ask(&person(&["p", "t", "what?", "", "yes"], &out), &request).await;
    assert_eq!(answer.decision, Decision::Accept);
    assert_eq!(stderr.text().matches("One of the letters, please").count(), 4);
    assert!(!stderr.text().contains("always"));
}

#[tokio::test]
async fn a_reason_behind_the_letter_is_told_to_the_model() {
    let (out, ..) = captured(true);
    let answer = ask(&person(&["d  not at night "], &out), &request(json!({}), ALL)).await;
    assert_eq!(answer.decision, Decision::Decline);
    assert_eq!(answer.note.as_deref(), Some("not at night"));
}

#[tokio::test]
async fn each_letter_means_one_decision() {
    for (line, decision, scope) in [
        ("t", Decision::AcceptForSession, None),
        ("p", Decision::AcceptAlways, Some(DecisionScope::Project)),
        ("E", Decision::AcceptAlways, Some(DecisionScope::Global)),
        ("no", Decision::Decline, None),
        ("s", Decision::Cancel, None),
        ("accept", Decision::Accept, None),
        ("accept-for-session", Decision::AcceptForSession, None),
        ("accept-always", Decision::AcceptAlways, Some(DecisionScope::Project)),
        ("Decline", Decision::Decline, None),
        ("cancel", Decision::Cancel, None),
    ] {
        let (out, ..) = captured(true);
        let answer = ask(&person(&[line], &out), &request(json!({}), ALL)).await;
        assert_eq!((answer.decision, answer.scope), (decision, scope), "{line}");
    }
}

#[tokio::test]
async fn the_end_of_the_input_declines() {
    let (out, ..) = captured(true);
    let answer = ask(&person(&[], &out), &request(json!({}), ALL)).await;
    assert_eq!(answer.decision, Decision::Decline);
}

#[tokio::test]
async fn words_behind_an_acceptance_are_not_overlooked() {
    let (out, ..) = captured(true);
    let answer = ask(&person(&["a but only once", "d"], &out), &request(json!({}), ALL)).await;
    assert_eq!(answer.decision, Decision::Decline);
}

#[tokio::test]
async fn long_arguments_are_cut_with_a_sign_and_shown_whole_when_asked_for() {
    let (out, _, stderr) = captured(true);
    let long = "x".repeat(ARGUMENT_CHARACTERS) + "the end";
    ask(&person(&["d"], &out), &request(json!({ "text": long }), ALL)).await;
    assert!(stderr.text().contains("more characters; `v` shows all)"));
    assert!(!stderr.text().contains("the end"));

    let (out, _, stderr) = captured(true);
    ask(&person(&["v", "d"], &out), &request(json!({ "text": long }), ALL)).await;
    assert!(stderr.text().contains("the end"));
}

#[tokio::test]
async fn what_is_asked_cannot_steer_the_terminal() {
    let (out, _, stderr) = styled();
    let mut request = request(json!({"path": "harmless\u{202e}\u{9b}2J"}), ALL);
    request.summary = "delete\x1b[2K\rread".to_owned();
    ask(&person(&["d"], &out), &request).await;
    let text = stderr.text();
    assert!(text.contains("delete\\u{1b}[2K\\u{d}read"), "{text}");
    assert!(text.contains("harmless\\u{202e}\\u{9b}2J"), "{text}");
}

#[test]
fn a_call_that_nobody_can_be_asked_about_says_what_allows_it() {
    let (out, ..) = captured(false);
    let help = Help::of("ropewalk");
    let said = || nobody(&request(json!({}), ALL), Some(&help), &out);
    assert!(said().starts_with("nobody asked ring_bell 6: there is no terminal to ask at; "), "{}", said());
    assert!(said().contains("`ropewalk policy set allow --tool client:demo/ring_bell`"), "{}", said());
    assert!(said().contains("`ropewalk run --unattended wait`"), "{}", said());
    help.is_about("The Moss".to_owned());
    let whole = "`ropewalk policy set allow --tool client:demo/ring_bell --project 'The Moss'` allows it";
    assert!(said().contains(whole), "{}", said());
    let alone = nobody(&request(json!({}), ALL), None, &out);
    assert_eq!(alone, "nobody asked ring_bell 6: there is no terminal to ask at");
}
