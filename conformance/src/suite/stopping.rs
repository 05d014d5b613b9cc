//! Stopping a run: in every phase, everything of it is settled at once and nothing is left open.

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, get_issue, success, text, tool, tool_with};

scenarios! { $ stopping
    wire:
        dyn_39_a_stop_while_the_model_is_thinking_leaves_nothing_open
        dyn_39_a_stop_while_text_streams_keeps_what_was_said
        dyn_39_a_stop_while_an_approval_is_open_settles_it
        dyn_39_a_stop_while_a_question_is_open_settles_it
        dyn_33_a_stop_tells_the_client_to_stop_working_on_a_call
        dyn_39_stops_at_any_moment_leave_every_item_and_interaction_closed
        transcript_e_a_stop_in_a_batch_of_three_holds_what_waits
        a_stop_with_nothing_to_stop_changes_nothing_and_is_answered
        a_stop_of_a_queued_run_by_its_id_removes_it;
    clock:;
}

pub(super) async fn dyn_39_a_stop_while_the_model_is_thinking_leaves_nothing_open(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "sleep 600000\nsay never").await;
    bot.event("runStarted").await;
    stopped(&mut bot, &thread, &run).await;
    assert_eq!(bot.chain(&thread).await.len(), 1, "only what the user said");
}

pub(super) async fn dyn_39_a_stop_while_text_streams_keeps_what_was_said(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "think hm\nsay one two\nsleep 600000\nsay three").await;
    bot.until("the second word", |line| {
        line["params"]["event"]["type"] == "itemDelta" && line["params"]["event"]["text"].as_str().unwrap().contains("two")
    })
    .await;
    stopped(&mut bot, &thread, &run).await;
    let log = bot.log(&thread).await;
    let item = log.iter().rev().map(|event| &event["event"]["item"]).find(|item| item["kind"] == "assistantMessage");
    let item = item.unwrap();
    assert_eq!((&item["state"], &item["incomplete"]), (&json!("cancelled"), &json!(true)));
    assert_eq!(item["text"], "one two");
    let chain = bot.chain(&thread).await;
    assert_eq!((&chain[1]["role"], &chain[1]["incomplete"]), (&json!("assistant"), &json!(true)));
}

pub(super) async fn dyn_39_a_stop_while_an_approval_is_open_settles_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let run = bot.submit(&thread, "call act").await;
    bot.asked("approval/request").await;
    stopped(&mut bot, &thread, &run).await;
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["effect"]), (&json!("cancelled"), &json!("none")), "it was never sent");
}

pub(super) async fn dyn_39_a_stop_while_a_question_is_open_settles_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "call ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"Which?\"}]}").await;
    let question = bot.asked("input/request").await;
    stopped(&mut bot, &thread, &run).await;
    let settled = bot.told("interaction/settled").await;
    assert_eq!(settled["interactionId"], question["params"]["interactionId"]);
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["effect"]), (&json!("cancelled"), &json!("none")));
}

pub(super) async fn dyn_33_a_stop_tells_the_client_to_stop_working_on_a_call(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("slow")]).await;
    let run = bot.submit(&thread, "call slow").await;
    let call = bot.asked("tool/call").await;
    stopped(&mut bot, &thread, &run).await;
    let settled = bot.told("interaction/settled").await;
    assert_eq!(settled["interactionId"], call["params"]["interactionId"]);
    assert_eq!(settled["outcome"], "cancelled");
    let by = json!({"kind": "stop", "clientName": "bot", "instanceId": "in-A"});
    assert_eq!(settled["by"], by);
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["effect"]), (&json!("cancelled"), &json!("unknown")), "it was sent");
}

pub(super) async fn dyn_39_stops_at_any_moment_leave_every_item_and_interaction_closed(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("quick"), tool_with("act", json!({"approval": "ask"}))]).await;
    for round in 0..60 {
        let run = bot.submit(&thread, "think a\nsay b c d\ncall quick\ncall act\nthen say e f g").await;
        // Later by a little each time, so that every phase is met.
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        for request in std::mem::take(&mut bot.kept) {
            if request["method"] == "tool/call" {
                bot.reply(&request, success("ok")).await;
            }
        }
        bot.call("run/stop", json!({"threadId": thread})).await;
        bot.ended(&run).await;
        let after = bot.call("daemon/status", json!({})).await;
        assert_eq!(after["counts"]["openInteractions"], 0);
    }
    let log = bot.log(&thread).await;
    assert_all_closed(&log);
    let open = bot.call("interaction/list", json!({"threadId": thread})).await;
    assert_eq!(open["items"], json!([]));
}

