//! Declarations of clients: what is taken, and the path of what is not.

use std::sync::Arc;

use ropewalk_protocol::{ApprovalWish, ErrorDetail, Limits, RpcError, ToolDeclaration};
use serde_json::{Value, json};

use super::{ClientTool, DeclarationProblem, check_declarations};

const CEILING_MS: u64 = 1_800_000;

fn declared(fields: Value) -> ToolDeclaration {
    let mut tool = json!({"name": "get_issue", "description": "Read an issue.", "inputSchema": {"type": "object"}});
    for (name, value) in fields.as_object().unwrap() {
        tool[name] = value.clone();
    }
    serde_json::from_value(tool).unwrap()
}

fn check(tools: &[ToolDeclaration]) -> Result<Vec<Arc<ClientTool>>, DeclarationProblem> {
    check_declarations(tools, &Limits::default(), CEILING_MS)
}

fn refused(tools: &[ToolDeclaration]) -> (String, String) {
    match RpcError::from(check(tools).unwrap_err()).data.detail {
        ErrorDetail::InvalidParams { path, reason, .. } => (path, reason),
        other => panic!("expected invalidParams, got {other:?}"),
    }
}

fn refused_one(fields: Value) -> (String, String) {
    refused(&[declared(json!({"name": "first"})), declared(fields)])
}

#[test]
fn dyn_3_a_declaration_is_taken_with_its_flat_name_and_its_digest() {
    let tools =
        check(&[declared(json!({})), declared(json!({"namespace": "tracker", "annotations": {"readOnlyHint": true}}))])
            .unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.flat_name.as_str()).collect();
    assert_eq!(names, ["get_issue", "tracker__get_issue"]);
    assert_eq!(tools[0].digest.len(), 64);
    assert_ne!(tools[0].digest, tools[1].digest);
    assert!(check(&[]).unwrap().is_empty());
}

#[test]
fn dyn_3_each_missing_field_is_refused() {
    for field in ["name", "description", "inputSchema"] {
        let mut tool = json!({"name": "a", "description": "b", "inputSchema": {"type": "object"}});
        tool.as_object_mut().unwrap().remove(field);
        let error = serde_json::from_value::<ToolDeclaration>(tool).unwrap_err();
        assert!(error.to_string().contains(field), "{error}");
    }
}

#[test]
fn names_are_refused_with_their_path() {
    assert_eq!(refused_one(json!({"name": "a b"})).0, "/tools/1/name");
    assert_eq!(refused_one(json!({"name": ""})).0, "/tools/1/name");
    assert_eq!(refused_one(json!({"namespace": "ü"})).0, "/tools/1/namespace");
    assert_eq!(refused_one(json!({"name": "mcp_app__ask_user"})).0, "/tools/1/name");
    assert_eq!(refused_one(json!({"namespace": "mcp_app"})).0, "/tools/1/namespace");
    let half = "n".repeat(32);
    let (path, reason) = refused_one(json!({"name": half, "namespace": half}));
    assert_eq!((path.as_str(), reason.contains("64 characters together")), ("/tools/1/namespace", true));
    assert!(check(&[declared(json!({"name": "n".repeat(30), "namespace": half}))]).is_ok());
}

#[test]
fn texts_have_limits_in_characters() {
    for field in ["description", "namespaceDescription", "title"] {
        let with = |text: String| {
            let mut fields = json!({"namespace": "n"});
            fields[field] = text.into();
            fields
        };
        assert!(check(&[declared(with("é".repeat(2_048)))]).is_ok(), "{field}");
        let path = format!("/tools/1/{field}");
        assert_eq!(
            refused_one(with("é".repeat(2_049))),
            (path.clone(), "has 2049 characters; at most 2048 are allowed".into())
        );
        assert_eq!(refused_one(with("  ".into())), (path, "must not be empty".into()));
    }
}

#[test]
fn an_input_schema_is_the_schema_of_an_object() {
    for schema in [json!({}), json!({"type": "array"}), json!({"type": ["object"]}), json!(true), json!(null)] {
        assert_eq!(refused_one(json!({"inputSchema": schema})).0, "/tools/1/inputSchema/type", "{schema}");
    }
}

#[test]
fn schemas_that_do_not_compile_are_refused_with_the_place_inside() {
    let wrong = json!({"type": "object", "properties": {"a": {"type": "strin"}}});
    assert_eq!(refused_one(json!({"inputSchema": wrong})).0, "/tools/1/inputSchema/properties/a/type");
    let backtracking = json!({"properties": {"a/b": {"pattern": "(a)\\1"}}});
    let (path, reason) = refused_one(json!({"outputSchema": backtracking}));
    assert_eq!(path, "/tools/1/outputSchema/properties/a~1b/pattern");
    assert!(reason.contains("linear-time"), "{reason}");
}

