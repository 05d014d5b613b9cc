//! Coming back to a thread: from a cursor, on another connection, in the middle of something.

use serde_json::{Value, json};

use super::{Fresh, assert_all_closed, get_issue, success, tool_with};

scenarios! { $ resuming
    wire:
        transcript_b_a_call_is_offered_again_to_the_same_instance_under_its_id
        ruling_8_an_older_connection_of_the_instance_loses_the_tools_without_takeover
        transcript_g_an_open_approval_is_offered_again_with_its_old_deadline
        transcript_f_after_gives_every_later_event_once_and_as_it_was_sent
        transcript_f_a_cursor_beyond_the_end_is_refused_and_never_clamped
        dyn_18_the_same_declarations_again_change_nothing
        dyn_19_a_new_connection_gets_no_event_until_it_resumes
        unsubscribed_means_no_more_events_and_no_more_questions;
    clock:
        ruling_10_who_joins_an_open_item_gets_its_text_so_far_as_the_first_delta;
}

pub(super) async fn transcript_b_a_call_is_offered_again_to_the_same_instance_under_its_id(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    let call = bot.asked("tool/call").await;
    bot.until("waiting", |line| line["params"]["event"]["run"]["state"] == "waiting").await;
    let last = bot.log(&thread).await.len();
    drop(bot);
    let mut back = subject.bot().await;
    let resumed = back.call("thread/resume", json!({"threadId": thread, "after": last})).await;
    assert!(resumed.get("snapshot").is_none(), "never a snapshot in the place of events");
    let again = back.asked("tool/call").await;
    for same in ["interactionId", "callId", "runId", "tool", "arguments", "deadlineAt", "silenceMs"] {
        assert_eq!(again["params"][same], call["params"][same], "{same}");
    }
    assert!(again["params"]["attempt"].as_u64() > call["params"]["attempt"].as_u64());
    back.reply(&again, success("seven")).await;
    assert_eq!(back.ended(&run).await["outcome"]["text"], "get_issue: seven");
    let log = back.log(&thread).await;
    let causes: Vec<_> = log[last..].iter().filter_map(|event| event["event"]["cause"].as_str()).collect();
    assert!(causes.is_empty() || causes == ["ownerAway", "ownerBack"], "{causes:?}");
    assert_all_closed(&log);
}

pub(super) async fn ruling_8_an_older_connection_of_the_instance_loses_the_tools_without_takeover(subject: Fresh) {
    let mut older = subject.bot().await;
    let thread = older.start(&[get_issue()]).await;
    let run = older.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    let call = older.asked("tool/call").await;
    let mut newer = subject.bot().await;
    newer.call("thread/resume", json!({"threadId": thread, "after": 0})).await;
    let again = newer.asked("tool/call").await;
    assert_eq!(again["params"]["interactionId"], call["params"]["interactionId"]);
    assert_eq!(again["params"]["attempt"], 2);
    newer.reply(&again, success("seven")).await;
    newer.ended(&run).await;
    older.ended(&run).await;
    assert_eq!(older.told("interaction/settled").await["outcome"], "answered", "it was offered it, so it is told");
    let second = newer.submit(&thread, "call get_issue {\"id\":\"8\"}").await;
    let next = newer.asked("tool/call").await;
    newer.reply(&next, success("eight")).await;
    older.ended(&second).await;
    assert!(older.seen(|line| line["method"] == "tool/call").is_empty(), "the older one keeps events only");
}

pub(super) async fn transcript_g_an_open_approval_is_offered_again_with_its_old_deadline(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let run = bot.submit(&thread, "call act").await;
    let approval = bot.asked("approval/request").await;
    drop(bot);
    let mut back = subject.bot().await;
    back.call("thread/resume", json!({"threadId": thread, "after": 9})).await;
    let again = back.asked("approval/request").await;
    for same in ["interactionId", "callId", "expiresAt", "arguments", "choices", "summary"] {
        assert_eq!(again["params"][same], approval["params"][same], "{same}");
    }
    assert!(again["params"]["attempt"].as_u64() > approval["params"]["attempt"].as_u64());
    back.reply(&again, json!({"decision": "accept"})).await;
    let call = back.asked("tool/call").await;
    back.reply(&call, success("done")).await;
    assert_eq!(back.ended(&run).await["outcome"]["text"], "act: done");
}

