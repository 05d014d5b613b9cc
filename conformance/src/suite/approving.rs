//! Approvals: who is asked, which answers there are, and what each of them does.

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, get_issue, success, told_text, tool_with};

scenarios! { $ approving
    wire:
        dyn_21_each_call_that_asks_is_asked_about_once
        dyn_22_accept_holds_for_one_call
        dyn_22_accept_for_session_is_a_rule_of_the_thread
        dyn_22_accept_always_is_a_rule_of_the_project_or_of_all
        dyn_22_decline_refuses_the_call_tells_the_model_the_note_and_the_run_goes_on
        dyn_22_cancel_refuses_the_call_and_stops_the_run_with_every_later_call
        dyn_23_a_run_that_stops_tells_the_one_who_was_asked
        dyn_24_only_who_claimed_the_capability_is_asked
        a_refused_answer_is_asked_again_and_the_fourth_time_counts_as_not_i
        a16_a_tool_that_changed_while_its_approval_was_open_is_asked_about_again;
    clock:;
}

pub(super) async fn dyn_21_each_call_that_asks_is_asked_about_once(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[asking()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}").await;
    for n in 1..=2 {
        let approval = bot.asked("approval/request").await;
        let params = &approval["params"];
        assert_eq!((&params["index"], &params["total"], &params["attempt"]), (&json!(n), &json!(2), &json!(1)));
        assert_eq!(params["arguments"]["id"], n.to_string(), "the exact arguments are shown");
        assert_eq!(params["summary"], format!("get_issue {n}"));
        assert_eq!(params["tool"]["source"], "client:bot");
        bot.reply(&approval, json!({"decision": "accept"})).await;
        let call = bot.asked("tool/call").await;
        assert_eq!(call["params"]["arguments"], params["arguments"], "what was shown is what is called");
        bot.reply(&call, success("ok")).await;
    }
    bot.ended(&run).await;
    assert!(bot.seen(|line| line["method"] == "approval/request").is_empty());
    let calls = bot.calls(&thread).await;
    for call in &calls {
        assert_eq!((&call["decision"]["decision"], &call["decision"]["via"]), (&json!("accept"), &json!("person")));
        assert_eq!(call["decision"]["by"]["instanceId"], "in-A");
    }
    assert_ne!(calls[0]["decision"]["interactionId"], calls[1]["decision"]["interactionId"]);
}

pub(super) async fn dyn_22_accept_holds_for_one_call(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[asking()]).await;
    for _ in 0..2 {
        decide(&mut bot, &thread, json!({"decision": "accept"}), true).await;
    }
    assert_eq!(bot.call("policy/list", json!({})).await["items"], json!([]), "no rule was made");
}

pub(super) async fn dyn_22_accept_for_session_is_a_rule_of_the_thread(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[asking()]).await;
    decide(&mut bot, &thread, json!({"decision": "acceptForSession"}), true).await;
    let rules = bot.call("policy/list", json!({})).await;
    let rule = &rules["items"][0];
    assert_eq!((&rule["level"], &rule["threadId"]), (&json!("thread"), &thread));
    assert_eq!((&rule["decision"], &rule["origin"]), (&json!("allow"), &json!("approval")));
    assert_eq!(rule["tool"]["digest"], bot.shown_tool(&thread, "get_issue").await["digest"]);
    assert_eq!(rule["setBy"]["instanceId"], "in-A");
    allowed(&mut bot, &thread).await;

    let elsewhere = bot.start(&[asking()]).await;
    decide(&mut bot, &elsewhere, json!({"decision": "accept"}), true).await;
    // Revoked, it asks again at once.
    bot.call("policy/remove", json!({"policyId": rule["policyId"]})).await;
    decide(&mut bot, &thread, json!({"decision": "accept"}), true).await;
}

