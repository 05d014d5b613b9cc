//! Events: the rules a client may build on, the slow reader, and what is only told to those who want it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, success, text, tool, tool_with};

scenarios! { $ watching
    wire:
        rule_1_history_and_live_events_are_one_sequence
        rule_2_the_answer_to_a_submit_comes_before_every_event_of_its_run
        rule_2_a_submit_that_waits_is_answered_when_its_run_has_ended
        rule_3_settled_comes_before_completed_comes_before_the_end
        rule_4_a_reader_that_sleeps_through_5000_deltas_loses_no_durable_event
        rule_5_an_answer_is_not_stuck_behind_events_that_are_not_read
        ephemeral_events_are_left_out_for_who_opted_out
        thread_events_can_be_waited_for;
    clock:
        data_changed_comes_at_most_once_in_250_ms_and_names_all_that_changed;
}

pub(super) async fn rule_1_history_and_live_events_are_one_sequence(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    bot.run(&thread, "say a b c").await;
    let mut late = subject.client("late", "in-L").await;
    // The run goes on while the late one joins: nothing is missed, nothing comes twice.
    let run = bot.submit(&thread, "say d e f\nthen say g").await;
    late.call("thread/resume", json!({"threadId": thread, "after": 0})).await;
    late.ended(&run).await;
    bot.ended(&run).await;
    let log = bot.log(&thread).await;
    let seqs: Vec<_> = late.kept.iter().filter_map(|line| line["params"]["seq"].as_u64()).collect();
    assert_eq!(seqs, (1..log.len() as u64).collect::<Vec<_>>(), "each once, in order, up to the end that was waited for");
}

pub(super) async fn rule_2_the_answer_to_a_submit_comes_before_every_event_of_its_run(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    for _ in 0..30 {
        bot.kept.clear();
        let submitted = bot.call("run/submit", json!({"threadId": thread, "input": text("say a")})).await;
        let run = submitted["runId"].to_string();
        let early = bot.seen(|line| line["method"] == "thread/event" && line.to_string().contains(&run));
        assert!(early.is_empty(), "{early:?}");
        bot.ended(&submitted["runId"]).await;
    }
}

pub(super) async fn rule_2_a_submit_that_waits_is_answered_when_its_run_has_ended(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let submit = json!({"threadId": thread, "input": text("say done"), "wait": true, "operationId": "w:1"});
    let first = bot.call("run/submit", submit.clone()).await;
    assert_eq!((&first["run"]["state"], &first["timedOut"]), (&json!("completed"), &json!(false)));
    assert_eq!(first["run"]["operationId"], "w:1");
    let again = bot.call("run/submit", submit).await;
    assert_eq!((&again["replayed"], &again["runId"]), (&json!(true), &first["runId"]));
    assert_eq!(again["run"]["state"], "completed", "a repeat waits for the same run");
}