pub(super) async fn transcript_f_after_gives_every_later_event_once_and_as_it_was_sent(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "say one\ncall get_issue {\"id\":\"7\"}").await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, success("seven")).await;
    bot.ended(&run).await;
    for part in 0..5 {
        let log = bot.log(&thread).await;
        let after = log.len() * part / 4;
        let mut reader = subject.client("reader", "in-R").await;
        let resumed = reader.call("thread/resume", json!({"threadId": thread, "after": after})).await;
        assert!(resumed.get("snapshot").is_none());
        assert_eq!(resumed["seq"], log.len());
        let title = format!("round {part}");
        reader.call("thread/update", json!({"threadId": thread, "title": title})).await;
        let marker = |line: &Value| line["params"]["event"]["thread"]["title"] == title;
        let live = reader.until("a live event", marker).await;
        assert_eq!(live["params"]["seq"], log.len() + 1);
        let sent: Vec<Value> = reader.kept.iter().map(|line| line["params"].clone()).collect();
        let durable: Vec<&Value> = sent.iter().filter(|event| event.get("seq").is_some()).collect();
        assert_eq!(durable, log[after..].iter().collect::<Vec<_>>(), "after {after}");
        let stale = sent.iter().filter(|event| event["after"].as_u64().is_some_and(|place| place < after as u64));
        assert_eq!(stale.count(), 0, "nothing ephemeral of the time before the cursor: {}", json!(sent));
    }
}

pub(super) async fn transcript_f_a_cursor_beyond_the_end_is_refused_and_never_clamped(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    for method in ["thread/resume", "thread/subscribe", "thread/events"] {
        let error = bot.refused(method, json!({"threadId": thread, "after": 900})).await;
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32602), &json!("invalidParams")));
        assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!("/after"), &json!("after_the_end")));
        assert!(error["message"].as_str().unwrap().contains("the last event of this thread is 2"), "{error}");
    }
    assert_eq!(bot.log(&thread).await.len(), 2, "a refused resume changes nothing");
}

pub(super) async fn ruling_10_who_joins_an_open_item_gets_its_text_so_far_as_the_first_delta(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "say one two three\nsleep 60\nsay four").await;
    let has = |word: &'static str| {
        move |line: &Value| line["params"]["event"]["text"].as_str().is_some_and(|text| text.contains(word))
    };
    let third = bot.until("the third word", has("three")).await;
    let mut late = subject.client("late", "in-L").await;
    let after = third["params"]["after"].clone();
    late.call("thread/resume", json!({"threadId": thread, "after": after})).await;
    subject.advance(std::time::Duration::from_millis(60));
    late.ended(&run).await;
    let deltas: Vec<_> =
        late.kept.iter().map(|line| &line["params"]["event"]).filter(|event| event["type"] == "itemDelta").collect();
    assert_eq!(deltas[0]["offset"], 0);
    let mut text = String::new();
    for delta in &deltas {
        assert_eq!(delta["offset"], text.len(), "without a gap");
        text.push_str(delta["text"].as_str().unwrap());
    }
    assert_eq!(text, "one two three\nfour");
}

pub(super) async fn dyn_18_the_same_declarations_again_change_nothing(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let before = bot.shown_tool(&thread, "get_issue").await;
    bot.call("thread/resume", json!({"threadId": thread, "tools": [get_issue()], "after": 3})).await;
    bot.call("thread/resume", json!({"threadId": thread, "after": 3})).await;
    assert_eq!(bot.shown_tool(&thread, "get_issue").await, before);
    assert_eq!(bot.log(&thread).await.len(), 3);
}

pub(super) async fn dyn_19_a_new_connection_gets_no_event_until_it_resumes(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    drop(bot);
    let mut back = subject.bot().await;
    let run = back.submit(&thread, "say hello").await;
    back.call("run/wait", json!({"runId": run})).await;
    back.settle_down().await;
    assert!(back.kept.is_empty(), "{:?}", back.kept);
    assert_eq!(back.shown_tool(&thread, "get_issue").await["state"], "ownerAway");
}

pub(super) async fn unsubscribed_means_no_more_events_and_no_more_questions(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let mut watch = subject.client("watch", "in-W").await;
    watch.call("thread/subscribe", json!({"threadId": thread})).await;
    watch.call("thread/unsubscribe", json!({"threadId": thread})).await;
    let run = bot.submit(&thread, "call act").await;
    let approval = bot.asked("approval/request").await;
    bot.reply(&approval, json!({"decision": "decline"})).await;
    bot.ended(&run).await;
    watch.settle_down().await;
    assert!(watch.kept.is_empty(), "{:?}", watch.kept);
}
