//! Schemas of strangers: which are compiled, and what a check says.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Schema, SchemaCache, SchemaProblem};

fn compiled(schema: Value) -> Schema {
    Schema::compile(&schema).unwrap_or_else(|problem| panic!("{schema}: {problem}"))
}

fn refused(schema: &Value) -> (String, String) {
    match Schema::compile(schema) {
        Err(SchemaProblem::Refused { path, reason }) => (path, reason),
        other => panic!("expected a refusal of {schema}, got {other:?}"),
    }
}

fn problems(schema: Value, value: &Value) -> Vec<(String, String)> {
    let problems = compiled(schema).check(value).unwrap_err();
    problems.into_iter().map(|problem| (problem.path, problem.reason)).collect()
}

#[test]
fn dyn_17_each_problem_names_its_property_and_its_reason() {
    let schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "state": {"enum": ["open", "closed"]},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}},
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    let value = json!({"state": "shut", "limit": "5", "tags": ["ok", "long"], "extra": 1});
    let mut found = problems(schema, &value);
    found.sort();
    let expected = [
        ("/extra", "is no known property; leave it out"),
        ("/id", "is missing"),
        ("/limit", "must be an integer or null"),
        ("/state", r#"must be one of "open", "closed""#),
        ("/tags/1", "must have at most 3 characters"),
    ];
    assert_eq!(found, expected.map(|(path, reason)| (path.to_owned(), reason.to_owned())));
}

#[test]
fn at_most_five_problems_are_told_and_none_repeats_the_value() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let value: Map<String, Value> = (0..9).map(|n| (format!("p{n}"), json!("hunter2"))).collect();
    let found = problems(schema, &Value::Object(value.clone()));
    assert_eq!(found.len(), 5);
    assert!(found.iter().all(|(_, reason)| !reason.contains("hunter2")));

    let secrets = [
        json!({"not": {"type": "string"}}),
        json!({"pattern": "^x$"}),
        json!({"format": "email", "$schema": "http://json-schema.org/draft-07/schema#"}),
        json!({"oneOf": [{"minLength": 1}, {"maxLength": 99}]}),
        json!({"const": 1}),
        json!(false),
    ];
    for schema in secrets {
        let found = problems(json!({"properties": {"p": schema}}), &json!({"p": "hunter2"}));
        assert!(found.iter().all(|(path, reason)| path == "/p" && !reason.contains("hunter2")), "{found:?}");
    }
    let closed = json!({"properties": {"q": {}}, "additionalProperties": false});
    assert_eq!(problems(closed, &Value::Object(value)).len(), 5);
    let takes_nothing = json!({"type": "object", "additionalProperties": false});
    let told = ("/q".to_owned(), "is no known property; leave it out".to_owned());
    assert_eq!(problems(takes_nothing, &json!({"q": 1})), [told]);
}

#[test]
fn the_draft_is_the_one_the_schema_names_else_2020_12() {
    let tuple = json!({"prefixItems": [{"type": "string"}]});
    assert!(compiled(tuple).check(&json!([1])).is_err());
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]});
    assert!(compiled(old).check(&json!([1])).is_err());
    let unknown = json!({"$schema": "https://example.com/my-own-draft", "type": "object"});
    assert!(refused(&unknown).1.contains("nothing is fetched"));
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    assert_eq!(refused(&json!({"properties": {"a": {"type": "strin"}}})).0, "/properties/a/type");
    assert_eq!(refused(&json!({"required": "id"})), ("/required".into(), "must be a list".into()));
    assert!(Schema::compile(&json!(3)).is_err());
}

#[test]
fn patterns_that_backtrack_are_refused_and_linear_ones_are_quick() {
    for pattern in ["(?=a)b", r"(a)\1", "(?<!x)y", "("] {
        let (path, reason) = refused(&json!({"properties": {"p": {"pattern": pattern}}}));
        assert_eq!((path.as_str(), reason.contains("linear-time")), ("/properties/p/pattern", true), "{pattern}");
    }
    assert!(Schema::compile(&json!({"patternProperties": {"(?=a)": {}}})).is_err());
    let schema = compiled(json!({"pattern": "(a+)+$"}));
    assert!(schema.check(&json!("a".repeat(60_000) + "b")).is_err());
}

