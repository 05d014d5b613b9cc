//! Runs that have ended badly and are continued: from where, by which run, in which order, and what is refused.

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, success, text, tool};

scenarios! { $ recovering
    wire:
        a_run_that_failed_is_resumed_from_what_was_stored_by_a_new_run
        ruling_14_a_retry_puts_the_head_back_on_its_input
        ruling_1_what_was_held_waits_for_the_run_that_continues_it
        what_cannot_be_recovered_is_refused_with_the_state_it_is_in;
    clock:
        a_wait_for_a_paused_run_is_over_in_time_and_shows_that_it_is_paused;
}

/// What is listed for a run.
async fn recovery(bot: &mut Raw, run: &Value) -> Value {
    bot.call("run/read", json!({"runId": run})).await["run"]["recovery"].clone()
}

pub(super) async fn a_run_that_failed_is_resumed_from_what_was_stored_by_a_new_run(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "say so far\nfail badRequest\nthen say done").await;
    assert_eq!(bot.ended(&run).await["outcome"]["status"], "failed");
    assert_eq!(recovery(&mut bot, &run).await, json!(["resume", "retry"]));
    let before = bot.log(&thread).await.len();
    let resume = json!({"threadId": thread, "operationId": "on:1"});
    let resumed = bot.call("run/resume", resume.clone()).await;
    let next = resumed["run"]["runId"].clone();
    assert!(bot.seen(|line| line["params"]["event"]["run"]["runId"] == next).is_empty(), "the answer comes first");
    assert_ne!(next, run);
    let shown = &resumed["run"];
    assert_eq!((&shown["previousRunId"], &shown["state"], &shown["steps"]), (&run, &json!("running"), &json!(0)));
    assert_eq!((&shown["recovery"], &shown["operationId"]), (&json!([]), &json!("on:1")));
    assert_eq!(bot.ended(&next).await["outcome"]["text"], "done");
    let again = bot.call("run/resume", resume).await;
    assert_eq!((&again["run"]["runId"], &again["replayed"]), (&next, &json!(true)), "one operation, one run");
    assert_eq!(bot.types(&thread, before).await, ["runStarted", "itemStarted", "itemCompleted", "runCompleted"]);
    assert_eq!(recovery(&mut bot, &run).await, json!([]), "it has been continued");
    let chain = bot.chain(&thread).await;
    let said: Vec<_> = chain.iter().map(|message| message["content"][0]["text"].clone()).collect();
    assert_eq!(json!(said[1..]), json!(["so far", "done"]), "nothing was said twice");
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn ruling_14_a_retry_puts_the_head_back_on_its_input(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("look")]).await;
    let submit = json!({"threadId": thread, "input": text("call look\nthen sleep 600000")});
    let submitted = bot.call("run/submit", submit).await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, success("seen")).await;
    bot.eventually("thread/messages", json!({"threadId": thread}), |page| page["items"].as_array().unwrap().len() == 3).await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&submitted["runId"]).await;
    let before = bot.log(&thread).await.len();
    let retried = bot.call("run/retry", json!({"threadId": thread, "runId": submitted["runId"]})).await["run"].clone();
    assert_eq!((&retried["messageId"], &retried["previousRunId"]), (&submitted["messageId"], &submitted["runId"]));
    bot.asked("tool/call").await;
    let log = bot.log(&thread).await;
    let (moved, started) = (&log[before]["event"], &log[before + 1]["event"]);
    assert_eq!((&moved["type"], &moved["branch"]["headMessageId"]), (&json!("branchUpdated"), &submitted["messageId"]));
    assert_eq!((&started["type"], &started["run"]["runId"]), (&json!("runStarted"), &retried["runId"]));
    assert!(moved["branch"].get("activeRunId").is_none(), "{moved}");
    assert_eq!(bot.chain(&thread).await.len(), 1, "what came of it is off the chain");
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&retried["runId"]).await;
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn ruling_1_what_was_held_waits_for_the_run_that_continues_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000\nthen say on").await;
    let queued = bot.submit(&thread, "say next").await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&run).await;
    assert_eq!(recovery(&mut bot, &run).await, json!(["resume", "retry", "skip"]));
    let listed = bot.call("run/list", json!({"threadId": thread, "states": ["stopped"]})).await;
    assert_eq!(listed["items"][0]["recovery"], json!(["resume", "retry", "skip"]), "a list says the same");
    let before = bot.log(&thread).await.len();
    let next = bot.call("run/retry", json!({"threadId": thread})).await["run"]["runId"].clone();
    let log = bot.log(&thread).await;
    let types: Vec<_> = log[before..].iter().take(3).map(|event| event["event"]["type"].clone()).collect();
    assert_eq!(json!(types), json!(["branchUpdated", "queueChanged", "runStarted"]));
    let released = &log[before + 1]["event"];
    assert_eq!((&released["change"], &released["held"], &released["length"]), (&json!("released"), &json!(false), &json!(1)));
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&next).await;
    let skipped = bot.call("run/skip", json!({"threadId": thread})).await;
    assert_eq!((&skipped["released"], &skipped["run"]["runId"]), (&json!(true), &queued));
    assert_eq!(recovery(&mut bot, &next).await, json!([]), "it was left as it ended");
    bot.ended(&queued).await;
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn what_cannot_be_recovered_is_refused_with_the_state_it_is_in(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let state = |error: &Value| {
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32010), &json!("invalidState")), "{error}");
        error["data"]["state"].clone()
    };
    let each = ["run/resume", "run/retry", "run/rebase"];
    for method in each {
        assert_eq!(state(&bot.refused(method, json!({"threadId": thread})).await), "idle");
    }
    let done = bot.submit(&thread, "say done").await;
    bot.ended(&done).await;
    let failed = bot.submit(&thread, "fail badRequest").await;
    bot.ended(&failed).await;
    for method in each {
        let named = json!({"threadId": thread, "runId": done});
        assert_eq!(state(&bot.refused(method, named).await), "completed");
        let nobody = json!({"threadId": thread, "runId": "nope"});
        assert_eq!(bot.refused(method, nobody).await["data"]["noun"], "run");
        let nowhere = json!({"threadId": thread, "branchId": "nope"});
        assert_eq!(bot.refused(method, nowhere).await["data"]["noun"], "branch");
    }
    let refused = bot.refused("run/rebase", json!({"threadId": thread})).await;
    assert_eq!((state(&refused), &refused["data"]["expected"]), (json!("failed"), &json!(["parentMissing"])));
    let busy = bot.submit(&thread, "sleep 600000").await;
    for method in each {
        assert_eq!(state(&bot.refused(method, json!({"threadId": thread})).await), "running");
        let named = json!({"threadId": thread, "runId": failed});
        let refused = bot.refused(method, named).await;
        assert_eq!(state(&refused), "superseded");
        assert!(refused["message"].as_str().unwrap().contains("later run"), "{refused}");
    }
    let before = bot.log(&thread).await.len();
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&busy).await;
    assert_eq!(bot.types(&thread, before).await, ["runCompleted"], "what was refused has changed nothing");
}

