//! Asides and steers: input for the run under way, which joins it at the next step boundary.

use serde_json::{Value, json};

use super::{Fresh, Raw, assert_all_closed, get_issue, success, text, tool_with};

scenarios! { $ remarks
    wire:
        transcript_h_a_steer_and_an_aside_join_at_the_next_step_boundary
        transcript_h_on_an_idle_branch_an_aside_is_recorded_and_a_steer_refused
        ruling_13_a_steer_of_another_run_is_a_conflict_with_the_one_under_way
        a_remark_to_a_run_that_waits_for_a_person_joins_when_it_goes_on
        a_run_that_ends_first_leaves_its_remarks_recorded_and_starts_nothing_for_them
        a_submit_of_an_aside_that_waits_is_answered_when_the_run_it_joins_has_ended;
    clock:
        k18_a_remark_during_the_last_answer_is_answered_by_one_more_step;
}

fn aside(thread: &Value, input: &str) -> Value {
    json!({"threadId": thread, "mode": "aside", "input": text(input)})
}

fn steer(thread: &Value, run: &Value, input: &str) -> Value {
    json!({"threadId": thread, "mode": "steer", "expectedRunId": run, "input": text(input)})
}

/// What is said in a chain: each message's role, delivery and first text.
async fn said(bot: &mut Raw, thread: &Value) -> Vec<Value> {
    let chain = bot.chain(thread).await;
    let say = |message: &Value| json!([message["role"], message["delivery"], message["content"][0]["text"]]);
    chain.iter().map(say).collect()
}

pub(super) async fn transcript_h_a_steer_and_an_aside_join_at_the_next_step_boundary(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}").await;
    let first = bot.asked("tool/call").await;
    let before = bot.log(&thread).await.len();
    let steered = bot.call("run/submit", steer(&thread, &run, "only open issues")).await;
    assert_eq!((&steered["runId"], &steered["state"]), (&run, &json!("queued")));
    let noted = bot.call("run/submit", aside(&thread, "the tracker is slow today")).await;
    assert_eq!((&noted["runId"], &noted["state"]), (&run, &json!("queued")));
    let queue = bot.call("queue/list", json!({"threadId": thread})).await;
    let modes: Vec<_> = queue["entries"].as_array().unwrap().iter().map(|entry| entry["mode"].clone()).collect();
    assert_eq!((json!(modes), &queue["entries"][0]["runId"]), (json!(["steer", "aside"]), &run));
    let counts = bot.call("daemon/status", json!({})).await["counts"]["runs"].clone();
    assert_eq!(counts, json!({"waiting": 1}), "no run waits in the queue");

    bot.reply(&first, success("one")).await;
    let second = bot.asked("tool/call").await;
    bot.reply(&second, success("two")).await;
    assert_eq!(bot.ended(&run).await["outcome"]["status"], "completed");
    let expected = [
        "queueChanged", "queueChanged", "interactionSettled", "itemCompleted", "runState", "interactionOpened",
        "runState", "interactionSettled", "itemCompleted", "runState", "queueChanged", "itemCompleted", "queueChanged",
        "itemCompleted", "itemStarted", "itemCompleted", "runCompleted",
    ];
    assert_eq!(bot.types(&thread, before).await, expected);
    let log = bot.log(&thread).await;
    let (started, item) = (&log[before + 10]["event"], &log[before + 11]["event"]["item"]);
    assert_eq!((&started["change"], &started["messageId"]), (&json!("started"), &steered["messageId"]));
    assert_eq!((&item["messageId"], &item["runId"], &item["delivery"]), (&steered["messageId"], &run, &json!("steer")));
    assert_all_closed(&log);
    let said = said(&mut bot, &thread).await;
    assert_eq!(said[4], json!(["user", "steer", "only open issues"]));
    assert_eq!(said[5], json!(["user", "aside", "the tracker is slow today"]));
    let reported = json!(["assistant", "turn", "get_issue: one\nget_issue: two"]);
    assert_eq!(said[6], reported, "plain input does not change a script whose results are still to be reported");
}

pub(super) async fn transcript_h_on_an_idle_branch_an_aside_is_recorded_and_a_steer_refused(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "say hello").await;
    bot.ended(&run).await;
    let before = bot.log(&thread).await.len();
    let mut submit = aside(&thread, "closed it by hand");
    submit["operationId"] = json!("aside:1");
    let noted = bot.call("run/submit", submit.clone()).await;
    assert_eq!((&noted["state"], noted.get("runId"), &noted["replayed"]), (&json!("recorded"), None, &json!(false)));
    let again = bot.call("run/submit", submit).await;
    assert_eq!((&again["messageId"], &again["replayed"]), (&noted["messageId"], &json!(true)));
    assert_eq!(bot.types(&thread, before).await, ["itemCompleted"], "one message for one operation");
    let item = bot.log(&thread).await[before]["event"]["item"].clone();
    assert_eq!((&item["delivery"], item.get("runId")), (&json!("aside"), None));
    let error = bot.refused("run/submit", steer(&thread, &run, "too late")).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["state"]), (&json!("invalidState"), &json!("completed")));
    assert_eq!(error["data"]["expected"], json!(["running", "waiting"]));
    let next = bot.run(&thread, "hi").await;
    assert_eq!(next["outcome"]["text"], "You said: hi");
    assert_eq!(said(&mut bot, &thread).await[2], json!(["user", "aside", "closed it by hand"]));
}

