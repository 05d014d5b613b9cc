//! The endings of what a person is asked, which never blur: each has its own outcome, record and text for the model.

use std::{collections::HashSet, time::Duration};

use serde_json::{Value, json};

use super::{Fresh, Raw, success, told_text, tool_with};

scenarios! { $ endings
    wire:
        dyn_31_without_anybody_who_could_answer_an_approval_is_undeliverable_at_once
        with_unattended_wait_an_approval_waits_for_whoever_attaches;
    clock:
        dyn_31_the_endings_of_an_approval_differ_in_event_record_and_text
        dyn_31_the_endings_of_a_question_differ_in_event_record_and_text
        a_client_that_just_left_counts_for_the_grace_and_no_longer;
}

pub(super) async fn dyn_31_the_endings_of_an_approval_differ_in_event_record_and_text(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let mut told = HashSet::new();

    let run = ask(&mut bot, &thread, "approval/request", "call act", json!({"decision": "accept"})).await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, success("done")).await;
    bot.ended(&run).await;
    told.insert(ending(&mut bot, &thread, "answered", "completed", Value::Null, "person").await);

    let run = ask(&mut bot, &thread, "approval/request", "call act", json!({"decision": "decline"})).await;
    bot.ended(&run).await;
    told.insert(ending(&mut bot, &thread, "declined", "refused", json!("declined"), "person").await);

    bot.submit(&thread, "call act").await;
    bot.asked("approval/request").await;
    subject.advance(Duration::from_secs(900));
    bot.event("runCompleted").await;
    told.insert(ending(&mut bot, &thread, "expired", "expired", json!("expired"), "").await);

    bot.submit(&thread, "call act").await;
    let approval = bot.asked("approval/request").await;
    bot.reply_error(&approval, -32603, "not I").await;
    bot.event("runCompleted").await;
    told.insert(ending(&mut bot, &thread, "undeliverable", "undeliverable", json!("undeliverable"), "").await);

    bot.submit(&thread, "call act").await;
    bot.asked("approval/request").await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.event("runCompleted").await;
    told.insert(ending(&mut bot, &thread, "cancelled", "cancelled", json!("cancelled"), "").await);

    bot.submit(&thread, "call act").await;
    bot.asked("approval/request").await;
    bot.rule("thread", &thread, "act", "deny").await;
    bot.event("runCompleted").await;
    told.insert(ending(&mut bot, &thread, "declined", "refused", json!("tool_denied"), "policy").await);

    assert_eq!(told.len(), 6, "the model is told something else each time: {told:#?}");
}

pub(super) async fn dyn_31_the_endings_of_a_question_differ_in_event_record_and_text(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let asks = "call ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"Which?\",\"options\":[{\"label\":\"a\"}]}]}";
    let mut told = HashSet::new();
    let answers = [
        (json!({"answers": {"q": {"selected": [0]}}}), "answered", "completed", Value::Null),
        (json!({"dismissed": true}), "answered", "completed", Value::Null),
        (json!({"declined": true}), "declined", "refused", json!("declined")),
    ];
    for (answer, outcome, state, code) in answers {
        let run = ask(&mut bot, &thread, "input/request", asks, answer).await;
        assert_eq!(bot.ended(&run).await["outcome"]["status"], "completed");
        told.insert(ending(&mut bot, &thread, outcome, state, code, "default").await);
    }

    bot.submit(&thread, asks).await;
    bot.asked("input/request").await;
    subject.advance(Duration::from_secs(900));
    bot.event("runCompleted").await;
    told.insert(ending(&mut bot, &thread, "expired", "expired", json!("expired"), "default").await);

    bot.submit(&thread, asks).await;
    let question = bot.asked("input/request").await;
    bot.reply_error(&question, -32603, "not I").await;
    bot.event("runCompleted").await;
    told.insert(ending(&mut bot, &thread, "undeliverable", "undeliverable", json!("undeliverable"), "default").await);

    bot.submit(&thread, asks).await;
    bot.asked("input/request").await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.event("runCompleted").await;
    told.insert(ending(&mut bot, &thread, "cancelled", "cancelled", json!("cancelled"), "default").await);
    assert_eq!(told.len(), 6, "the model is told something else each time: {told:#?}");
}

