//! A client that is gone in the middle of something: the run ends as its policy says, somebody else can answer, and nothing
//! waits for ever (K05).

use std::time::Duration;

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, success, text, tool, tool_with};

scenarios! { $ leaving
    wire:
        k05_a_run_whose_client_leaves_while_text_streams_ends_well
        k05_a_result_that_was_sent_counts_although_its_client_is_gone
        k05_what_a_client_leaves_open_another_one_answers;
    clock:
        k05_a_call_whose_owner_left_before_it_was_sent_has_no_effect
        k05_a_question_nobody_is_left_for_is_undeliverable_after_the_grace
        dyn_38_a_call_is_offered_again_to_the_instance_that_comes_back_within_the_grace
        dyn_38_a_call_with_an_effect_ends_as_outcome_unknown_when_its_owner_stays_away;
}

const QUESTION: &str = "call ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"Which?\",\"options\":[{\"label\":\"a\"}]}]}";

pub(super) async fn k05_a_run_whose_client_leaves_while_text_streams_ends_well(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "say one two three four\nthen say five").await;
    bot.until("text", |line| line["params"]["event"]["type"] == "itemDelta").await;
    drop(bot);
    let mut watch = subject.client("watch", "in-W").await;
    let ended = waited(&mut watch, &run).await;
    assert_eq!(ended["outcome"]["status"], "completed");
    closed(&mut watch, &thread).await;
}

pub(super) async fn k05_a_result_that_was_sent_counts_although_its_client_is_gone(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("act")]).await;
    let run = bot.submit(&thread, "call act").await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, success("done")).await;
    drop(bot);
    let mut watch = subject.client("watch", "in-W").await;
    assert_eq!(waited(&mut watch, &run).await["outcome"]["text"], "act: done");
    closed(&mut watch, &thread).await;
}

pub(super) async fn k05_what_a_client_leaves_open_another_one_answers(subject: Fresh) {
    for (method, script, answer) in [
        ("approval/request", "call act", json!({"decision": "decline"})),
        ("input/request", QUESTION, json!({"answers": {"q": {"selected": [0]}}})),
    ] {
        let mut bot = subject.bot().await;
        let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
        let mut watch = subject.client("watch", "in-W").await;
        watch.call("thread/resume", json!({"threadId": thread})).await;
        let run = bot.submit(&thread, script).await;
        bot.asked(method).await;
        drop(bot);
        let asked = watch.asked(method).await;
        watch.reply(&asked, answer).await;
        assert_eq!(watch.ended(&run).await["outcome"]["status"], "completed", "{method}");
        let settled = watch.told("interaction/settled").await;
        assert_eq!(settled["by"]["instanceId"], "in-W");
        closed(&mut watch, &thread).await;
    }
}

pub(super) async fn k05_a_call_whose_owner_left_before_it_was_sent_has_no_effect(subject: Fresh) {
    let (bot, mut watch, thread) = two(&subject, tool("act")).await;
    let run = watch.submit(&thread, "sleep 1000\ncall act").await;
    watch.event("runStarted").await;
    drop(bot);
    let is_away = |tools: &Value| tools["items"][0]["state"] == "ownerAway";
    watch.eventually("thread/tools", json!({"threadId": thread}), is_away).await;
    subject.advance(Duration::from_secs(1));
    watch.event("interactionOpened").await;
    subject.advance(Duration::from_secs(30));
    assert_eq!(watch.ended(&run).await["outcome"]["status"], "completed");
    let item = watch.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["error"]["code"], &item["effect"]), (&json!("owner_away"), &json!("none")), "{item}");
    closed(&mut watch, &thread).await;
}

