//! The schemas: made from the types that are read and written, and kept by every answer.

use jsonschema::Validator;
use ropewalk_protocol::{PolicyDecision, SourceKind};
use serde_json::{Value, json};

use super::world::{World, soon};
use crate::app::specs;

async fn listed() -> Vec<Value> {
    let client = World::new().client().await;
    let tools = soon(client.running.list_all_tools()).await.unwrap();
    tools.iter().map(|tool| serde_json::to_value(tool).unwrap()).collect()
}

/// A tool of the list.
fn named<'a>(tools: &'a [Value], name: &str) -> &'a Value {
    tools.iter().find(|tool| tool["name"] == name).unwrap()
}

fn validator(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).unwrap()
}

#[tokio::test]
async fn app_6_the_tools_are_listed_as_any_servers_are() {
    let tools = listed().await;
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    let expected = [
        "app_instructions",
        "app_memory",
        "app_navigate",
        "app_projects",
        "app_read",
        "app_runs",
        "app_security",
        "app_threads",
    ];
    assert_eq!(names, expected);
    let read_only =
        json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false});
    let shows =
        json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false});
    let annotations = |name: &str| &named(&tools, name)["annotations"];
    assert_eq!((annotations("app_navigate"), annotations("app_read")), (&shows, &read_only));
    for tool in &tools {
        assert!(tool["title"].is_string() && tool["description"].as_str().unwrap().chars().count() <= 2_048);
        assert!(!tool["inputSchema"].to_string().contains("$ref"), "a schema is whole in itself");
    }
}

#[tokio::test]
async fn app_10_an_enumeration_is_a_list_of_words_and_what_has_a_default_is_optional() {
    let tools = listed().await;
    let schema = &named(&tools, "app_read")["inputSchema"];
    let resource = &schema["properties"]["resource"];
    assert_eq!(
        (&resource["type"], &resource["enum"]),
        (
            &json!("string"),
            &json!([
                "Projects",
                "Project",
                "Threads",
                "Thread",
                "Messages",
                "Runs",
                "Settings",
                "Search",
                "Memory",
                "Instructions"
            ])
        )
    );
    assert_eq!(schema["required"], json!(["resource"]));
    assert_eq!(schema["properties"]["limit"]["default"], 100);
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(named(&tools, "app_navigate")["inputSchema"].get("required"), None);
}

#[tokio::test]
async fn app_10_every_listed_value_is_accepted_and_every_optional_parameter_may_be_left_out() {
    let client = World::new().client().await;
    let tools = listed().await;
    let schema = &named(&tools, "app_read")["inputSchema"];
    for resource in schema["properties"]["resource"]["enum"].as_array().unwrap() {
        client.page(json!({"resource": resource, "query": (resource == "Search").then_some("x")})).await;
    }
    let optional: Vec<&String> =
        schema["properties"].as_object().unwrap().keys().filter(|name| *name != "resource").collect();
    assert_eq!(optional.len(), 10);
    for name in optional.into_iter().filter(|name| *name != "limit") {
        let arguments = json!({"resource": "Projects", name: null});
        assert!(validator(schema).is_valid(&arguments), "{name} may be null");
        client.page(arguments).await;
    }
}

#[tokio::test]
async fn app_7_every_answer_fits_the_schema_of_its_tool_and_is_the_models_text_too() {
    let mut world = World::new();
    world.says("t1", "b2", "one");
    world.says("t1", "b2", "two");
    let client = world.client().await;
    let tools = listed().await;
    let (navigate, read) = (
        validator(&named(&tools, "app_navigate")["outputSchema"]),
        validator(&named(&tools, "app_read")["outputSchema"]),
    );
    let reads = ["Projects", "Project", "Threads", "Thread", "Messages", "Runs", "Settings", "Memory", "Instructions"];
    let reads = reads.map(|resource| json!({"resource": resource}));
    let paged = json!({"resource": "Messages", "limit": 1});
    let search = json!({"resource": "Search", "query": "one"});
    let calls = reads.into_iter().chain([paged, search]).map(|arguments| ("app_read", &read, arguments));
    for (tool, output, arguments) in calls.chain([("app_navigate", &navigate, json!({}))]) {
        let result = client.call(tool, arguments).await;
        let structured = result.structured_content.unwrap();
        output.validate(&structured).unwrap_or_else(|error| panic!("{tool}: {error}"));
        let text = serde_json::to_value(&result.content[0]).unwrap()["text"].as_str().unwrap().to_owned();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), structured);
    }
}

#[test]
fn app_19_every_app_tool_asks_by_default() {
    for spec in specs() {
        assert_eq!((spec.source.as_str(), spec.source_kind), ("app", SourceKind::App));
        assert_eq!(spec.default.decision, PolicyDecision::Ask, "{}", spec.name);
        assert!(!spec.default.exempt_from_asking && spec.default.silence_ms == 600_000);
    }
    let names: Vec<&str> = specs().iter().map(|spec| spec.flat_name.as_str()).collect();
    let expected = ["instructions", "memory", "navigate", "projects", "read", "runs", "security", "threads"]
        .map(|name| format!("mcp_app__app_{name}"));
    assert_eq!(names, expected);
}
