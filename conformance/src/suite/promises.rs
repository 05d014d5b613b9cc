//! The five rules of events that a client may build on, each against the clients that strain it, and who holds the tools
//! when one process has two connections.

use serde_json::{Value, json};

use super::{Fresh, Raw, get_issue, success, text, tool_with};

scenarios! { $ promises
    wire:
        rule_1_who_started_the_run_resumes_after_any_event_and_gets_each_later_one_once
        rule_1_a_second_resume_of_one_connection_moves_its_cursor
        rule_2_the_answer_to_a_submit_comes_first_whatever_else_is_under_way
        rule_4_a_reader_that_sleeps_is_served_from_the_log_and_never_cut_off
        rule_5_an_overload_is_told_to_a_client_that_does_not_read_its_events
        ruling_8_the_older_connection_of_an_instance_takes_its_tools_back_by_resuming
        k21_who_answers_what_was_offered_again_and_settled_is_told_who_was_first
        k21_the_same_result_of_a_tool_again_is_replayed_and_another_is_told_who_was_first;
    clock:;
}

/// Bytes of text that are more than what waits in memory for one connection, and than a socket takes.
const LONG: usize = 150_000;

pub(super) async fn rule_1_who_started_the_run_resumes_after_any_event_and_gets_each_later_one_once(subject: Fresh) {
    for reached in 3..14 {
        let mut bot = subject.bot().await;
        let thread = bot.start(&[get_issue()]).await;
        bot.submit(&thread, "say one\ncall get_issue {\"id\":\"7\"}\nthen say two").await;
        while last_seq(&bot) < reached {
            let line = bot.next().await;
            answer_call(&mut bot, &line).await;
            bot.kept.push(line);
        }
        drop(bot);
        let mut back = subject.bot().await;
        let resumed = back.call("thread/resume", json!({"threadId": thread, "after": reached})).await;
        assert!(resumed.get("snapshot").is_none(), "never a snapshot in the place of events");
        while back.seen(|line| line["params"]["event"]["type"] == "runCompleted").is_empty() {
            let line = back.next().await;
            answer_call(&mut back, &line).await;
            back.kept.push(line);
        }
        let log = back.log(&thread).await;
        let durable = back.seen(|line| line["params"].get("seq").is_some());
        let durable: Vec<&Value> = durable.iter().map(|line| &line["params"]).collect();
        let from = usize::try_from(reached).unwrap();
        assert_eq!(durable, log[from..].iter().collect::<Vec<_>>(), "after {reached}");
    }
}

pub(super) async fn rule_1_a_second_resume_of_one_connection_moves_its_cursor(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    bot.run(&thread, "say one").await;
    bot.settle_down().await;
    bot.kept.clear();
    bot.call("thread/resume", json!({"threadId": thread, "after": 2})).await;
    bot.call("thread/update", json!({"threadId": thread, "title": "renamed"})).await;
    bot.until("the end", |line| line["params"]["event"]["thread"]["title"] == "renamed").await;
    let log = bot.log(&thread).await;
    let seqs: Vec<u64> = bot.kept.iter().filter_map(|line| line["params"]["seq"].as_u64()).collect();
    assert_eq!(seqs, (3..log.len() as u64).collect::<Vec<_>>(), "each once, up to the one that was waited for");
}

pub(super) async fn rule_2_the_answer_to_a_submit_comes_first_whatever_else_is_under_way(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut threads = Vec::new();
    for _ in 0..4 {
        threads.push(bot.start(&[]).await);
    }
    for _ in 0..10 {
        bot.kept.clear();
        let mut ids = Vec::new();
        for thread in &threads {
            ids.push(bot.request("run/submit", json!({"threadId": thread, "input": text("say a b c")})).await);
        }
        let is_end = |line: &Value| line["params"]["event"]["type"] == "runCompleted";
        while bot.seen(is_end).len() < ids.len() {
            let line = bot.next().await;
            bot.kept.push(line);
        }
        for id in ids {
            let is_answer = |line: &Value| line["id"] == id && line.get("method").is_none();
            let answered = bot.kept.iter().position(is_answer).unwrap();
            let run = bot.kept[answered]["result"]["runId"].to_string();
            let is_of_run = |line: &Value| line["method"] == "thread/event" && line.to_string().contains(&run);
            let first = bot.kept.iter().position(is_of_run).unwrap();
            assert!(answered < first, "{}", bot.kept[first]);
        }
    }
}

pub(super) async fn rule_4_a_reader_that_sleeps_is_served_from_the_log_and_never_cut_off(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let mut sleeper = subject.client("sleeper", "in-S").await;
    sleeper.call("thread/resume", json!({"threadId": thread, "after": 0})).await;
    for round in 0..40 {
        let run = bot.submit(&thread, &format!("say {round} {}", "x".repeat(LONG))).await;
        bot.ended(&run).await;
        bot.kept.clear();
    }
    let log = bot.log(&thread).await;
    sleeper.until("the last event", |line| line["params"]["seq"] == log.len()).await;
    let durable = sleeper.kept.iter().filter(|line| line["params"].get("seq").is_some());
    let durable: Vec<&Value> = durable.map(|line| &line["params"]).collect();
    assert_eq!(durable.len(), log.len() - 1);
    assert!(durable.iter().zip(&log).all(|(received, stored)| **received == *stored), "in order, and as they were sent");
}

