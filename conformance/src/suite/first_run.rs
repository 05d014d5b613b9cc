//! Transcript (a) of the wire's documentation: one tool call with an approval, line by line.

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Fresh, Raw, client_tools, get_issue, text};

scenarios! { $ first_run
    wire:
        transcript_a_one_tool_call_with_an_approval;
    clock:;
}

pub(super) async fn transcript_a_one_tool_call_with_an_approval(subject: Fresh) {
    let mut client = subject.bot().await;
    assert_eq!(play(&mut client).await, ORDER);
}

/// Plays the transcript with a client `bot` and returns the types of all durable events in order.
pub async fn play<S: AsyncRead + AsyncWrite + Unpin>(client: &mut Raw<S>) -> Vec<String> {
    let started = client.call("thread/start", json!({"title": "Issues", "tools": [get_issue()]})).await;
    assert_eq!(started["seq"], 3);
    assert_eq!(client_tools(&started["tools"]), ["get_issue"]);
    assert_eq!(started["tools"][0]["state"], "bound");
    assert_eq!(started["tools"][0]["why"], "default of client tools");
    let thread = started["thread"]["threadId"].clone();
    let policy = json!({
        "level": "thread", "threadId": thread, "tool": {"source": "client:bot", "name": "get_issue"}, "decision": "ask",
    });
    let set = client.call("policy/set", policy).await;
    assert_eq!(set["policy"]["matches"], 1);
    let changed = client.event("toolsChanged").await;
    assert_eq!((&changed["seq"], &changed["event"]["cause"]), (&json!(4), &json!("policy")));

    let submit = json!({"threadId": thread, "input": text("call get_issue {\"id\":\"7\"}"), "operationId": "bot:7"});
    let submitted = client.call("run/submit", submit).await;
    assert_eq!(submitted["state"], "running");
    assert!(client.kept.is_empty(), "the answer comes before any event of the run: {:?}", client.kept);

    let approval = client.asked("approval/request").await;
    let params = &approval["params"];
    assert_eq!(params["arguments"], json!({"id": "7"}));
    assert_eq!(params["summary"], "get_issue 7");
    assert_eq!(params["choices"], json!(["accept", "acceptForSession", "decline", "cancel"]));
    assert_eq!((&params["index"], &params["total"], &params["attempt"]), (&json!(1), &json!(1), &json!(1)));
    client.reply(&approval, json!({"decision": "accept"})).await;
    let settled = client.told("interaction/settled").await;
    assert_eq!((&settled["outcome"], &settled["answer"]["decision"]), (&json!("answered"), &json!("accept")));

    let call = client.asked("tool/call").await;
    assert_eq!((&call["params"]["tool"], &call["params"]["arguments"]), (&json!("get_issue"), &json!({"id": "7"})));
    let progress = json!({"interactionId": call["params"]["interactionId"], "message": "asking", "fraction": 0.5});
    client.send(json!({"jsonrpc": "2.0", "method": "tool/progress", "params": progress})).await;
    let shown = client.until("toolProgress", |line| line["params"]["event"]["type"] == "toolProgress").await;
    assert_eq!(shown["params"]["after"], 12);
    let result = json!({
        "success": true,
        "contentItems": [{"type": "text", "text": "#7 Login fails on Tuesdays"}],
        "structuredContent": {"id": "7", "open": true},
    });
    client.reply(&call, result).await;
    let ended = client.event("runCompleted").await;
    assert_eq!(ended["event"]["outcome"]["text"], "get_issue: #7 Login fails on Tuesdays");
    assert_eq!(ended["seq"], 18);
    events_of(client, &thread).await
}

async fn events_of<S: AsyncRead + AsyncWrite + Unpin>(client: &mut Raw<S>, thread: &Value) -> Vec<String> {
    let page = client.call("thread/events", json!({"threadId": thread, "after": 0})).await;
    let events = page["events"].as_array().unwrap();
    let seqs: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>(), "without gaps");
    events.iter().map(|event| event["event"]["type"].as_str().unwrap().to_owned()).collect()
}

/// The order of the transcript.
pub const ORDER: [&str; 18] = [
    "threadUpdated",
    "branchUpdated",
    "toolsChanged",
    "toolsChanged",
    "runStarted",
    "itemCompleted",
    "itemStarted",
    "interactionOpened",
    "runState",
    "interactionSettled",
    "interactionOpened",
    "runState",
    "interactionSettled",
    "itemCompleted",
    "runState",
    "itemStarted",
    "itemCompleted",
    "runCompleted",
];