pub(super) async fn ruling_13_a_steer_of_another_run_is_a_conflict_with_the_one_under_way(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000").await;
    let next = bot.submit(&thread, "say next").await;
    for other in [next, json!("nope")] {
        let error = bot.refused("run/submit", steer(&thread, &other, "faster")).await;
        assert_eq!((&error["data"]["kind"], &error["data"]["current"]["runId"]), (&json!("conflict"), &run));
        assert_eq!(error["data"]["current"]["state"], "running");
    }
    bot.call("run/stop", json!({"threadId": thread})).await;
}

pub(super) async fn a_remark_to_a_run_that_waits_for_a_person_joins_when_it_goes_on(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    let run = bot.submit(&thread, "call act\nthen say done").await;
    let asked = bot.asked("approval/request").await;
    bot.call("run/submit", steer(&thread, &run, "do not hurry")).await;
    let read = bot.call("run/read", json!({"runId": run})).await;
    assert_eq!(read["run"]["state"], "waiting");
    bot.reply(&asked, json!({"decision": "decline"})).await;
    bot.ended(&run).await;
    let said = said(&mut bot, &thread).await;
    let roles: Vec<_> = said.iter().map(|message| message[0].clone()).collect();
    assert_eq!(json!(roles), json!(["user", "assistant", "tool", "user", "assistant"]));
    assert_eq!(said[3], json!(["user", "steer", "do not hurry"]));
}

pub(super) async fn a_run_that_ends_first_leaves_its_remarks_recorded_and_starts_nothing_for_them(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000").await;
    let noted = bot.call("run/submit", aside(&thread, "by the way")).await;
    let steered = bot.call("run/submit", steer(&thread, &run, "faster")).await;
    bot.call("run/stop", json!({"threadId": thread})).await;
    bot.ended(&run).await;
    let queue = bot.call("queue/list", json!({"threadId": thread})).await;
    assert_eq!(queue, json!({"entries": [], "held": false}));
    let log = bot.log(&thread).await;
    let types: Vec<_> = log.iter().rev().take(5).rev().map(|event| event["event"]["type"].clone()).collect();
    assert_eq!(json!(types), json!(["runCompleted", "queueChanged", "itemCompleted", "queueChanged", "itemCompleted"]));
    let items: Vec<_> = log.iter().rev().take(3).map(|event| &event["event"]["item"]).filter(|item| item.is_object()).collect();
    assert_eq!((&items[0]["messageId"], &items[1]["messageId"]), (&steered["messageId"], &noted["messageId"]));
    assert!(items.iter().all(|item| item.get("runId").is_none()), "no run has answered them");
    let ended = bot.run(&thread, "say on").await;
    assert_eq!(ended["outcome"]["status"], "completed");
    assert_eq!(said(&mut bot, &thread).await[1..3], [json!(["user", "aside", "by the way"]), json!(["user", "steer", "faster"])]);
}

pub(super) async fn k18_a_remark_during_the_last_answer_is_answered_by_one_more_step(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "say first\nsleep 200\nsay second").await;
    bot.until("the first word", |line| line["params"]["event"]["type"] == "itemDelta").await;
    let steered = bot.call("run/submit", steer(&thread, &run, "and faster")).await;
    assert_eq!(steered["state"], "queued");
    subject.advance(std::time::Duration::from_millis(200));
    let ended = bot.ended(&run).await;
    assert_eq!(ended["outcome"]["text"], "You said: and faster", "the run went on with what was said");
    let said = said(&mut bot, &thread).await;
    assert_eq!(said[2..], [json!(["user", "steer", "and faster"]), json!(["assistant", "turn", "You said: and faster"])]);
    assert_eq!(bot.call("run/read", json!({"runId": run})).await["run"]["steps"], 2);
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn a_submit_of_an_aside_that_waits_is_answered_when_the_run_it_joins_has_ended(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let call = bot.asked("tool/call").await;
    let mut waits = aside(&thread, "by the way");
    waits["wait"] = json!(true);
    let asked = bot.request("run/submit", waits.clone()).await;
    bot.until("the aside", |line| line["params"]["event"]["change"] == "added").await;
    bot.reply(&call, success("one")).await;
    let answer = bot.answer(asked).await["result"].clone();
    assert_eq!((&answer["runId"], &answer["run"]["state"]), (&run, &json!("completed")));
    let recorded = bot.call("run/submit", waits).await;
    assert_eq!((&recorded["state"], recorded.get("run")), (&json!("recorded"), None), "there is no run to wait for");
}
