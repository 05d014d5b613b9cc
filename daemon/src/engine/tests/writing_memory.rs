//! `app_memory` and `app_instructions` in runs: who is asked, what is written, and that nobody's change is lost.

use std::sync::Arc;

use ropewalk_protocol::{
    ErrorDetail, MemoryChanged, MemoryCreateParams, MemoryEntry, MemoryKind, MemoryScope, MemoryUpdateParams,
    PolicyOrigin, RpcError,
};
use serde_json::{Value, json};

use super::{
    client::Person,
    life::{Life, begin, call_ends, soon},
    model::Asked,
};
use crate::{
    catalogue::{Caller, Catalogue, MemoryWriter},
    dispatch::Host as _,
};

const MEMORY: &str = "mcp_app__app_memory";
const INSTRUCTIONS: &str = "mcp_app__app_instructions";
const READ: &str = "mcp_app__app_read";

/// A life whose App tools make their requests through the methods of the wire.
async fn served() -> Life {
    let life = Life::first().await;
    life.daemon.served_by(&Arc::new(crate::methods::table()));
    life
}

async fn allow(life: &Life, rule: Value) {
    let mut params = json!({"level": "global", "decision": "allow"});
    params.as_object_mut().unwrap().extend(rule.as_object().unwrap().clone());
    let params = serde_json::from_value(params).unwrap();
    let set = life.daemon.catalogue.set_policy(Caller::default(), PolicyOrigin::Owner, params).await.unwrap();
    life.engine().rule_changed(&set.policy, None).await;
}

async fn allow_tool(life: &Life, name: &str) {
    allow(life, json!({"tool": {"source": "app", "name": name}})).await;
}

fn entries(life: &Life) -> Vec<MemoryEntry> {
    life.daemon.catalogue.snapshot().memory.values().map(|entry| (**entry).clone()).collect()
}

/// Calls one tool, and gives what the model is told of it with the next request.
async fn call(life: &mut Life, asked: Asked, tool: &str, arguments: &Value) -> (Asked, String) {
    let mut arguments = arguments.clone();
    if tool != READ && arguments.get("operationId").is_none() {
        arguments["operationId"] = format!("op-{}", asked.request.messages.len()).into();
    }
    asked.calls(&[(tool, &arguments.to_string())]);
    let asked = life.asked().await;
    let told = asked.history().last().cloned().unwrap();
    (asked, told)
}

/// The data in what the model is told.
fn data(told: &str) -> Value {
    let from = told.find('{').unwrap_or_else(|| panic!("there is no data in: {told}"));
    serde_json::from_str(&told[from..]).unwrap_or_else(|error| panic!("{error}: {told}"))
}

