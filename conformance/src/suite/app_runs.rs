//! `app_runs` over a wire: a run gives work to other threads, hears what becomes of it, and is told apart from a person.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    Fresh, Raw,
    app_threads::{changed, ready},
    assert_all_closed, get_issue, success, told_text,
};

scenarios! { $ app_runs
    wire:
        app_79_a_submit_that_does_not_wait_is_answered_while_the_run_is_at_work
        app_80_a_wait_is_over_when_the_run_has_ended_or_needs_a_person
        app_82_what_a_thread_ended_with_before_is_not_what_is_waited_for
        app_87_a_message_of_a_run_has_the_run_as_its_sender
        app_88_the_intent_of_a_message_is_kept_with_it
        app_89_app_92_an_aside_for_an_idle_branch_is_recorded_and_begins_nothing
        app_90_an_aside_does_not_wait
        app_91_a_run_at_work_reads_an_aside_at_its_next_step
        app_93_a_fork_has_the_title_it_was_given
        app_143_a_thread_gives_work_to_one_that_gives_work_to_another_and_so_on
        app_144_fifty_runs_of_one_run_are_refused_by_no_budget
        app_145_a_thread_writes_into_the_one_that_gave_it_work
        app_146_a_run_of_another_thread_is_stopped
        app_158_a_repeated_submit_makes_no_second_message
        app_185_a_resume_of_a_run_that_waits_for_a_person_says_so
        a_steer_reaches_the_run_it_names_and_no_other
        a_run_that_would_wait_for_its_own_branch_is_told_at_once;
    clock:
        app_83_app_84_a_wait_that_is_over_is_no_error_and_its_message_stays
        app_85_the_timeout_of_a_rule_cuts_a_longer_wait;
}

const RUNS: &str = "mcp_app__app_runs";

/// A call of a submission to a thread, with more about it.
fn submission(id: &str, thread: &Value, text: &str, more: Value) -> String {
    let mut arguments = json!({"operation": "Submit", "operationId": id, "threadId": thread, "text": text});
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    format!("call {RUNS} {arguments}")
}

/// Has a run of `from` submit something; the item of the call.
async fn submitted(bot: &mut Raw, from: &Value, call: &str) -> Value {
    bot.run(from, call).await;
    bot.calls(from).await.pop().expect("there was a call")
}

async fn state_of(bot: &mut Raw, run: &Value) -> Value {
    bot.call("run/read", json!({"runId": run})).await["run"]["state"].clone()
}

async fn runs_of(bot: &mut Raw, thread: &Value) -> usize {
    bot.call("run/list", json!({"threadId": thread})).await["items"].as_array().unwrap().len()
}

fn told(item: &Value) -> &Value {
    assert_eq!(item["state"], "completed", "{item}");
    &item["structuredContent"]
}

pub(super) async fn app_79_a_submit_that_does_not_wait_is_answered_while_the_run_is_at_work(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let item = submitted(&mut bot, &from, &submission("o", &to, "sleep 600000", json!({}))).await;
    let run = told(&item)["runId"].clone();
    assert_eq!(state_of(&mut bot, &run).await, "running");
    bot.call("run/stop", json!({"threadId": to})).await;
}

pub(super) async fn app_80_a_wait_is_over_when_the_run_has_ended_or_needs_a_person(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let item = submitted(&mut bot, &from, &submission("o1", &to, "say done", json!({"wait": true}))).await;
    let ended = told(&item);
    assert_eq!(ended["current"]["state"], "completed", "{ended}");
    assert!(ended["effect"].as_str().unwrap().contains("has ended"), "{ended}");

    let asks = "call ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"?\"}]}";
    let item = submitted(&mut bot, &from, &submission("o2", &to, asks, json!({"wait": true}))).await;
    let blocked = told(&item);
    assert_eq!(blocked["current"]["state"], "waiting", "{blocked}");
    assert!(blocked["effect"].as_str().unwrap().contains("waits for a person"), "{blocked}");
    bot.call("run/stop", json!({"threadId": to})).await;
}