#[test]
fn size_and_depth_are_bounded_exactly() {
    let sized = |bytes: usize| json!({"description": "x".repeat(bytes - 18)});
    assert_eq!(sized(100).to_string().len(), 100);
    assert!(Schema::compile(&sized(65_536)).is_ok());
    assert_eq!(Schema::compile(&sized(65_537)).unwrap_err(), SchemaProblem::TooManyBytes(65_537));

    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({"not": inner}));
    assert!(Schema::compile(&nested(64)).is_ok());
    assert_eq!(Schema::compile(&nested(65)).unwrap_err(), SchemaProblem::TooManyLevels(65));
}

#[test]
fn references_inside_the_schema_are_followed() {
    let schema = json!({
        "$defs": {"a/b": {"type": "string"}, "named": {"$anchor": "here", "type": "integer"}},
        "properties": {"x": {"$ref": "#/$defs/a~1b"}, "y": {"$ref": "#here"}, "z": {"$ref": "#/%24defs/a~1b"}},
    });
    assert_eq!(problems(schema, &json!({"x": 1, "y": "1", "z": 2})).len(), 3);
}

#[test]
fn references_that_lead_outside_or_nowhere_are_refused() {
    for reference in
        ["https://example.com/s.json", "other.json", "file:///etc/passwd", "#/$defs/none", "#nobody", "#/%zz"]
    {
        let (path, reason) = refused(&json!({"properties": {"x": {"$ref": reference}}}));
        assert_eq!((path.as_str(), reason.contains("nothing is fetched")), ("/properties/x/$ref", true), "{reference}");
    }
}

#[test]
fn references_to_schemas_that_are_embedded_by_their_id_are_followed() {
    let recursive = json!({
        "$id": "Node", "type": "object", "required": ["value"],
        "properties": {"value": {"type": "integer"}, "next": {"$ref": "Node"}},
    });
    assert_eq!(problems(recursive, &json!({"value": 1, "next": {"value": "2"}}))[0].0, "/next/value");
    let bundled = json!({
        "$id": "https://example.com/tool.json",
        "properties": {"a": {"$ref": "part.json"}, "b": {"$ref": "https://example.com/part.json#named"}},
        "$defs": {"part": {"$id": "part.json", "type": "string", "$defs": {"n": {"$anchor": "named", "type": "integer"}}}},
    });
    assert_eq!(problems(bundled, &json!({"a": 1, "b": "2"})).len(), 2);
    let old = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#part"}},
        "definitions": {"part": {"$id": "#part", "type": "string"}},
    });
    assert_eq!(problems(old, &json!({"a": 1})).len(), 1);
}

#[test]
fn an_id_is_no_way_around_the_bounds_on_references() {
    let circle = json!({"$id": "https://example.com/a", "allOf": [{"$ref": "https://example.com/a"}]});
    assert!(refused(&circle).1.contains("leads back to itself"));
    let dynamic = json!({
        "$id": "https://example.com/outer", "$dynamicAnchor": "it", "$ref": "inner",
        "$defs": {"inner": {"$id": "inner", "$dynamicRef": "#it", "$defs": {"it": {"$dynamicAnchor": "it"}}}},
    });
    assert!(refused(&dynamic).1.contains("leads back to itself"));
    let twice = |n: usize| {
        let next = json!({"$ref": format!("d{n}")});
        json!({"$id": format!("d{}", n + 1), "properties": {"a": next, "b": next}})
    };
    let mut defs: Map<String, Value> = (0..40).map(|n| (format!("x{n}"), twice(n))).collect();
    defs.insert("x".to_owned(), json!({"$id": "d0", "type": "string"}));
    let doubling = json!({"$defs": defs, "$ref": "d40"});
    assert!(refused(&doubling).1.contains("more than 10000 subschemas"));
}

#[test]
fn an_id_that_names_no_place_is_refused_and_ends_nothing() {
    for id in ["https://example.com/a#b", "http://[", "::", "%zz"] {
        for schema in [
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "$id": id, "properties": {"a": {"$ref": "#"}}}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$id": id, "$ref": "#"}}}),
            json!({"$id": id, "properties": {"a": {"type": "string"}}}),
        ] {
            // Some of them are names after all, and some are none in places where a draft does not read them.
            if let Err(problem) = Schema::compile(&schema) {
                assert!(!problem.to_string().trim().is_empty(), "{schema}");
            }
        }
    }
}