pub(super) async fn dyn_22_accept_always_is_a_rule_of_the_project_or_of_all(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[asking()]).await;
    let project = bot.project_of(&thread).await;
    decide(&mut bot, &thread, json!({"decision": "acceptAlways"}), true).await;
    let rules = bot.call("policy/list", json!({"level": "project"})).await;
    assert_eq!((&rules["items"][0]["projectId"], &rules["items"][0]["decision"]), (&project, &json!("allow")));
    let same_project = bot.start(&[asking()]).await;
    allowed(&mut bot, &same_project).await;

    let made = bot.call("project/create", json!({"name": "Other"})).await["project"]["projectId"].clone();
    let start = json!({"projectId": made, "tools": [asking()]});
    let other = bot.call("thread/start", start).await["thread"]["threadId"].clone();
    decide(&mut bot, &other, json!({"decision": "acceptAlways", "scope": "global"}), true).await;
    let rules = bot.call("policy/list", json!({"level": "global"})).await;
    assert_eq!(rules["items"].as_array().unwrap().len(), 1);
    let third = bot.call("project/create", json!({"name": "Third"})).await["project"]["projectId"].clone();
    let start = json!({"projectId": third, "tools": [asking()]});
    let third = bot.call("thread/start", start).await["thread"]["threadId"].clone();
    allowed(&mut bot, &third).await;
}

pub(super) async fn dyn_22_decline_refuses_the_call_tells_the_model_the_note_and_the_run_goes_on(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[asking()]).await;
    let note = json!({"decision": "decline", "note": "Not on a Friday."});
    let ended = decide(&mut bot, &thread, note, false).await;
    assert_eq!(ended["outcome"]["status"], "completed");
    let item = bot.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["error"]["code"]), (&json!("refused"), &json!("declined")));
    assert_eq!((&item["decision"]["decision"], &item["decision"]["note"]), (&json!("decline"), &json!("Not on a Friday.")));
    assert_eq!(item["effect"], "none");
    assert!(told_text(&item).contains("Not on a Friday."), "{}", told_text(&item));
}

pub(super) async fn dyn_22_cancel_refuses_the_call_and_stops_the_run_with_every_later_call(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[asking()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}").await;
    let approval = bot.asked("approval/request").await;
    bot.reply(&approval, json!({"decision": "cancel"})).await;
    let ended = bot.ended(&run).await;
    assert_eq!(ended["outcome"]["status"], "stopped");
    assert_eq!(ended["outcome"]["by"]["instanceId"], "in-A");
    let calls = bot.calls(&thread).await;
    assert_eq!((&calls[0]["state"], &calls[0]["decision"]["decision"]), (&json!("refused"), &json!("cancel")));
    assert_eq!((&calls[1]["state"], &calls[1]["effect"]), (&json!("cancelled"), &json!("none")));
    assert!(told_text(&calls[1]).contains("stopped"), "{}", told_text(&calls[1]));
    assert_all_closed(&bot.log(&thread).await);
    let settled = bot.told("interaction/settled").await;
    assert_eq!((&settled["outcome"], &settled["answer"]["decision"]), (&json!("declined"), &json!("cancel")));
}

pub(super) async fn dyn_23_a_run_that_stops_tells_the_one_who_was_asked(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[asking()]).await;
    bot.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let approval = bot.asked("approval/request").await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    let settled = bot.told("interaction/settled").await;
    assert_eq!(settled["interactionId"], approval["params"]["interactionId"]);
    assert_eq!((&settled["outcome"], &settled["by"]["kind"]), (&json!("cancelled"), &json!("stop")));
    let late = json!({"interactionId": settled["interactionId"], "answer": {"decision": "accept"}});
    let error = bot.refused("interaction/settle", late).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["outcome"]), (&json!("alreadySettled"), &json!("cancelled")));
}

pub(super) async fn dyn_24_only_who_claimed_the_capability_is_asked(subject: Fresh) {
    let quiet = subject.open().await;
    let mut quiet = Raw::introduced(quiet, "bot", "in-Q", json!({"input": true}), json!([])).await;
    let thread = quiet.start(&[asking()]).await;
    let mut watch = subject.client("watch", "in-W").await;
    watch.call("thread/resume", json!({"threadId": thread})).await;
    let run = quiet.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let approval = watch.asked("approval/request").await;
    let opened = watch.event("interactionOpened").await;
    let offered = json!([{"clientName": "watch", "instanceId": "in-W"}]);
    assert_eq!(opened["event"]["interaction"]["offeredTo"], offered);
    assert!(opened["event"]["interaction"]["request"].get("arguments").is_none(), "the item has them");
    let waiting = watch.event("runState").await;
    assert_eq!(waiting["event"]["run"]["waitingOn"]["canAnswer"], offered);
    watch.reply(&approval, json!({"decision": "accept"})).await;
    let call = quiet.asked("tool/call").await;
    quiet.reply(&call, success("ok")).await;
    quiet.ended(&run).await;
    assert!(quiet.seen(|line| line["method"] == "approval/request").is_empty());
}

