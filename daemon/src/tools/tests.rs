//! A tool as clients and models are shown it.

use std::sync::Arc;

use ropewalk_protocol::{ClientRef, EffectiveLevel, Limits, PolicyDecision, ToolDeclaration, ToolState};
use serde_json::{Value, json};

use super::{Effective, Seen, ToolSpec, ask_user, check_declarations, model_description, policy::MAX_CALLS};

fn spec(fields: Value) -> ToolSpec {
    let mut tool = json!({"name": "get_issue", "description": "Read an issue.", "inputSchema": {"type": "object"}});
    for (name, value) in fields.as_object().unwrap() {
        tool[name] = value.clone();
    }
    let declared: ToolDeclaration = serde_json::from_value(tool).unwrap();
    let tools = check_declarations(&[declared], &Limits::default(), 1_800_000).unwrap();
    let owner = ClientRef { client_name: "bot".into(), instance_id: "in-A".into() };
    ToolSpec::of_client(&tools[0], &owner, 120_000)
}

fn by_default(tool: &ToolSpec) -> Effective {
    Effective {
        decision: tool.default.decision,
        level: EffectiveLevel::Default,
        policy_id: None,
        timeout_ms: None,
        max_calls: MAX_CALLS,
        why: tool.default.why.to_string(),
    }
}

fn shown(tool: &ToolSpec, effective: &Effective, schemas: bool) -> Value {
    let seen = Seen { state: ToolState::Bound, reason: None, effective, ceiling_ms: 1_800_000, schemas };
    serde_json::to_value(tool.to_wire(seen)).unwrap()
}

#[test]
fn dyn_4_the_model_reads_what_a_namespace_is_for() {
    let tool = spec(json!({"namespace": "tracker", "namespaceDescription": "The issue tracker."}));
    assert_eq!(model_description(&tool), "tracker: The issue tracker.\n\nRead an issue.");
    let definition = tool.to_definition();
    assert_eq!((definition.name.as_str(), definition.description), ("tracker__get_issue", model_description(&tool)));
    assert!(Arc::ptr_eq(&definition.input_schema, &tool.input_schema));
    assert_eq!(model_description(&spec(json!({}))), "Read an issue.");
}

#[test]
fn a_client_tool_is_shown_as_the_transcript_has_it() {
    let tool = spec(json!({"annotations": {"readOnlyHint": true}}));
    let expected = json!({
        "flatName": "get_issue", "name": "get_issue", "description": "Read an issue.",
        "annotations": {"readOnlyHint": true}, "source": "client:bot", "sourceKind": "client", "sourceName": "bot",
        "owner": {"clientName": "bot", "instanceId": "in-A"}, "state": "bound", "digest": tool.digest,
        "policy": {"decision": "allow", "level": "default", "timeoutMs": 120_000, "maxCallsPerRun": 65_535},
        "why": "default of client tools",
    });
    assert_eq!(shown(&tool, &by_default(&tool), false), expected);
    assert_eq!(shown(&tool, &by_default(&tool), true)["inputSchema"], json!({"type": "object"}));
}

#[test]
fn ask_user_is_shown_as_the_transcript_has_it() {
    let tool = ask_user::tool();
    let shown = shown(&tool, &by_default(&tool), false);
    assert_eq!(
        shown["policy"],
        json!({"decision": "allow", "level": "default", "timeoutMs": 600_000, "maxCallsPerRun": 65_535})
    );
    assert_eq!((&shown["flatName"], &shown["title"]), (&json!("mcp_app__ask_user"), &json!("Ask the person")));
    assert!(shown.get("owner").is_none());
}

#[test]
fn dyn_35_a_declarations_timeout_and_approval_wish_have_their_effect() {
    let tool = spec(json!({"timeoutMs": 5_000, "approval": "ask"}));
    assert_eq!(tool.default.decision, PolicyDecision::Ask);
    let mut effective = by_default(&tool);
    assert_eq!(tool.silence_ms(&effective, 1_800_000), 5_000);
    effective.timeout_ms = Some(9_000);
    assert_eq!(tool.silence_ms(&effective, 1_800_000), 9_000, "a rule's timeout comes first");
    assert_eq!(tool.silence_ms(&effective, 1_000), 1_000, "the ceiling ends every call");
}

#[test]
fn a_denied_tool_is_blocked_whatever_its_client_does() {
    let tool = spec(json!({}));
    let denied = Effective { decision: PolicyDecision::Deny, ..by_default(&tool) };
    assert_eq!(shown(&tool, &denied, false)["state"], "blocked");
}

#[test]
fn rules_know_a_client_tool_by_its_flat_name_and_any_other_by_its_own() {
    assert_eq!(spec(json!({"namespace": "tracker"})).rule_name(), "tracker__get_issue");
    assert_eq!(ask_user::tool().rule_name(), "ask_user");
    assert_eq!(spec(json!({"namespace": "tracker"})).to_approval().name, "tracker__get_issue");
}