#[test]
fn a_property_may_be_named_like_a_keyword() {
    let schema = json!({"properties": {"$ref": {"type": "string"}, "properties": {"type": "string"}}});
    assert_eq!(problems(schema, &json!({"$ref": 1, "properties": 2})).len(), 2);
}

#[test]
fn recursive_schemas_work_and_circles_on_one_value_are_refused() {
    let tree = json!({
        "type": "object",
        "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}},
        "additionalProperties": false,
    });
    assert_eq!(
        problems(tree, &json!({"left": {"right": {"x": 1}}})),
        [("/left/right/x".to_owned(), "is no known property; leave it out".to_owned(),)]
    );
    let circles = [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
        json!({"properties": {"x": {"dependentSchemas": {"k": {"$ref": "#/properties/x"}}}}}),
    ];
    for circle in circles {
        assert!(refused(&circle).1.contains("leads back to itself"), "{circle}");
    }
}

#[test]
fn references_that_multiply_are_refused() {
    let doubling = |count: usize| {
        let twice = |n: usize| json!({"properties": {"a": {"$ref": format!("#/$defs/d{n}")}, "b": {"$ref": format!("#/$defs/d{n}")}}});
        let mut defs: Map<String, Value> = (1..=count).map(|n| (format!("d{n}"), twice(n - 1))).collect();
        defs.insert("d0".to_owned(), json!({"type": "string"}));
        json!({"$defs": defs, "$ref": format!("#/$defs/d{count}")})
    };
    assert!(Schema::compile(&doubling(8)).is_ok());
    assert!(refused(&doubling(40)).1.contains("more than 10000 subschemas"));
}

#[test]
fn long_chains_of_references_neither_overflow_the_stack_nor_pass() {
    let chain = |count: usize| {
        let next = |n: usize| (format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", n + 1)}));
        let mut defs: Map<String, Value> = (0..count).map(next).collect();
        defs.insert(format!("d{count}"), json!({"type": "string"}));
        json!({"$defs": defs, "$ref": "#/$defs/d0"})
    };
    assert!(compiled(chain(200)).check(&json!(1)).is_err());
    assert!(refused(&chain(1_500)).1.contains("subschemas deep"));
}

#[test]
fn a_cache_keeps_a_schema_by_the_digest_of_its_tool() {
    let cache = SchemaCache::default();
    let schema = json!({"type": "object"});
    let first = cache.ready("d-1", &schema).unwrap();
    assert!(Arc::ptr_eq(&first, &cache.ready("d-1", &schema).unwrap()));
    assert!(!Arc::ptr_eq(&first, &cache.ready("d-2", &schema).unwrap()));
    assert!(cache.ready("d-3", &json!({"type": "objekt"})).is_none());
}

fn nested(levels: usize, leaf: Value) -> Value {
    (0..levels).fold(leaf, |inner, _| json!({"a": inner}))
}

/// Finding every error in such a value takes 2^92 steps, finding that there is one a few hundred.
#[test]
fn a_recursive_schema_with_many_ways_to_itself_is_checked_in_time() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let again = json!({"properties": {"a": {"$ref": "#/$defs/n"}}});
        let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", keyword: [again, again]}}});
        let problems = compiled(schema).check(&nested(92, json!(1))).unwrap_err();
        assert_eq!(problems[0].reason, "does not fit the schema, and is nested too deep to say where", "{keyword}");
    }
    let tree = json!({"$ref": "#/$defs/n", "$defs": {"n": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/$defs/n"}},
    }}});
    assert_eq!(compiled(tree).check(&nested(5, json!(1))).unwrap_err()[0].path, "/a/a/a/a/a");
}

#[test]
fn deep_values_and_deep_schemas_do_not_overflow_the_stack() {
    let link = |n: usize| (format!("d{n}"), json!({"allOf": [{"$ref": format!("#/$defs/d{}", n + 1)}]}));
    let mut defs: Map<String, Value> = (0..120).map(link).collect();
    defs.insert("d120".to_owned(), json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}}));
    let schema = compiled(json!({"$ref": "#/$defs/d0", "$defs": defs}));
    assert!(schema.check(&nested(92, json!({}))).is_ok());
    assert_eq!(schema.check(&nested(92, json!(1))).unwrap_err()[0].reason, "must be an object");
}