pub(super) async fn a_refused_answer_is_asked_again_and_the_fourth_time_counts_as_not_i(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[asking()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let odd = [
        (json!({"decision": "maybe"}), "/decision", "unknown_decision"),
        (json!({"decision": "accept", "because": "x"}), "/because", "unknown_field"),
        (json!({}), "/decision", "wrong_type"),
        (json!({"decision": 1}), "/decision", "wrong_type"),
    ];
    for (attempt, (answer, path, reason)) in (1..).zip(odd) {
        let approval = bot.asked("approval/request").await;
        assert_eq!(approval["params"]["attempt"], attempt);
        bot.reply(&approval, answer).await;
        let refused = bot.told("interaction/invalidAnswer").await;
        assert_eq!(refused["interactionId"], approval["params"]["interactionId"]);
        assert_eq!((&refused["path"], &refused["reason"]), (&json!(path), &json!(reason)));
    }
    // With nobody left the run is not stuck: nobody could be asked.
    bot.ended(&run).await;
    assert_eq!(bot.calls(&thread).await[0]["state"], "undeliverable");
}

/// `get_issue`, wishing to be asked about.
/// What a person allows is what they were shown (K22): a tool that is declared anew meanwhile is asked about again.
pub(super) async fn a16_a_tool_that_changed_while_its_approval_was_open_is_asked_about_again(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[asking()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let shown = bot.asked("approval/request").await;
    let mut other = asking();
    other["inputSchema"]["properties"]["why"] = json!({"type": "string"});
    bot.call("thread/resume", json!({"threadId": thread, "tools": [other]})).await;
    let offered_again = bot.asked("approval/request").await;
    assert_eq!(offered_again["params"]["interactionId"], shown["params"]["interactionId"]);
    bot.reply(&offered_again, json!({"decision": "accept"})).await;

    let anew = bot.asked("approval/request").await;
    assert_ne!(anew["params"]["interactionId"], shown["params"]["interactionId"], "it is another question");
    assert!(bot.seen(|line| line["method"] == "tool/call").is_empty(), "nothing was called on the first answer");
    bot.reply(&anew, json!({"decision": "accept"})).await;
    let call = bot.asked("tool/call").await;
    bot.reply(&call, success("ok")).await;
    bot.ended(&run).await;
}

fn asking() -> Value {
    let mut tool = tool_with("get_issue", json!({"approval": "ask"}));
    tool["inputSchema"] = get_issue()["inputSchema"].clone();
    tool
}

/// Lets the model call, answers the approval with `answer`, and the call where one follows.
async fn decide(bot: &mut Raw, thread: &Value, answer: Value, follows: bool) -> Value {
    let run = bot.submit(thread, "call get_issue {\"id\":\"1\"}").await;
    let approval = bot.asked("approval/request").await;
    bot.reply(&approval, answer).await;
    if follows {
        let call = bot.asked("tool/call").await;
        bot.reply(&call, success("ok")).await;
    }
    bot.ended(&run).await
}

/// Lets the model call: nobody is asked.
async fn allowed(bot: &mut Raw, thread: &Value) {
    let run = bot.submit(thread, "call get_issue {\"id\":\"1\"}").await;
    let call = bot.asked("tool/call").await;
    assert!(bot.seen(|line| line["method"] == "approval/request").is_empty(), "nobody is asked");
    bot.reply(&call, success("ok")).await;
    bot.ended(&run).await;
    let item = bot.calls(thread).await.pop().unwrap();
    assert_eq!((&item["decision"]["decision"], &item["decision"]["via"]), (&json!("allow"), &json!("policy")));
}
