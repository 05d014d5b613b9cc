//! How long a page is, and how the next one is found.

use ropewalk_protocol::limits;
use serde_json::{Value, json};

use super::world::{Client, World, ids};

async fn with_projects(count: usize) -> Client {
    let mut world = World::new();
    for n in 2..count {
        world.add_project(&format!("q{n:04}"));
    }
    world.client().await
}

/// Every item of a list, page by page, and how many pages there were.
async fn all(client: &Client, mut arguments: Value) -> (Vec<Value>, usize) {
    let (mut items, mut pages) = (Vec::new(), 0);
    loop {
        let page = client.page(arguments.clone()).await;
        items.extend(page["items"].as_array().unwrap().iter().cloned());
        pages += 1;
        match page.get("nextCursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return (items, pages),
        }
    }
}

#[tokio::test]
async fn app_54_a_page_has_100_items_unless_more_are_asked_for() {
    let client = with_projects(150).await;
    let page = client.page(json!({"resource": "Projects"})).await;
    assert_eq!((&page["returned"], &page["total"], &page["truncated"]), (&json!(100), &json!(150), &json!(false)));
    let (items, pages) = all(&client, json!({"resource": "Projects"})).await;
    assert_eq!((items.len(), pages), (150, 2));
}

#[tokio::test]
async fn app_55_a_limit_beyond_1000_is_read_as_1000_and_none_as_one() {
    let client = with_projects(1_100).await;
    assert_eq!(client.page(json!({"resource": "Projects", "limit": 5_000})).await["returned"], 1_000);
    assert_eq!(client.page(json!({"resource": "Projects", "limit": 0})).await["returned"], 1);
}

#[tokio::test]
async fn app_56_app_57_a_page_that_becomes_too_long_ends_early_and_says_so() {
    let mut world = World::new();
    for n in 0..40 {
        world.says("t1", "b2", &format!("{n} {}", "ä".repeat(20_000)));
    }
    let client = world.client().await;
    let result = client.call("app_read", json!({"resource": "Messages"})).await;
    let page = result.structured_content.unwrap();
    let text = serde_json::to_value(&result.content[0]).unwrap()["text"].as_str().unwrap().to_owned();
    assert!(text.chars().count() as u64 <= limits::PAGE_CHARACTERS, "{}", text.chars().count());
    assert_eq!((&page["truncated"], &page["returned"]), (&json!(true), &json!(12)), "characters, not bytes");
    let few = client.page(json!({"resource": "Messages", "limit": 5})).await;
    assert_eq!((&few["truncated"], &few["returned"]), (&json!(false), &json!(5)), "the limit ends it first");
    let (items, pages) = all(&client, json!({"resource": "Messages"})).await;
    let order: Vec<String> = items.iter().map(|item| item["messageId"].as_str().unwrap().to_owned()).collect();
    let expected: Vec<String> = (0..40).rev().map(|n| format!("m{n}")).collect();
    assert_eq!((order, pages), (expected, 4), "without gap and without repeat");
}

#[tokio::test]
async fn app_56_lists_of_documents_end_early_as_well() {
    let mut world = World::new();
    for n in 0..30 {
        let id = format!("t3{n:02}");
        world.add_thread("p1", &id, &[]);
        world.threads.get_mut(id.as_str()).unwrap().title = Some("x".repeat(30_000));
    }
    let client = world.client().await;
    let page = client.page(json!({"resource": "Threads"})).await;
    assert_eq!((&page["truncated"], &page["returned"]), (&json!(true), &json!(8)));
    let (items, _) = all(&client, json!({"resource": "Threads"})).await;
    assert_eq!(items.len(), 31);
}

#[tokio::test]
async fn app_59_an_item_beyond_the_budget_is_read_all_the_same() {
    let mut world = World::new();
    world.says("t1", "b2", "before");
    world.says("t1", "b2", &"x".repeat(300_000));
    let client = world.client().await;
    let page = client.page(json!({"resource": "Messages"})).await;
    assert_eq!((&page["returned"], &page["truncated"]), (&json!(1), &json!(true)));
    assert_eq!(page["items"][0]["content"][0]["text"].as_str().unwrap().len(), 300_000);
    let rest = client.page(json!({"resource": "Messages", "cursor": page["nextCursor"]})).await;
    assert_eq!(ids(&rest, "messageId"), ["m0"]);
}

#[tokio::test]
async fn app_58_a_cursor_is_opaque_and_only_good_for_its_own_list() {
    let client = with_projects(5).await;
    let cursor = client.page(json!({"resource": "Projects", "limit": 2})).await["nextCursor"].clone();
    for malformed in ["2", "not a cursor", ""] {
        let error = client.error("app_read", json!({"resource": "Projects", "cursor": malformed})).await;
        assert!(error.contains("no cursor of ours"), "{error}");
    }
    for foreign in ["Threads", "Messages", "Project", "Thread"] {
        let error = client.error("app_read", json!({"resource": foreign, "cursor": cursor})).await;
        assert!(error.contains("another list"), "{error}");
    }
    let mine = client.page(json!({"resource": "Projects", "limit": 2, "cursor": cursor})).await;
    assert_eq!(ids(&mine, "projectId"), ["q0002", "q0003"]);
}

#[tokio::test]
async fn app_203_a_read_is_summarised_with_its_page_size_and_its_cursor() {
    let client = with_projects(5).await;
    let summary = async |arguments: Value| {
        let result = client.call("app_read", arguments).await;
        let content = serde_json::to_string(&result.content).unwrap();
        assert!(!content.contains("page size"), "the model is not told what is for people");
        serde_json::to_value(result.meta).unwrap()["dev.ropewalk/summary"].clone()
    };
    let first = summary(json!({"resource": "Projects", "limit": 2})).await;
    assert_eq!(first, "Read Projects (page size 2, no cursor): 2 items, more follow");
    let cursor = client.page(json!({"resource": "Projects", "limit": 4})).await["nextCursor"].clone();
    let last = summary(json!({"resource": "Projects", "cursor": cursor})).await;
    let shown: String = cursor.as_str().unwrap().chars().take(12).collect();
    assert_eq!(last, format!("Read Projects (page size 100, cursor {shown}…): 1 item"));
}
