//! Lists that change.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};

use super::{
    World, call, launch,
    scripted::{Does, Server, list_changed},
    soon, text, tool, until,
};
use crate::tools::servers::Signs;

fn names(world: &World, key: &str) -> Vec<String> {
    let listing = world.sessions.status(key).unwrap().listing.unwrap();
    listing.tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn m26_a_changed_list_is_taken_in() {
    let changed = Arc::<AtomicUsize>::default();
    let now = changed.clone();
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("tools/list") => {
            let tools =
                if now.load(Ordering::SeqCst) == 0 { [tool("t1"), tool("t3")] } else { [tool("t2"), tool("t3")] };
            vec![Does::Answers(json!({ "tools": tools }))]
        }
        _ => Vec::new(),
    });
    let world = World::new();
    soon(world.sessions.open(&launch("s", &server))).await.unwrap();
    assert_eq!(names(&world, "s"), ["t1", "t3"]);
    changed.store(1, Ordering::SeqCst);
    server.write(list_changed());
    until("the new list is there", || names(&world, "s") == ["t2", "t3"]).await;
}

#[tokio::test]
async fn m28_a_change_while_a_list_is_read_makes_the_next_one_due() {
    let fetched = Arc::<AtomicUsize>::default();
    let count = fetched.clone();
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("tools/list") => {
            let fetch = count.fetch_add(1, Ordering::SeqCst);
            let answer = Does::Answers(json!({ "tools": [tool(&format!("set{}", fetch.min(1)))] }));
            if fetch == 0 {
                return vec![Does::Writes(list_changed()), Does::Writes(list_changed()), answer];
            }
            vec![answer]
        }
        _ => Vec::new(),
    });
    let world = World::new();
    soon(world.sessions.open(&launch("s", &server))).await.unwrap();
    until("the final set is there", || names(&world, "s") == ["set1"]).await;
    world.advance(1_000);
    assert!((2..=3).contains(&fetched.load(Ordering::SeqCst)));
}

#[tokio::test]
async fn m29_a_server_that_says_all_the_time_that_its_tools_changed_is_asked_ever_more_rarely() {
    let server = Server::new(|message| match message["method"].as_str() {
        Some("tools/list") => vec![Does::Answers(json!({ "tools": [tool("same")] })), Does::Writes(list_changed())],
        Some("tools/call") => vec![Does::Answers(text("as fast as ever"))],
        _ => Vec::new(),
    });
    let world = World::new();
    let session = soon(world.sessions.open(&launch("restless", &server))).await.unwrap();
    for _ in 0..600 {
        world.advance(100);
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }
    let lists = server.heard("tools/list").len();
    assert!((3..=9).contains(&lists), "{lists} lists in a minute");
    assert_eq!(soon(session.call(call("same"), &Signs::ignored())).await.unwrap(), text("as fast as ever"));
}

#[tokio::test]
async fn m30_pages_that_do_not_advance_end_with_a_warning() {
    let page: Vec<Value> = (0..8).map(|number| tool(&format!("t{number}"))).collect();
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("tools/list") => vec![Does::Answers(json!({ "tools": page, "nextCursor": "again" }))],
        _ => Vec::new(),
    });
    let world = World::new();
    let session = soon(world.sessions.open(&launch("circle", &server))).await.unwrap();
    let listing = session.listing().0;
    assert_eq!(listing.tools.len(), 8);
    assert!(listing.warnings.iter().any(|warning| warning.contains("pagination does not advance")), "{listing:?}");
    assert_eq!(server.heard("tools/list").len(), 2);
}

#[tokio::test]
async fn m30_pages_that_never_end_are_read_up_to_a_bound() {
    let page = Arc::<AtomicUsize>::default();
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("tools/list") => {
            let number = page.fetch_add(1, Ordering::SeqCst);
            let tools = [tool(&format!("t{number}"))];
            vec![Does::Answers(json!({ "tools": tools, "nextCursor": format!("page{number}") }))]
        }
        _ => Vec::new(),
    });
    let world = World::new();
    let session = soon(world.sessions.open(&launch("endless", &server))).await.unwrap();
    let listing = session.listing().0;
    assert_eq!((listing.tools.len(), server.heard("tools/list").len()), (64, 64));
    assert_eq!(listing.warnings, ["pagination does not end: no more than 64 pages are read"]);
}

#[tokio::test]
async fn mcp_72_a_list_older_than_five_minutes_is_read_again_before_a_call() {
    let server = Server::with_tools(vec![tool("t")], |_| vec![Does::Answers(text("ok"))]);
    let world = World::new();
    let session = soon(world.sessions.open(&launch("s", &server))).await.unwrap();
    world.advance(299_999);
    soon(world.sessions.refresh("s", &session)).await;
    assert_eq!(server.heard("tools/list").len(), 1);
    session.touch();
    world.advance(1);
    soon(world.sessions.refresh("s", &session)).await;
    assert_eq!(server.heard("tools/list").len(), 2);
}
