//! Thirty interactions that are open when the daemon is killed.

use std::collections::BTreeMap;

use ropewalk_conformance::{DaemonProcess, suite::Raw};
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Place, client};
use crate::support::{success, text, tool_with};

/// Open interactions of each kind.
const OF_EACH: usize = 10;
/// How often the daemon is killed with all of them open.
const KILLS: usize = 2;

const QUESTION: &str =
    "call ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"Which?\",\"options\":[{\"label\":\"red\"}]}]}";

/// A run with something open.
struct Open {
    thread: Value,
    run: Value,
    /// What the daemon asked last.
    asked: Value,
    /// What the run says in the end, among other things.
    text: &'static str,
}

/// The kinds of requests, what makes the model cause one, and what its run says among other things when it was answered
/// well.
const KINDS: [(&str, &str, &str); 3] = [
    ("approval/request", "call guarded", "guarded: done"),
    ("input/request", QUESTION, "red"),
    ("tool/call", "call free", "free: done"),
];

#[tokio::test]
async fn dyn_30_ten_approvals_ten_questions_and_ten_calls_are_offered_again_after_a_kill_and_settle() {
    let place = Place::new();
    let mut daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let mut open = Vec::new();
    for (method, script, text) in KINDS {
        for _ in 0..OF_EACH {
            open.push(begin(&mut bot, method, script, text).await);
        }
    }
    for _ in 0..KILLS {
        daemon.kill().await.unwrap();
        daemon = place.daemon().await;
        bot = client(&daemon, "bot", "in-A").await;
        offered_again(&mut bot, &mut open).await;
    }
    for one in &open {
        finish(&mut bot, one).await;
    }
    let listed = bot.call("interaction/list", json!({"state": "open"})).await;
    assert_eq!(listed["items"], json!([]));
    let log = DaemonProcess::log(&daemon);
    assert!(!log.contains("ERROR"), "{log}");
}

async fn begin(bot: &mut Raw<UnixStream>, method: &'static str, script: &str, says: &'static str) -> Open {
    let guarded = tool_with("guarded", json!({"approval": "ask"}));
    let free = tool_with("free", json!({"approval": "allow"}));
    let thread = bot.start(&[guarded, free]).await;
    let submit = json!({"threadId": thread, "input": text(script), "unattended": "wait"});
    let run = bot.call("run/submit", submit).await["runId"].clone();
    let asked = bot.asked(method).await;
    assert_eq!(asked["params"]["runId"], run);
    Open { thread, run, asked, text: says }
}

/// A client that comes back is offered each of them again: the same, with a higher attempt, and once.
async fn offered_again(bot: &mut Raw<UnixStream>, open: &mut [Open]) {
    let listed = bot.call("interaction/list", json!({"state": "open"})).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), open.len(), "each is a row");
    for one in open.iter() {
        bot.call("thread/resume", json!({"threadId": one.thread})).await;
    }
    let mut again: BTreeMap<String, Value> = BTreeMap::new();
    while again.len() < open.len() {
        let is_asked = |line: &Value| line["method"].is_string() && line.get("id").is_some();
        let asked = bot.until("what is open", is_asked).await;
        let id = asked["params"]["interactionId"].as_str().unwrap().to_owned();
        again.insert(id, asked);
    }
    for one in open {
        let id = one.asked["params"]["interactionId"].as_str().unwrap();
        let asked = again.remove(id).unwrap_or_else(|| panic!("{id} was not offered again"));
        assert_eq!(asked["method"], one.asked["method"]);
        for same in ["callId", "runId", "threadId", "arguments", "questions", "choices", "tool", "expiresAt"] {
            assert_eq!(asked["params"][same], one.asked["params"][same], "{same}");
        }
        assert!(asked["params"]["attempt"].as_u64() > one.asked["params"]["attempt"].as_u64(), "{asked}");
        one.asked = asked;
    }
}

async fn finish(bot: &mut Raw<UnixStream>, open: &Open) {
    match open.asked["method"].as_str().unwrap() {
        "approval/request" => {
            bot.reply(&open.asked, json!({"decision": "accept"})).await;
            let is_its = |line: &Value| line["method"] == "tool/call" && line["params"]["runId"] == open.run;
            let call = bot.until("the call that was approved", is_its).await;
            bot.reply(&call, success("done")).await;
        }
        "input/request" => bot.reply(&open.asked, json!({"answers": {"q": {"selected": [0]}}})).await,
        _ => bot.reply(&open.asked, success("done")).await,
    }
    let ended = bot.ended(&open.run).await;
    assert_eq!(ended["outcome"]["status"], "completed", "{ended}");
    assert!(ended["outcome"]["text"].as_str().unwrap().contains(open.text), "{ended}");
    let item = bot.calls(&open.thread).await.pop().unwrap();
    assert_eq!(item["state"], "completed", "{item}");
}
