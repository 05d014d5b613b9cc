//! Input to a busy branch: it waits in order, what ends well lets it begin, what ends badly holds it.

use serde_json::{Value, json};

use super::{Fresh, assert_all_closed, text};

scenarios! { $ queueing
    wire:
        an_emptied_queue_holds_nothing
        a_run_is_read_the_same_while_it_goes_and_after_its_end
        a_header_changes_as_named_and_tells_everybody_once
        progress_of_who_was_not_offered_the_call_or_after_its_end_is_ignored;
    clock:
        what_waits_begins_in_order_after_a_good_end
        a_bad_end_holds_what_waits_until_somebody_skips;
}

pub(super) async fn what_waits_begins_in_order_after_a_good_end(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let first = bot.submit(&thread, "sleep 60\nsay first").await;
    let mut runs = vec![first.clone()];
    for n in 0..3 {
        let submit = json!({"threadId": thread, "input": text(&format!("say {n}")), "operationId": format!("q:{n}")});
        let queued = bot.call("run/submit", submit).await;
        assert_eq!(queued["state"], "queued");
        let read = bot.call("run/read", json!({"runId": queued["runId"]})).await;
        assert_eq!((&read["run"]["state"], &read["run"]["operationId"]), (&json!("queued"), &json!(format!("q:{n}"))));
        assert_eq!(read["run"]["messageId"], queued["messageId"]);
        runs.push(queued["runId"].clone());
    }
    let status = bot.call("daemon/status", json!({})).await;
    assert_eq!(status["counts"]["runs"], json!({"running": 1, "queued": 3}));
    let queue = bot.call("queue/list", json!({"threadId": thread})).await;
    let waiting: Vec<_> = queue["entries"].as_array().unwrap().iter().map(|entry| entry["runId"].clone()).collect();
    assert_eq!(waiting, runs[1..]);
    assert_eq!(queue["entries"][0]["input"], text("say 0"));
    subject.advance(std::time::Duration::from_millis(60));
    for run in &runs {
        bot.ended(run).await;
    }
    let log = bot.log(&thread).await;
    assert_all_closed(&log);
    let started: Vec<_> = log.iter().filter(|event| event["event"]["type"] == "runStarted").collect();
    let order: Vec<_> = started.iter().map(|event| event["event"]["run"]["runId"].clone()).collect();
    assert_eq!(order, runs);
    // At its turn: queueChanged(started), runStarted, itemCompleted(userMessage).
    for event in started.iter().skip(1) {
        let at = event["seq"].as_u64().unwrap() as usize;
        assert_eq!(log[at - 2]["event"]["change"], "started");
        assert_eq!(log[at]["event"]["item"]["kind"], "userMessage");
    }
    assert_eq!(bot.call("daemon/status", json!({})).await["counts"]["runs"], json!({}), "ended runs are not counted");
}

pub(super) async fn a_bad_end_holds_what_waits_until_somebody_skips(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let failing = bot.submit(&thread, "sleep 60\nfail badRequest").await;
    let queued = bot.submit(&thread, "say hello").await;
    subject.advance(std::time::Duration::from_millis(60));
    assert_eq!(bot.ended(&failing).await["outcome"]["status"], "failed");
    let held = bot.until("held", |line| line["params"]["event"]["change"] == "held").await;
    assert_eq!((&held["params"]["event"]["held"], &held["params"]["event"]["length"]), (&json!(true), &json!(1)));
    let read = bot.call("thread/read", json!({"threadId": thread})).await;
    assert_eq!(read["thread"]["branches"][0]["queue"], json!({"length": 1, "held": true}));
    assert_eq!(bot.call("run/read", json!({"runId": queued})).await["run"]["state"], "queued");
    let skipped = bot.call("run/skip", json!({"threadId": thread})).await;
    assert_eq!((&skipped["released"], &skipped["run"]["runId"]), (&json!(true), &queued));
    bot.ended(&queued).await;
    let nothing = bot.call("run/skip", json!({"threadId": thread})).await;
    assert_eq!((&nothing["released"], nothing.get("run")), (&json!(false), None));
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn an_emptied_queue_holds_nothing(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000").await;
    let queued = bot.submit(&thread, "say hello").await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&run).await;
    bot.call("run/stop", json!({"threadId": thread, "runId": queued})).await;
    let queue = bot.call("queue/list", json!({"threadId": thread})).await;
    assert_eq!(queue, json!({"entries": [], "held": false}));
    let next = bot.call("run/submit", json!({"threadId": thread, "input": text("say on")})).await;
    assert_eq!(next["state"], "running");
    bot.ended(&next["runId"]).await;
}