pub(super) async fn rule_5_an_overload_is_told_to_a_client_that_does_not_read_its_events(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    for _ in 0..6 {
        bot.run(&thread, &format!("say {}", "x".repeat(LONG))).await;
    }
    let run = bot.submit(&thread, "sleep 600000").await;
    let last = bot.log(&thread).await.len();
    let mut slow = subject.client("slow", "in-S").await;
    slow.call("thread/resume", json!({"threadId": thread, "after": 0})).await;
    bot.settle_down().await;
    let mut waits = Vec::new();
    for _ in 0..65 {
        waits.push(slow.request("run/wait", json!({"runId": run})).await);
    }
    // Each is taken in a turn of its own, and none may be left when the client begins to read.
    for _ in &waits {
        bot.settle_down().await;
    }
    let refused = slow.answer(waits[64]).await;
    assert_eq!(refused["error"]["data"]["kind"], "overloaded", "{refused}");
    let reached = slow.kept.iter().filter_map(|line| line["params"]["seq"].as_u64()).max().unwrap_or(0);
    assert!(reached < last as u64, "the refusal overtook the events: {reached} of {last}");
    bot.call("run/stop", json!({"threadId": thread})).await;
    for wait in &waits[..64] {
        assert_eq!(slow.answer(*wait).await["result"]["run"]["state"], "stopped");
    }
    slow.until("the last event", |line| line["params"]["event"]["outcome"]["status"] == "stopped").await;
}

pub(super) async fn ruling_8_the_older_connection_of_an_instance_takes_its_tools_back_by_resuming(subject: Fresh) {
    let mut older = subject.bot().await;
    let thread = older.start(&[get_issue()]).await;
    let run = older.submit(&thread, "call get_issue {\"id\":\"7\"}").await;
    let first = older.asked("tool/call").await;
    let mut newer = subject.bot().await;
    newer.call("thread/resume", json!({"threadId": thread})).await;
    newer.asked("tool/call").await;
    older.call("thread/resume", json!({"threadId": thread})).await;
    let back = older.asked("tool/call").await;
    assert_eq!(back["params"]["interactionId"], first["params"]["interactionId"]);
    assert_eq!(back["params"]["attempt"], 3);
    older.reply(&back, success("seven")).await;
    older.ended(&run).await;
    assert_eq!(newer.told("interaction/settled").await["outcome"], "answered", "it was offered it, so it is told");
    // And when the newer one goes, the process is still here.
    drop(newer);
    let run = older.submit(&thread, "call get_issue {\"id\":\"8\"}").await;
    let call = older.asked("tool/call").await;
    older.reply(&call, success("eight")).await;
    assert_eq!(older.ended(&run).await["outcome"]["text"], "get_issue: eight");
}

pub(super) async fn k21_the_same_result_of_a_tool_again_is_replayed_and_another_is_told_who_was_first(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"7\"}\nthen call get_issue {\"id\":\"8\"}").await;
    let mut results = Vec::new();
    for (by_settle, told) in [(true, "seven"), (false, "eight")] {
        let call = bot.asked("tool/call").await;
        let result = success(told);
        let settle = json!({"interactionId": call["params"]["interactionId"], "answer": result});
        if by_settle {
            bot.call("interaction/settle", settle.clone()).await;
        } else {
            bot.reply(&call, result).await;
        }
        bot.told("interaction/settled").await;
        results.push(settle);
    }
    bot.ended(&run).await;
    let before = bot.log(&thread).await.len();
    for settle in results {
        let again = bot.call("interaction/settle", settle.clone()).await;
        assert_eq!((&again["outcome"], &again["replayed"]), (&json!("answered"), &json!(true)), "however it came first");
        let mut other = settle;
        other["answer"] = success("something else");
        let error = bot.refused("interaction/settle", other).await;
        assert_eq!(error["data"]["kind"], "alreadySettled");
        assert_eq!(error["data"]["by"]["instanceId"], "in-A");
    }
    assert_eq!(bot.log(&thread).await.len(), before, "nothing came of any of them");
}

/// What was offered again before it was settled is found all the same: the offer stands in the log as well, without an event.
pub(super) async fn k21_who_answers_what_was_offered_again_and_settled_is_told_who_was_first(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    for decision in ["accept", "decline"] {
        bot.kept.clear();
        let run = bot.submit(&thread, "call act").await;
        bot.asked("approval/request").await;
        bot.call("thread/resume", json!({"threadId": thread})).await;
        let again = bot.asked("approval/request").await;
        bot.reply(&again, json!({"decision": decision})).await;
        bot.told("interaction/settled").await;
        let settle = json!({"interactionId": again["params"]["interactionId"], "answer": {"decision": decision}});
        assert_eq!(bot.call("interaction/settle", settle.clone()).await["replayed"], true, "the same from the same");
        let mut other = subject.client("other", "in-B").await;
        let error = other.refused("interaction/settle", settle).await;
        assert_eq!((&error["data"]["kind"], &error["data"]["by"]["instanceId"]), (&json!("alreadySettled"), &json!("in-A")));
        bot.call("run/stop", json!({"threadId": thread})).await;
        bot.ended(&run).await;
        bot.settle_down().await;
    }
}

async fn answer_call(bot: &mut Raw, line: &Value) {
    if line["method"] == "tool/call" {
        bot.reply(line, success("an issue")).await;
    }
}

fn last_seq(bot: &Raw) -> u64 {
    bot.kept.iter().filter_map(|line| line["params"]["seq"].as_u64()).max().unwrap_or(0)
}
