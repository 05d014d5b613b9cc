//! Runs that use up what they may, and runs that go in a circle: parked, told, ended, and resumed under their ids.

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, success, text, tool};
use crate::{ScriptedServer, ServerOptions};

scenarios! { $ budgets
    wire:
        a_run_over_its_budget_of_calls_is_parked_before_the_next_and_resumed_under_its_id
        a_run_over_its_budget_of_tokens_is_parked_before_it_asks_its_model_again
        a_paused_run_is_stopped_like_any_other
        ruling_15_a_run_whose_endpoint_is_switched_off_is_parked_and_goes_on_with_it
        k12_a_run_that_repeats_itself_is_told_and_then_ends_as_stuck
        k12_a_poll_whose_results_differ_is_no_repetition;
    clock:;
}

pub(super) async fn a_run_over_its_budget_of_calls_is_parked_before_the_next_and_resumed_under_its_id(subject: Fresh) {
    let mut bot = subject.bot().await;
    bot.call("settings/update", json!({"runMaxToolCalls": 1})).await;
    let thread = bot.start(&[tool("look")]).await;
    let run = bot.submit(&thread, "call look {\"n\":1}\ncall look {\"n\":2}\nthen say done").await;
    let first = bot.asked("tool/call").await;
    bot.reply(&first, success("one")).await;
    let blocked = bot.call("run/wait", json!({"runId": run, "until": "blocked"})).await;
    assert_eq!((&blocked["timedOut"], &blocked["run"]["state"]), (&json!(false), &json!("paused")));
    assert_eq!(blocked["run"]["reason"], "budget");
    let log = bot.log(&thread).await;
    let last: Vec<&Value> = log.iter().rev().take(2).map(|event| &event["event"]).collect();
    assert_eq!((&last[0]["type"], &last[0]["run"]["state"]), (&json!("runState"), &json!("paused")));
    let notice = &last[1]["item"];
    assert_eq!((&notice["kind"], &notice["code"], &notice["severity"]), (&json!("notice"), &json!("budget"), &json!("warning")));
    assert!(notice["text"].as_str().unwrap().contains("runMaxToolCalls"), "{notice}");
    assert_eq!(bot.chain(&thread).await.len(), 1, "the message joins with its last result");
    let queued = bot.call("run/submit", json!({"threadId": thread, "input": text("say next")})).await;
    assert_eq!(queued["state"], "queued", "its branch is busy");

    let resume = json!({"threadId": thread, "operationId": "on"});
    let resumed = bot.call("run/resume", resume.clone()).await;
    assert_eq!((&resumed["run"]["runId"], &resumed["run"]["state"]), (&run, &json!("running")));
    assert!(resumed["run"].get("reason").is_none(), "{resumed}");
    assert_eq!(bot.call("run/resume", resume).await["replayed"], true);
    let second = bot.asked("tool/call").await;
    assert_eq!(second["params"]["arguments"], json!({"n": 2}));
    bot.reply(&second, success("two")).await;
    assert_eq!(bot.ended(&run).await["outcome"]["text"], "done");
    bot.ended(&queued["runId"]).await;
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn a_run_over_its_budget_of_tokens_is_parked_before_it_asks_its_model_again(subject: Fresh) {
    let mut bot = subject.bot().await;
    bot.call("settings/update", json!({"runMaxTokens": 1})).await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "call nothing\nthen say done").await;
    assert_eq!(paused(&mut bot, &run).await, "budget");
    assert_eq!(bot.calls(&thread).await[0]["error"]["code"], "unknown_tool", "what was said is worked off");
    let refused = bot.refused("run/resume", json!({"threadId": thread, "runId": "nope"})).await;
    assert_eq!((&refused["data"]["kind"], &refused["data"]["noun"]), (&json!("notFound"), &json!("run")));
    bot.call("run/resume", json!({"threadId": thread, "runId": run})).await;
    assert_eq!(bot.ended(&run).await["outcome"]["text"], "done");
    let refused = bot.refused("run/resume", json!({"threadId": thread, "runId": run})).await;
    let data = &refused["data"];
    assert_eq!((&data["kind"], &data["state"]), (&json!("invalidState"), &json!("completed")), "{refused}");
    assert_eq!(data["expected"], json!(["paused", "failed", "stopped", "interrupted"]));
}

