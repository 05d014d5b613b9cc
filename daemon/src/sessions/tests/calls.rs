//! Calls: what goes out, what comes back, and how they end otherwise.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{
    World, call, launch,
    scripted::{Does, Server, progress},
    soon, text, tool, until,
};
use crate::{
    sessions::Outgoing,
    tools::{
        CallFailure,
        servers::{Sign, Signs},
    },
};

/// A server that keeps its calls to itself.
fn silent() -> Server {
    Server::with_tools(vec![tool("wait")], |_| Vec::new())
}

#[tokio::test]
async fn app_8_an_in_process_session_lists_and_calls_and_declares_no_capability() {
    let (world, server) =
        (World::new(), Server::with_tools(vec![tool("echo")], |_| vec![Does::Answers(text("hello"))]));
    let session = soon(world.sessions.open(&launch("good", &server))).await.unwrap();
    assert_eq!(session.listing().0.tools[0].name, "echo");
    let result = soon(session.call(call("echo"), &Signs::ignored())).await.unwrap();
    assert_eq!(result, text("hello"));
    let params = &server.heard("initialize")[0]["params"];
    assert_eq!(params["capabilities"], json!({}), "MCP-150");
    let sent = &server.heard("tools/call")[0]["params"];
    assert_eq!((&sent["name"], &sent["arguments"]), (&json!("echo"), &json!({ "text": "hello" })));
    assert_eq!(sent["_meta"]["dev.ropewalk/callId"], "call-1");
}

#[tokio::test]
async fn m13_lines_that_are_no_messages_are_skipped_counted_and_kept_from_the_model() {
    let junk = |message: &Value| match message["method"].as_str() {
        Some("initialize" | "tools/list" | "tools/call") => {
            let lines = ["Server v1.0 is starting…", "{\"level\":\"info\"}", "", "[]", "\r", "{\"jsonrpc\":"];
            lines.map(|line| Does::Writes(line.to_owned())).into_iter().collect()
        }
        _ => Vec::new(),
    };
    let server = Server::new(move |message| {
        let mut does = junk(message);
        let answer = match message["method"].as_str() {
            Some("initialize") => {
                json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "noisy", "version": "1" } })
            }
            Some("tools/list") => json!({ "tools": [tool("echo")] }),
            Some("tools/call") => text("through"),
            _ => return Vec::new(),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer });
        does.push(Does::Writes(format!("{answer}\r")));
        does
    });
    let world = World::new();
    let session = soon(world.sessions.open(&launch("noisy", &server))).await.unwrap();
    assert_eq!(soon(session.call(call("echo"), &Signs::ignored())).await.unwrap(), text("through"));
    let remarks = world.sessions.status("noisy").unwrap().remarks;
    assert_eq!(remarks.junk_lines, 9);
    assert_eq!(remarks.junk.len(), 8, "what is kept has a bound");
    assert_eq!(remarks.junk[..3], ["Server v1.0 is starting…", "{\"level\":\"info\"}", "{\"jsonrpc\":"]);
}

#[tokio::test]
async fn m15_notifications_nobody_knows_and_odd_ones_do_no_harm() {
    let server = Server::with_tools(vec![tool("echo")], |_| {
        let odd = json!({ "jsonrpc": "2.0", "method": "notifications/stderr", "params": { "line": "x" } });
        let broken = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "more": true } });
        vec![Does::Writes(odd.to_string()), Does::Writes(broken.to_string()), Does::Answers(text("fine"))]
    });
    let world = World::new();
    let session = soon(world.sessions.open(&launch("odd", &server))).await.unwrap();
    assert_eq!(soon(session.call(call("echo"), &Signs::ignored())).await.unwrap(), text("fine"));
}

#[tokio::test]
async fn m57_an_id_that_comes_back_as_text_is_the_same_and_other_answers_are_counted() {
    let server = Server::with_tools(vec![tool("echo")], |message| {
        let answer =
            |id: Value| Does::Writes(json!({ "jsonrpc": "2.0", "id": id, "result": text("mine") }).to_string());
        let id = message["id"].to_string();
        vec![answer(json!(9_999)), answer(json!(id)), answer(json!(id))]
    });
    let world = World::new();
    let session = soon(world.sessions.open(&launch("ids", &server))).await.unwrap();
    assert_eq!(soon(session.call(call("echo"), &Signs::ignored())).await.unwrap(), text("mine"));
    until("both stray answers are counted", || world.sessions.status("ids").unwrap().remarks.stray_messages == 2).await;
}