pub(super) async fn transcript_e_a_stop_in_a_batch_of_three_holds_what_waits(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let batch = "call get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}\ncall get_issue {\"id\":\"3\"}";
    let run = bot.submit(&thread, batch).await;
    let first = bot.asked("tool/call").await;
    bot.reply(&first, success("one")).await;
    let second = bot.asked("tool/call").await;
    let queued = bot.call("run/submit", json!({"threadId": thread, "input": text("hello")})).await;
    assert_eq!(queued["state"], "queued");
    let added = bot.event("queueChanged").await;
    assert_eq!((&added["event"]["change"], &added["event"]["length"]), (&json!("added"), &json!(1)));
    assert_eq!(added["event"]["entry"]["messageId"], queued["messageId"]);

    let stop = bot.call("run/stop", json!({"threadId": thread})).await;
    assert_eq!(stop, json!({"seq": 21, "replayed": false}));
    bot.reply(&second, success("two")).await;
    let ended = bot.ended(&run).await;
    assert_eq!(ended["outcome"]["status"], "stopped");
    let expected = [
        "runStarted", "itemCompleted", "itemStarted", "itemStarted", "itemStarted", "interactionOpened", "runState",
        "interactionSettled", "itemCompleted", "runState", "interactionOpened", "runState", "queueChanged",
        "interactionSettled", "itemCompleted", "itemCompleted", "runCompleted", "queueChanged",
    ];
    assert_eq!(bot.types(&thread, 3).await, expected);
    let calls = bot.calls(&thread).await;
    assert_eq!((&calls[1]["state"], &calls[1]["effect"]), (&json!("cancelled"), &json!("unknown")));
    assert_eq!((&calls[2]["state"], &calls[2]["effect"]), (&json!("cancelled"), &json!("none")));
    assert!(calls[2].get("interactionId").is_none() && calls[2].get("decision").is_none());
    let held = bot.event("queueChanged").await;
    assert_eq!((&held["event"]["change"], &held["event"]["held"]), (&json!("held"), &json!(true)));

    // What waits stays, and so does what comes; a skip releases it, in order.
    let more = bot.call("run/submit", json!({"threadId": thread, "input": text("again")})).await;
    assert_eq!(more["state"], "queued", "on a held branch nothing starts by itself");
    let queue = bot.call("queue/list", json!({"threadId": thread})).await;
    assert_eq!((&queue["held"], queue["entries"].as_array().unwrap().len()), (&json!(true), 2));
    let skipped = bot.call("run/skip", json!({"threadId": thread})).await;
    assert_eq!((&skipped["released"], &skipped["run"]["runId"]), (&json!(true), &queued["runId"]));
    bot.ended(&queued["runId"]).await;
    bot.ended(&more["runId"]).await;
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn a_stop_with_nothing_to_stop_changes_nothing_and_is_answered(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let before = bot.log(&thread).await.len();
    assert_eq!(bot.call("run/stop", json!({"threadId": thread})).await["seq"], before);
    let run = bot.submit(&thread, "hello").await;
    bot.ended(&run).await;
    let before = bot.log(&thread).await.len();
    let stop = json!({"threadId": thread, "runId": run});
    assert_eq!(bot.call("run/stop", stop).await, json!({"seq": before, "replayed": false}));
    let next = bot.call("run/submit", json!({"threadId": thread, "input": text("on")})).await;
    assert_eq!(next["state"], "running", "a branch with an empty queue is never held");
}

pub(super) async fn a_stop_of_a_queued_run_by_its_id_removes_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000").await;
    let queued = bot.call("run/submit", json!({"threadId": thread, "input": text("hello")})).await;
    let other = bot.start(&[]).await;
    for of_another in [&run, &queued["runId"]] {
        let refused = bot.refused("run/stop", json!({"threadId": other, "runId": of_another})).await;
        assert_eq!((&refused["data"]["kind"], &refused["data"]["noun"]), (&json!("notFound"), &json!("run")));
    }
    bot.call("run/stop", json!({"threadId": thread, "runId": queued["runId"]})).await;
    let queue = bot.call("queue/list", json!({"threadId": thread})).await;
    assert_eq!((&queue["entries"], &queue["held"]), (&json!([]), &json!(false)));
    assert_eq!(bot.call("run/read", json!({"runId": run})).await["run"]["state"], "running", "that one goes on");
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&run).await;
}

/// Stops the run and checks that nothing of it is left.
async fn stopped(bot: &mut Raw, thread: &Value, run: &Value) {
    let stop = bot.call("run/stop", json!({"threadId": thread})).await;
    let ended = bot.ended(run).await;
    assert_eq!(ended["outcome"]["status"], "stopped");
    assert_eq!(ended["outcome"]["by"], json!({"kind": "stop", "clientName": "bot", "instanceId": "in-A"}));
    let log = bot.log(thread).await;
    assert_eq!(stop["seq"], log.len(), "its answer has the last event of its record");
    assert_all_closed(&log);
    let open = bot.call("interaction/list", json!({"threadId": thread})).await;
    assert_eq!(open["items"], json!([]));
    let read = bot.call("run/read", json!({"runId": run})).await;
    assert_eq!(read["run"]["state"], "stopped");
    assert!(read["run"].get("waitingOn").is_none());
}
