//! Schemas and declarations: closed where the type says what there is, open where it does not.

#![expect(dead_code, reason = "the fields are only described")]

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, ToolBuilder, Tools, schema};
use crate::Error;

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// What to look for.
    query: String,
    /// Where.
    place: Place,
    /// Labels with any names.
    labels: HashMap<String, Label>,
    filters: Vec<Filter>,
    anything: Value,
}

/// A place.
#[derive(Deserialize, JsonSchema)]
struct Place {
    /// The project.
    project: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Label {
    color: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Filter {
    State { open: bool },
    Since(Since),
}

#[derive(Deserialize, JsonSchema)]
struct Since {
    day: String,
}

#[derive(Deserialize, JsonSchema)]
struct Flattened {
    name: String,
    #[serde(flatten)]
    choice: Choice,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Choice {
    One { a: u8 },
    Two { b: u8 },
}

#[derive(Deserialize, JsonSchema)]
struct Node {
    label: String,
    children: Vec<Node>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Tree {
    Leaf,
    Twig(Twig),
}

#[derive(Deserialize, JsonSchema)]
struct Twig {
    trees: Vec<Tree>,
    empty: Option<Empty>,
}

#[derive(Deserialize, JsonSchema)]
struct Empty {}

fn builder() -> ToolBuilder<super::NoArguments> {
    Tool::new("search").description("Search.")
}

fn reason(tool: &Tool) -> (String, String) {
    match tool.check() {
        Err(Error::InvalidTool { path, reason, .. }) => (path, reason),
        other => panic!("{other:?}"),
    }
}

/// Whether a schema takes a value, as the daemon will decide it.
fn takes(schema: &Value, value: &Value) -> bool {
    jsonschema::validator_for(schema).expect("the schema is one").is_valid(value)
}

#[test]
fn dyn_6_every_object_level_the_type_defines_is_closed() {
    let schema = schema::of::<Search>();
    let properties = &schema["properties"];
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(properties["place"]["additionalProperties"], false);
    assert_eq!(properties["labels"]["additionalProperties"]["additionalProperties"], false);
    assert!(schema.get("$defs").is_none() && schema.get("$schema").is_none() && schema.get("title").is_none());

    let good = json!({
        "query": "q", "place": {"project": "p"}, "labels": {"any name": {"color": "red"}},
        "filters": [{"kind": "state", "open": true}, {"kind": "since", "day": "monday"}], "anything": {"at": ["all"]},
    });
    assert!(takes(&schema, &good));
    for (pointer, key) in
        [("", "x"), ("/place", "x"), ("/labels/any name", "x"), ("/filters/0", "x"), ("/filters/1", "x")]
    {
        let mut bad = good.clone();
        bad.pointer_mut(pointer).and_then(Value::as_object_mut).expect("an object").insert(key.to_owned(), json!(1));
        assert!(!takes(&schema, &bad), "{pointer} is open");
    }
}

#[test]
fn dyn_6_a_flattened_type_is_closed_as_a_whole() {
    let schema = schema::of::<Flattened>();
    assert!(takes(&schema, &json!({"name": "n", "one": {"a": 1}})), "{schema}");
    assert!(!takes(&schema, &json!({"name": "n", "one": {"a": 1}, "x": 1})), "{schema}");
    assert!(!takes(&schema, &json!({"name": "n", "one": {"a": 1, "x": 1}})), "{schema}");
}

#[test]
fn dyn_6_a_recursive_type_is_closed_at_every_depth() {
    let schema = schema::of::<Node>();
    let tree = |extra: bool| {
        let mut leaf = json!({"label": "leaf", "children": []});
        if extra {
            leaf["x"] = json!(1);
        }
        json!({"label": "root", "children": [{"label": "twig", "children": [leaf]}]})
    };
    assert!(takes(&schema, &tree(false)), "{schema}");
    assert!(!takes(&schema, &tree(true)), "{schema}");
    assert!(builder().input::<Node>().handler(|_, _| async {}).check().is_ok());
}

#[test]
fn dyn_6_a_recursive_type_with_tags_takes_what_serde_takes() {
    let schema = schema::of::<Twig>();
    let twig = json!({"trees": [{"kind": "leaf"}, {"kind": "twig", "trees": [{"kind": "leaf"}], "empty": {}}]});
    assert!(takes(&schema, &twig), "{schema}");
    assert!(schema::read_arguments::<Twig>(twig).is_ok());
    assert!(!takes(&schema, &json!({"trees": [], "empty": {"x": 1}})), "{schema}");
    assert!(!takes(&schema, &json!({"trees": [{"kind": "leaf", "x": 1}]})), "{schema}");
    assert!(!takes(&schema, &json!({"trees": [{"kind": "twig", "trees": [], "x": 1}]})), "{schema}");
}

#[test]
fn dyn_7_doc_comments_of_fields_become_descriptions() {
    let schema = schema::of::<Search>();
    assert_eq!(schema["properties"]["query"]["description"], "What to look for.");
    assert_eq!(schema["properties"]["place"]["description"], "Where.");
    assert_eq!(schema["properties"]["place"]["properties"]["project"]["description"], "The project.");
}

#[test]
fn arguments_with_undeclared_properties_name_each_of_them() {
    let arguments = json!({
        "query": "q", "place": {"project": null, "plot": 1}, "labels": {"l": {"color": "c", "size/2": 1}}, "filters": [],
        "anything": 1, "limit": 3,
    });
    let Err(error) = schema::read_arguments::<Search>(arguments) else { panic!("they were taken") };
    assert_eq!(error.code(), "invalid_arguments");
    for path in ["/place/plot", "/labels/l/size~12", "/limit"] {
        assert!(error.message().contains(path), "{error}");
    }
}

#[test]
fn a_schema_of_ones_own_is_declared_as_it_is() {
    let own = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let tool = builder().input_schema(own.clone()).handler(|arguments: Value, _| async move { arguments.to_string() });
    assert_eq!(tool.declaration().input_schema, own);
    assert!(tool.check().is_ok());
}

#[test]
fn an_output_type_is_declared() {
    let tool = builder().output::<BTreeMap<String, u8>>().handler(|_, _| async {});
    assert_eq!(tool.declaration().output_schema.as_ref().map(|schema| schema["type"].clone()), Some(json!("object")));
}

#[test]
fn a_tool_is_checked_against_the_rules_of_the_wire() {
    let with = |name: &str| Tool::new(name).description("d").handler(|_, _| async {});
    assert!(with(&"n".repeat(64)).check().is_ok());
    assert_eq!(reason(&with(&"n".repeat(65))).0, "/name");
    assert_eq!(reason(&with("get issue")).0, "/name");
    assert_eq!(reason(&with("mcp_x")).0, "/name");
    let long = Tool::new("n".repeat(32)).namespace("s".repeat(31)).description("d").handler(|_, _| async {});
    assert!(reason(&long).1.contains("65 characters"));
    let empty = Tool::new("a").handler(|_, _| async {});
    assert_eq!(reason(&empty).0, "/description");
    assert!(Tool::new("a").description("d".repeat(2_048)).handler(|_, _| async {}).check().is_ok());
    assert!(Tool::new("a").description("d".repeat(2_049)).handler(|_, _| async {}).check().is_err());
    assert_eq!(reason(&builder().timeout_ms(999).handler(|_, _| async {})).0, "/timeoutMs");
    assert!(builder().timeout_ms(1_000).handler(|_, _| async {}).check().is_ok());
    assert_eq!(
        reason(&builder().input_schema(json!({"type": "string"})).handler(|_, _| async {})).0,
        "/inputSchema/type"
    );
}

#[test]
fn schemas_are_checked_at_their_limits() {
    let nested = |levels: usize| (2..levels).fold(json!({}), |inner, _| json!({"not": inner}));
    let tool = |levels: usize| {
        let schema = json!({"type": "object", "not": nested(levels)});
        builder().input_schema(schema).handler(|_, _| async {})
    };
    assert!(tool(64).check().is_ok());
    assert!(reason(&tool(65)).1.contains("65 deep"));
    let sized = |bytes: usize| {
        let rest = json!({"type": "object", "title": ""}).to_string().len();
        let schema = json!({"type": "object", "title": "t".repeat(bytes - rest)});
        builder().input_schema(schema).handler(|_, _| async {})
    };
    assert!(sized(65_536).check().is_ok());
    assert!(reason(&sized(65_537)).1.contains("65537 bytes"));
}

#[test]
fn a_set_keeps_its_order_and_its_limit() {
    let tool = |n: usize| Tool::new(format!("t{n}")).description("d").handler(|_, _| async {});
    assert!((0..128).map(tool).collect::<Tools>().check().is_ok());
    assert!(
        matches!((0..129).map(tool).collect::<Tools>().check(), Err(Error::InvalidTool { path, .. }) if path == "/tools/128")
    );
    let tools = Tools::new().add(tool(1)).add(tool(2)).add(tool(1));
    assert_eq!(tools.declarations().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["t2", "t1"]);
}
