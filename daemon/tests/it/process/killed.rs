//! A daemon that is killed: what it acknowledged is there afterwards, and what it was at goes on.

use rand::{Rng, SeedableRng, rngs::StdRng};
use ropewalk_conformance::suite::Raw;
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Place, client, get_issue};
use crate::support::text;

/// How often the daemon is killed.
const ROUNDS: u64 = 20;
/// Lines of the longest script, its deltas included, are fewer.
const MOST_LINES: usize = 40;
/// Whoever wants other instants changes this; a failing round names its own.
const SEED: u64 = 20_261_130;

/// What a run may be asked for, each with another place to be killed in.
const SCRIPTS: [&str; 4] = [
    "What is issue 7 about?",
    "say one two three four five six\ncall get_issue {\"id\":\"7\"}",
    "think about it\ncall get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}\nthen call get_issue {\"id\":\"3\"}",
    "call get_issue {\"id\":\"7\"}\nthen fail badRequest",
];

/// A run that was acknowledged, and what its client had seen of it when the daemon died.
struct Seen {
    thread: Value,
    submitted: Value,
    input: &'static str,
    events: Vec<Value>,
}

#[tokio::test]
async fn a_run_that_was_acknowledged_outlives_a_daemon_that_is_killed_at_any_instant() {
    let place = Place::new();
    let mut random = StdRng::seed_from_u64(SEED);
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        let (script, lines) = (SCRIPTS[random.random_range(0..SCRIPTS.len())], random.random_range(0..MOST_LINES));
        let context = format!("round {round} of seed {SEED}: {script:?}, killed after {lines} lines");
        let daemon = place.daemon().await;
        let mut bot = client(&daemon, "bot", &format!("in-{round}")).await;
        let seen = submit_and_read(&mut bot, script, lines).await;
        daemon.kill().await.unwrap();
        let daemon = place.daemon().await;
        let mut bot = client(&daemon, "bot", &format!("in-{round}")).await;
        check(&mut bot, &seen, &context).await;
        all.push(seen);
        daemon.kill().await.unwrap();
    }
    // Nothing that came later took away from what was there.
    let daemon = place.daemon().await;
    let mut bot = client(&daemon, "reader", "in-R").await;
    for seen in all {
        let events = events_of(&mut bot, &seen.thread).await;
        assert_eq!(events.last().unwrap()["event"]["type"], "runCompleted");
        assert_eq!(events[..seen.events.len()], seen.events);
    }
}

/// Starts a thread, submits, and reads so many lines, or to the end of the run.
async fn submit_and_read(bot: &mut Raw<UnixStream>, script: &'static str, lines: usize) -> Seen {
    let started = bot.call("thread/start", json!({"tools": [get_issue("allow")], "subscribe": false})).await;
    let thread = started["thread"]["threadId"].clone();
    bot.call("thread/resume", json!({"threadId": thread, "after": 0})).await;
    let submitted = bot.call("run/submit", json!({"threadId": thread, "input": text(script)})).await;
    let mut seen = Seen { thread, submitted, input: script, events: Vec::new() };
    for line in std::mem::take(&mut bot.kept) {
        seen.take(line);
    }
    for _ in 0..lines {
        let line = bot.next().await;
        if line["method"] == "tool/call" {
            bot.reply(&line, told()).await;
        }
        if seen.take(line) {
            break;
        }
    }
    seen
}

impl Seen {
    /// Notes a durable event; whether it is the end of the run.
    fn take(&mut self, line: Value) -> bool {
        if line["params"].get("seq").is_none() || line["method"] != "thread/event" {
            return false;
        }
        let is_end = line["params"]["event"]["type"] == "runCompleted";
        self.events.push(line["params"].clone());
        is_end
    }
}