pub(super) async fn k05_a_question_nobody_is_left_for_is_undeliverable_after_the_grace(subject: Fresh) {
    let mut mute = Raw::introduced(subject.open().await, "mute", "in-M", json!({}), json!([])).await;
    let thread = mute.start(&[]).await;
    let mut person = subject.client("person", "in-P").await;
    person.call("thread/resume", json!({"threadId": thread})).await;
    let run = mute.submit(&thread, QUESTION).await;
    person.asked("input/request").await;
    drop(person);
    let nobody = |read: &Value| read["run"]["waitingOn"]["canAnswer"] == json!([]);
    mute.eventually("run/read", json!({"runId": run}), nobody).await;
    subject.advance(Duration::from_millis(4_999));
    mute.settle_down().await;
    assert_eq!(mute.call("run/read", json!({"runId": run})).await["run"]["state"], "waiting");
    subject.advance(Duration::from_millis(1));
    mute.ended(&run).await;
    assert_eq!(mute.calls(&thread).await[0]["state"], "undeliverable");
    closed(&mut mute, &thread).await;
}

pub(super) async fn dyn_38_a_call_is_offered_again_to_the_instance_that_comes_back_within_the_grace(subject: Fresh) {
    let (mut bot, mut watch, thread) = two(&subject, tool("act")).await;
    let run = bot.submit(&thread, "call act").await;
    let call = bot.asked("tool/call").await;
    drop(bot);
    watch.until("ownerAway", |line| line["params"]["event"]["cause"] == "ownerAway").await;
    subject.advance(Duration::from_millis(29_999));
    watch.settle_down().await;
    let mut back = subject.bot().await;
    back.call("thread/resume", json!({"threadId": thread})).await;
    let again = back.asked("tool/call").await;
    assert_eq!(again["params"]["interactionId"], call["params"]["interactionId"]);
    assert!(again["params"]["attempt"].as_u64() > call["params"]["attempt"].as_u64());
    // The grace is over for nobody who is here (K51): no timer of its absence ends the call.
    subject.advance(Duration::from_secs(60));
    back.settle_down().await;
    back.reply(&again, success("done")).await;
    assert_eq!(back.ended(&run).await["outcome"]["text"], "act: done");
    closed(&mut watch, &thread).await;
}

pub(super) async fn dyn_38_a_call_with_an_effect_ends_as_outcome_unknown_when_its_owner_stays_away(subject: Fresh) {
    let (mut bot, mut watch, thread) = two(&subject, tool("act")).await;
    let run = bot.submit(&thread, "call act").await;
    bot.asked("tool/call").await;
    drop(bot);
    watch.until("ownerAway", |line| line["params"]["event"]["cause"] == "ownerAway").await;
    // Another process of the same program gets the name, and not the call that may have had its effect.
    let mut next = subject.client("bot", "in-B").await;
    next.call("thread/resume", json!({"threadId": thread, "tools": [tool("act")]})).await;
    next.settle_down().await;
    assert!(next.seen(|line| line["method"] == "tool/call").is_empty());
    subject.advance(Duration::from_secs(30));
    watch.ended(&run).await;
    let item = watch.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["effect"]), (&json!("outcomeUnknown"), &json!("unknown")), "{item}");
    next.settle_down().await;
    assert!(next.seen(|line| line["method"] == "tool/call").is_empty(), "it is never made again by itself");
    closed(&mut watch, &thread).await;
}

/// `bot`, which has started a thread with this tool, and `watch`, which follows it.
async fn two(subject: &Fresh, tool: Value) -> (Raw, Raw, Value) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool]).await;
    let mut watch = subject.client("watch", "in-W").await;
    watch.call("thread/resume", json!({"threadId": thread})).await;
    (bot, watch, thread)
}

/// The run, once it has ended.
async fn waited(client: &mut Raw, run: &Value) -> Value {
    client.call("run/wait", json!({"runId": run})).await["run"].clone()
}

/// Nothing is left open, and the thread goes on.
async fn closed(client: &mut Raw, thread: &Value) {
    assert_all_closed(&client.log(thread).await);
    let open = client.call("interaction/list", json!({"threadId": thread})).await;
    assert_eq!(open["items"], json!([]));
    let next = json!({"threadId": thread, "input": text("say on"), "wait": true});
    assert_eq!(client.call("run/submit", next).await["run"]["outcome"]["status"], "completed");
}
