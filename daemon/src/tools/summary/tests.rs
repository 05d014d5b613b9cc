//! The one line that says what a call is about.

use serde_json::{Value, json};

use super::{RESULT_SUMMARY, SUMMARY_CHARACTERS, result_summary, summary};
use crate::tools::ToolSpec;

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

#[test]
fn app_202_app_206_only_an_app_tool_says_itself_what_came_of_its_call() {
    use ropewalk_protocol::SourceKind;
    let app = ToolSpec::of_app("app_read", "Read", "Reads.", json!({"type": "object"}));
    let meta = json!({RESULT_SUMMARY: "Read Threads\n(page size 2)"});
    assert_eq!(result_summary(&app, Some(&meta)).unwrap(), "Read Threads (page size 2)");
    for nothing in [json!({}), json!({RESULT_SUMMARY: 1}), json!({RESULT_SUMMARY: " \n"}), json!(null)] {
        assert_eq!(result_summary(&app, Some(&nothing)), None, "{nothing}");
    }
    assert_eq!(result_summary(&app, None), None);
    for kind in [SourceKind::Mcp, SourceKind::Files, SourceKind::Client] {
        let namesake = ToolSpec { source_kind: kind, ..app.clone() };
        assert_eq!(result_summary(&namesake, Some(&meta)), None, "{kind:?}");
    }
}

#[test]
fn app_205_app_206_only_an_app_tool_says_itself_how_much_attention_its_call_deserves() {
    use ropewalk_protocol::{Severity, SourceKind};

    use super::{RESULT_SEVERITY, result_severity};
    let app = ToolSpec::of_app("app_threads", "Threads", "Changes.", json!({"type": "object"}));
    for (word, severity) in [("info", Severity::Info), ("warning", Severity::Warning), ("error", Severity::Error)] {
        assert_eq!(result_severity(&app, Some(&json!({RESULT_SEVERITY: word}))), Some(severity));
    }
    for nothing in [json!({}), json!({RESULT_SEVERITY: "loud"}), json!({RESULT_SEVERITY: 1}), json!(null)] {
        assert_eq!(result_severity(&app, Some(&nothing)), None, "{nothing}");
    }
    for kind in [SourceKind::Mcp, SourceKind::Files, SourceKind::Client] {
        let namesake = ToolSpec { source_kind: kind, ..app.clone() };
        assert_eq!(result_severity(&namesake, Some(&json!({RESULT_SEVERITY: "warning"}))), None, "{kind:?}");
    }
}
