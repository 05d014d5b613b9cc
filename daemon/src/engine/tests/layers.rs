//! What stands before the chain, which tools a model is told of, and the preview of it all.

use std::time::Duration;

use ropewalk_protocol::{Capability, ContextLayerName, GrantAddParams, ToolState};
use serde_json::{Value, json};

use super::{
    client::Person,
    context::window,
    life::{Life, begin, call_ends, soon, tools},
};
use crate::catalogue::Caller;

const SEARCH: &str = "mcp_app__tool_search";

/// Sixty tools, together far more than a quarter of a window of 32,000 tokens, which the App tools fit into.
fn many() -> Vec<std::sync::Arc<crate::tools::ClientTool>> {
    let names: Vec<String> = (0..60).map(|number| format!("tool_{number:02}")).collect();
    let about = |number: usize| json!({"description": format!("Colour {number}. {}", "It paints a wall. ".repeat(60))});
    let declared: Vec<(&str, Value)> =
        names.iter().enumerate().map(|(number, name)| (&**name, about(number))).collect();
    tools(&declared)
}

async fn grant(life: &Life, path: &std::path::Path) {
    let params = GrantAddParams {
        project_id: life.daemon.catalogue.snapshot().default_project().project_id.clone(),
        path: path.to_str().unwrap().to_owned(),
        name: None,
        capabilities: vec![Capability::Read],
        operation_id: None,
        expected_revision: None,
    };
    life.daemon.catalogue.add_grant(Caller { client: None, operation: None }, params).await.unwrap();
}

#[tokio::test]
async fn the_files_of_the_workspace_are_read_at_each_step_and_previewed_as_they_are_sent() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("AGENTS.md");
    std::fs::write(&file, "Use tabs.").unwrap();
    grant(&life, directory.path()).await;
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "hello").await;
    let asked = life.asked().await;
    let heading = format!("# {}\n\nUse tabs.", file.canonicalize().unwrap().display());
    assert!(asked.request.instructions.contains(&heading), "{}", asked.request.instructions);
    assert!(asked.request.instructions.ends_with(&format!("thread {0}, branch {0}.", thread.id())));
    std::fs::write(&file, "Use spaces.").unwrap();
    asked.calls(&[("nothing", "{}")]);
    let asked = life.asked().await;
    assert!(asked.request.instructions.contains("Use spaces.") && !asked.request.instructions.contains("Use tabs."));
    let preview = soon(thread.preview(thread.id().clone().into(), None)).await.unwrap();
    let texts: Vec<&str> =
        preview.layers.iter().map(|layer| layer.text.as_str()).filter(|text| !text.is_empty()).collect();
    assert_eq!(texts.join("\n\n"), asked.request.instructions, "what is shown is what is sent");
    assert_eq!(preview.messages.count, asked.request.messages.len() as u64);
    assert_eq!(preview.tools.count, asked.request.tools.len() as u64);
    let parts =
        preview.layers.iter().map(|layer| layer.tokens).sum::<u64>() + preview.tools.tokens + preview.messages.tokens;
    assert_eq!((preview.total_tokens, preview.window_tokens), (parts, 128_000));
    assert_eq!(preview.layers[2].name, ContextLayerName::WorkspaceFiles);
    asked.ends("Hi.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn app_171_tools_that_do_not_fit_are_left_out_found_by_a_search_and_then_called() {
    let (mut life, mut person) = (Life::first().await, Person::new("in-A"));
    window(&life, Some(32_000)).await;
    let thread = life.start(&person, many()).await;
    let listed = soon(thread.tools(false)).await.unwrap();
    let left_out: Vec<_> = listed.iter().filter(|tool| tool.state == ToolState::LeftOut).collect();
    assert!(!left_out.is_empty() && left_out.len() < 60, "{}", left_out.len());
    assert!(left_out.iter().all(|tool| tool.reason.as_deref().is_some_and(|why| why.contains("25 %"))));
    let theirs = left_out.iter().find(|tool| tool.source != "app").unwrap();
    let first = theirs.flat_name.clone();
    assert_eq!(first, "tool_00", "they go by their names");
    let changes = ["instructions", "memory", "projects", "runs", "security", "threads"];
    let kept = changes.into_iter().find(|name| {
        let name = format!("mcp_app__app_{name}");
        !left_out.iter().any(|tool| tool.flat_name == name)
    });
    assert_eq!(kept, None, "tools about the daemon itself go before what a client gave its thread");

    let run = begin(&thread, "paint").await;
    let asked = life.asked().await;
    let names: Vec<&str> = asked.request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(
        names.contains(&SEARCH) && names.contains(&"mcp_app__ask_user") && !names.contains(&"tool_00"),
        "{names:?}"
    );
    asked.calls(&[("tool_00", "{}")]);
    let asked = life.asked().await;
    assert_eq!(call_ends(&thread).await, [json!(["failed", "tool_left_out", "none"])]);
    assert!(asked.history().last().unwrap().contains("tool_search"));
    asked.calls(&[(SEARCH, r#"{"query": "tool 00"}"#)]);
    let asked = life.asked().await;
    assert!(asked.history().last().unwrap().contains("- tool_00: Colour 0."), "{:?}", asked.history());
    assert!(asked.request.tools.iter().any(|tool| tool.name == "tool_00"), "what was found is declared");
    asked.calls(&[("tool_00", "{}")]);
    let offered = person.offered("tool/call").await;
    person.returns(&offered, "painted").await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let preview = soon(thread.preview(thread.id().clone().into(), None)).await.unwrap();
    assert!(preview.tools.left_out.contains(&first) && preview.tools.tokens <= 8_000, "{:?}", preview.tools);
}

#[tokio::test]
async fn what_a_search_has_found_is_still_defined_after_a_crash() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    window(&life, Some(32_000)).await;
    let thread = life.start(&person, many()).await;
    let run = begin(&thread, "paint").await;
    life.asked().await.calls(&[(SEARCH, r#"{"query": "tool 00"}"#)]);
    let before = life.asked().await.request.tools.clone();
    assert!(before.iter().any(|tool| tool.name == "tool_00"));

    let mut life = life.crash(Duration::from_secs(1)).await;
    let thread = life.thread(thread.id());
    let asked = life.asked().await;
    assert_eq!(asked.request.tools, before, "the same request is made again");
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn while_all_tools_fit_there_is_nothing_to_search_for() {
    let (mut life, person) = (Life::first().await, Person::new("in-A"));
    window(&life, Some(200_000)).await;
    let thread = life.start(&person, many()).await;
    assert!(soon(thread.tools(false)).await.unwrap().iter().all(|tool| tool.flat_name != SEARCH));
    begin(&thread, "paint").await;
    let asked = life.asked().await;
    assert_eq!(asked.request.tools.len(), 69, "all of the client's and nine App tools");
    asked.calls(&[(SEARCH, r#"{"query": "x"}"#)]);
    life.asked().await.ends("Done.");
    assert_eq!(call_ends(&thread).await, [json!(["failed", "unknown_tool", "none"])]);
}
