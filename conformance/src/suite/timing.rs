//! The clocks of a call: silence, the ceiling, deadlines of people, and grace for who has gone.

use std::time::Duration;

use serde_json::json;

use super::{Fresh, assert_all_closed, get_issue, success, told_text, tool, tool_with};

scenarios! { $ timing
    wire:;
    clock:
        dyn_34_progress_resets_the_silence_and_a_silent_call_ends
        dyn_34_the_ceiling_ends_a_call_however_lively_it_is
        dyn_33_a_timeout_tells_the_client_to_stop_and_its_late_result_is_ignored
        waiting_on_names_the_sooner_of_silence_and_ceiling
        an_approval_carries_its_deadline_and_another_setting_changes_it
        a_call_whose_owner_stays_away_ends_as_outcome_unknown_after_the_grace
        run_wait_times_out_without_an_error;
}

pub(super) async fn dyn_34_progress_resets_the_silence_and_a_silent_call_ends(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("slow")]).await;
    let run = bot.submit(&thread, "call slow\nthen call slow").await;
    let first = bot.asked("tool/call").await;
    for step in 0..3 {
        subject.advance(Duration::from_secs(119));
        let life = json!({"interactionId": first["params"]["interactionId"], "message": format!("step {step}"), "fraction": 0.25});
        bot.notify("tool/progress", life).await;
        let shown = bot.until("toolProgress", |line| line["params"]["event"]["type"] == "toolProgress").await;
        assert_eq!(shown["params"]["event"]["message"], format!("step {step}"));
        assert!(shown["params"].get("seq").is_none(), "never stored");
    }
    bot.reply(&first, success("took its time")).await;
    bot.told("interaction/settled").await;

    let second = bot.asked("tool/call").await;
    subject.advance(Duration::from_secs(120));
    let settled = bot.told("interaction/settled").await;
    assert_eq!(settled["interactionId"], second["params"]["interactionId"]);
    assert_eq!(settled["outcome"], "expired");
    assert_eq!(bot.ended(&run).await["outcome"]["status"], "completed");
    let calls = bot.calls(&thread).await;
    assert_eq!((&calls[0]["state"], &calls[1]["state"]), (&json!("completed"), &json!("failed")));
    assert_eq!(calls[0]["timing"]["callMs"], 357_000);
    assert_eq!(calls[1]["error"]["code"], "timeout");
    assert!(told_text(&calls[1]).contains("2 minutes"), "{}", told_text(&calls[1]));
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn dyn_34_the_ceiling_ends_a_call_however_lively_it_is(subject: Fresh) {
    let mut bot = subject.bot().await;
    bot.call("settings/update", json!({"toolCeilingMs": 300_000})).await;
    let thread = bot.start(&[tool("slow")]).await;
    let run = bot.submit(&thread, "call slow").await;
    let call = bot.asked("tool/call").await;
    for _ in 0..5 {
        subject.advance(Duration::from_secs(60));
        bot.notify("tool/progress", json!({"interactionId": call["params"]["interactionId"]})).await;
        bot.settle_down().await;
    }
    bot.ended(&run).await;
    assert_eq!(bot.calls(&thread).await[0]["error"]["code"], "timeout");
}

pub(super) async fn dyn_33_a_timeout_tells_the_client_to_stop_and_its_late_result_is_ignored(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("slow")]).await;
    let run = bot.submit(&thread, "call slow").await;
    let call = bot.asked("tool/call").await;
    subject.advance(Duration::from_secs(120));
    let settled = bot.told("interaction/settled").await;
    assert_eq!((&settled["outcome"], &settled["by"]), (&json!("expired"), &json!({"kind": "deadline"})));
    assert!(settled.get("answer").is_none());
    bot.ended(&run).await;
    let before = bot.log(&thread).await.len();
    bot.reply(&call, success("too late")).await;
    let late = json!({"interactionId": settled["interactionId"], "answer": success("too late")});
    let error = bot.refused("interaction/settle", late).await;
    assert_eq!(error["data"]["kind"], "alreadySettled");
    assert_eq!((&error["data"]["outcome"], &error["data"]["by"]["kind"]), (&json!("expired"), &json!("deadline")));
    assert_eq!(bot.log(&thread).await.len(), before, "nothing came of it");
}

