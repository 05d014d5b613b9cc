//! Lists with odd tools in them.

use serde_json::{Value, json};

use super::{Listing, Pages, TOOLS, Then};

fn listed(tools: Vec<Value>) -> Listing {
    let mut pages = Pages::default();
    assert_eq!(pages.take(&json!({ "tools": tools })), Then::Done);
    pages.finish()
}

fn with_schema(schema: Value) -> Option<String> {
    listed(vec![json!({ "name": "t", "inputSchema": schema })]).tools.remove(0).quarantine
}

/// Levels of nesting, each in the one before.
fn deep(levels: usize) -> Value {
    let inner = (0..levels - 1).fold(json!({}), |inner, _| json!({ "x": inner }));
    json!({ "type": "object", "x": inner })
}

#[test]
fn k02_a_schema_is_carried_as_it_was_written() {
    let schema = json!({
        "type": "object", "properties": { "anything": true, "nothing": false, "n": { "type": ["integer", "null"] } },
        "$defs": { "x": { "$ref": "#/$defs/x" } }, "x-own": [1, 2.5, "ä"], "required": ["anything"],
    });
    let listing = listed(vec![json!({ "name": "t", "inputSchema": schema, "outputSchema": schema })]);
    assert_eq!(*listing.tools[0].input_schema, schema);
    assert_eq!(listing.tools[0].output_schema.as_deref(), Some(&schema));
    assert_eq!(listing.oddities(), Vec::<String>::new());
}

#[test]
fn k01_a_tool_that_cannot_be_used_is_quarantined_with_its_reason_and_its_neighbours_are_not() {
    let fine = json!({ "name": "fine", "inputSchema": { "type": "object" } });
    for odd in [json!(true), json!([]), json!({}), json!(null), json!({ "type": "array" })] {
        let tools = vec![fine.clone(), json!({ "name": "odd", "inputSchema": odd }), json!(7)];
        let listing = listed(tools);
        assert!(listing.usable("fine").is_some(), "beside {odd}");
        assert!(listing.usable("odd").is_none(), "{odd}");
        assert_eq!(listing.oddities().len(), 2);
    }
}

#[test]
fn mcp_121_mcp_122_a_schema_has_bounds() {
    let sized = |bytes: usize| {
        let empty = json!({ "type": "object", "x": "" }).to_string().len();
        json!({ "type": "object", "x": "ä".repeat((bytes - empty) / 2) })
    };
    assert_eq!(with_schema(sized(65_536)), None);
    assert!(with_schema(sized(65_540)).is_some_and(|reason| reason.contains("at most 65536")));
    assert_eq!(with_schema(deep(63)), None);
    assert!(with_schema(deep(64)).is_some_and(|reason| reason.contains("levels")));
}

#[test]
fn mcp_120_tools_beyond_512_are_ignored_with_a_warning() {
    let tools = |count: usize| -> Vec<Value> {
        (0..count).map(|n| json!({ "name": format!("t{n}"), "inputSchema": { "type": "object" } })).collect()
    };
    assert_eq!(listed(tools(TOOLS)).oddities(), Vec::<String>::new());
    let listing = listed(tools(TOOLS + 3));
    assert_eq!((listing.tools.len(), listing.warnings.len(), listing.ignored), (TOOLS, 1, 3));
}

#[test]
fn mcp_120_each_entry_that_is_not_taken_in_counts() {
    let fine = json!({ "name": "fine", "inputSchema": { "type": "object" } });
    let listing = listed(vec![json!(7), json!(8), json!({}), json!({ "name": "" }), fine.clone(), fine]);
    assert_eq!((listing.tools.len(), listing.ignored), (1, 4), "one that is listed twice is one that is there");
}

#[test]
fn k01_a_tool_that_can_be_called_as_a_task_only_is_known_as_such() {
    let tool = |execution: Value| json!({ "name": "t", "inputSchema": { "type": "object" }, "execution": execution });
    for (support, needs_task) in [("required", true), ("optional", false), ("forbidden", false)] {
        let read = listed(vec![tool(json!({ "taskSupport": support }))]).tools.remove(0);
        assert_eq!((read.needs_task, read.quarantine.is_some()), (needs_task, needs_task), "{support}");
    }
    assert!(!listed(vec![tool(json!([]))]).tools[0].needs_task);
}

#[test]
fn k03_two_tools_of_one_name_are_both_out_of_use_and_one_listed_twice_is_one() {
    let one = json!({ "name": "a", "inputSchema": { "type": "object" } });
    let other = json!({ "name": "a", "description": "other", "inputSchema": { "type": "object" } });
    let listing = listed(vec![one.clone(), other]);
    assert!(listing.usable("a").is_none());
    let listing = listed(vec![one.clone(), one]);
    assert!(listing.usable("a").is_some());
    assert_eq!(listing.warnings, ["a is listed twice"]);
}

#[test]
fn names_and_texts_have_bounds_and_titles_fall_back() {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let listing = listed(vec![tool(&"n".repeat(128)), tool(&"m".repeat(129)), tool("a\u{7}"), tool("")]);
    let usable: Vec<bool> = listing.tools.iter().map(|tool| tool.quarantine.is_none()).collect();
    assert_eq!(usable, [true, false, false]);
    let mut annotated = tool("t");
    annotated["annotations"] = json!({ "title": "Look it up", "readOnlyHint": true, "destructiveHint": "no" });
    annotated["description"] = json!("d".repeat(3_000));
    let listing = listed(vec![annotated]);
    let read = &listing.tools[0];
    assert_eq!(read.title.as_deref(), Some("Look it up"));
    assert_eq!((read.annotations.read_only_hint, read.annotations.destructive_hint), (Some(true), None));
    assert!(read.description.chars().count() <= 2_049);
}