pub(super) async fn app_82_what_a_thread_ended_with_before_is_not_what_is_waited_for(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let earlier = bot.run(&to, "say before").await["runId"].clone();
    let item = submitted(&mut bot, &from, &submission("o", &to, "fail badRequest", json!({"wait": true}))).await;
    let current = &told(&item)["current"];
    assert_ne!(current["runId"], earlier);
    assert_ne!(current["state"], "completed", "that is how the earlier one ended: {current}");
}

pub(super) async fn app_87_a_message_of_a_run_has_the_run_as_its_sender(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let run = bot.submit(&from, &submission("o", &to, "say hi", json!({"wait": true}))).await;
    bot.ended(&run).await;
    let chain = bot.chain(&to).await;
    assert_eq!(chain[0]["sender"], json!({"threadId": from, "branchId": from, "runId": run}));

    // Who names another sender is not listened to at all.
    let forged = submission("o2", &to, "say hi", json!({"sender": {"threadId": to, "branchId": to, "runId": run}}));
    let item = submitted(&mut bot, &from, &forged).await;
    assert_eq!(item["state"], "failed", "{item}");
    assert_eq!(bot.chain(&to).await.len(), chain.len());
    bot.run(&to, "say mine").await;
    assert_eq!(bot.chain(&to).await[chain.len()].get("sender"), None, "a person's message has no run to come from");
}

pub(super) async fn app_88_the_intent_of_a_message_is_kept_with_it(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let intents = ["Question", "Answer", "Decision", "Status", "Blocker", "Done"];
    for intent in intents {
        let aside = json!({"mode": "Aside", "intent": intent});
        told(&submitted(&mut bot, &from, &submission(intent, &to, "note", aside)).await);
    }
    let again = json!({"mode": "Aside", "intent": "Answer"});
    let other = submitted(&mut bot, &from, &submission("Question", &to, "note", again)).await;
    assert_eq!(other["state"], "failed", "the same id with another intent is something else: {other}");
    let kept: Vec<Value> = bot.chain(&to).await.iter().map(|message| message["sender"]["intent"].clone()).collect();
    assert_eq!(json!(kept), json!(intents));
}

pub(super) async fn app_89_app_92_an_aside_for_an_idle_branch_is_recorded_and_begins_nothing(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    told(&submitted(&mut bot, &from, &submission("o", &to, "say never", json!({"mode": "Aside"}))).await);
    let chain = bot.chain(&to).await;
    assert_eq!(chain.len(), 1, "nobody answers it");
    assert_eq!((&chain[0]["delivery"], &chain[0]["content"][0]["text"]), (&json!("aside"), &json!("say never")));
    assert_eq!(runs_of(&mut bot, &to).await, 0);
}

pub(super) async fn app_90_an_aside_does_not_wait(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let busy = bot.submit(&to, "sleep 600000").await;
    let aside = json!({"mode": "Aside", "wait": true, "waitTimeoutMs": 600_000});
    told(&submitted(&mut bot, &from, &submission("o", &to, "note", aside)).await);
    assert_eq!(state_of(&mut bot, &busy).await, "running", "the run it is for goes on after the call is answered");
    bot.call("run/stop", json!({"threadId": to})).await;
}

pub(super) async fn app_91_a_run_at_work_reads_an_aside_at_its_next_step(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[get_issue()]).await;
    let run = bot.submit(&to, "call get_issue {\"id\":\"1\"}").await;
    let call = bot.asked("tool/call").await;
    told(&submitted(&mut bot, &from, &submission("o", &to, "by the way", json!({"mode": "Aside"}))).await);
    bot.reply(&call, success("one")).await;
    bot.ended(&run).await;
    let chain = bot.chain(&to).await;
    let said: Vec<Value> = chain.iter().map(|message| json!([message["role"], message["delivery"]])).collect();
    let expected =
        json!([["user", "turn"], ["assistant", "turn"], ["tool", "turn"], ["user", "aside"], ["assistant", "turn"]]);
    assert_eq!(json!(said), expected);
    assert_all_closed(&bot.log(&to).await);
}