pub(super) async fn waiting_on_names_the_sooner_of_silence_and_ceiling(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("slow", json!({"timeoutMs": 60_000}))]).await;
    bot.submit(&thread, "call slow").await;
    let call = bot.asked("tool/call").await;
    assert_eq!(call["params"]["deadlineAt"], "2026-11-30T10:30:00Z", "the ceiling");
    assert_eq!(call["params"]["silenceMs"], 60_000);
    let waiting = bot.event("runState").await;
    assert_eq!(waiting["event"]["run"]["waitingOn"]["deadlineAt"], "2026-11-30T10:01:00Z");
    bot.call("run/stop", json!({"threadId": thread})).await;
}

pub(super) async fn an_approval_carries_its_deadline_and_another_setting_changes_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    bot.submit(&thread, "call act").await;
    let approval = bot.asked("approval/request").await;
    assert_eq!(approval["params"]["expiresAt"], "2026-11-30T10:15:00Z");
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.call("settings/update", json!({"approvalMs": null})).await;
    let run = bot.submit(&thread, "call act").await;
    let approval = bot.asked("approval/request").await;
    assert!(approval["params"].get("expiresAt").is_none(), "never");
    subject.advance(Duration::from_secs(604_800));
    bot.settle_down().await;
    assert_eq!(bot.call("run/read", json!({"runId": run})).await["run"]["state"], "waiting");
    bot.call("run/stop", json!({"threadId": thread})).await;
}

pub(super) async fn a_call_whose_owner_stays_away_ends_as_outcome_unknown_after_the_grace(subject: Fresh) {
    let mut watch = subject.client("watch", "in-W").await;
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    watch.call("thread/resume", json!({"threadId": thread})).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    bot.asked("tool/call").await;
    drop(bot);
    let away = watch.until("ownerAway", |line| line["params"]["event"]["cause"] == "ownerAway").await;
    assert_eq!(away["params"]["event"]["changed"], json!(["get_issue"]));
    subject.advance(Duration::from_millis(29_999));
    watch.settle_down().await;
    assert_eq!(watch.call("run/read", json!({"runId": run})).await["run"]["state"], "waiting");
    subject.advance(Duration::from_millis(1));
    watch.ended(&run).await;
    let item = watch.calls(&thread).await.pop().unwrap();
    assert_eq!((&item["state"], &item["error"]["code"]), (&json!("outcomeUnknown"), &json!("outcome_unknown")));
    assert_eq!(item["effect"], "unknown");
    let settled = watch.event("interactionSettled").await;
    assert_eq!((&settled["event"]["outcome"], &settled["event"]["by"]["kind"]), (&json!("outcomeUnknown"), &json!("deadline")));
}

pub(super) async fn run_wait_times_out_without_an_error(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000").await;
    let id = bot.request("run/wait", json!({"runId": run, "timeoutMs": 1_000})).await;
    bot.settle_down().await;
    subject.advance(Duration::from_secs(1));
    let answer = bot.answer(id).await;
    assert_eq!((&answer["result"]["timedOut"], &answer["result"]["run"]["state"]), (&json!(true), &json!("running")));
    let submit = json!({"threadId": thread, "input": super::text("say later"), "wait": true, "waitTimeoutMs": 1_000});
    let id = bot.request("run/submit", submit).await;
    bot.event("queueChanged").await;
    bot.settle_down().await;
    subject.advance(Duration::from_secs(1));
    let answer = bot.answer(id).await;
    assert_eq!((&answer["result"]["timedOut"], &answer["result"]["run"]["state"]), (&json!(true), &json!("queued")));
}
