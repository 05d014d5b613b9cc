//! Servers that start late, fail, go, and come back.

use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::{
    World, call, launch,
    scripted::{Does, Server},
    soon, text, tool, until,
};
use crate::{
    clock::Clock,
    sessions::{Launch, Standing, WaitsFor},
    tools::{CallFailure, servers::Signs},
};

fn good() -> Server {
    Server::with_tools(vec![tool("echo")], |_| vec![Does::Answers(text("hello"))])
}

fn reason(world: &World, key: &str) -> String {
    match world.sessions.status(key).unwrap().standing {
        Standing::Failed { reason, .. } => reason,
        other => panic!("{key} is {other:?}"),
    }
}

#[tokio::test]
async fn app_14_a_server_is_started_by_the_first_use_and_shared_by_all() {
    let (world, server) = (World::new(), good());
    assert!(world.sessions.status("good").is_none());
    assert_eq!(server.connections(), 0);
    let launch = launch("good", &server);
    let all = futures::future::join_all((0..8).map(|_| world.sessions.open(&launch)));
    let all: Vec<_> = soon(all).await.into_iter().map(Result::unwrap).collect();
    assert!(all.windows(2).all(|two| Arc::ptr_eq(&two[0], &two[1])));
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn m17_a_server_that_never_shakes_hands_fails_in_its_time_and_hinders_no_other() {
    let (world, good) = (World::new(), good());
    let silent = Server::new(|_| vec![Does::Writes(String::new())]);
    let (sessions, silent_launch) = (world.sessions.clone(), launch("silent", &silent));
    let opening = tokio::spawn(async move { sessions.open(&silent_launch).await });
    silent.hears("initialize", 1).await;
    let session = soon(world.sessions.open(&launch("good", &good))).await.unwrap();
    assert_eq!(soon(session.call(call("echo"), &Signs::ignored())).await.unwrap(), text("hello"));
    assert_eq!(world.sessions.status("silent").unwrap().standing, Standing::Starting);
    world.advance(10_000);
    let trouble = soon(opening).await.unwrap().err().unwrap();
    assert_eq!(trouble.reason, "initialize timed out: no answer within 10 s");
    until("its connection is gone", || silent.open() == 0).await;
    assert!(session.is_alive());
}

#[tokio::test]
async fn m17_a_server_that_is_starting_says_since_when_and_what_is_waited_for() {
    let world = World::new();
    let silent = Server::new(|message| match message["method"].as_str() {
        Some("initialize") => vec![Does::Writes(String::new())],
        _ => Vec::new(),
    });
    let unlisted = Server::new(|message| match message["method"].as_str() {
        Some("tools/list") => vec![Does::Writes(String::new())],
        _ => Vec::new(),
    });
    world.advance(1_000);
    let began_at = world.clock.now();
    let mut openings = Vec::new();
    for (key, server, heard) in [("silent", &silent, "initialize"), ("unlisted", &unlisted, "tools/list")] {
        let (sessions, launch) = (world.sessions.clone(), launch(key, server));
        openings.push(tokio::spawn(async move { sessions.open(&launch).await }));
        server.hears(heard, 1).await;
    }
    world.advance(3_000);
    let stands = |key: &str| {
        let status = world.sessions.status(key).unwrap();
        (status.standing, status.since, status.waits_for)
    };
    assert_eq!(stands("silent"), (Standing::Starting, Some(began_at), Some(WaitsFor::Handshake)));
    assert_eq!(stands("unlisted"), (Standing::Starting, Some(began_at), Some(WaitsFor::Tools)));
    world.advance(10_000);
    for opening in openings {
        assert!(soon(opening).await.unwrap().is_err());
    }
    assert_eq!((stands("silent").1, stands("silent").2), (Some(world.clock.now()), None));
}

#[tokio::test]
async fn m47_a_server_that_is_closed_while_it_starts_leaves_nothing_behind() {
    let world = World::new();
    let silent = Server::new(|_| vec![Does::Writes(String::new())]);
    let launch = launch("silent", &silent);
    let (sessions, first) = (world.sessions.clone(), launch.clone());
    let opening = tokio::spawn(async move { sessions.open(&first).await });
    silent.hears("initialize", 1).await;
    soon(world.sessions.forget("silent")).await;
    assert_eq!(soon(opening).await.unwrap().err().unwrap().reason, "it was closed meanwhile");
    until("its connection is gone", || silent.open() == 0).await;
    assert!(world.sessions.status("silent").is_none());
    let sessions = world.sessions.clone();
    let opening = tokio::spawn(async move { sessions.open(&launch).await });
    silent.hears("initialize", 2).await;
    assert_eq!(silent.open(), 1);
    opening.abort();
}

#[tokio::test]
async fn k15_a_server_that_fails_is_left_alone_for_ever_longer_and_comes_back() {
    let is_well = Arc::<AtomicBool>::default();
    let well = is_well.clone();
    let server = Server::new(move |message| match message["method"].as_str() {
        Some("initialize") if !well.load(Ordering::SeqCst) => vec![Does::Refuses(-32_000, "no database")],
        _ => Vec::new(),
    });
    let (world, launch) = (World::new(), launch("ill", &server));
    for pause in [1_000, 2_000, 4_000] {
        let before = server.connections();
        assert_eq!(
            soon(world.sessions.open(&launch)).await.err().unwrap().reason,
            "initialize was refused: no database"
        );
        assert_eq!(server.connections(), before + 1);
        world.advance(pause - 1);
        assert!(soon(world.sessions.open(&launch)).await.is_err());
        assert_eq!(server.connections(), before + 1, "it is left alone");
        world.advance(1);
    }
    is_well.store(true, Ordering::SeqCst);
    assert!(soon(world.sessions.open(&launch)).await.is_ok());
}

#[tokio::test]
async fn m35_a_server_that_ends_after_each_call_is_started_again_for_the_next() {
    let server = Server::with_tools(vec![tool("once")], |_| vec![Does::Answers(text("done")), Does::HangsUp]);
    let (world, launch) = (World::new(), launch("once", &server));
    for number in 1..=3 {
        let session = soon(world.sessions.open(&launch)).await.unwrap();
        assert_eq!(soon(session.call(call("once"), &Signs::ignored())).await, Ok(text("done")));
        soon(session.ended()).await;
        until("its end is noticed", || world.sessions.status("once").unwrap().standing != Standing::Ready).await;
        assert_eq!(reason(&world, "once"), "it closed the connection");
        assert_eq!(server.connections(), number);
    }
}

#[tokio::test]
async fn m34_a_server_that_ends_when_a_call_is_taken_back_is_there_for_the_next() {
    let server = Server::new(|message| match message["method"].as_str() {
        Some("tools/list") => vec![Does::Answers(json!({ "tools": [tool("wait"), tool("echo")] }))],
        Some("notifications/cancelled") => vec![Does::HangsUp],
        Some("tools/call") if message["params"]["name"] == "echo" => vec![Does::Answers(text("hello"))],
        _ => Vec::new(),
    });
    let (world, launch) = (World::new(), launch("touchy", &server));
    let session = soon(world.sessions.open(&launch)).await.unwrap();
    soon(session.call(call("echo"), &Signs::ignored())).await.unwrap();
    let (stopped, other) = (session.clone(), session.clone());
    let stopped = tokio::spawn(async move { stopped.call(call("wait"), &Signs::ignored()).await });
    let other = tokio::spawn(async move { other.call(call("wait"), &Signs::ignored()).await });
    server.hears("tools/call", 3).await;
    stopped.abort();
    assert_eq!(
        soon(other).await.unwrap(),
        Err(CallFailure::OutcomeUnknown),
        "it went, and nobody makes the call again"
    );
    let session = soon(world.sessions.open(&launch)).await.unwrap();
    assert_eq!(soon(session.call(call("echo"), &Signs::ignored())).await, Ok(text("hello")));
    assert_eq!(server.heard("tools/call").len(), 4);
}

#[tokio::test]
async fn mcp_127_a_session_nobody_uses_is_closed_after_five_minutes_and_opened_by_the_next_use() {
    let (world, server) = (World::new(), good());
    let launch = launch("good", &server);
    let session = soon(world.sessions.open(&launch)).await.unwrap();
    world.advance(299_000);
    soon(session.call(call("echo"), &Signs::ignored())).await.unwrap();
    for _ in 0..3 {
        world.advance(1_000);
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(server.open(), 1, "it was used meanwhile");
    world.advance(297_000);
    until("it is closed", || server.open() == 0).await;
    until("it is stopped", || world.sessions.status("good").unwrap().standing == Standing::Stopped).await;
    assert!(world.sessions.status("good").unwrap().listing.is_some(), "what it has stays known");
    soon(world.sessions.open(&launch)).await.unwrap();
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn m47_a_server_that_is_begun_otherwise_is_ended_before_it_is_started_again() {
    let (world, server) = (World::new(), good());
    let first = launch("good", &server);
    let former = soon(world.sessions.open(&first)).await.unwrap();
    let second = Launch { fingerprint: "2".to_owned(), ..first };
    soon(world.sessions.open(&second)).await.unwrap();
    assert!(!former.is_alive());
    until("there is one", || server.open() == 1).await;
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_server_that_goes_when_it_is_asked_what_it_speaks_is_asked_the_old_way() {
    let server = Server::new(|message| match message["method"].as_str() {
        Some("server/discover") => vec![Does::HangsUp],
        _ => Vec::new(),
    });
    let world = World::new();
    let unknown = Launch { version: None, ..launch("old", &server) };
    soon(world.sessions.open(&unknown)).await.unwrap();
    assert_eq!(server.connections(), 2);
    assert_eq!(world.sessions.status("old").unwrap().version.as_deref(), Some("2025-11-25"));
}

#[tokio::test]
async fn a_server_that_answers_what_it_does_not_know_with_nothing_is_greeted_the_old_way() {
    for answer in [json!({}), json!(null), json!({ "supportedVersions": "all" })] {
        let server = Server::new(move |message| match message["method"].as_str() {
            Some("server/discover") => vec![Does::Answers(answer.clone())],
            _ => Vec::new(),
        });
        let world = World::new();
        let unknown = Launch { version: None, ..launch("old", &server) };
        soon(world.sessions.open(&unknown)).await.unwrap();
        assert_eq!(server.connections(), 1, "it is the same connection");
        assert_eq!(world.sessions.status("old").unwrap().version.as_deref(), Some("2025-11-25"));
    }
}