/// What must hold after the next start: the message is there, no event that was seen is gone or changed, and the run ends
/// as it would have, or says why it does not.
async fn check(bot: &mut Raw<UnixStream>, seen: &Seen, context: &str) {
    bot.call("thread/resume", json!({"threadId": seen.thread, "after": 0})).await;
    let ended = loop {
        let at_hand = bot.kept.iter().position(|line| line["method"] == "tool/call");
        let line = match at_hand {
            Some(at) => bot.kept.remove(at),
            None => bot.next().await,
        };
        if line["method"] == "tool/call" {
            bot.reply(&line, told()).await;
        }
        if line["params"]["event"]["type"] == "runCompleted" {
            break line["params"].clone();
        }
    };
    assert_eq!(ended["event"]["runId"], seen.submitted["runId"], "{context}");
    let outcome = &ended["event"]["outcome"];
    match outcome["status"].as_str() {
        Some("completed") => assert!(!seen.input.contains("fail"), "{context}: {outcome}"),
        Some("failed") => assert_eq!(outcome["error"]["kind"], "badRequest", "{context}"),
        _ => panic!("{context}: {outcome}"),
    }
    let events = events_of(bot, &seen.thread).await;
    assert_eq!(events[..seen.events.len()], seen.events, "{context}");
    let messages = bot.call("thread/messages", json!({"threadId": seen.thread})).await;
    let messages = messages["items"].as_array().unwrap();
    let input = messages.last().unwrap();
    assert_eq!(input["messageId"], seen.submitted["messageId"], "{context}");
    assert_eq!(input["content"][0]["text"], seen.input, "{context}");
    let calls = messages.iter().flat_map(|message| message["toolCalls"].as_array().into_iter().flatten());
    for call in calls {
        let results = messages.iter().filter(|message| message["callId"] == call["callId"]).count();
        assert_eq!(results, 1, "{context}: every call of the chain has one result");
    }
    all_closed(&events, context);
}

/// Every item and every interaction that was opened has been closed, once.
fn all_closed(events: &[Value], context: &str) {
    for (opened, closed, id) in [
        ("itemStarted", "itemCompleted", ["/event/item/itemId", "/event/item/itemId"]),
        ("interactionOpened", "interactionSettled", ["/event/interaction/interactionId", "/event/interactionId"]),
    ] {
        for event in events.iter().filter(|event| event["event"]["type"] == opened) {
            let which = event.pointer(id[0]);
            let is_end = |event: &&Value| event["event"]["type"] == closed && event.pointer(id[1]) == which;
            assert_eq!(events.iter().filter(is_end).count(), 1, "{context}: {which:?}");
        }
    }
}

async fn events_of(bot: &mut Raw<UnixStream>, thread: &Value) -> Vec<Value> {
    let page = bot.call("thread/events", json!({"threadId": thread, "after": 0, "limit": 1_000})).await;
    let events = page["events"].as_array().unwrap().clone();
    let seqs: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>(), "without gaps");
    events
}

fn told() -> Value {
    json!({"success": true, "contentItems": [{"type": "text", "text": "#7 Login fails"}]})
}

#[tokio::test]
async fn an_approval_that_was_open_when_the_daemon_was_killed_is_asked_again() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let started = bot.call("thread/start", json!({"tools": [get_issue("ask")]})).await;
    let thread = started["thread"]["threadId"].clone();
    let input = text("call get_issue {\"id\":\"7\"}");
    bot.call("run/submit", json!({"threadId": thread, "input": input, "unattended": "wait"})).await;
    let mut asked = bot.asked("approval/request").await;
    daemon.kill().await.unwrap();

    // Twice, because the second start goes by what the first one has written.
    for _ in 0..2 {
        let daemon = place.daemon().await;
        let mut bot = client(&daemon, "bot", "in-A").await;
        let listed = bot.call("interaction/list", json!({"state": "open"})).await;
        assert_eq!(listed["items"][0]["interactionId"], asked["params"]["interactionId"], "{listed}");
        bot.call("thread/resume", json!({"threadId": thread})).await;
        let again = bot.asked("approval/request").await;
        for same in ["interactionId", "callId", "runId", "arguments", "summary", "choices"] {
            assert_eq!(again["params"][same], asked["params"][same], "{same}");
        }
        assert!(again["params"]["attempt"].as_u64() > asked["params"]["attempt"].as_u64(), "{again}");
        asked = again;
        daemon.kill().await.unwrap();
    }

    let daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    bot.call("thread/resume", json!({"threadId": thread})).await;
    let again = bot.asked("approval/request").await;
    bot.reply(&again, json!({"decision": "accept"})).await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, told()).await;
    let ended = bot.event("runCompleted").await;
    assert_eq!(ended["event"]["outcome"]["text"], "get_issue: #7 Login fails");
}