#[tokio::test]
async fn app_132_silence_ends_a_call_and_the_server_is_told() {
    let (world, server) = (World::new(), silent());
    let session = soon(world.sessions.open(&launch("slow", &server))).await.unwrap();
    let calling = tokio::spawn(async move { session.call(call("wait"), &Signs::ignored()).await });
    server.hears("tools/call", 1).await;
    world.advance(4_999);
    tokio::task::yield_now().await;
    assert!(!calling.is_finished());
    world.advance(1);
    assert_eq!(soon(calling).await.unwrap(), Err(CallFailure::Timeout { after_ms: 5_000 }));
    server.hears("notifications/cancelled", 1).await;
    let id = &server.heard("tools/call")[0]["id"];
    assert_eq!(&server.heard("notifications/cancelled")[0]["params"]["requestId"], id);
}

#[tokio::test]
async fn m40_progress_is_always_asked_for_and_keeps_a_long_call_alive() {
    let (world, server) = (World::new(), silent());
    let session = soon(world.sessions.open(&launch("long", &server))).await.unwrap();
    let signs: Arc<Mutex<Vec<Sign>>> = Arc::default();
    let told = signs.clone();
    let calling = tokio::spawn(async move {
        session.call(call("wait"), &Signs::to(move |sign| told.lock().unwrap().push(sign))).await
    });
    server.hears("tools/call", 1).await;
    let request = server.heard("tools/call")[0].clone();
    for step in 1..=8 {
        server.write(progress(&request, step));
        until("the sign is told", || signs.lock().unwrap().len() == step as usize).await;
        world.advance(4_000);
    }
    let last = signs.lock().unwrap().last().cloned().unwrap();
    assert_eq!(last, Sign { message: Some("step 8".to_owned()), fraction: Some(0.8) });
    let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": text("at last") });
    server.write(answer);
    assert_eq!(soon(calling).await.unwrap(), Ok(text("at last")));
}

#[tokio::test]
async fn progress_that_does_not_advance_is_no_sign_of_life() {
    let (world, server) = (World::new(), silent());
    let session = soon(world.sessions.open(&launch("stuck", &server))).await.unwrap();
    let signs: Arc<Mutex<usize>> = Arc::default();
    let told = signs.clone();
    let calling =
        tokio::spawn(async move { session.call(call("wait"), &Signs::to(move |_| *told.lock().unwrap() += 1)).await });
    server.hears("tools/call", 1).await;
    let request = server.heard("tools/call")[0].clone();
    server.write(progress(&request, 3));
    until("the sign is told", || *signs.lock().unwrap() == 1).await;
    world.advance(4_000);
    for at in [3, 2, 1] {
        server.write(progress(&request, at));
    }
    world.advance(1_000);
    assert_eq!(soon(calling).await.unwrap(), Err(CallFailure::Timeout { after_ms: 5_000 }));
    assert_eq!(*signs.lock().unwrap(), 1);
}

#[tokio::test]
async fn app_133_the_ceiling_ends_a_call_whatever_signs_of_life_there_are() {
    let (world, server) = (World::new(), silent());
    let session = soon(world.sessions.open(&launch("endless", &server))).await.unwrap();
    let signs: Arc<Mutex<usize>> = Arc::default();
    let told = signs.clone();
    let outgoing = Outgoing { silence_ms: 5_000, ceiling_ms: 10_000, ..call("wait") };
    let calling =
        tokio::spawn(async move { session.call(outgoing, &Signs::to(move |_| *told.lock().unwrap() += 1)).await });
    server.hears("tools/call", 1).await;
    let request = server.heard("tools/call")[0].clone();
    for step in 1..=3 {
        server.write(progress(&request, step));
        until("the sign is told", || *signs.lock().unwrap() == step as usize).await;
        world.advance(3_333);
    }
    world.advance(1);
    assert_eq!(soon(calling).await.unwrap(), Err(CallFailure::Timeout { after_ms: 10_000 }));
}

#[tokio::test]
async fn m32_a_call_nobody_waits_for_any_more_is_taken_back() {
    let (world, server) = (World::new(), silent());
    let session = soon(world.sessions.open(&launch("stopped", &server))).await.unwrap();
    let calling = tokio::spawn({
        let session = session.clone();
        async move { session.call(call("wait"), &Signs::ignored()).await }
    });
    server.hears("tools/call", 1).await;
    calling.abort();
    server.hears("notifications/cancelled", 1).await;
    let cancelled = &server.heard("notifications/cancelled")[0]["params"]["requestId"];
    assert_eq!(*cancelled, server.heard("tools/call")[0]["id"]);
    until("nothing is under way", || session.idle_since().is_some()).await;
    assert!(session.is_alive(), "the others go on");
}