pub(super) async fn app_93_a_fork_has_the_title_it_was_given(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    bot.run(&to, "say first").await;
    let fork = json!({"mode": "Fork", "title": "Other way", "wait": true});
    let branch = told(&submitted(&mut bot, &from, &submission("o", &to, "say else", fork)).await)["branchId"].clone();
    let thread = bot.call("thread/read", json!({"threadId": to})).await["thread"].clone();
    let branches = thread["branches"].as_array().unwrap();
    let forked = branches.iter().find(|known| known["branchId"] == branch).expect("the new branch");
    assert_eq!(forked["title"], "Other way");
    assert_ne!(branch, to);
}

pub(super) async fn app_143_a_thread_gives_work_to_one_that_gives_work_to_another_and_so_on(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let (mut threads, mut work) = (Vec::new(), "say bottom".to_owned());
    for depth in 0..6 {
        let to = bot.start(&[]).await;
        work = submission(&format!("o{depth}"), &to, &work, json!({"wait": true}));
        threads.push(to);
    }
    told(&submitted(&mut bot, &from, &work).await);
    let said = bot.said(&threads[0]).await;
    assert_eq!(said.last().unwrap()["text"], "bottom", "{said:?}");
}

pub(super) async fn app_144_fifty_runs_of_one_run_are_refused_by_no_budget(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let calls: Vec<String> =
        (0..50).map(|n| submission(&format!("o{n}"), &to, &format!("say {n}"), json!({"wait": true}))).collect();
    bot.run(&from, &calls.join("\nthen ")).await;
    let made = bot.calls(&from).await;
    assert_eq!(made.len(), 50);
    made.iter().for_each(|item| assert_eq!(told(item)["current"]["state"], "completed"));
    assert_eq!(bot.said(&to).await.len(), 50);
}

pub(super) async fn app_145_a_thread_writes_into_the_one_that_gave_it_work(subject: Fresh) {
    let (mut bot, parent) = ready(&subject).await;
    let child = bot.start(&[]).await;
    let back = submission("back", &parent, "say heard", json!({}));
    told(&submitted(&mut bot, &parent, &submission("o", &child, &back, json!({"wait": true}))).await);
    let heard = bot.calls(&child).await.pop().unwrap();
    bot.ended(&told(&heard)["runId"]).await;
    let chain = bot.chain(&parent).await;
    assert!(chain.iter().any(|message| message["sender"]["threadId"] == child), "{chain:?}");
}

pub(super) async fn app_146_a_run_of_another_thread_is_stopped(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let run = bot.submit(&to, "sleep 600000").await;
    let stop = json!({"operation": "Stop", "operationId": "o", "threadId": to});
    told(&changed(&mut bot, &from, RUNS, stop).await);
    assert_eq!(bot.ended(&run).await["outcome"]["status"], "stopped");
}

pub(super) async fn app_158_a_repeated_submit_makes_no_second_message(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let call = submission("o", &to, "say once", json!({"wait": true}));
    let first = submitted(&mut bot, &from, &call).await;
    let again = submitted(&mut bot, &from, &call).await;
    assert_eq!((&told(&first)["replayed"], &told(&again)["replayed"]), (&json!(false), &json!(true)));
    assert_eq!(told(&first)["messageId"], told(&again)["messageId"]);
    assert_eq!(runs_of(&mut bot, &to).await, 1);
    let other = submitted(&mut bot, &from, &submission("o", &to, "say twice", json!({"wait": true}))).await;
    assert_eq!(other["state"], "failed", "the same id for something else is an error: {other}");
    assert_eq!(runs_of(&mut bot, &to).await, 1);
}

pub(super) async fn app_185_a_resume_of_a_run_that_waits_for_a_person_says_so(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let run = bot.submit(&to, "call ask_user {\"questions\":[{\"id\":\"q\",\"text\":\"?\"}]}").await;
    bot.asked("input/request").await;
    let resume = json!({"operation": "Resume", "operationId": "o", "threadId": to, "runId": run});
    let item = changed(&mut bot, &from, RUNS, resume).await;
    assert!(told_text(&item).contains("waits for a person"), "{}", told_text(&item));
    bot.call("run/stop", json!({"threadId": to})).await;
}

