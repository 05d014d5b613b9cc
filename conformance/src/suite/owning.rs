//! Who owns a tool while a thread lives: several clients, taking over, a set that changes between two steps, and how soon a
//! client is told to stop.

use serde_json::{Value, json};

use super::{Fresh, assert_all_closed, get_issue, received::Talk, success, tool, tool_with};
use crate::Shape;

scenarios! { $ owning
    wire:
        dyn_33_the_signal_to_stop_comes_before_whatever_is_asked_next
        dyn_33_a_takeover_tells_the_loser_to_stop_working_on_its_call
        dyn_36_a_takeover_takes_what_it_names_and_leaves_the_rest
        dyn_37_a_set_that_changes_between_two_steps_holds_from_the_next_one_on
        dyn_38_a_call_that_may_be_repeated_goes_on_with_the_next_process_of_the_program;
    clock:;
}

/// The signal comes before anything that is asked for after its cause: no clock is needed to say how soon that is.
pub(super) async fn dyn_33_the_signal_to_stop_comes_before_whatever_is_asked_next(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("slow")]).await;
    let mut watch = subject.client("watch", "in-W").await;
    watch.call("thread/resume", json!({"threadId": thread})).await;
    for by_owner in [true, false] {
        let run = bot.submit(&thread, "call slow").await;
        let call = bot.asked("tool/call").await;
        let stopping = if by_owner { &mut bot } else { &mut watch };
        stopping.call("run/stop", json!({"threadId": thread})).await;
        bot.settle_down().await;
        let settled = bot.seen(|line| line["method"] == "interaction/settled");
        assert_eq!(settled.len(), 1, "it is here already");
        assert_eq!(settled[0]["params"]["interactionId"], call["params"]["interactionId"]);
        assert_eq!(settled[0]["params"]["outcome"], "cancelled");
        bot.ended(&run).await;
        bot.kept.clear();
    }
}

pub(super) async fn dyn_37_a_set_that_changes_between_two_steps_holds_from_the_next_one_on(subject: Fresh) {
    let mut talk = Talk::new(&subject, Shape::Chat, &[get_issue()]).await;
    let script = "call get_issue {\"id\":\"1\"}\nthen call get_issue {\"id\":\"2\"}\nthen say done";
    let run = talk.bot.submit(&talk.thread, script).await;
    let mut revisions = Vec::new();
    for (tools, added, removed) in [
        (json!([get_issue(), tool("notify")]), json!(["notify"]), json!([])),
        (json!([get_issue()]), json!([]), json!(["notify"])),
    ] {
        let call = talk.bot.asked("tool/call").await;
        let after = talk.bot.log(&talk.thread).await.len();
        talk.bot.call("thread/resume", json!({"threadId": talk.thread, "tools": tools, "after": after})).await;
        let again = talk.bot.asked("tool/call").await;
        assert_eq!(again["params"]["interactionId"], call["params"]["interactionId"], "what is open stays open");
        let changed = talk.bot.event("toolsChanged").await["event"].clone();
        assert_eq!((&changed["added"], &changed["removed"]), (&added, &removed));
        revisions.push(changed["revision"].as_u64().unwrap());
        talk.bot.reply(&again, success("an issue")).await;
    }
    talk.bot.ended(&run).await;
    assert_eq!(revisions[1], revisions[0] + 1, "each change has a revision of its own");
    let requests = talk.server.requests();
    let has_notify = |request: &crate::RecordedRequest| {
        let tools = request.body["tools"].as_array().into_iter().flatten();
        tools.filter(|tool| tool["function"]["name"] == "notify").count()
    };
    assert_eq!(requests.iter().map(has_notify).collect::<Vec<_>>(), [0, 1, 0], "announced, and true of the next step");
    talk.same_as_shown().await;
}

pub(super) async fn dyn_36_a_takeover_takes_what_it_names_and_leaves_the_rest(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue(), tool("keep")]).await;
    let mut second = subject.client("bot", "in-B").await;
    let declare = json!({"threadId": thread, "tools": [get_issue()], "takeover": true});
    second.call("thread/resume", declare).await;
    let changed = bot.event("toolsChanged").await;
    assert_eq!((&changed["event"]["cause"], &changed["event"]["changed"]), (&json!("takeover"), &json!(["get_issue"])));
    let run = second.submit(&thread, "call get_issue {\"id\":\"1\"}\ncall keep").await;
    let call = second.asked("tool/call").await;
    second.reply(&call, success("mine now")).await;
    let call = bot.asked("tool/call").await;
    assert_eq!(call["params"]["tool"], "keep");
    bot.reply(&call, success("still mine")).await;
    assert_eq!(second.ended(&run).await["outcome"]["text"], "get_issue: mine now\nkeep: still mine");
    let owners: Vec<Value> = second.calls(&thread).await.iter().map(|item| item["tool"]["source"].clone()).collect();
    assert_eq!(owners, ["client:bot", "client:bot"]);
}