#[tokio::test]
async fn app_33_a_model_remembers_changes_and_forgets_and_the_next_run_is_told() {
    let (mut life, person) = (served().await, Person::new("in-A"));
    allow_tool(&life, "app_memory").await;
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    let create =
        json!({"operation": "Create", "scope": "User", "kind": "Profile", "title": "Who", "body": "A botanist."});
    let (asked, told) = call(&mut life, asked, MEMORY, &create).await;
    let made = data(&told);
    assert_eq!(
        (&made["operation"], &made["status"], &made["applied"]),
        (&json!("Create"), &json!("Applied"), &json!(true))
    );
    assert_eq!(
        (&made["revision"], &made["current"]["kind"], &made["current"]["author"]),
        (&json!(1), &json!("profile"), &json!("model"))
    );
    let entry = entries(&life).remove(0);
    assert_eq!(entry.thread_id.as_ref(), Some(thread.id()), "it is known in which thread it was written");
    assert!(!asked.request.instructions.contains("A botanist."), "not in the run that writes it");

    let update = json!({"operation": "Update", "entryId": entry.entry_id, "pinned": true, "expectedRevision": 1});
    let (asked, told) = call(&mut life, asked, MEMORY, &update).await;
    let changed = data(&told);
    assert_eq!(
        (&changed["current"]["body"], &changed["current"]["pinned"]),
        (&json!("A botanist."), &json!(true)),
        "what is left out stays"
    );
    asked.ends("Done.");
    life.ended(&thread, &run).await;

    let run = begin(&thread, "again").await;
    let asked = life.asked().await;
    assert!(asked.request.instructions.contains("A botanist."), "{}", asked.request.instructions);
    let delete = json!({"operation": "Delete", "entryId": entry.entry_id, "expectedRevision": 2});
    let (asked, told) = call(&mut life, asked, MEMORY, &delete).await;
    assert_eq!(data(&told)["effect"], "Forgets \"Who\" (of the user).");
    assert_eq!(entries(&life), []);
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn b2_a_write_asks_by_default_and_the_approval_shows_all_of_it() {
    let (mut life, mut person) = (served().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let create = json!({"operation": "Create", "scope": "Project", "kind": "Fact", "title": "t", "body": "b".repeat(4_000), "operationId": "op"});
    life.asked().await.calls(&[(MEMORY, &create.to_string())]);
    let offered = person.offered("approval/request").await;
    assert_eq!(offered.params()["arguments"], create);
    assert_eq!(entries(&life), [], "nothing is written before somebody says so");
    person.answers(&offered, json!({"decision": "accept"})).await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    let written = entries(&life).remove(0);
    assert_eq!(written.project_id, Some(life.daemon.catalogue.snapshot().default_project().project_id.clone()));
}

#[tokio::test]
async fn app_34_instructions_ask_even_where_all_other_writes_are_allowed_and_under_a_rule_on_the_source() {
    let (mut life, mut person) = (served().await, Person::new("in-A"));
    allow(&life, json!({"source": "app"})).await;
    allow_tool(&life, "app_memory").await;
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let create =
        json!({"operation": "Create", "scope": "User", "kind": "Fact", "title": "t", "body": "b", "operationId": "a"});
    let replace = json!({"text": "Be kind.", "expectedRevision": 1, "operationId": "b"});
    life.asked().await.calls(&[(MEMORY, &create.to_string()), (INSTRUCTIONS, &replace.to_string())]);
    let offered = person.offered("approval/request").await;
    assert_eq!(offered.params()["tool"]["name"], "app_instructions");
    assert_eq!(offered.params()["change"], json!({"before": "", "after": "Be kind."}), "both texts are shown");
    assert_eq!(entries(&life).len(), 1, "the other write was not asked about");
    let project = || life.daemon.catalogue.snapshot().default_project().clone();
    assert_eq!(project().instructions, None);
    person.answers(&offered, json!({"decision": "accept"})).await;
    let asked = life.asked().await;
    let told = data(asked.history().last().unwrap());
    assert_eq!((&told["operation"], &told["revision"]), (&json!("Replace"), &json!(2)));
    assert_eq!(life.daemon.catalogue.snapshot().default_project().instructions.as_deref(), Some("Be kind."));
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}

/// The rule that is remembered raises the project's revision, and still the approved change is made.
#[tokio::test]
async fn app_34_a_decision_that_is_remembered_does_not_make_the_approved_change_stale() {
    let (mut life, mut person) = (served().await, Person::new("in-A"));
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    life.asked().await.calls(&[(INSTRUCTIONS, r#"{"text": "Be kind.", "expectedRevision": 1, "operationId": "a"}"#)]);
    let offered = person.offered("approval/request").await;
    person.answers(&offered, json!({"decision": "acceptAlways"})).await;
    life.asked().await.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(call_ends(&thread).await, [json!(["completed", null, "done"])]);
    let snapshot = life.daemon.catalogue.snapshot();
    assert_eq!(snapshot.default_project().instructions.as_deref(), Some("Be kind."));
    assert_eq!(snapshot.policies.len(), 1);
}

#[tokio::test]
async fn app_152_a_stale_revision_of_an_entry_is_a_conflict_with_what_there_is() {
    let (mut life, person) = (served().await, Person::new("in-A"));
    allow_tool(&life, "app_memory").await;
    allow_tool(&life, "app_instructions").await;
    let entry = made(&life.daemon.catalogue).await;
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    let stale = json!({"operation": "Update", "entryId": entry.entry_id, "body": "x", "expectedRevision": 9});
    let (asked, told) = call(&mut life, asked, MEMORY, &stale).await;
    let conflict = data(&told);
    assert_eq!(
        (&conflict["status"], &conflict["applied"], &conflict["revision"]),
        (&json!("Conflict"), &json!(false), &json!(1))
    );
    assert_eq!((&conflict["current"]["body"], &conflict["current"]["scope"]), (&json!("0"), &json!("user")));
    let (asked, told) = call(&mut life, asked, INSTRUCTIONS, &json!({"text": "x", "expectedRevision": 9})).await;
    assert_eq!((&data(&told)["status"], &data(&told)["current"]["text"]), (&json!("Conflict"), &json!("")));
    let gone = json!({"operation": "Delete", "entryId": "nope", "expectedRevision": 1});
    let (asked, told) = call(&mut life, asked, MEMORY, &gone).await;
    assert_eq!(
        (&data(&told)["status"], &data(&told)["error"]),
        (&json!("NotFound"), &json!("There is no entry nope."))
    );
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    let ends = call_ends(&thread).await;
    assert!(ends.iter().all(|end| end[0] == "failed" && end[1] == "tool_error"), "{ends:?}");
    assert_eq!(entries(&life), [entry]);
}

#[tokio::test]
async fn app_147_app_151_what_an_operation_needs_or_does_not_know_is_said_and_nothing_is_written() {
    let (mut life, person) = (served().await, Person::new("in-A"));
    allow_tool(&life, "app_memory").await;
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let mut asked = life.asked().await;
    for (arguments, expected) in [
        (json!({"operation": "Create", "kind": "Fact", "title": "t", "body": "b"}), "Create needs scope"),
        (json!({"operation": "Create", "scope": "User", "kind": "Fact", "title": "t"}), "Create needs body"),
        (
            json!({"operation": "Create", "scope": "User", "kind": "Fact", "title": "", "body": "b"}),
            "title must not be empty",
        ),
        (json!({"operation": "Update", "entryId": "m", "body": "b"}), "Update needs expectedRevision"),
        (
            json!({"operation": "Update", "entryId": "m", "scope": "User", "expectedRevision": 1}),
            "Update takes no scope",
        ),
        (json!({"operation": "Delete", "expectedRevision": 1}), "Delete needs entryId"),
        (json!({"operation": "Delete", "entryId": "m", "expectedRevision": 1, "dryRun": true}), "cannot be rehearsed"),
    ] {
        let told;
        (asked, told) = call(&mut life, asked, MEMORY, &arguments).await;
        assert!(told.contains(expected), "{expected}: {told}");
    }
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    assert_eq!(entries(&life), []);
}

#[tokio::test]
async fn app_155_a_write_that_is_repeated_under_its_operation_id_is_done_once() {
    let (mut life, person) = (served().await, Person::new("in-A"));
    allow_tool(&life, "app_memory").await;
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    let create = |title: &str| json!({"operation": "Create", "scope": "User", "kind": "Fact", "title": title, "body": "b", "operationId": "op-1"});
    let (asked, first) = call(&mut life, asked, MEMORY, &create("t")).await;
    let (asked, again) = call(&mut life, asked, MEMORY, &create("t")).await;
    assert_eq!((&data(&first)["replayed"], &data(&again)["replayed"]), (&json!(false), &json!(true)));
    assert_eq!(data(&first)["current"], data(&again)["current"]);
    assert_eq!(entries(&life).len(), 1);
    let (asked, other) = call(&mut life, asked, MEMORY, &create("u")).await;
    assert!(other.contains("was not done"), "{other}");
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}

#[tokio::test]
async fn b2_app_read_instructions_tells_a_run_of_its_own_layers() {
    let (mut life, person) = (served().await, Person::new("in-A"));
    allow_tool(&life, "app_read").await;
    made(&life.daemon.catalogue).await;
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "go").await;
    let asked = life.asked().await;
    let (asked, told) = call(&mut life, asked, READ, &json!({"resource": "Instructions"})).await;
    let layers = data(&told)["items"][0]["layers"].clone();
    let names: Vec<_> = layers.as_array().unwrap().iter().map(|layer| layer["name"].clone()).collect();
    assert_eq!(names, ["Base", "ProjectInstructions", "WorkspaceFiles", "MemoryIndex", "RunLine"]);
    assert!(layers[3]["tokens"].as_u64() > Some(20) && layers[3]["budgetTokens"] == 2_048, "{layers}");
    asked.ends("Done.");
    life.ended(&thread, &run).await;
}

async fn made(catalogue: &Arc<Catalogue>) -> MemoryEntry {
    let params = MemoryCreateParams {
        scope: MemoryScope::User,
        project_id: None,
        kind: MemoryKind::Fact,
        title: "Count".to_owned(),
        body: "0".to_owned(),
        tags: None,
        pinned: None,
        enabled: None,
        operation_id: None,
    };
    catalogue.create_memory(Caller::default(), MemoryWriter::Person, params).await.unwrap().entry
}

/// Adds one to the count in an entry as often as is asked, each time on what it has seen. How often it was too late.
async fn counts(catalogue: Arc<Catalogue>, mut seen: MemoryEntry, times: usize) -> usize {
    let mut too_late = 0;
    for _ in 0..times {
        loop {
            let count: u64 = seen.body.as_deref().unwrap().parse().unwrap();
            let update = MemoryUpdateParams {
                entry_id: seen.entry_id.clone(),
                kind: None,
                title: None,
                body: Some((count + 1).to_string()),
                tags: None,
                pinned: None,
                enabled: None,
                operation_id: None,
                expected_revision: Some(seen.revision),
            };
            match catalogue.update_memory(Caller::default(), MemoryWriter::Person, update).await {
                Ok(MemoryChanged { entry, .. }) => {
                    assert_eq!(entry.revision, seen.revision + 1, "nothing came between what was seen and the change");
                    seen = entry;
                    break;
                }
                Err(refusal) => {
                    let ErrorDetail::Conflict { current_revision, current } = RpcError::from(refusal).data.detail
                    else {
                        panic!("only a conflict keeps a change from being made");
                    };
                    assert!(current_revision > Some(seen.revision), "a conflict is told only to who is late");
                    seen = serde_json::from_value(current.unwrap()).unwrap();
                    too_late += 1;
                }
            }
            tokio::task::yield_now().await;
        }
    }
    too_late
}

#[tokio::test]
async fn two_clients_and_a_run_change_one_entry_1_000_times_and_no_change_is_lost_and_no_conflict_is_wrong() {
    let (mut life, person) = (served().await, Person::new("in-A"));
    allow_tool(&life, "app_memory").await;
    let mut seen = serde_json::to_value(made(&life.daemon.catalogue).await).unwrap();
    let entry: MemoryEntry = serde_json::from_value(seen.clone()).unwrap();
    let client = || tokio::spawn(counts(life.daemon.catalogue.clone(), entry.clone(), 450));
    let clients = (client(), client());
    let thread = life.start(&person, Vec::new()).await;
    let run = begin(&thread, "count").await;
    let mut asked = life.asked().await;
    let (mut of_run, mut too_late) = (0, 0);
    while of_run < 100 {
        let count: u64 = seen["body"].as_str().unwrap().parse().unwrap();
        let revision = seen["revision"].clone();
        let update = json!({"operation": "Update", "entryId": entry.entry_id, "body": (count + 1).to_string(), "expectedRevision": revision});
        let told;
        (asked, told) = call(&mut life, asked, MEMORY, &update).await;
        let told = data(&told);
        if told["status"] == "Conflict" {
            assert!(told["revision"].as_u64() > revision.as_u64(), "a conflict is told only to who is late: {told}");
            too_late += 1;
        } else {
            assert_eq!(told["revision"].as_u64(), revision.as_u64().map(|revision| revision + 1));
            of_run += 1;
        }
        seen = told["current"].clone();
    }
    asked.ends("Done.");
    life.ended(&thread, &run).await;
    let too_late = (too_late, soon(clients.0).await.unwrap(), soon(clients.1).await.unwrap());
    let entry = entries(&life).remove(0);
    assert_eq!((entry.body.as_deref(), entry.revision), (Some("1000"), 1_001), "{too_late:?}");
    assert!(too_late.1 + too_late.2 > 0, "they did get into each other's way: {too_late:?}");
}