pub(super) async fn a_run_is_read_the_same_while_it_goes_and_after_its_end(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "say one\nthen say two").await;
    let ended = bot.ended(&run).await;
    let read = bot.call("run/read", json!({"runId": run})).await["run"].clone();
    assert_eq!((&read["state"], &read["outcome"], &read["usage"]), (&json!("completed"), &ended["outcome"], &ended["usage"]));
    assert_eq!((&read["endpointId"], &read["model"], &read["mode"]), (&json!("scripted"), &json!("scripted"), &json!("queue")));
    assert_eq!((&read["principal"], &read["unattended"]), (&json!({"kind": "owner"}), &json!("decline")));
    for at in ["submittedAt", "startedAt", "endedAt"] {
        assert!(read[at].is_string(), "{at}");
    }
    assert!(read.get("waitingOn").is_none() && read.get("reason").is_none());
    let waited = bot.call("run/wait", json!({"runId": run})).await;
    assert_eq!((&waited["run"], &waited["timedOut"]), (&read, &json!(false)));
    assert_eq!(waited["seq"], bot.log(&thread).await.len());
    let listed = bot.call("run/list", json!({"threadId": thread})).await;
    assert_eq!(listed["items"], json!([read]));
    assert_eq!(bot.call("run/list", json!({"states": ["running"]})).await["items"], json!([]));
}

pub(super) async fn a_header_changes_as_named_and_tells_everybody_once(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let mut watch = subject.client("watch", "in-W").await;
    watch.call("thread/resume", json!({"threadId": thread})).await;
    let changed = bot.call("thread/update", json!({"threadId": thread, "title": "Named", "pinned": true})).await;
    assert_eq!((&changed["thread"]["title"], &changed["thread"]["pinned"]), (&json!("Named"), &json!(true)));
    assert_eq!(changed["thread"]["revision"], 2);
    let event = watch.event("threadUpdated").await;
    assert_eq!(event["event"]["thread"]["revision"], 2);
    let cleared = bot.call("thread/update", json!({"threadId": thread, "title": null})).await;
    assert!(cleared["thread"].get("title").is_none() || cleared["thread"]["title"] != "Named");
    assert_eq!(cleared["thread"]["pinned"], true, "what is not named stays");
    bot.run(&thread, "say x").await;
    let read = bot.call("thread/read", json!({"threadId": thread})).await;
    assert_eq!(read["thread"]["revision"], cleared["thread"]["revision"], "messages do not raise it");
    let branch = &read["thread"]["branches"][0];
    assert_eq!((&branch["branchId"], &branch["threadId"]), (&thread, &thread));
    let chain = bot.chain(&thread).await;
    assert_eq!(branch["headMessageId"], chain.last().unwrap()["messageId"]);
    assert_eq!(branch.get("activeRunId"), None::<&Value>);
}

pub(super) async fn progress_of_who_was_not_offered_the_call_or_after_its_end_is_ignored(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[super::tool("slow")]).await;
    let mut watch = subject.client("watch", "in-W").await;
    watch.call("thread/resume", json!({"threadId": thread})).await;
    let run = bot.submit(&thread, "call slow").await;
    let call = bot.asked("tool/call").await;
    let life = json!({"interactionId": call["params"]["interactionId"], "message": "x".repeat(900), "fraction": 7});
    watch.notify("tool/progress", life.clone()).await;
    watch.settle_down().await;
    bot.notify("tool/progress", json!({"interactionId": 5})).await;
    bot.notify("tool/progress", json!({"interactionId": "nope"})).await;
    bot.settle_down().await;
    let shown = |line: &Value| line["params"]["event"]["type"] == "toolProgress";
    assert!(bot.seen(shown).is_empty() && watch.seen(shown).is_empty());
    bot.notify("tool/progress", life.clone()).await;
    let event = bot.until("progress", shown).await;
    assert_eq!(event["params"]["event"]["message"].as_str().unwrap().chars().count(), 500);
    assert_eq!(event["params"]["event"]["fraction"].as_f64(), Some(1.0));
    bot.reply(&call, super::success("ok")).await;
    bot.ended(&run).await;
    bot.notify("tool/progress", life).await;
    bot.settle_down().await;
    assert!(bot.seen(shown).is_empty());
}