pub(super) async fn dyn_31_without_anybody_who_could_answer_an_approval_is_undeliverable_at_once(subject: Fresh) {
    let stream = subject.open().await;
    let mut mute = Raw::introduced(stream, "bot", "in-M", json!({}), json!([])).await;
    let thread = mute.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let ended = mute.run(&thread, "call act").await;
    assert_eq!(ended["outcome"]["status"], "completed", "the run goes on");
    let item = mute.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["error"]["code"]), (&json!("undeliverable"), &json!("undeliverable")));
    assert!(told_text(&item).contains("Nobody is here"), "{}", told_text(&item));
    let ended = mute.run(&thread, "call ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"Which?\"}]}").await;
    assert_eq!(ended["outcome"]["status"], "completed");
    assert_eq!(mute.calls(&thread).await[1]["state"], "undeliverable");
}

pub(super) async fn with_unattended_wait_an_approval_waits_for_whoever_attaches(subject: Fresh) {
    let stream = subject.open().await;
    let mut mute = Raw::introduced(stream, "bot", "in-M", json!({}), json!([])).await;
    let thread = mute.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let submit = json!({"threadId": thread, "input": super::text("call act"), "unattended": "wait"});
    let run = mute.call("run/submit", submit).await["runId"].clone();
    let waiting = mute.event("runState").await;
    assert_eq!(waiting["event"]["run"]["waitingOn"]["canAnswer"], json!([]), "nobody, visibly");
    let blocked = mute.call("run/wait", json!({"runId": run, "until": "blocked"})).await;
    assert_eq!((&blocked["timedOut"], &blocked["run"]["state"]), (&json!(false), &json!("waiting")));

    let mut person = subject.client("person", "in-P").await;
    person.call("thread/resume", json!({"threadId": thread})).await;
    let approval = person.asked("approval/request").await;
    let read = person.call("run/read", json!({"runId": run})).await;
    assert_eq!(read["run"]["waitingOn"]["canAnswer"][0]["instanceId"], "in-P", "as of the moment it is read");
    person.reply(&approval, json!({"decision": "accept"})).await;
    let call = mute.asked("tool/call").await;
    mute.reply(&call, success("done")).await;
    assert_eq!(mute.ended(&run).await["outcome"]["text"], "act: done");
}

pub(super) async fn a_client_that_just_left_counts_for_the_grace_and_no_longer(subject: Fresh) {
    let stream = subject.open().await;
    let mut mute = Raw::introduced(stream, "bot", "in-M", json!({}), json!([])).await;
    let thread = mute.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let mut person = subject.client("person", "in-P").await;
    person.call("thread/resume", json!({"threadId": thread})).await;
    let run = mute.submit(&thread, "call act").await;
    person.asked("approval/request").await;
    drop(person);
    let nobody = |read: &Value| read["run"]["waitingOn"]["canAnswer"] == json!([]);
    mute.eventually("run/read", json!({"runId": run}), nobody).await;
    subject.advance(Duration::from_millis(4_999));
    mute.settle_down().await;
    assert_eq!(mute.call("run/read", json!({"runId": run})).await["run"]["state"], "waiting");
    subject.advance(Duration::from_millis(1));
    mute.ended(&run).await;
    assert_eq!(mute.calls(&thread).await[0]["state"], "undeliverable");
}

/// Submits, waits for the request and answers it; the run.
async fn ask(bot: &mut Raw, thread: &Value, method: &str, input: &str, answer: Value) -> Value {
    let run = bot.submit(thread, input).await;
    let request = bot.asked(method).await;
    bot.reply(&request, answer).await;
    run
}

/// Checks how the last interaction with a person and its call ended; what the model was told.
async fn ending(bot: &mut Raw, thread: &Value, outcome: &str, state: &str, code: Value, via: &str) -> String {
    let log = bot.log(thread).await;
    let settled = log.iter().rev().filter(|event| event["event"]["type"] == "interactionSettled");
    let settled: Vec<_> = settled.map(|event| &event["event"]).collect();
    let of_person = |event: &&&Value| event.get("answer").is_some() || event["outcome"] != "answered";
    let settled = settled.iter().find(of_person).expect("a settled approval or question");
    assert_eq!(settled["outcome"], outcome, "{settled}");
    let item = bot.calls(thread).await.pop().unwrap();
    assert_eq!(item["state"], state, "{item}");
    assert_eq!(item["error"]["code"], code, "{item}");
    if via.is_empty() {
        assert!(item.get("decision").is_none(), "it was never decided: {item}");
    } else {
        assert_eq!(item["decision"]["via"], via, "{item}");
    }
    bot.kept.clear();
    told_text(&item)
}
