//! What clumsy and hostile clients and models have broken once, or tried to.

use std::{fs, time::Duration};

use ropewalk_daemon::{
    SecretChoice,
    embed::{EmbedConfig, EmbedHome, embed},
};
use serde_json::{Value, json};

use crate::support::{Piped, Raw, Subject as _, success, text, tool_with};

/// A client of `daemon` that has started a thread with one tool, and the thread.
async fn with_tool(daemon: &Piped, approval: &str) -> (Raw, Value) {
    let mut owner = daemon.greeted("bot", "owner").await;
    let thread = owner.start(&[tool_with("t", json!({"approval": approval}))]).await;
    (owner, thread)
}

async fn joined(daemon: &Piped, instance: &str, thread: &Value) -> Raw {
    let mut client = daemon.greeted("person", instance).await;
    client.call("thread/resume", json!({"threadId": thread})).await;
    client
}

/// How many messages the chain of a thread has, over all its pages.
async fn chain_length(client: &mut Raw, thread: &Value) -> usize {
    let mut length = 0;
    let mut cursor = Value::Null;
    for _ in 0..100 {
        let page = client.call("thread/messages", json!({"threadId": thread, "cursor": cursor})).await;
        length += page["items"].as_array().unwrap().len();
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return length;
        }
    }
    panic!("the pages of the chain have no end");
}

#[tokio::test]
async fn an_answer_counts_although_its_client_left_right_after_it() {
    let daemon = Piped::new().await;
    let (mut owner, thread) = with_tool(&daemon, "ask").await;
    let mut person = joined(&daemon, "person", &thread).await;
    owner.submit(&thread, "call t").await;
    let asked = person.asked("approval/request").await;
    person.reply(&asked, json!({"decision": "accept"})).await;
    drop(person);
    let call = owner.asked("tool/call").await;
    owner.reply(&call, success("done")).await;
    drop(owner);
    let mut witness = joined(&daemon, "witness", &thread).await;
    witness.call("run/wait", json!({"runId": call["params"]["runId"]})).await;
    assert_eq!(witness.calls(&thread).await[0]["state"], "completed");
}

