//! Memory and instructions: changes of several clients, repeats, and who is told.

use serde_json::{Value, json};

use super::{Fresh, Raw};

scenarios! { $ remembering
    wire:
        an_entry_that_two_clients_change_is_changed_by_the_one_that_has_seen_it
        b2_who_shows_lists_is_told_of_memory
        b2_who_shows_lists_is_told_of_instructions_and_of_their_project
        what_is_remembered_twice_under_one_operation_is_remembered_once;
    clock:;
}

async fn remember(bot: &mut Raw, title: &str) -> Value {
    let params = json!({"scope": "user", "kind": "fact", "title": title, "body": "0"});
    bot.call("memory/create", params).await["entry"].clone()
}

pub(super) async fn an_entry_that_two_clients_change_is_changed_by_the_one_that_has_seen_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut other = subject.client("watch", "in-B").await;
    let entry = remember(&mut bot, "Count").await;
    let id = &entry["entryId"];
    let update = |body: &str, revision: u64| json!({"entryId": id, "body": body, "expectedRevision": revision});
    let first = bot.call("memory/update", update("1", 1)).await;
    assert_eq!((&first["entry"]["body"], &first["entry"]["revision"]), (&json!("1"), &json!(2)));
    let error = other.refused("memory/update", update("2", 1)).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["current"]["body"]), (&json!("conflict"), &json!("1")));
    let seen = error["data"]["currentRevision"].as_u64().unwrap();
    assert_eq!(other.call("memory/update", update("2", seen)).await["entry"]["body"], "2");
    assert_eq!(bot.call("memory/read", json!({"entryId": id})).await["entry"]["revision"], 3);
}

pub(super) async fn b2_who_shows_lists_is_told_of_memory(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut watch = Raw::introduced(subject.open().await, "watch", "in-W", json!({}), json!([])).await;
    let entry = remember(&mut bot, "Told").await;
    let told = watch.told("data/changed").await;
    assert_eq!((&told["kinds"], &told["ids"]), (&json!(["memory"]), &json!([entry["entryId"]])));
    assert_eq!(told["origin"], "in-A");
}

pub(super) async fn b2_who_shows_lists_is_told_of_instructions_and_of_their_project(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut watch = Raw::introduced(subject.open().await, "watch", "in-W", json!({}), json!([])).await;
    let project = bot.call("project/list", json!({})).await["items"][0]["projectId"].clone();
    let replace = json!({"projectId": project, "text": "Be kind.", "expectedRevision": 1});
    bot.call("instructions/replace", replace).await;
    let told = watch.told("data/changed").await;
    assert_eq!((&told["kinds"], &told["ids"]), (&json!(["project", "instructions"]), &json!([project])));
}

pub(super) async fn what_is_remembered_twice_under_one_operation_is_remembered_once(subject: Fresh) {
    let mut bot = subject.bot().await;
    let params = json!({"scope": "user", "kind": "fact", "title": "Once", "body": "b", "operationId": "op-memory"});
    let first = bot.call("memory/create", params.clone()).await;
    let again = bot.call("memory/create", params).await;
    assert_eq!((&first["replayed"], &again["replayed"]), (&json!(false), &json!(true)));
    assert_eq!(first["entry"], again["entry"]);
    let listed = bot.call("memory/list", json!({"query": "once"})).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let other = json!({"scope": "user", "kind": "fact", "title": "Twice", "body": "b", "operationId": "op-memory"});
    assert_eq!(bot.refused("memory/create", other).await["data"]["kind"], "idempotencyConflict");
}
