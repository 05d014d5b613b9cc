//! Memory and Instructions as `app_read` shows them.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _, ready};
use ropewalk_protocol::{
    BranchId, ContextLayer, ContextLayerName, EntryId, Instructions, MemoryEntry, ProjectId, RpcError, ThreadId,
};
use serde_json::json;

use super::world::{AT, World, ids};
use crate::app::Notes;

impl Notes for World {
    fn memory(&self, project_id: &ProjectId, words: &str) -> Vec<Arc<MemoryEntry>> {
        let meant = self.entries.iter().filter(|entry| entry.project_id.as_ref().is_none_or(|of| of == project_id));
        meant.filter(|entry| entry.title.contains(words)).cloned().map(Arc::new).collect()
    }

    fn entry(&self, entry_id: &EntryId) -> Result<MemoryEntry, RpcError> {
        let found = self.entries.iter().find(|entry| entry.entry_id == *entry_id).cloned();
        found.ok_or_else(|| RpcError::not_found("entry", entry_id))
    }

    fn instructions<'a>(&'a self, project_id: &'a ProjectId) -> BoxFuture<'a, Result<Instructions, RpcError>> {
        let found = self.instructions.get(project_id).cloned();
        ready(found.ok_or_else(|| RpcError::not_found("project", project_id))).boxed()
    }

    fn layers<'a>(&'a self, _: &'a ThreadId, _: &'a BranchId) -> BoxFuture<'a, Result<Vec<ContextLayer>, RpcError>> {
        let names = [ContextLayerName::ProjectInstructions, ContextLayerName::WorkspaceFiles];
        let layer = |name| ContextLayer { name, text: "LAYER".into(), tokens: 7, budget_tokens: 9, cut: true };
        ready(Ok(names.map(layer).into())).boxed()
    }
}

fn world() -> World {
    let mut world = World::new();
    for (id, scope, project) in [("m1", "user", None), ("m2", "project", Some("p1")), ("m3", "project", Some("p2"))] {
        let mut entry = json!({
            "entryId": id, "scope": scope, "kind": "fact", "title": format!("Title {id}"), "body": format!("Body {id}"),
            "tags": ["a"], "pinned": false, "enabled": true, "author": "model", "threadId": "t1", "createdAt": AT,
            "updatedAt": AT, "revision": 4,
        });
        if let Some(project) = project {
            entry["projectId"] = json!(project);
        }
        world.entries.push(serde_json::from_value(entry).unwrap());
    }
    for (project, text) in [("p1", "Bé kind."), ("p2", "Be brief.")] {
        let instructions = json!({
            "projectId": project, "text": text, "includeWorkspaceFiles": true, "revision": 3,
            "sources": [{"path": "/w/AGENTS.md", "characters": 12, "cut": false}],
        });
        world.instructions.insert(project.into(), serde_json::from_value(instructions).unwrap());
    }
    world
}

#[tokio::test]
async fn b2_memory_is_listed_by_title_and_read_in_full_by_id() {
    let client = world().client().await;
    let page = client.page(json!({"resource": "Memory"})).await;
    assert_eq!(ids(&page, "entryId"), ["m1", "m2"], "of the run's own project and of the user");
    assert_eq!(page["total"], 2);
    assert!(!page.to_string().contains("Body"), "{page}");
    let first = &page["items"][0];
    assert_eq!((&first["scope"], &first["kind"], &first["author"]), (&json!("User"), &json!("Fact"), &json!("Model")));
    let other = client.page(json!({"resource": "Memory", "projectId": "p2"})).await;
    assert_eq!(ids(&other, "entryId"), ["m1", "m3"]);
    let found = client.page(json!({"resource": "Memory", "query": "m2"})).await;
    assert_eq!(ids(&found, "entryId"), ["m2"]);
    let one = client.page(json!({"resource": "Memory", "resourceId": "m3"})).await;
    assert_eq!((&one["items"][0]["body"], &one["items"][0]["revision"]), (&json!("Body m3"), &json!(4)));
    let error = client.error("app_read", json!({"resource": "Memory", "resourceId": "m9"})).await;
    assert!(error.contains("m9"), "{error}");
}

#[tokio::test]
async fn b2_memory_comes_in_pages_and_a_cursor_belongs_to_its_query() {
    let client = world().client().await;
    let first = client.page(json!({"resource": "Memory", "limit": 1})).await;
    assert_eq!(ids(&first, "entryId"), ["m1"]);
    let cursor = &first["nextCursor"];
    let rest = client.page(json!({"resource": "Memory", "limit": 1, "cursor": cursor})).await;
    assert_eq!((ids(&rest, "entryId"), rest.get("nextCursor")), (vec!["m2".to_owned()], None));
    let foreign = client.error("app_read", json!({"resource": "Memory", "query": "m", "cursor": cursor})).await;
    assert!(foreign.contains("another list"), "{foreign}");
}

#[tokio::test]
async fn b2_instructions_are_a_document_with_the_size_and_the_sources_of_each_layer_and_no_text_of_them() {
    let client = world().client().await;
    let page = client.page(json!({"resource": "Instructions"})).await;
    let own = &page["items"][0];
    assert_eq!((&own["projectId"], &own["text"]), (&json!("p1"), &json!("Bé kind.")));
    assert_eq!((&own["revision"], &own["size"], &own["includeWorkspaceFiles"]), (&json!(3), &json!(8), &json!(true)));
    let sources = json!([{"path": "/w/AGENTS.md", "characters": 12, "cut": false}]);
    let layers = json!([
        {"name": "ProjectInstructions", "tokens": 7, "budgetTokens": 9, "cut": true},
        {"name": "WorkspaceFiles", "tokens": 7, "budgetTokens": 9, "cut": true, "sources": sources},
    ]);
    assert_eq!(own["layers"], layers);
    assert!(!page.to_string().contains("LAYER"));
    let other = client.page(json!({"resource": "Instructions", "projectId": "p2"})).await;
    assert_eq!((&other["items"][0]["text"], &other["items"][0]["layers"]), (&json!("Be brief."), &json!([])));
    let by_id = client.page(json!({"resource": "Instructions", "resourceId": "p2"})).await;
    assert_eq!(by_id, other);
}