#[test]
fn schemas_over_their_limits_are_too_large() {
    let too_large = |schema: Value| {
        let error = RpcError::from(check(&[declared(json!({"inputSchema": schema}))]).unwrap_err());
        assert!(error.message.contains("/tools/0/inputSchema"), "{error}");
        match error.data.detail {
            ErrorDetail::TooLarge { what, limit, actual } => (what, limit, actual),
            other => panic!("expected tooLarge, got {other:?}"),
        }
    };
    let sized = |bytes: usize| {
        let empty = json!({"type": "object", "description": ""}).to_string().len();
        json!({"type": "object", "description": "x".repeat(bytes - empty)})
    };
    assert!(check(&[declared(json!({"inputSchema": sized(65_536)}))]).is_ok());
    assert_eq!(too_large(sized(65_537)), ("schema".into(), 65_536, 65_537));
    let nested = |levels: usize| (2..levels).fold(json!({}), |inner, _| json!({"not": inner}));
    let schema = |levels: usize| json!({"type": "object", "not": nested(levels)});
    assert!(check(&[declared(json!({"inputSchema": schema(64)}))]).is_ok());
    assert_eq!(too_large(schema(65)), ("schema levels".into(), 64, 65));
}

#[test]
fn one_client_declares_128_tools_and_not_129() {
    let tools: Vec<_> = (0..129).map(|n| declared(json!({"name": format!("t{n}")}))).collect();
    assert_eq!(check(&tools[..128]).unwrap().len(), 128);
    assert_eq!(refused(&tools), ("/tools".into(), "has 129 tools; at most 128 are allowed".into()));
}

#[test]
fn two_tools_with_one_flat_name_are_refused() {
    let (path, _) = refused(&[declared(json!({"name": "a__b"})), declared(json!({"name": "b", "namespace": "a"}))]);
    assert_eq!(path, "/tools/1/name");
}

#[test]
fn dyn_35_a_timeout_is_in_its_range_and_below_the_ceiling() {
    for good in [1_000, 1_800_000] {
        assert_eq!(check(&[declared(json!({"timeoutMs": good}))]).unwrap()[0].timeout_ms, Some(good));
    }
    assert_eq!(refused_one(json!({"timeoutMs": 999})), ("/tools/1/timeoutMs".into(), "must be 1000 to 3600000".into()));
    assert_eq!(refused_one(json!({"timeoutMs": 3_600_001})).1, "must be 1000 to 3600000");
    assert!(refused_one(json!({"timeoutMs": 1_800_001})).1.contains("at most 1800000"));
    assert!(check_declarations(&[declared(json!({"timeoutMs": 3_600_000}))], &Limits::default(), 3_600_000).is_ok());
}

#[test]
fn dyn_4_a_namespace_has_one_description_and_all_its_tools_share_it() {
    let tool = |name: &str, about: Option<&str>| {
        let mut fields = json!({"name": name, "namespace": "tracker"});
        if let Some(about) = about {
            fields["namespaceDescription"] = about.into();
        }
        declared(fields)
    };
    let tools = check(&[tool("a", None), tool("b", Some("The tracker.")), tool("c", Some("The tracker."))]).unwrap();
    assert!(tools.iter().all(|tool| tool.namespace_description.as_deref() == Some("The tracker.")));
    let (path, reason) = refused(&[tool("a", Some("One.")), tool("b", Some("Two."))]);
    assert_eq!((path.as_str(), reason.contains("differs")), ("/tools/1/namespaceDescription", true));
    assert_eq!(refused_one(json!({"namespaceDescription": "x"})).1, "needs a namespace");
}

#[test]
fn the_first_problem_leads_and_up_to_four_more_follow() {
    let tools: Vec<_> = (0..9).map(|n| declared(json!({"name": format!("t {n}")}))).collect();
    let error = RpcError::from(check(&tools).unwrap_err());
    assert!(error.message.contains("/tools/0/name"), "{error}");
    let ErrorDetail::InvalidParams { path, problems, .. } = error.data.detail else { panic!() };
    assert_eq!((path.as_str(), problems.len()), ("/tools/0/name", 4));
    assert_eq!(problems[3].path, "/tools/4/name");
}

#[test]
fn a_checked_tool_survives_the_store() {
    let fields = json!({
        "namespace": "n", "namespaceDescription": "About n.", "title": "T", "timeoutMs": 5000, "approval": "ask",
        "outputSchema": {"type": "object"}, "annotations": {"idempotentHint": true},
    });
    let tools = check(&[declared(fields), declared(json!({"name": "plain"}))]).unwrap();
    for tool in tools {
        let stored = serde_json::to_string(&tool).unwrap();
        assert_eq!(serde_json::from_str::<ClientTool>(&stored).unwrap(), *tool);
    }
    assert_eq!(check(&[declared(json!({"approval": "ask"}))]).unwrap()[0].approval, Some(ApprovalWish::Ask));
}
