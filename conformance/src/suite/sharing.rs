//! Several clients of one thread: who is offered what, whose answer counts, and what the others are told.

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, get_issue, success, text, tool, tool_with};

scenarios! { $ sharing
    wire:
        transcript_c_of_two_clients_one_approves_and_both_are_told
        transcript_c_a_snapshot_shows_what_is_open
        dyn_32_answers_at_once_have_one_winner_and_the_other_is_told_precisely
        not_i_leaves_the_question_to_the_others_until_nobody_is_left
        a_tool_call_is_settled_by_the_instance_it_was_offered_to_only
        an_invalid_answer_by_settle_is_refused_with_its_path_and_the_question_stays_open
        stops_and_renames_at_once_are_each_told_precisely
        dyn_36_each_of_two_clients_is_called_for_its_own_tools
        events_are_the_same_for_everybody_and_in_the_same_order;
    clock:;
}

pub(super) async fn transcript_c_of_two_clients_one_approves_and_both_are_told(subject: Fresh) {
    let (mut bot, mut watch, thread) = two(&subject).await;
    bot.rule("thread", &thread, "get_issue", "ask").await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    let asked_bot = bot.asked("approval/request").await;
    let asked_watch = watch.asked("approval/request").await;
    assert_eq!(asked_bot["params"], asked_watch["params"], "each gets the same request");
    assert_eq!((&asked_bot["id"], &asked_watch["id"]), (&json!(1), &json!(1)), "each with an id of its own connection");
    let both = json!([
        {"clientName": "bot", "instanceId": "in-A"}, {"clientName": "watch", "instanceId": "in-B"},
    ]);
    assert_eq!(watch.event("interactionOpened").await["event"]["interaction"]["offeredTo"], both);
    assert_eq!(watch.event("runState").await["event"]["run"]["waitingOn"]["canAnswer"], both);

    watch.reply(&asked_watch, json!({"decision": "accept"})).await;
    let by = json!({"kind": "client", "clientName": "watch", "instanceId": "in-B"});
    let told_watch = watch.told("interaction/settled").await;
    let told_bot = bot.told("interaction/settled").await;
    assert_eq!(told_bot, told_watch);
    assert_eq!((&told_bot["outcome"], &told_bot["by"]), (&json!("answered"), &by));
    assert_eq!(told_bot["answer"], json!({"decision": "accept"}));
    let call_opened = watch.event("interactionOpened").await;
    let owner = json!([{"clientName": "bot", "instanceId": "in-A"}]);
    assert_eq!(call_opened["event"]["interaction"]["offeredTo"], owner, "the call is its owner's alone");

    // A late response gets no answer; settle says who was first, and the same answer again is a replay.
    bot.reply(&asked_bot, json!({"decision": "decline", "note": "not now"})).await;
    let id = &told_bot["interactionId"];
    let error = bot.refused("interaction/settle", json!({"interactionId": id, "answer": {"decision": "decline"}})).await;
    assert_eq!(error["code"], -32009);
    let data = &error["data"];
    assert_eq!((&data["kind"], &data["interactionId"], &data["by"]), (&json!("alreadySettled"), id, &by));
    assert_eq!((&data["outcome"], &data["answer"]), (&json!("answered"), &json!({"decision": "accept"})));
    assert!(data["at"].is_string() && error["message"].as_str().unwrap().contains("watch"), "{error}");
    let again = json!({"interactionId": id, "answer": {"decision": "accept", "note": "a note does not count"}});
    let replay = watch.call("interaction/settle", again.clone()).await;
    assert_eq!(replay, json!({"interactionId": id, "outcome": "answered", "replayed": true}));
    assert_eq!(bot.refused("interaction/settle", again).await["data"]["kind"], "alreadySettled", "from another instance");

    let call = bot.asked("tool/call").await;
    bot.reply(&call, success("seven")).await;
    bot.ended(&run).await;
    watch.ended(&run).await;
    assert!(watch.seen(|line| line["method"] == "tool/call").is_empty());
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn transcript_c_a_snapshot_shows_what_is_open(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let run = bot.submit(&thread, "call act").await;
    let approval = bot.asked("approval/request").await;
    let queued = bot.submit(&thread, "hello").await;
    let mut watch = subject.client("watch", "in-B").await;
    let resumed = watch.call("thread/resume", json!({"threadId": thread})).await;
    let snapshot = &resumed["snapshot"];
    assert_eq!(resumed["seq"], snapshot["thread"]["seq"]);
    assert_eq!(snapshot["branches"][0]["activeRunId"], run);
    assert_eq!(snapshot["runs"][0]["state"], "waiting");
    assert_eq!(snapshot["openItems"][0]["callId"], approval["params"]["callId"]);
    assert_eq!(snapshot["interactions"][0]["interactionId"], approval["params"]["interactionId"]);
    assert_eq!(snapshot["interactions"][0]["kind"], "approval");
    let queue = &snapshot["queues"][thread.as_str().unwrap()];
    assert_eq!((&queue["length"], &queue["entries"][0]["runId"]), (&json!(1), &queued));
    assert_eq!(snapshot["tools"], resumed["tools"]);
    let offered = watch.asked("approval/request").await;
    assert_eq!(offered["params"]["interactionId"], approval["params"]["interactionId"]);
    assert!(offered["params"]["attempt"].as_u64() > approval["params"]["attempt"].as_u64());
    assert_eq!(offered["params"]["arguments"], json!({}));
    // The other sees it in its list, with arguments, and settles it there.
    let listed = watch.call("interaction/list", json!({"kind": "approval", "state": "open"})).await;
    assert_eq!(listed["items"][0]["request"]["arguments"], json!({}));
    let decline = json!({"interactionId": listed["items"][0]["interactionId"], "answer": {"decision": "decline"}});
    assert_eq!(watch.call("interaction/settle", decline).await["outcome"], "declined");
    bot.ended(&run).await;
    bot.ended(&queued).await;
    let settled = bot.call("interaction/list", json!({"threadId": thread, "state": "settled"})).await;
    assert_eq!(settled["items"][0]["outcome"], "declined");
}

pub(super) async fn dyn_32_answers_at_once_have_one_winner_and_the_other_is_told_precisely(subject: Fresh) {
    let (mut bot, mut watch, thread) = two(&subject).await;
    bot.rule("thread", &thread, "get_issue", "ask").await;
    for _ in 0..20 {
        let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
        let approval = bot.asked("approval/request").await;
        watch.asked("approval/request").await;
        let id = &approval["params"]["interactionId"];
        let yes = bot.request("interaction/settle", json!({"interactionId": id, "answer": {"decision": "accept"}})).await;
        let no = watch.request("interaction/settle", json!({"interactionId": id, "answer": {"decision": "decline"}})).await;
        let (yes, no) = (bot.answer(yes).await, watch.answer(no).await);
        let accepted = yes.get("result").is_some();
        assert_ne!(accepted, no.get("result").is_some(), "one winner: {yes} {no}");
        let (winner, loser) = if accepted { (&yes, &no) } else { (&no, &yes) };
        assert_eq!(winner["result"]["replayed"], false);
        assert_eq!(loser["error"]["data"]["kind"], "alreadySettled", "{loser}");
        assert_eq!(loser["error"]["data"]["outcome"], winner["result"]["outcome"]);
        if accepted {
            let call = bot.asked("tool/call").await;
            bot.reply(&call, success("ok")).await;
        }
        bot.ended(&run).await;
        let item = bot.calls(&thread).await.pop().unwrap();
        assert_eq!(item["state"], if accepted { "completed" } else { "refused" });
        bot.kept.clear();
        watch.kept.clear();
    }
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn not_i_leaves_the_question_to_the_others_until_nobody_is_left(subject: Fresh) {
    let (mut bot, mut watch, thread) = two(&subject).await;
    bot.rule("thread", &thread, "get_issue", "ask").await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    let one = bot.asked("approval/request").await;
    let other = watch.asked("approval/request").await;
    bot.reply_error(&one, -32601, "no handler").await;
    bot.settle_down().await;
    let read = bot.call("run/read", json!({"runId": run})).await;
    assert_eq!(read["run"]["waitingOn"]["canAnswer"], json!([{"clientName": "watch", "instanceId": "in-B"}]));
    watch.reply_error(&other, -32603, "nor I").await;
    bot.ended(&run).await;
    assert_eq!(bot.calls(&thread).await[0]["state"], "undeliverable", "never declined");
}

pub(super) async fn a_tool_call_is_settled_by_the_instance_it_was_offered_to_only(subject: Fresh) {
    let (mut bot, mut watch, thread) = two(&subject).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    let call = bot.asked("tool/call").await;
    let settle = json!({"interactionId": call["params"]["interactionId"], "answer": success("mine")});
    let error = watch.refused("interaction/settle", settle.clone()).await;
    assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32008), &json!("forbidden")));
    assert_eq!(error["data"]["reason"], "not_offered");
    let settled = bot.call("interaction/settle", settle.clone()).await;
    assert_eq!((&settled["outcome"], &settled["replayed"]), (&json!("answered"), &json!(false)));
    assert_eq!(bot.told("interaction/settled").await["interactionId"], call["params"]["interactionId"]);
    assert_eq!(bot.ended(&run).await["outcome"]["text"], "get_issue: mine");
}