pub(super) async fn a_wait_for_a_paused_run_is_over_in_time_and_shows_that_it_is_paused(subject: Fresh) {
    let mut bot = subject.bot().await;
    bot.call("settings/update", json!({"runMaxTokens": 1})).await;
    let thread = bot.start(&[]).await;
    let submit = json!({"threadId": thread, "input": text("call nothing\nthen say done"), "wait": true, "waitTimeoutMs": 5_000});
    let asked = bot.request("run/submit", submit).await;
    let paused = |line: &Value| line["params"]["event"]["run"]["state"] == "paused";
    let run = bot.until("the pause", paused).await["params"]["event"]["run"].clone();
    assert_eq!(run["recovery"], json!(["resume"]));
    let waiting = bot.request("run/wait", json!({"runId": run["runId"], "timeoutMs": 4_000})).await;
    let blocked = bot.call("run/wait", json!({"runId": run["runId"], "until": "blocked"})).await;
    assert_eq!((&blocked["timedOut"], &blocked["run"]["state"]), (&json!(false), &json!("paused")));
    bot.settle_down().await;
    subject.advance(std::time::Duration::from_secs(5));
    for request in [waiting, asked] {
        let answer = bot.answer(request).await["result"].clone();
        assert_eq!((&answer["timedOut"], &answer["run"]["state"]), (&json!(true), &json!("paused")), "{answer}");
        assert_eq!((&answer["run"]["reason"], &answer["run"]["recovery"]), (&json!("budget"), &json!(["resume"])));
    }
}
