//! Every bad end of a call, and what the model is told of it.

use std::collections::HashSet;

use ropewalk_protocol::{Effect, EffectiveLevel, ItemState, Problem, Severity};

use super::CallFailure;

fn problem(path: &str, reason: &str) -> Problem {
    Problem { path: path.to_owned(), reason: reason.to_owned() }
}

/// Ruling 23, line by line.
fn table() -> Vec<(CallFailure, &'static str, ItemState, Effect)> {
    use CallFailure as F;
    use ItemState::{Cancelled, Expired, Failed, OutcomeUnknown, Refused, Undeliverable};
    let reported = |code: &str| F::Reported { code: code.to_owned(), message: "It broke.".to_owned() };
    vec![
        (F::UnknownTool { near: Vec::new() }, "unknown_tool", Failed, Effect::None),
        (F::InvalidJson { reason: "expected value, at line 1, column 8".into() }, "invalid_json", Failed, Effect::None),
        (
            F::InvalidArguments { problems: vec![problem("/id", "is missing")] },
            "invalid_arguments",
            Failed,
            Effect::None,
        ),
        (F::AnswerCut, "invalid_arguments", Failed, Effect::None),
        (F::ToolLeftOut, "tool_left_out", Failed, Effect::None),
        (F::ToolUnwired, "tool_unwired", Failed, Effect::None),
        (F::OwnerAway, "owner_away", Failed, Effect::None),
        (F::ToolDenied { level: EffectiveLevel::Thread }, "tool_denied", Refused, Effect::None),
        (F::Declined { note: None, stopped: false }, "declined", Refused, Effect::None),
        (F::CallLimit { limit: 3 }, "call_limit", Refused, Effect::None),
        (F::Expired, "expired", Expired, Effect::None),
        (F::Undeliverable, "undeliverable", Undeliverable, Effect::None),
        (F::Cancelled { sent: false }, "cancelled", Cancelled, Effect::None),
        (F::Cancelled { sent: true }, "cancelled", Cancelled, Effect::Unknown),
        (F::Timeout { after_ms: 120_000 }, "timeout", Failed, Effect::Unknown),
        (F::OutcomeUnknown, "outcome_unknown", OutcomeUnknown, Effect::Unknown),
        (F::InvalidResult { problem: problem("/success", "is missing") }, "invalid_result", Failed, Effect::Done),
        (F::ResultTooLarge { limit: 9, what: "bytes".into() }, "result_too_large", Failed, Effect::Done),
        (F::unsupported_tool("no handler"), "UnsupportedTool", Failed, Effect::Unknown),
        (F::adapter_failed("It threw."), "AdapterToolCallFailed", Failed, Effect::Unknown),
        (reported("not_found"), "not_found", Failed, Effect::Unknown),
    ]
}

#[test]
fn each_ending_has_the_code_state_and_effect_of_the_ruling() {
    for (failure, code, state, effect) in table() {
        assert_eq!((failure.code(), failure.state(), failure.effect()), (code, state, effect), "{failure:?}");
    }
}

#[test]
fn dyn_31_no_two_endings_tell_the_model_the_same() {
    let texts: Vec<String> = table().iter().map(|(failure, ..)| failure.text("get_issue")).collect();
    assert_eq!(texts.iter().collect::<HashSet<_>>().len(), texts.len(), "{texts:#?}");
    for text in texts {
        assert!(text.contains("get_issue"), "{text}");
    }
}

#[test]
fn dyn_31_a_rule_a_person_silence_and_nobody_are_told_apart() {
    let text = |failure: CallFailure| failure.text("get_issue");
    assert_eq!(
        text(CallFailure::ToolDenied { level: EffectiveLevel::Thread }),
        "A rule of this thread denies get_issue. Do not try it again."
    );
    let declined = text(CallFailure::Declined { note: Some(" not on Fridays ".into()), stopped: false });
    assert_eq!(declined, "A person refused this call of get_issue, and said: not on Fridays");
    assert!(text(CallFailure::Declined { note: None, stopped: true }).contains("stopped the run"));
    assert!(text(CallFailure::Expired).contains("in time"));
    assert!(text(CallFailure::Undeliverable).contains("Nobody refused it"));
}

#[test]
fn dyn_17_problems_are_listed_with_property_and_reason() {
    let problems = vec![problem("/id", "is missing"), problem("", "must be a JSON object")];
    let text = CallFailure::InvalidArguments { problems }.text("get_issue");
    assert!(text.contains("do not fit: /id is missing; they must be a JSON object."), "{text}");
}

#[test]
fn an_unknown_tool_is_told_with_near_names() {
    let near = vec!["get_issue".to_owned(), "list_issues".to_owned()];
    assert_eq!(
        CallFailure::UnknownTool { near }.text("issue"),
        "There is no tool issue. Did you mean get_issue, list_issues?"
    );
    let long = CallFailure::UnknownTool { near: Vec::new() }.text(&"x".repeat(9_999));
    assert!(long.len() < 200, "what a model invents is not repeated at length");
}

#[test]
fn durations_are_told_in_the_unit_they_were_set_in() {
    let text = |after_ms| CallFailure::Timeout { after_ms }.text("t");
    assert!(text(1_800_000).contains("within 30 minutes"));
    assert!(text(90_000).contains("within 90 seconds"));
    assert!(text(1_500).contains("within 2 seconds"));
}

#[test]
fn the_items_error_has_the_sources_own_sentence() {
    let reported = CallFailure::Reported { code: "not_found".into(), message: "There is no issue 9.".into() };
    assert_eq!(reported.error("get_issue").message, "There is no issue 9.");
    assert_eq!(CallFailure::OwnerAway.error("t").code, "owner_away");
}

#[test]
fn somebodys_will_is_a_warning_and_a_fault_an_error() {
    assert_eq!(CallFailure::Declined { note: None, stopped: false }.severity(), Severity::Warning);
    assert_eq!(CallFailure::Expired.severity(), Severity::Warning);
    assert_eq!(CallFailure::OutcomeUnknown.severity(), Severity::Error);
    assert_eq!(CallFailure::OwnerAway.severity(), Severity::Error);
}