pub(super) async fn an_invalid_answer_by_settle_is_refused_with_its_path_and_the_question_stays_open(subject: Fresh) {
    let (mut bot, mut watch, thread) = two(&subject).await;
    bot.rule("thread", &thread, "get_issue", "ask").await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    let approval = bot.asked("approval/request").await;
    let id = &approval["params"]["interactionId"];
    let odd = json!({"interactionId": id, "answer": {"decision": "perhaps"}});
    let error = watch.refused("interaction/settle", odd).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["path"]), (&json!("invalidParams"), &json!("/decision")));
    assert_eq!(error["data"]["reason"], "unknown_decision");
    watch.call("interaction/settle", json!({"interactionId": id, "answer": {"decision": "decline"}})).await;
    bot.ended(&run).await;
}

pub(super) async fn stops_and_renames_at_once_are_each_told_precisely(subject: Fresh) {
    let (mut bot, mut watch, thread) = two(&subject).await;
    let revision = bot.call("thread/read", json!({"threadId": thread})).await["thread"]["revision"].clone();
    let rename = |title: &str| json!({"threadId": thread, "title": title, "expectedRevision": revision});
    let one = bot.request("thread/update", rename("one")).await;
    let other = watch.request("thread/update", rename("other")).await;
    let (one, other) = (bot.answer(one).await, watch.answer(other).await);
    let (winner, loser) = if one.get("result").is_some() { (one, other) } else { (other, one) };
    assert_eq!((&loser["error"]["code"], &loser["error"]["data"]["kind"]), (&json!(-32006), &json!("conflict")));
    assert_eq!(loser["error"]["data"]["currentRevision"], winner["result"]["thread"]["revision"]);
    assert_eq!(loser["error"]["data"]["current"]["title"], winner["result"]["thread"]["title"]);

    let run = bot.submit(&thread, "sleep 600000").await;
    let (one, other) = (
        bot.request("run/stop", json!({"threadId": thread})).await,
        watch.request("run/stop", json!({"threadId": thread})).await,
    );
    let (one, other) = (bot.answer(one).await, watch.answer(other).await);
    assert_eq!(one["result"]["seq"], other["result"]["seq"], "the later one changed nothing");
    bot.ended(&run).await;
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn dyn_36_each_of_two_clients_is_called_for_its_own_tools(subject: Fresh) {
    let (mut bot, mut watch, thread) = two(&subject).await;
    watch.call("thread/resume", json!({"threadId": thread, "tools": [tool("notify")]})).await;
    let run = bot.submit(&thread, "call notify\ncall get_issue {\"id\":\"7\"}").await;
    let call = watch.asked("tool/call").await;
    watch.reply(&call, success("notified")).await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, success("read")).await;
    assert_eq!(bot.ended(&run).await["outcome"]["text"], "notify: notified\nget_issue: read");
    let calls = bot.calls(&thread).await;
    assert_eq!(calls[0]["tool"]["source"], "client:watch");
    assert_eq!(calls[1]["tool"]["source"], "client:bot");
}

pub(super) async fn events_are_the_same_for_everybody_and_in_the_same_order(subject: Fresh) {
    let (mut bot, mut watch, thread) = two(&subject).await;
    bot.call("run/submit", json!({"threadId": thread, "input": text("say a b c\nthen say d e")})).await;
    let end = |line: &Value| line["params"]["event"]["type"] == "runCompleted";
    bot.until("the end", end).await;
    watch.until("the end", end).await;
    let durable = |client: &Raw| -> Vec<Value> {
        let events = client.kept.iter().filter(|line| line["params"].get("seq").is_some());
        events.map(|line| line["params"].clone()).filter(|event| event["seq"].as_u64() > Some(3)).collect()
    };
    assert_eq!(durable(&bot), durable(&watch));
    assert!(!durable(&bot).is_empty());
}

/// `bot`, which has started a thread with `get_issue`, and `watch`, which has resumed it.
async fn two(subject: &Fresh) -> (Raw, Raw, Value) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let mut watch = subject.client("watch", "in-B").await;
    watch.call("thread/resume", json!({"threadId": thread})).await;
    (bot, watch, thread)
}