pub(super) async fn rule_3_settled_comes_before_completed_comes_before_the_end(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"})), tool("go")]).await;
    let run = bot.submit(&thread, "say first\ncall act\ncall go\nthen call go").await;
    let approval = bot.asked("approval/request").await;
    bot.reply(&approval, json!({"decision": "accept"})).await;
    for _ in 0..3 {
        let call = bot.asked("tool/call").await;
        bot.reply(&call, success("ok")).await;
    }
    bot.ended(&run).await;
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn rule_4_a_reader_that_sleeps_through_5000_deltas_loses_no_durable_event(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let mut sleeper = subject.client("sleeper", "in-S").await;
    sleeper.call("thread/resume", json!({"threadId": thread, "after": 0})).await;
    let words: Vec<_> = (0..5_000).map(|n| format!("word{n}")).collect();
    let run = bot.submit(&thread, &format!("say {}\nthen say end", words.join(" "))).await;
    bot.ended(&run).await;
    sleeper.ended(&run).await;
    let log = bot.log(&thread).await;
    let seen: Vec<_> = sleeper.kept.iter().filter(|line| line["params"].get("seq").is_some()).collect();
    let seen: Vec<_> = seen.iter().map(|line| &line["params"]).collect();
    let expected: Vec<_> = log.iter().take(seen.len()).collect();
    assert_eq!(seen, expected, "every durable event, in order");
    assert!(seen.len() >= log.len() - 1);
    let mut offset = 0;
    for delta in sleeper.kept.iter().map(|line| &line["params"]["event"]).filter(|event| event["type"] == "itemDelta") {
        assert_eq!(delta["offset"], offset, "fewer and longer ones, without a gap");
        offset += delta["text"].as_str().unwrap().len();
    }
}

pub(super) async fn rule_5_an_answer_is_not_stuck_behind_events_that_are_not_read(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let long = "x".repeat(150_000);
    for _ in 0..6 {
        bot.run(&thread, &format!("say {long}")).await;
    }
    let last = bot.log(&thread).await.len();
    let mut slow = subject.client("slow", "in-S").await;
    slow.call("thread/resume", json!({"threadId": thread, "after": 0})).await;
    // By now its events fill whatever there is between the daemon and it.
    bot.settle_down().await;
    let id = slow.request("daemon/status", json!({})).await;
    slow.answer(id).await;
    let reached = slow.kept.iter().filter_map(|line| line["params"]["seq"].as_u64()).max().unwrap_or(0);
    assert!(reached < last as u64, "the answer overtook the events: {reached} of {last}");
    slow.until("the last event", |line| line["params"]["seq"] == last).await;
}

pub(super) async fn ephemeral_events_are_left_out_for_who_opted_out(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("go")]).await;
    let opt_out = json!(["itemDelta", "toolProgress", "data/changed"]);
    let mut quiet = Raw::introduced(subject.open().await, "quiet", "in-Q", json!({}), opt_out).await;
    quiet.call("thread/resume", json!({"threadId": thread})).await;
    let run = bot.submit(&thread, "say a b c\ncall go").await;
    let call = bot.asked("tool/call").await;
    bot.notify("tool/progress", json!({"interactionId": call["params"]["interactionId"], "fraction": 0.5})).await;
    bot.reply(&call, success("ok")).await;
    bot.ended(&run).await;
    quiet.ended(&run).await;
    let ephemeral = |line: &Value| line["params"].get("after").is_some();
    assert!(quiet.seen(ephemeral).is_empty());
    assert!(quiet.seen(|line| line["method"] == "data/changed").is_empty());
    let kinds: Vec<_> = bot.seen(ephemeral).iter().map(|line| line["params"]["event"]["type"].clone()).collect();
    assert!(kinds.contains(&json!("itemDelta")) && kinds.contains(&json!("toolProgress")), "{kinds:?}");
    assert_eq!(quiet.log(&thread).await, bot.log(&thread).await, "none of them is stored");
    let mut odd = subject.raw().await;
    let handshake = json!({
        "protocol": {"min": 1, "max": 1}, "client": {"name": "x", "version": "1"}, "optOut": ["itemDelta", "runState"],
    });
    let error = odd.refused("initialize", handshake).await;
    assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!("/optOut/1"), &json!("not_ephemeral")));
}

pub(super) async fn data_changed_comes_at_most_once_in_250_ms_and_names_all_that_changed(subject: Fresh) {
    let mut watch = Raw::introduced(subject.open().await, "watch", "in-W", json!({}), json!([])).await;
    let mut bot = subject.bot().await;
    bot.call("project/create", json!({"name": "one"})).await;
    let first = watch.told("data/changed").await;
    assert_eq!((&first["kinds"], &first["origin"]), (&json!(["project"]), &json!("in-A")));
    let mut ids = Vec::new();
    for name in ["two", "three"] {
        let made = bot.call("project/create", json!({"name": name})).await;
        ids.push(made["project"]["projectId"].clone());
    }
    bot.call("settings/update", json!({"approvalMs": 5_000})).await;
    watch.settle_down().await;
    assert!(watch.seen(|line| line["method"] == "data/changed").is_empty(), "not again so soon");
    subject.advance(Duration::from_millis(249));
    watch.settle_down().await;
    assert!(watch.seen(|line| line["method"] == "data/changed").is_empty(), "not a moment earlier");
    subject.advance(Duration::from_millis(1));
    let second = watch.told("data/changed").await;
    assert!(second["seq"].as_u64() > first["seq"].as_u64());
    assert_eq!(second["kinds"], json!(["project", "settings"]));
    for id in ids {
        assert!(second["ids"].as_array().unwrap().contains(&id), "{second}");
    }
    // More than a hundred ids are not named.
    for n in 0..101 {
        bot.call("project/create", json!({"name": format!("p{n}")})).await;
    }
    subject.advance(Duration::from_millis(250));
    let many = watch.told("data/changed").await;
    assert!(many.get("ids").is_none(), "{many}");
}

pub(super) async fn thread_events_can_be_waited_for(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let now = bot.call("thread/events", json!({"threadId": thread, "after": 1})).await;
    assert_eq!((now["events"].as_array().unwrap().len(), &now["nextAfter"]), (1, &json!(2)));
    let limited = bot.call("thread/events", json!({"threadId": thread, "after": 0, "limit": 1})).await;
    assert_eq!((limited["events"].as_array().unwrap().len(), &limited["nextAfter"]), (1, &json!(1)));
    let mut poller = subject.client("poller", "in-P").await;
    let id = poller.request("thread/events", json!({"threadId": thread, "after": 2, "waitMs": 600_000})).await;
    poller.settle_down().await;
    bot.call("thread/update", json!({"threadId": thread, "title": "woken"})).await;
    let answer = poller.answer(id).await;
    assert_eq!(answer["result"]["events"][0]["event"]["thread"]["title"], "woken");
}