#[tokio::test]
async fn a_result_counts_as_the_answer_to_an_earlier_request_of_the_same_call() {
    let daemon = Piped::new().await;
    let (mut owner, thread) = with_tool(&daemon, "allow").await;
    let run = owner.submit(&thread, "call t").await;
    let first = owner.asked("tool/call").await;
    owner.call("thread/resume", json!({"threadId": thread})).await;
    let second = owner.asked("tool/call").await;
    assert_eq!(second["params"]["attempt"], 2);
    owner.reply(&first, success("done")).await;
    owner.ended(&run).await;
    assert_eq!(owner.calls(&thread).await[0]["state"], "completed");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_asked_again_when_it_does() {
    let daemon = Piped::new().await;
    let (mut owner, thread) = with_tool(&daemon, "ask").await;
    let mut sleeper = joined(&daemon, "sleeper", &thread).await;
    let large = format!("call t {{\"x\":\"{}\"}}", "x".repeat(60_000));
    for _ in 0..40 {
        let run = owner.submit(&thread, &large).await;
        let asked = owner.asked("approval/request").await;
        owner.reply(&asked, json!({"decision": "decline"})).await;
        owner.ended(&run).await;
        owner.kept.clear();
    }
    owner.submit(&thread, &large).await;
    let open = owner.asked("approval/request").await["params"]["interactionId"].clone();
    let is_open = |line: &Value| line["method"] == "approval/request" && line["params"]["interactionId"] == open;
    sleeper.settle_down().await;
    let asked = sleeper.seen(|line| line["method"] == "approval/request").len();
    assert!((1..30).contains(&asked), "{asked} requests were kept for it");
    for _ in 0..100 {
        daemon.advance(Duration::from_secs(1));
        sleeper.settle_down().await;
        if !sleeper.seen(is_open).is_empty() {
            break;
        }
    }
    let asked = sleeper.until("the open approval", is_open).await;
    sleeper.reply(&asked, json!({"decision": "accept"})).await;
    owner.asked("tool/call").await;
}

#[tokio::test]
async fn a_long_text_after_a_checkpoint_can_be_read_again() {
    let daemon = Piped::new().await;
    let mut client = daemon.greeted("bot", "b").await;
    let thread = client.start(&[]).await;
    let long = format!("say begin\nsleep 2000\nsay {}", "word ".repeat(160_000));
    let run = client.submit(&thread, &long).await;
    client.until("text", |line| line["params"]["event"]["type"] == "itemDelta").await;
    for _ in 0..100 {
        daemon.advance(Duration::from_secs(1));
        client.settle_down().await;
        let state = client.call("run/read", json!({"runId": run})).await["run"]["state"].clone();
        if state == "completed" {
            break;
        }
    }
    client.ended(&run).await;
    assert_eq!(chain_length(&mut client, &thread).await, 2);
    client.run(&thread, "say more").await;
    assert_eq!(chain_length(&mut client, &thread).await, 4);
}

#[tokio::test]
async fn an_answer_without_end_fails_its_run_and_harms_no_other() {
    let daemon = Piped::new().await;
    let mut client = daemon.greeted("bot", "b").await;
    let thread = client.start(&[]).await;
    let submit = json!({"threadId": thread, "input": text(&format!("say {}", "word ".repeat(600_000))), "wait": true});
    let run = client.call("run/submit", submit).await["run"].clone();
    assert_eq!(run["outcome"]["error"]["kind"], "badResponse", "{}", run["outcome"]["error"]);
    let chain = client.chain(&thread).await;
    let kept = chain.iter().map(|message| message["content"][0]["text"].as_str().unwrap().len());
    assert!(kept.clone().any(|length| length == 2 << 20), "{:?}", kept.collect::<Vec<_>>());
    client.run(&thread, "say more").await;
}

#[tokio::test]
async fn inputs_of_many_megabytes_leave_a_thread_that_can_be_resumed_and_read() {
    let daemon = Piped::new().await;
    let mut client = daemon.greeted("bot", "b").await;
    let thread = client.start(&[]).await;
    let submit = |length: usize| json!({"threadId": thread, "input": text(&format!("say {}", "x".repeat(length)))});
    let refused = client.refused("run/submit", submit((16 << 20) - 1_000)).await;
    assert_eq!((&refused["data"]["kind"], &refused["data"]["what"]), (&json!("tooLarge"), &json!("input")));
    let running = client.submit(&thread, "sleep 3600000").await;
    for _ in 0..2 {
        client.call("run/submit", submit(6 << 20)).await;
    }
    let refused = client.refused("run/submit", submit(6 << 20)).await;
    assert_eq!((&refused["data"]["kind"], &refused["data"]["what"]), (&json!("overloaded"), &json!("queueBytes")));
    let queue = client.call("queue/list", json!({"threadId": thread})).await;
    assert_eq!(queue["entries"].as_array().unwrap().len(), 2, "what waits fits in one line");
    let resumed = client.call("thread/resume", json!({"threadId": thread})).await;
    assert_eq!(resumed["snapshot"]["queues"][thread.as_str().unwrap()]["length"], 2);
    client.call("run/stop", json!({"threadId": thread, "runId": running})).await;
    client.ended(&running).await;
}

#[tokio::test]
async fn without_the_rules_of_a_damaged_log_nothing_runs() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    let config =
        || EmbedConfig { home: EmbedHome::Directory(home.clone()), listen: false, secret_store: SecretChoice::File };
    let daemon = embed(config()).await.unwrap();
    let mut client = Raw::greeted(daemon.pipe(), "bot", "b").await;
    let thread = client.start(&[tool_with("t", json!({"approval": "allow"}))]).await;
    client.rule("global", &Value::Null, "t", "deny").await;
    client.call("settings/update", json!({"inputMs": 5_000})).await;
    daemon.stop(1_000).await;

    let path = home.join("logs/daemon.jsonl");
    let mut log = fs::read(&path).unwrap();
    let rule = String::from_utf8_lossy(&log).find("deny").unwrap();
    log[rule] ^= 1;
    fs::write(&path, log).unwrap();
    fs::remove_dir_all(home.join("index")).unwrap();

    let daemon = embed(config()).await.unwrap();
    let mut client = Raw::greeted(daemon.pipe(), "bot", "b").await;
    let refused = client.refused("run/submit", json!({"threadId": thread, "input": text("call t")})).await;
    assert_eq!(refused["data"]["reason"], "log_damaged");
    assert_eq!(client.call("daemon/status", json!({})).await["health"]["state"], "degraded");
    client.call("thread/read", json!({"threadId": thread})).await;
    daemon.stop(1_000).await;
}
