//! What is brought before the person's eyes, and when nothing is.

use serde_json::{Value, json};

use super::world::World;

async fn shown(arguments: Value) -> Value {
    let client = World::new().client().await;
    let result = client.call("app_navigate", arguments).await;
    assert_eq!(result.is_error, Some(false), "{result:?}");
    let shown = client.world.shown.lock().unwrap().clone();
    assert_eq!(shown.len(), 1);
    serde_json::to_value(&shown[0]).unwrap()
}

#[tokio::test]
async fn app_31_a_project_a_thread_or_a_branch_is_shown() {
    assert_eq!(shown(json!({"projectId": "p2"})).await, json!({"projectId": "p2"}));
    assert_eq!(shown(json!({"threadId": "t2"})).await, json!({"projectId": "p2", "threadId": "t2"}));
    let branch = json!({"projectId": "p1", "threadId": "t1", "branchId": "b2"});
    assert_eq!(shown(branch.clone()).await, branch);
    assert_eq!(shown(json!({"branchId": "b2"})).await, branch, "of the run's own thread");
    assert_eq!(shown(json!({})).await, branch, "the run's own place");
}

#[tokio::test]
async fn app_196_what_does_not_exist_is_an_error_and_shows_nothing() {
    let client = World::new().client().await;
    for (arguments, named) in [
        (json!({"projectId": "p9"}), "p9"),
        (json!({"threadId": "t9"}), "t9"),
        (json!({"branchId": "b9"}), "b9"),
        (json!({"threadId": "t2", "branchId": "b2"}), "b2"),
        (json!({"projectId": "p1", "threadId": "t2"}), "p1"),
        (json!({"projectId": "p9", "threadId": "t1"}), "p9"),
    ] {
        let error = client.error("app_navigate", arguments).await;
        assert!(error.contains(named), "{error}");
    }
    assert!(client.world.shown.lock().unwrap().is_empty());
}

#[tokio::test]
async fn app_197_an_unattended_run_shows_nothing() {
    let client = World { unattended: true, ..World::new() }.client().await;
    let error = client.error("app_navigate", json!({"threadId": "t1"})).await;
    assert!(error.contains("unattended") && error.contains("no window is attached"), "{error}");
    assert!(client.world.shown.lock().unwrap().is_empty());
}

#[tokio::test]
async fn without_a_window_the_call_says_so() {
    let client = World { windows: 0, ..World::new() }.client().await;
    let error = client.error("app_navigate", json!({"threadId": "t1"})).await;
    assert!(error.contains("No window is attached"), "{error}");
}

#[tokio::test]
async fn a_call_says_what_was_shown_and_in_how_many_windows() {
    let client = World { windows: 2, ..World::new() }.client().await;
    let result = client.call("app_navigate", json!({"threadId": "t1"})).await;
    assert_eq!(result.structured_content.unwrap(), json!({"projectId": "p1", "threadId": "t1", "windows": 2}));
    let meta = serde_json::to_value(result.meta).unwrap();
    assert_eq!(meta["dev.ropewalk/summary"], "Showed thread t1 in 2 windows");
}
