//! JSON-RPC clients that others wrote, over a real socket: `vscode-jsonrpc` in both directions, and `jayson`.

use ropewalk_conformance::run_with;
use serde_json::{Value, json};

use super::listening;

/// Has a client of `conformance/npm/clients` speak with a daemon; what it has seen.
async fn spoken_with(package: &str, script: &str) -> Value {
    let (daemon, _place) = listening().await;
    let socket = daemon.ready().socket.to_str().unwrap().to_owned();
    let said = run_with(package, &format!("clients/{script}"), &[&socket]).await.unwrap();
    daemon.kill().await.unwrap();
    serde_json::from_str(said.lines().last().unwrap()).unwrap()
}

#[tokio::test]
async fn vscode_jsonrpc_asks_and_is_asked_and_its_cancels_do_what_they_may() {
    let seen = spoken_with("vscode-jsonrpc", "vscode-jsonrpc.mjs").await;
    assert_eq!(seen["calls"], json!([["echo", "\u{2028} 😀 \"\\"], ["throws", "x"], ["echo", "both"]]));
    assert_eq!((&seen["approvals"], &seen["cancels"]), (&json!(1), &json!(11)));
    let settled = seen["settled"].as_array().unwrap();
    assert!(!settled.is_empty() && settled.iter().all(|outcome| outcome == "answered"), "{seen}");
    for event in ["interactionOpened", "interactionSettled", "itemCompleted", "runCompleted", "runStarted"] {
        assert!(seen["events"].as_array().unwrap().contains(&json!(event)), "{event}: {seen}");
    }
}

#[tokio::test]
async fn jayson_gets_results_errors_and_batches_a_connection_each() {
    let seen = spoken_with("jayson", "jayson.mjs").await;
    assert_eq!(seen, json!({"connections": 11, "answers": 6, "errors": 11}));
}
