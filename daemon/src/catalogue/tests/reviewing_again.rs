//! A server that is started with something else is looked at again.

use serde_json::{Value, json};

use super::*;
use crate::tools::mcp::tests::{listing, tool};

/// What is left of a decision about a server after a change.
async fn left(world: &World, change: Value) -> (bool, bool, usize) {
    let env = json!({ "A": "1" });
    let id = world.add(json!({ "command": "x", "args": ["a"], "env": env })).await.unwrap().server_id;
    world.submit(&id, &listing([tool("t"), tool("u")]), &["t"]).await.unwrap();
    world.update(&id, json!({ "trusted": true })).await.unwrap();
    world.update(&id, change).await.unwrap();
    let record = world.record(&id);
    (record.reviewed, record.trusted, record.approved.len() + record.cleared.len())
}

#[tokio::test]
async fn other_arguments_or_another_environment_are_another_program_to_review() {
    let world = World::new().await;
    for change in [json!({ "args": ["a", "b"] }), json!({ "env": { "A": "2" } }), json!({ "env": {} })] {
        assert_eq!(left(&world, change.clone()).await, (false, false, 0), "{change}");
    }
    assert_eq!(left(&world, json!({ "args": [], "trusted": true })).await, (false, true, 0), "its owner says so again");
}

#[tokio::test]
async fn what_is_the_same_again_or_no_part_of_the_program_leaves_the_review() {
    let world = World::new().await;
    for change in [json!({ "args": ["a"] }), json!({ "env": { "A": "1" } }), json!({ "name": "n", "enabled": false })] {
        assert_eq!(left(&world, change.clone()).await, (true, true, 2), "{change}");
    }
}

#[tokio::test]
async fn a_tool_that_is_approved_again_has_its_former_names() {
    let world = World::new().await;
    let id = world.added("a").await;
    let both = listing([tool("list_issues"), tool("list-issues")]);
    world.submit(&id, &both, &["list_issues", "list-issues"]).await.unwrap();
    let names = |world: &World| world.record(&id).approved.iter().map(|it| it.tool_id.clone()).collect::<Vec<_>>();
    let before = names(&world);
    world.update(&id, json!({ "args": ["other"] })).await.unwrap();
    assert!(names(&world).is_empty());
    world.submit(&id, &both, &["list_issues", "list-issues"]).await.unwrap();
    assert_eq!(names(&world), before);
}
