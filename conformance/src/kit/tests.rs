//! The parts that every kit shares: lists of known failures, selections, reports.

use std::time::Duration;

use serde_json::json;

use super::{
    known::KnownFailing,
    report::{Counts, Failure, Outcome, Report, Transcript, VectorResult},
    selection::Selection,
};

fn failure() -> Failure {
    let transcripts = vec![Transcript { connection: "a".into(), lines: vec!["→ {}".into()] }];
    Failure {
        step: "3".into(),
        doing: "call x".into(),
        expected: "1".into(),
        came: "2".into(),
        rule: None,
        transcripts,
    }
}

#[test]
fn a_list_of_known_failures_is_strict_both_ways() {
    let list = KnownFailing::read("# why\n\nfirst  it is not built yet \n", ["first", "second"]).unwrap();
    assert_eq!(list.reason("first"), Some("it is not built yet"));
    assert_eq!(list.judge("second", Ok(())), Outcome::Passed);
    assert_eq!(list.judge("second", Err(failure())), Outcome::Failed { failure: failure() });
    let reason = "it is not built yet".to_owned();
    assert_eq!(list.judge("first", Err(failure())), Outcome::Known { reason: reason.clone(), failure: failure() });
    assert_eq!(list.judge("first", Ok(())), Outcome::PassedThoughKnown { reason });
}

#[test]
fn a_list_names_every_line_it_cannot_use() {
    let bad = KnownFailing::read("first\nnobody because\nfirst a\nfirst b", ["first"]).unwrap_err();
    let begins =
        ["line 1: `first` has no reason", "line 2: there is no vector `nobody`", "line 4: `first` is listed twice"];
    assert_eq!(bad.problems.len(), begins.len(), "{bad}");
    assert!(bad.problems.iter().zip(begins).all(|(problem, begin)| problem.starts_with(begin)), "{bad}");
}

#[test]
fn a_selection_takes_topics_names_or_both() {
    let takes = |glob: &str, topic, name| Selection::new(vec![glob.to_owned()]).takes(topic, name);
    assert!(Selection::default().takes("a", "b"));
    assert!(takes("runs", "runs", "x") && takes("x", "runs", "x") && takes("k2?_*", "runs", "k21_two"));
    assert!(takes("runs/*", "runs", "x") && takes("*/x", "runs", "x") && takes("*ü*", "runs", "über"));
    assert!(!takes("run", "runs", "x") && !takes("queue/*", "runs", "x") && !takes("?", "runs", ""));
}

#[test]
fn a_report_counts_and_says_what_failed_and_where() {
    let result = |name: &str, outcome| VectorResult {
        name: name.into(),
        topic: "runs".into(),
        why: "It matters.".into(),
        outcome,
        took: Duration::from_millis(5),
    };
    let reason = || "later".to_owned();
    let results = vec![
        result("a", Outcome::Passed),
        result("b", Outcome::Failed { failure: failure() }),
        result("c", Outcome::Known { reason: reason(), failure: failure() }),
        result("d", Outcome::PassedThoughKnown { reason: reason() }),
        result("e", Outcome::NotRun { reason: reason() }),
    ];
    let mut report = Report { subject: "mine".into(), results, took: Duration::from_secs(1), is_interrupted: false };
    let counts = Counts { passed: 1, failed: 1, known: 1, passed_though_known: 1, not_run: 1 };
    assert_eq!(report.counts(), counts);
    assert!(!report.is_as_expected());

    let text = report.to_string();
    for part in
        ["FAILED  runs/b\n  why it matters: It matters.\n  step 3: call x\n", "    → {}\n", "known   runs/c: later"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let last =
        "mine: 1 passed, 1 failed, 1 known to fail, 1 passed though listed as known to fail, 1 not run (1.0 s)\n";
    assert!(text.ends_with(last), "{text}");

    let json = report.to_json();
    assert_eq!(json["counts"], json!({"passed": 1, "failed": 1, "known": 1, "passedThoughKnown": 1, "notRun": 1}));
    assert_eq!(json["vectors"][1]["failure"]["came"], "2");
    assert_eq!(
        json["vectors"][4],
        json!({
            "name": "e", "topic": "runs", "why": "It matters.", "outcome": "notRun", "durationMs": 5, "reason": "later",
        })
    );

    report.results.retain(|result| matches!(result.name.as_str(), "a" | "c" | "e"));
    assert!(report.is_as_expected());
    report.is_interrupted = true;
    assert!(!report.is_as_expected());
}