/// A tool that only reads, or may run twice with the effect of once, may be asked of the process that has it now (DYN-38).
pub(super) async fn dyn_38_a_call_that_may_be_repeated_goes_on_with_the_next_process_of_the_program(subject: Fresh) {
    for hint in ["readOnlyHint", "idempotentHint"] {
        let look = tool_with("look", json!({"annotations": {hint: true}}));
        let mut bot = subject.bot().await;
        let thread = bot.start(std::slice::from_ref(&look)).await;
        let run = bot.submit(&thread, "call look").await;
        let call = bot.asked("tool/call").await;
        drop(bot);
        let mut next = subject.client("bot", "in-B").await;
        let is_away = |tools: &Value| tools["items"][0]["state"] == "ownerAway";
        next.eventually("thread/tools", json!({"threadId": thread}), is_away).await;
        next.call("thread/resume", json!({"threadId": thread, "tools": [look]})).await;
        let again = next.asked("tool/call").await;
        for same in ["interactionId", "callId", "arguments", "deadlineAt"] {
            assert_eq!(again["params"][same], call["params"][same], "{same}");
        }
        assert!(again["params"]["attempt"].as_u64() > call["params"]["attempt"].as_u64());
        let listed = next.call("interaction/list", json!({"threadId": thread})).await;
        let offered_to = json!([{"clientName": "bot", "instanceId": "in-B"}]);
        assert_eq!(listed["items"][0]["offeredTo"], offered_to);
        next.reply(&again, success("seen")).await;
        assert_eq!(next.ended(&run).await["outcome"]["text"], "look: seen", "{hint}");
        assert_all_closed(&next.log(&thread).await);
    }
}

pub(super) async fn dyn_33_a_takeover_tells_the_loser_to_stop_working_on_its_call(subject: Fresh) {
    for (annotations, goes_on) in [(json!({}), false), (json!({"readOnlyHint": true}), true)] {
        let act = tool_with("act", json!({"annotations": annotations}));
        let mut bot = subject.bot().await;
        let thread = bot.start(std::slice::from_ref(&act)).await;
        let run = bot.submit(&thread, "call act").await;
        let call = bot.asked("tool/call").await;
        let mut second = subject.client("bot", "in-B").await;
        let takeover = json!({"threadId": thread, "tools": [act], "takeover": true});
        second.call("thread/resume", takeover).await;
        let settled = bot.told("interaction/settled").await;
        assert_eq!(settled["interactionId"], call["params"]["interactionId"]);
        assert_eq!((&settled["by"]["kind"], &settled["by"]["instanceId"]), (&json!("client"), &json!("in-B")));
        if goes_on {
            assert_eq!(settled["outcome"], "cancelled", "for this one");
            // It is too late, whichever way it answers.
            bot.reply(&call, success("late")).await;
            let late = json!({"interactionId": settled["interactionId"], "answer": success("late")});
            assert_eq!(bot.refused("interaction/settle", late).await["data"]["reason"], "not_offered");
            let again = second.asked("tool/call").await;
            assert_eq!(again["params"]["interactionId"], call["params"]["interactionId"]);
            second.reply(&again, success("seen")).await;
            assert_eq!(second.ended(&run).await["outcome"]["text"], "act: seen");
            second.told("interaction/settled").await;
            assert!(bot.seen(|line| line["method"] == "interaction/settled").is_empty(), "it was told once");
        } else {
            assert_eq!(settled["outcome"], "outcomeUnknown", "it may have had its effect");
            second.ended(&run).await;
            let item = second.calls(&thread).await.pop().unwrap();
            assert_eq!((&item["state"], &item["effect"]), (&json!("outcomeUnknown"), &json!("unknown")), "{item}");
            assert!(second.seen(|line| line["method"] == "tool/call").is_empty(), "it is never made twice");
        }
        assert_all_closed(&second.log(&thread).await);
    }
}
