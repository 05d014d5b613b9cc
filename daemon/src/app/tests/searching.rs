//! `Search`: what is asked of the engine, and what is shown of its hits.

use ropewalk_protocol::{Role, SearchHit};
use serde_json::{Value, json};

use super::world::{AT, Client, World};
use crate::app::Hits;

fn hit(n: usize, fragment: &str) -> (String, SearchHit) {
    let hit = json!({
        "projectId": "p1", "projectName": "Project p1", "threadId": "t1", "threadTitle": "user", "branchId": "b2",
        "messageId": format!("m{n}"), "role": "user", "at": AT, "fragment": fragment, "matchCount": 2,
    });
    (format!("behind-{n}"), serde_json::from_value(hit).unwrap())
}

async fn searched(client: &Client, arguments: Value) -> ropewalk_protocol::ThreadSearchParams {
    client.page(arguments).await;
    client.world.searched.lock().unwrap().pop().unwrap()
}

#[tokio::test]
async fn app_61_without_ids_a_search_is_over_everything() {
    let client = World::new().client().await;
    let asked = searched(&client, json!({"resource": "Search", "query": "rope"})).await;
    assert_eq!((asked.project_id, asked.thread_id, asked.branch_id), (None, None, None));
    let asked = searched(&client, json!({"resource": "Search", "query": "rope", "projectId": "p2"})).await;
    assert_eq!((asked.project_id, asked.thread_id), (Some("p2".into()), None));
    let asked = searched(&client, json!({"resource": "Search", "query": "rope", "threadId": "t2"})).await;
    assert_eq!(asked.thread_id, Some("t2".into()));
    let asked = searched(&client, json!({"resource": "Search", "query": "rope", "branchId": "b2"})).await;
    assert_eq!(
        (asked.thread_id, asked.branch_id),
        (Some("t1".into()), Some("b2".into())),
        "a branch of the own thread"
    );
}

#[tokio::test]
async fn app_67_the_words_of_a_search_are_those_of_the_engine() {
    let client = World::new().client().await;
    let plain = searched(&client, json!({"resource": "Search", "query": "rope"})).await;
    assert_eq!((plain.is_regex, plain.ignore_case, plain.roles, plain.limit), (None, None, None, Some(100)));
    let said = json!({"resource": "Search", "query": "r.pe", "isRegex": true, "ignoreCase": false, "roles": ["Tool"], "limit": 7});
    let asked = searched(&client, said).await;
    assert_eq!((asked.is_regex, asked.ignore_case, asked.limit), (Some(true), Some(false), Some(7)));
    assert_eq!(asked.roles, Some(vec![Role::Tool]));
    for (arguments, said) in [
        (json!({"resource": "Search"}), "needs a query"),
        (json!({"resource": "Messages", "query": "rope"}), "goes with Search"),
        (json!({"resource": "Search", "query": "x", "roles": ["Nobody"]}), "Assistant"),
    ] {
        let error = client.error("app_read", arguments).await;
        assert!(error.contains(said), "{error}");
    }
}

#[tokio::test]
async fn app_75_a_page_that_is_too_long_for_a_model_ends_behind_the_last_hit_that_fits() {
    let mut world = World::new();
    let hits = (0..20).map(|n| hit(n, &"x".repeat(20_000))).collect();
    world.found = Hits { hits, next: Some("behind-all".to_owned()) };
    let client = world.client().await;
    let page = client.page(json!({"resource": "Search", "query": "x"})).await;
    assert_eq!((&page["returned"], &page["truncated"]), (&json!(12), &json!(true)));
    assert_eq!(page["nextCursor"], "behind-11");
    let item = &page["items"][0];
    assert_eq!((&item["role"], &item["threadTitle"], &item["matchCount"]), (&json!("User"), &json!("user"), &json!(2)));

    let mut world = World::new();
    world.found = Hits { hits: vec![hit(0, "x")], next: Some("behind-all".to_owned()) };
    let page = world.client().await.page(json!({"resource": "Search", "query": "x"})).await;
    assert_eq!((&page["truncated"], &page["nextCursor"]), (&json!(true), &json!("behind-all")));
    let mut world = World::new();
    world.found = Hits { hits: vec![hit(0, "x")], next: None };
    let page = world.client().await.page(json!({"resource": "Search", "query": "x"})).await;
    assert_eq!((&page["truncated"], page.get("nextCursor")), (&json!(false), None));
}