pub(super) async fn a_paused_run_is_stopped_like_any_other(subject: Fresh) {
    let mut bot = subject.bot().await;
    bot.call("settings/update", json!({"runMaxToolCalls": 1})).await;
    let thread = bot.start(&[tool("look")]).await;
    let run = bot.submit(&thread, "call look\ncall look").await;
    let first = bot.asked("tool/call").await;
    bot.reply(&first, success("one")).await;
    paused(&mut bot, &run).await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    assert_eq!(bot.ended(&run).await["outcome"]["status"], "stopped");
    let calls = bot.calls(&thread).await;
    assert_eq!((&calls[1]["state"], &calls[1]["effect"]), (&json!("cancelled"), &json!("none")));
    assert_all_closed(&bot.log(&thread).await);
    assert_eq!(bot.chain(&thread).await.len(), 4);
    let next = bot.call("run/submit", json!({"threadId": thread, "input": text("say on")})).await;
    assert_eq!(next["state"], "running", "the branch is free");
}

pub(super) async fn ruling_15_a_run_whose_endpoint_is_switched_off_is_parked_and_goes_on_with_it(subject: Fresh) {
    let server = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
    let mut bot = subject.bot().await;
    let endpoint = bot.use_model_at(&server.base_url()).await;
    let thread = bot.start(&[tool("look")]).await;
    let run = bot.submit(&thread, "call look\nthen say done").await;
    let call = bot.asked("tool/call").await;
    bot.call("endpoint/set", json!({"endpointId": endpoint, "enabled": false})).await;
    bot.reply(&call, success("seen")).await;
    assert_eq!(paused(&mut bot, &run).await, "endpoint");
    let refused = bot.refused("run/resume", json!({"threadId": thread})).await;
    assert_eq!(refused["data"]["reason"], "no_endpoint", "{refused}");
    bot.call("endpoint/set", json!({"endpointId": endpoint, "enabled": true})).await;
    bot.call("run/resume", json!({"threadId": thread})).await;
    assert_eq!(bot.ended(&run).await["outcome"]["text"], "done");
    assert!(server.requests().iter().all(|request| request.refused.is_none()));
}

pub(super) async fn k12_a_run_that_repeats_itself_is_told_and_then_ends_as_stuck(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("look")]).await;
    let script = ["call look {\"n\":1}"; 12].join("\nthen ");
    let run = bot.submit(&thread, &script).await;
    for _ in 0..11 {
        let call = bot.asked("tool/call").await;
        bot.reply(&call, success("the same")).await;
    }
    let ended = bot.ended(&run).await;
    assert_eq!(ended["outcome"]["error"]["kind"], "stuck", "{ended}");
    let message = ended["outcome"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("look {\"n\":1}"), "{message}");
    let log = bot.log(&thread).await;
    let notices = log.iter().map(|event| &event["event"]["item"]).filter(|item| item["kind"] == "notice");
    assert_eq!(notices.map(|item| item["code"].clone()).collect::<Vec<_>>(), ["loop"]);
    let chain = bot.chain(&thread).await;
    let notes: Vec<&Value> = chain.iter().filter(|message| message["sender"]["intent"] == "loopNotice").collect();
    assert_eq!((notes.len(), &notes[0]["sender"]["runId"]), (1, &run));
    assert_all_closed(&log);
}

pub(super) async fn k12_a_poll_whose_results_differ_is_no_repetition(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("look")]).await;
    let script = ["call look"; 12].join("\nthen ");
    let run = bot.submit(&thread, &format!("{script}\nthen say done")).await;
    for number in 0..12 {
        let call = bot.asked("tool/call").await;
        bot.reply(&call, success(&format!("{number} of 12"))).await;
    }
    assert_eq!(bot.ended(&run).await["outcome"]["text"], "done");
    let log = bot.log(&thread).await;
    assert!(!log.iter().any(|event| event["event"]["item"]["kind"] == "notice"));
}

/// Waits until a run is paused; why it is.
async fn paused(bot: &mut Raw, run: &Value) -> Value {
    let is_paused = |read: &Value| read["run"]["state"] == "paused";
    let mut read = bot.eventually("run/read", json!({"runId": run}), is_paused).await;
    read["run"]["reason"].take()
}