#[tokio::test]
async fn m54_a_server_that_goes_in_the_middle_of_a_call_leaves_its_outcome_unknown_and_is_not_asked_again() {
    let world = World::new();
    let server = Server::with_tools(vec![tool("order")], |_| vec![Does::HangsUp]);
    let session = soon(world.sessions.open(&launch("shop", &server))).await.unwrap();
    let outcome = soon(session.call(call("order"), &Signs::ignored())).await;
    assert_eq!(outcome, Err(CallFailure::OutcomeUnknown));
    let again = soon(world.sessions.open(&launch("shop", &server))).await;
    assert!(again.is_ok() || again.is_err_and(|trouble| trouble.reason == "it closed the connection"));
    assert_eq!(server.heard("tools/call").len(), 1);
}

#[tokio::test]
async fn m54_an_error_is_the_tools_own_and_the_call_is_not_made_again() {
    let (world, long) = (World::new(), "x".repeat(1_000));
    let server = Server::with_tools(vec![tool("order")], move |message| {
        let error = json!({ "code": -32_602, "message": long });
        vec![Does::Writes(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string())]
    });
    let session = soon(world.sessions.open(&launch("shop", &server))).await.unwrap();
    let outcome = soon(session.call(call("order"), &Signs::ignored())).await;
    let Err(CallFailure::Reported { code, message }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((code.as_str(), message.chars().count()), ("server_error", 300), "MCP-107");
    assert_eq!(server.heard("tools/call").len(), 1);
}

#[tokio::test]
async fn k08_an_answer_longer_than_a_line_may_be_fails_its_call_and_no_other() {
    let world = World::new();
    let server = Server::with_tools(vec![tool("big"), tool("echo")], |message| {
        let big = message["params"]["name"] == "big";
        vec![Does::Answers(if big { text(&"x".repeat(17 << 20)) } else { text("small") })]
    });
    let session = soon(world.sessions.open(&launch("big", &server))).await.unwrap();
    let outcome = soon(session.call(call("big"), &Signs::ignored())).await;
    assert_eq!(outcome, Err(CallFailure::ResultTooLarge { limit: 16 << 20, what: "bytes".to_owned() }));
    assert_eq!(soon(session.call(call("echo"), &Signs::ignored())).await.unwrap(), text("small"));
}

#[tokio::test]
async fn k08_an_answer_that_does_not_end_fails_its_call_as_soon_as_it_is_too_long() {
    let long = "x".repeat(17 << 20);
    for is_said_first in [true, false] {
        let (world, long) = (World::new(), long.clone());
        let server = Server::with_tools(vec![tool("big"), tool("echo")], move |message| {
            let id = &message["id"];
            let begun = match (message["params"]["name"] == "echo", is_said_first) {
                // The rest of the line, and then an answer of its own.
                (true, true) => return vec![Does::Writes("\"}]}}".to_owned()), Does::Answers(text("small"))],
                (true, false) => {
                    let rest = format!("\"}}],\"id\":7}},\"id\":{}}}", id.as_u64().unwrap() - 1);
                    return vec![Does::Writes(rest), Does::Answers(text("small"))];
                }
                (false, true) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":"),
                (false, false) => "{\"result\":".to_owned(),
            };
            vec![Does::Begins(format!("{begun}{{\"content\":[{{\"type\":\"text\",\"text\":\"{long}"))]
        });
        let session = soon(world.sessions.open(&launch("big", &server))).await.unwrap();
        let outcome = soon(session.call(call("big"), &Signs::ignored())).await;
        assert_eq!(outcome, Err(CallFailure::ResultTooLarge { limit: 16 << 20, what: "bytes".to_owned() }));
        assert_eq!(soon(session.call(call("echo"), &Signs::ignored())).await.unwrap(), text("small"));
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_represented_fails_its_call_at_once() {
    let world = World::new();
    let server = Server::with_tools(vec![tool("odd")], |message| {
        let id = &message["id"];
        vec![Does::Writes(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"\\ud800\"}}]}}}}"
        ))]
    });
    let session = soon(world.sessions.open(&launch("odd", &server))).await.unwrap();
    let outcome = soon(session.call(call("odd"), &Signs::ignored())).await;
    assert!(matches!(outcome, Err(CallFailure::InvalidResult { .. })), "{outcome:?}");
}
