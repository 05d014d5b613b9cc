//! What each resource answers, and to which ids.

use serde_json::{Value, json};

use super::world::{World, ids};

fn fields(page: &Value) -> Vec<&str> {
    let names = page.as_object().unwrap().keys().map(String::as_str);
    names.filter(|name| !matches!(*name, "total" | "nextCursor")).collect()
}

#[tokio::test]
async fn app_26_app_38_every_resource_answers_with_a_page_of_the_same_shape() {
    let client = World::new().client().await;
    let resources = [
        "Projects",
        "Project",
        "Threads",
        "Thread",
        "Messages",
        "Runs",
        "Settings",
        "Search",
        "Memory",
        "Instructions",
    ];
    for resource in resources {
        let query = (resource == "Search").then_some("x");
        let page = client.page(json!({"resource": resource, "query": query})).await;
        assert_eq!(fields(&page), ["resource", "items", "truncated", "returned"], "{resource}");
        assert_eq!(page["resource"], resource);
        assert_eq!(page["returned"], page["items"].as_array().unwrap().len(), "{resource}");
    }
}

#[tokio::test]
async fn app_37_an_unknown_resource_is_refused_with_those_there_are() {
    let client = World::new().client().await;
    let error = client.error("app_read", json!({"resource": "Chats"})).await;
    for known in [
        "Chats",
        "resource",
        "Projects",
        "Project",
        "Threads",
        "Thread",
        "Messages",
        "Runs",
        "Settings",
        "Search",
        "Memory",
        "Instructions",
    ] {
        assert!(error.contains(known), "{error}");
    }
    let error = client.error("app_read", json!({"resource": "Thread", "chatId": "t1"})).await;
    assert!(error.contains("chatId") && error.contains("threadId"), "{error}");
}

#[tokio::test]
async fn app_52_a_thread_comes_with_its_branches_and_without_messages() {
    let mut world = World::new();
    world.says("t1", "b2", "a secret of this thread");
    let client = world.client().await;
    let page = client.page(json!({"resource": "Thread"})).await;
    let branches: Vec<_> =
        page["items"][0]["branches"].as_array().unwrap().iter().map(|branch| branch["branchId"].clone()).collect();
    assert_eq!(branches, ["t1", "b2"]);
    assert!(!page.to_string().contains("secret"));
}

#[tokio::test]
async fn app_53_messages_of_a_branch_are_its_chain_newest_first() {
    let mut world = World::new();
    world.says("t1", "b2", "one");
    world.says("t1", "b2", "two");
    world.says("t1", "t1", "elsewhere");
    let client = world.client().await;
    let page = client.page(json!({"resource": "Messages", "branchId": "b2"})).await;
    let said: Vec<&Value> =
        page["items"].as_array().unwrap().iter().map(|message| &message["content"][0]["text"]).collect();
    assert_eq!(said, ["two", "one"]);
    assert_eq!((&page["items"][0]["role"], &page["items"][0]["delivery"]), (&json!("User"), &json!("Turn")));
}

#[tokio::test]
async fn app_214_ids_that_are_left_out_are_the_runs_own() {
    let mut world = World::new();
    world.says("t1", "b2", "here");
    world.says("t1", "t1", "on the original branch");
    world.says("t2", "t2", "there");
    let client = world.client().await;
    assert_eq!(ids(&client.page(json!({"resource": "Project"})).await, "projectId"), ["p1"]);
    assert_eq!(ids(&client.page(json!({"resource": "Threads"})).await, "threadId"), ["t1"]);
    assert_eq!(ids(&client.page(json!({"resource": "Thread"})).await, "threadId"), ["t1"]);
    assert_eq!(ids(&client.page(json!({"resource": "Runs"})).await, "branchId"), ["b2", "t1"]);
    let said = async |arguments: Value| client.page(arguments).await["items"][0]["content"][0]["text"].clone();
    assert_eq!(said(json!({"resource": "Messages"})).await, "here");
    assert_eq!(
        said(json!({"resource": "Messages", "threadId": "t1", "branchId": "t1"})).await,
        "on the original branch"
    );
    assert_eq!(
        said(json!({"resource": "Messages", "threadId": "t2"})).await,
        "there",
        "the original branch of another"
    );
}

#[tokio::test]
async fn app_100_ids_that_are_given_are_honoured_however_they_are_given() {
    let client = World::new().client().await;
    assert_eq!(ids(&client.page(json!({"resource": "Project", "projectId": "p2"})).await, "projectId"), ["p2"]);
    assert_eq!(ids(&client.page(json!({"resource": "Project", "resourceId": "p2"})).await, "projectId"), ["p2"]);
    assert_eq!(ids(&client.page(json!({"resource": "Threads", "projectId": "p2"})).await, "threadId"), ["t2"]);
    assert_eq!(ids(&client.page(json!({"resource": "Thread", "resourceId": "t2"})).await, "threadId"), ["t2"]);
    let both = json!({"resource": "Thread", "resourceId": "t2", "threadId": "t1"});
    assert!(client.error("app_read", both).await.contains("two different things"));
    let elsewhere = json!({"resource": "Thread", "threadId": "t2", "projectId": "p1"});
    assert!(client.error("app_read", elsewhere).await.contains("lives in project p2"));
}

#[tokio::test]
async fn what_there_is_not_is_named_in_the_error() {
    let client = World::new().client().await;
    for (arguments, named) in [
        (json!({"resource": "Project", "projectId": "p9"}), "p9"),
        (json!({"resource": "Threads", "projectId": "p9"}), "p9"),
        (json!({"resource": "Thread", "threadId": "t9"}), "t9"),
        (json!({"resource": "Messages", "branchId": "b9"}), "b9"),
        (json!({"resource": "Runs", "threadId": "t9"}), "t9"),
        (json!({"resource": "Runs", "branchId": "b9"}), "b9"),
    ] {
        let error = client.error("app_read", arguments).await;
        assert!(error.contains(named), "{error}");
    }
}

#[tokio::test]
async fn words_of_enumerations_are_in_pascal_case_and_texts_are_left_as_they_are() {
    let mut world = World::new();
    let grant = json!({"grantId": "g", "projectId": "p1", "name": "src", "path": "/src", "capabilities": ["read"], "createdAt": "2026-11-30T10:00:00Z"});
    let project = world.projects.get_mut("p1").unwrap();
    project.grants = Some(vec![serde_json::from_value(grant).unwrap()]);
    project.name = "lower case".to_owned();
    world.says("t1", "b2", "user");
    let client = world.client().await;
    let project = &client.page(json!({"resource": "Project"})).await["items"][0];
    assert_eq!(project["grants"][0]["capabilities"], json!(["Read"]));
    assert_eq!((&project["name"], &project["grants"][0]["path"]), (&json!("lower case"), &json!("/src")));
    let message = &client.page(json!({"resource": "Messages"})).await["items"][0];
    assert_eq!((&message["role"], &message["content"][0]["text"]), (&json!("User"), &json!("user")));
}

#[tokio::test]
async fn bytes_of_images_are_named_and_not_written_out() {
    let mut world = World::new();
    world.says("t1", "b2", "look");
    let image = json!({"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUg=="});
    let message = &mut world.messages.get_mut("b2").unwrap()[0];
    message.content.push(serde_json::from_value(image).unwrap());
    let client = world.client().await;
    let page = client.page(json!({"resource": "Messages"})).await;
    assert_eq!(page["items"][0]["content"][1], json!({"type": "text", "text": "[image image/png, 16 bytes]"}));
}