pub(super) async fn a_steer_reaches_the_run_it_names_and_no_other(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[get_issue()]).await;
    let run = bot.submit(&to, "call get_issue {\"id\":\"1\"}").await;
    let call = bot.asked("tool/call").await;
    for (id, more) in [("o1", json!({"mode": "Steer"})), ("o2", json!({"mode": "Steer", "runId": "nope"}))] {
        let item = submitted(&mut bot, &from, &submission(id, &to, "faster", more)).await;
        assert_eq!(item["state"], "failed", "{item}");
    }
    let steer = json!({"mode": "Steer", "runId": run, "wait": true});
    told(&submitted(&mut bot, &from, &submission("o3", &to, "faster", steer)).await);
    bot.reply(&call, success("one")).await;
    bot.ended(&run).await;
    let chain = bot.chain(&to).await;
    let steers: Vec<&Value> = chain.iter().filter(|message| message["delivery"] == "steer").collect();
    assert_eq!((steers.len(), &steers[0]["content"][0]["text"]), (1, &json!("faster")));
    assert_eq!(steers[0]["sender"]["threadId"], from);
}

pub(super) async fn a_run_that_would_wait_for_its_own_branch_is_told_at_once(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let item = submitted(&mut bot, &from, &submission("o", &from, "say never", json!({"wait": true}))).await;
    assert_eq!(item["state"], "failed", "{item}");
    assert!(told_text(&item).contains("your own branch"), "{}", told_text(&item));
    assert_eq!(runs_of(&mut bot, &from).await, 1, "nothing was sent");
}

/// Lets the time of a wait pass once the run that is waited for is at work.
async fn waited_out(subject: &Fresh, bot: &mut Raw, to: &Value, millis: u64) {
    let at_work = |list: &Value| list["items"][0]["state"] == "running";
    bot.eventually("run/list", json!({"threadId": to}), at_work).await;
    for _ in 0..20 {
        bot.settle_down().await;
        subject.advance(Duration::from_millis(millis));
    }
}

pub(super) async fn app_83_app_84_a_wait_that_is_over_is_no_error_and_its_message_stays(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let to = bot.start(&[]).await;
    let wait = json!({"wait": true, "waitTimeoutMs": 1_000});
    let run = bot.submit(&from, &submission("o", &to, "sleep 600000", wait)).await;
    waited_out(&subject, &mut bot, &to, 1_000).await;
    bot.ended(&run).await;
    let item = bot.calls(&from).await.pop().unwrap();
    assert_eq!((&told(&item)["current"]["state"], &told(&item)["applied"]), (&json!("running"), &json!(true)));
    assert_eq!(bot.chain(&to).await[0]["content"][0]["text"], "sleep 600000");
    bot.call("run/stop", json!({"threadId": to})).await;
}

pub(super) async fn app_85_the_timeout_of_a_rule_cuts_a_longer_wait(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let rule = json!({
        "level": "global", "tool": {"source": "app", "name": "app_runs"}, "decision": "allow", "timeoutMs": 2_000,
    });
    bot.call("policy/set", rule).await;
    let to = bot.start(&[]).await;
    let wait = json!({"wait": true, "waitTimeoutMs": 600_000});
    let run = bot.submit(&from, &submission("o", &to, "sleep 600000", wait)).await;
    waited_out(&subject, &mut bot, &to, 1_000).await;
    bot.ended(&run).await;
    let item = bot.calls(&from).await.pop().unwrap();
    assert_ne!(item["state"], "completed", "{item}");
    assert!(item["error"]["code"].as_str().unwrap().contains("timeout"), "{item}");
    assert_eq!(runs_of(&mut bot, &to).await, 1, "it was accepted in any case");
    bot.call("run/stop", json!({"threadId": to})).await;
}
