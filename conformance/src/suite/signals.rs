//! `data/changed`: every change is told, whoever made it and by whichever method.

use std::time::Duration;

use ropewalk_protocol::{Direction, METHODS};
use serde_json::{Value, json};

use super::{Fresh, Raw, text, things::Things, tool, tool_with};

scenarios! { $ signals
    wire:
        app_194_app_186_a_change_of_the_clients_own_names_its_kind_its_id_and_who_made_it
        app_190_what_changes_between_the_handshake_and_the_first_read_is_told
        seq_goes_on_over_a_reconnect_so_that_lists_are_read_again_once;
    clock:
        app_187_app_212_another_client_hears_of_every_writing_method
        app_188_app_189_a_burst_is_one_signal_that_names_all_of_it_and_comes_after_its_last_change
        app_191_a_run_is_heard_of_as_it_begins_waits_and_ends;
}

const SIGNAL: &str = "data/changed";

/// Nobody is left who could hear of the end of the daemon, and no client can take an input's parent away.
const LEFT_OUT: [&str; 2] = ["daemon/shutdown", "run/rebase"];

/// A client that wants to be told.
pub(super) async fn watcher(subject: &Fresh, instance: &str) -> Raw {
    Raw::introduced(subject.open().await, "watch", instance, json!({}), json!([])).await
}

/// Everything has been told that was to be told before.
pub(super) async fn quiet(subject: &Fresh, watch: &mut Raw) {
    for _ in 0..3 {
        watch.settle_down().await;
        subject.advance(Duration::from_millis(250));
    }
    watch.settle_down().await;
    watch.kept.clear();
}

/// Waits until a signal has this kind and id; all signals that came meanwhile.
pub(super) async fn heard(subject: &Fresh, watch: &mut Raw, what: &str, kind: &str, id: &Value) -> Vec<Value> {
    let is_it = |line: &&Value| {
        let params = &line["params"];
        let has = |list: &Value, word: &Value| list.as_array().is_some_and(|words| words.contains(word));
        line["method"] == SIGNAL && has(&params["kinds"], &json!(kind)) && (id.is_null() || has(&params["ids"], id))
    };
    for _ in 0..400 {
        watch.settle_down().await;
        if watch.kept.iter().any(|line| is_it(&line)) {
            return watch.seen(|line| line["method"] == SIGNAL).into_iter().map(|line| line["params"].clone()).collect();
        }
        subject.advance(Duration::from_millis(250));
        tokio::task::yield_now().await;
    }
    panic!("nobody heard of {what}: no {kind} {id} in {:?}", watch.kept)
}

/// The kind of what a method changes, as lists show it.
fn kind_of(method: &str) -> &'static str {
    match method {
        // What is submitted to a held branch waits there; so does what is released.
        "run/submit" | "run/skip" => "queue",
        "thread/resume" => "tool",
        _ => match method.rsplit_once('/').map(|(noun, _)| noun) {
            Some("project" | "project/security") => "project",
            Some("grant") => "grant",
            Some("policy") => "policy",
            Some("thread" | "branch") => "thread",
            Some("run") => "run",
            Some("queue") => "queue",
            Some("interaction") => "interaction",
            Some("attention") => "attention",
            Some("endpoint" | "secret") => "endpoint",
            Some("settings") => "settings",
            Some("mcp/server" | "mcp/review") => "server",
            Some("memory") => "memory",
            Some("instructions") => "instructions",
            _ => panic!("nobody has said what kind of thing {method} changes"),
        },
    }
}

/// The id that a signal about a kind of thing has, from the request or its answer.
fn id_of(kind: &str, body: &Value, answer: &Value) -> Value {
    let named = |field: &str, noun: &str| {
        let found = [&answer[noun][field], &answer[field], &body[field]];
        found.into_iter().find(|id| id.is_string()).cloned().unwrap_or_default()
    };
    match kind {
        "settings" => Value::Null,
        "attention" => json!(body["attentionId"].as_str().and_then(|id| id.split('/').next())),
        "queue" | "tool" => named("threadId", "thread"),
        "run" => named("runId", "run"),
        "memory" => named("entryId", "entry"),
        "instructions" => named("projectId", "instructions"),
        kind => named(&format!("{kind}Id"), kind),
    }
}

/// A body that changes something, where the one of [`Things`] may not.
async fn body(bot: &mut Raw, things: &Things, method: &str) -> Value {
    let queued = async |bot: &mut Raw| {
        let mut messages = Vec::new();
        let busy = bot.start(&[]).await;
        for input in ["sleep 600000", "say a", "say b"] {
            let submit = json!({"threadId": busy, "input": text(input), "endpointId": "scripted"});
            messages.push(bot.call("run/submit", submit).await["messageId"].clone());
        }
        (busy, messages)
    };
    match method {
        "run/stop" => json!({"threadId": things.busy}),
        "queue/clear" => json!({"threadId": queued(bot).await.0}),
        "queue/reorder" => {
            let (busy, messages) = queued(bot).await;
            json!({"threadId": busy, "messageIds": [messages[2], messages[1]]})
        }
        "thread/markRead" => {
            let thread = bot.call("thread/start", json!({"subscribe": false})).await["thread"]["threadId"].clone();
            let submit = json!({"threadId": thread, "input": text("say news"), "endpointId": "scripted", "wait": true});
            bot.call("run/submit", submit).await;
            let read = bot.call("thread/read", json!({"threadId": thread})).await;
            assert_eq!(read["thread"]["unread"], true, "{read}");
            json!({"threadId": thread, "seq": read["thread"]["seq"]})
        }
        _ => things.bodies(method).0,
    }
}

