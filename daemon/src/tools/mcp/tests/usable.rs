//! Which tools can be used, at each bound and beyond it.

use ropewalk_protocol::ServerToolKind;

use super::*;

fn refused(schema: Value) -> String {
    check_usable(&with_schema("t", schema)).unwrap_err().to_string()
}

fn taken(schema: Value) {
    assert_eq!(check_usable(&with_schema("t", schema)), Ok(()));
}

#[test]
fn mcp_21_a_tool_reads_if_its_server_says_exactly_so() {
    assert_eq!(kind(&reading("t").annotations), ServerToolKind::Read);
}

#[test]
fn k01_a_tool_that_can_be_called_as_a_task_only_is_unusable_and_says_so() {
    let refused = check_usable(&ListedTool { needs_task: true, ..tool("t") }).unwrap_err().to_string();
    assert_eq!(refused, "task_required: it can be called as a task only, which this version cannot do");
}

#[test]
fn mcp_22_every_other_tool_writes() {
    for hints in [
        json!({"readOnlyHint": false}),
        json!({}),
        json!({"readOnlyHint": "true"}),
        json!({"readOnlyHint": 1}),
        json!(7),
    ] {
        assert_eq!(kind(&read_annotations(Some(&hints))), ServerToolKind::Write, "{hints}");
    }
    assert_eq!(kind(&read_annotations(None)), ServerToolKind::Write);
}

#[test]
fn mcp_121_a_schema_has_at_most_64_kib_in_utf_8() {
    let sized = |bytes: usize| {
        let empty = json!({"type": "object", "description": ""}).to_string().len();
        json!({"type": "object", "description": "ü".repeat((bytes - empty) / 2) + &"x".repeat((bytes - empty) % 2)})
    };
    taken(sized(65_536));
    assert!(refused(sized(65_537)).starts_with("schema_too_large: its input schema has 65537 bytes"));
}

#[test]
fn mcp_122_a_schema_has_at_most_64_levels() {
    let nested = |levels: usize| {
        let mut schema = json!({"type": "object"});
        while crate::tools::json::levels(&schema) < levels {
            schema = json!({"type": "object", "not": {"not": schema}});
            if crate::tools::json::levels(&schema) > levels {
                schema = schema["not"].clone();
                schema["type"] = json!("object");
            }
        }
        schema
    };
    let levels = crate::tools::json::levels(&nested(64));
    assert_eq!(levels, 64);
    taken(nested(64));
    assert!(refused(nested(65)).starts_with("schema_too_deep"));
}

#[test]
fn mcp_134_an_input_schema_has_the_type_object() {
    for schema in
        [json!({"type": "array"}), json!(true), json!({}), json!(null), json!({"type": ["object"]}), json!([])]
    {
        assert!(refused(schema.clone()).starts_with("schema_not_object: the type of its input"), "{schema}");
    }
}

#[test]
fn mcp_135_an_output_schema_has_it_too() {
    let with = |schema: Value| ListedTool { output_schema: Some(Arc::new(schema)), ..tool("t") };
    assert_eq!(check_usable(&with(json!({"type": "object"}))), Ok(()));
    for schema in [json!({"type": "string"}), json!(false), json!({})] {
        let reason = check_usable(&with(schema)).unwrap_err().to_string();
        assert!(reason.starts_with("schema_not_object: the type of its output"), "{reason}");
    }
}

#[test]
fn mcp_136_every_pattern_compiles() {
    let within = |schema: Value| json!({"type": "object", "properties": {"a": {"items": [schema]}}});
    assert!(
        refused(within(json!({"pattern": "("})))
            .starts_with("bad_pattern: the pattern at /properties/a/items/0/pattern")
    );
    assert!(refused(within(json!({"patternProperties": {"[": {}}}))).starts_with("bad_pattern"));
    assert!(refused(json!({"type": "object", "$defs": {"x": {"pattern": "a{2,1}"}}})).starts_with("bad_pattern"));
}

#[test]
fn mcp_136_patterns_of_ecmascript_are_patterns() {
    for pattern in ["^(?!x)a$", "(?<=a)b", r"(a)\1", r"^\d{4}$", r"[\w.-]+@\w+", r"\p{L}+"] {
        taken(json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}));
    }
}

#[test]
fn mcp_136_a_property_called_pattern_is_none() {
    taken(json!({"type": "object", "properties": {"pattern": {"type": "string", "default": "("}}}));
    taken(json!({"type": "object", "const": {"pattern": "("}}));
}

#[test]
fn mcp_38_what_only_a_pattern_would_refuse_is_not_refused_here() {
    let schema = json!({"type": "object", "required": ["a"], "additionalProperties": false,
        "patternProperties": {"^x": {"type": "number"}},
        "propertyNames": {"pattern": "^[a-z]$"},
        "properties": {"a": {"type": "string", "pattern": "^z"}, "b": {"not": {"pattern": "^z"}}}});
    let check = crate::tools::Schema::compile(&without_patterns(&schema)).unwrap();
    assert_eq!(check.check(&json!({"a": "never", "b": "z", "x1": 1})), Ok(()));
    assert!(check.check(&json!({"a": 1})).is_err());
    assert!(check.check(&json!({})).is_err());
}

#[test]
fn mcp_38_a_schema_without_patterns_is_evaluated_whole() {
    let schema =
        json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}], "not": {"required": ["c"]}});
    assert_eq!(without_patterns(&schema), schema);
}

#[test]
fn a_schema_that_leads_outside_is_not_usable() {
    let reason = refused(json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/x.json"}}}));
    assert!(reason.starts_with("bad_schema"), "{reason}");
}

#[test]
fn a_name_that_cannot_be_shown_is_not_usable() {
    for name in ["a\nb", &*"x".repeat(129)] {
        assert_eq!(check_usable(&tool(name)), Err(Unusable::BadName));
    }
    assert_eq!(check_usable(&tool(&"x".repeat(128))), Ok(()));
}