pub(super) async fn app_187_app_212_another_client_hears_of_every_writing_method(subject: Fresh) {
    let mut bot = subject.bot().await;
    let things = Things::make(&mut bot).await;
    let mut watch = watcher(&subject, "in-W").await;
    let mutating = METHODS.iter().filter(|entry| entry.mutates && entry.direction == Direction::ToDaemon);
    for entry in mutating.filter(|entry| !LEFT_OUT.contains(&entry.name)) {
        let method = entry.name;
        let body = body(&mut bot, &things, method).await;
        quiet(&subject, &mut watch).await;
        let answer = bot.call(method, body.clone()).await;
        let kind = kind_of(method);
        let mut id = id_of(kind, &body, &answer);
        if method == "run/stop" {
            // Which run that was, only the answer to a question tells.
            id = Value::Null;
        }
        heard(&subject, &mut watch, method, kind, &id).await;
    }
}

pub(super) async fn app_194_app_186_a_change_of_the_clients_own_names_its_kind_its_id_and_who_made_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let mut watch = watcher(&subject, "in-W").await;
    bot.call("thread/update", json!({"threadId": thread, "title": "other"})).await;
    let told = watch.told(SIGNAL).await;
    assert_eq!((&told["kinds"], &told["ids"], &told["origin"]), (&json!(["thread"]), &json!([thread]), &json!("in-A")));
    assert!(told["seq"].as_u64().is_some_and(|seq| seq > 0), "{told}");
    // Who made it hears of it as well, and may leave it out by its origin.
    let mut watch = watcher(&subject, "in-W").await;
    watch.call("thread/update", json!({"threadId": thread, "title": "mine"})).await;
    let told = watch.told(SIGNAL).await;
    assert_eq!((&told["ids"], &told["origin"]), (&json!([thread]), &json!("in-W")));
}

pub(super) async fn app_190_what_changes_between_the_handshake_and_the_first_read_is_told(subject: Fresh) {
    let mut watch = Raw::new(subject.open().await);
    let handshake = json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "watch", "version": "1"}});
    let hello = watch.request("initialize", handshake).await;
    watch.answer(hello).await;
    let mut bot = subject.bot().await;
    let project = bot.call("project/create", json!({"name": "new"})).await["project"]["projectId"].clone();
    // Only now it looks.
    assert_eq!(watch.told(SIGNAL).await["ids"], json!([project]));
}

pub(super) async fn seq_goes_on_over_a_reconnect_so_that_lists_are_read_again_once(subject: Fresh) {
    let mut watch = watcher(&subject, "in-W").await;
    let mut bot = subject.bot().await;
    bot.call("project/create", json!({"name": "one"})).await;
    let before = watch.told(SIGNAL).await["seq"].as_u64().unwrap();
    drop(watch);
    bot.call("project/create", json!({"name": "two"})).await;
    let mut watch = watcher(&subject, "in-W").await;
    bot.call("project/create", json!({"name": "three"})).await;
    let after = watch.told(SIGNAL).await["seq"].as_u64().unwrap();
    assert!(after > before + 1, "what was missed is counted: {before} and {after}");
}

pub(super) async fn app_188_app_189_a_burst_is_one_signal_that_names_all_of_it_and_comes_after_its_last_change(subject: Fresh) {
    let mut watch = watcher(&subject, "in-W").await;
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    quiet(&subject, &mut watch).await;
    bot.call("thread/update", json!({"threadId": thread, "title": "first"})).await;
    watch.told(SIGNAL).await;
    for n in 0..50 {
        bot.call("thread/update", json!({"threadId": thread, "title": format!("{n}")})).await;
    }
    let last = bot.call("project/create", json!({"name": "last"})).await["project"]["projectId"].clone();
    watch.settle_down().await;
    subject.advance(Duration::from_millis(249));
    watch.settle_down().await;
    assert!(watch.seen(|line| line["method"] == SIGNAL).is_empty(), "not so soon");
    subject.advance(Duration::from_millis(1));
    let told = watch.told(SIGNAL).await;
    assert_eq!((&told["kinds"], &told["origin"]), (&json!(["project", "thread"]), &json!("in-A")));
    assert_eq!(told["ids"], json!([thread, last]), "each once");
    quiet(&subject, &mut watch).await;
    bot.call("thread/read", json!({"threadId": thread})).await;
    watch.settle_down().await;
    subject.advance(Duration::from_millis(250));
    watch.settle_down().await;
    assert!(watch.seen(|line| line["method"] == SIGNAL).is_empty(), "reading changes nothing");
}

pub(super) async fn app_191_a_run_is_heard_of_as_it_begins_waits_and_ends(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"})), tool("look")]).await;
    let mut watch = watcher(&subject, "in-W").await;
    quiet(&subject, &mut watch).await;
    let run = bot.submit(&thread, "call act").await;
    heard(&subject, &mut watch, "the run", "run", &run).await;
    let asked = bot.asked("approval/request").await;
    let interaction = asked["params"]["interactionId"].clone();
    heard(&subject, &mut watch, "the approval", "interaction", &interaction).await;
    quiet(&subject, &mut watch).await;
    bot.reply(&asked, json!({"decision": "decline"})).await;
    bot.ended(&run).await;
    heard(&subject, &mut watch, "the settlement", "interaction", &interaction).await;
    heard(&subject, &mut watch, "the end", "run", &run).await;
    quiet(&subject, &mut watch).await;
    // Who has the tools goes, and what lists show of them is another thing.
    drop(bot);
    heard(&subject, &mut watch, "the tools", "tool", &thread).await;
}
