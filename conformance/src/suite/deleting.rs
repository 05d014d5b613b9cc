//! Deleting threads and projects: gone for everybody, said to everybody, and not repeated.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Fresh, Raw, get_issue, success, text, tool, tool_with};

scenarios! { $ deleting
    wire:
        a_deleted_thread_is_gone_for_everybody
        k36_who_follows_a_thread_that_is_deleted_is_told_behind_its_last_event
        d33_deleting_a_running_thread_stops_it_and_tells_everybody
        a34_who_waits_for_a_thread_is_answered_when_it_is_deleted
        app_149_a_rehearsal_says_what_would_go_and_nothing_goes
        a_deletion_is_repeated_by_its_operation_and_a_submit_to_what_is_gone_is_not
        a_start_that_is_repeated_after_its_thread_was_deleted_begins_no_second_one
        app_29_a_project_goes_with_its_threads_grants_and_rules;
    clock:
        who_shows_lists_is_told_of_a_deletion
        operations_are_recognised_for_a_day;
}

fn is_not_found(error: &Value, noun: &str, id: &Value) {
    let data = (&error["data"]["kind"], &error["data"]["noun"], &error["data"]["id"]);
    assert_eq!(data, (&json!("notFound"), &json!(noun), id), "{error}");
}

async fn listed(bot: &mut Raw) -> Vec<Value> {
    let page = bot.call("thread/list", json!({})).await;
    page["items"].as_array().unwrap().iter().map(|thread| thread["threadId"].clone()).collect()
}

pub(super) async fn a_deleted_thread_is_gone_for_everybody(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut other = subject.client("other", "in-B").await;
    let (thread, kept) = (bot.start(&[]).await, bot.start(&[]).await);
    let run = bot.submit(&thread, "say hello").await;
    bot.ended(&run).await;
    other.call("thread/subscribe", json!({"threadId": thread})).await;
    let threads = bot.call("daemon/status", json!({})).await["counts"]["threads"].as_u64().unwrap();
    let removed = bot.call("thread/delete", json!({"threadId": thread})).await;
    assert_eq!(
        removed,
        json!({"applied": true, "dryRun": false, "effect": "Deletes the thread \u{201c}say hello\u{201d} for good.", "replayed": false})
    );
    for client in [&mut bot, &mut other] {
        assert_eq!(listed(client).await, std::slice::from_ref(&kept));
        for (method, params) in [
            ("thread/read", json!({"threadId": thread})),
            ("thread/messages", json!({"threadId": thread})),
            ("thread/events", json!({"threadId": thread, "after": 0})),
            ("thread/resume", json!({"threadId": thread, "after": 3})),
            ("thread/subscribe", json!({"threadId": thread})),
            ("thread/update", json!({"threadId": thread, "title": "back"})),
            ("thread/delete", json!({"threadId": thread})),
            ("run/submit", json!({"threadId": thread, "input": text("back")})),
            ("interaction/list", json!({"threadId": thread})),
            ("run/list", json!({"threadId": thread})),
            ("policy/list", json!({"threadId": thread})),
            ("item/list", json!({"threadId": thread})),
            ("queue/list", json!({"threadId": thread})),
            ("branch/list", json!({"threadId": thread})),
        ] {
            is_not_found(&client.refused(method, params).await, "thread", &thread);
        }
        is_not_found(&client.refused("run/read", json!({"runId": run})).await, "run", &run);
        let runs = client.call("run/list", json!({})).await;
        assert_eq!(runs["items"], json!([]));
    }
    let after = bot.call("daemon/status", json!({})).await["counts"]["threads"].as_u64().unwrap();
    assert_eq!(after, threads - 1);
}

pub(super) async fn d33_deleting_a_running_thread_stops_it_and_tells_everybody(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut other = subject.client("other", "in-B").await;
    for input in ["call get_issue {\"id\":\"1\"}", "call act"] {
        let thread = bot.start(&[get_issue(), tool_with("act", json!({"approval": "ask"}))]).await;
        other.call("thread/subscribe", json!({"threadId": thread})).await;
        bot.submit(&thread, input).await;
        let asked = bot.asked(if input == "call act" { "approval/request" } else { "tool/call" }).await;
        let id = &asked["params"]["interactionId"];
        other.event("interactionOpened").await;
        other.call("thread/delete", json!({"threadId": thread})).await;
        let settled = bot.told("interaction/settled").await;
        assert_eq!((&settled["interactionId"], &settled["outcome"]), (id, &json!("cancelled")));
        assert_eq!(settled["by"]["clientName"], "other");
        for client in [&mut bot, &mut other] {
            let end = client.event("runCompleted").await;
            let outcome = &end["event"]["outcome"];
            assert_eq!((&outcome["status"], &outcome["reason"]), (&json!("stopped"), &json!("deleted")), "{end}");
        }
        // Whoever answers too late is told that there is nothing to answer.
        bot.reply(&asked, success("late")).await;
        is_not_found(&bot.refused("interaction/settle", json!({"interactionId": id, "answer": {}})).await, "interaction", id);
    }
    let counts = bot.call("daemon/status", json!({})).await["counts"].clone();
    assert_eq!((&counts["runs"], &counts["openInteractions"]), (&json!({}), &json!(0)), "{counts}");
}

pub(super) async fn a34_who_waits_for_a_thread_is_answered_when_it_is_deleted(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut other = subject.client("other", "in-B").await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000").await;
    let queued = bot.submit(&thread, "say never").await;
    let waits = [
        ("run/wait", json!({"runId": run, "timeoutMs": 600_000})),
        ("run/wait", json!({"runId": queued, "timeoutMs": 600_000})),
        ("run/submit", json!({"threadId": thread, "input": text("say never"), "wait": true, "waitTimeoutMs": 600_000})),
    ];
    let mut ids = Vec::new();
    for (method, params) in waits {
        ids.push(other.request(method, params).await);
    }
    let entries = |queue: &Value| queue["entries"].as_array().is_some_and(|entries| entries.len() == 2);
    other.eventually("queue/list", json!({"threadId": thread}), entries).await;
    let seq = bot.log(&thread).await.len();
    ids.push(other.request("thread/events", json!({"threadId": thread, "after": seq, "waitMs": 600_000})).await);
    // So that it waits by then; one that came after the deletion would be told the same.
    other.call("daemon/status", json!({})).await;
    let effect = bot.call("thread/delete", json!({"threadId": thread})).await["effect"].clone();
    assert_eq!(
        effect,
        "Deletes the thread \u{201c}sleep 600000\u{201d} for good with 2 inputs that wait. Its run is stopped."
    );
    for id in ids {
        let answer = other.answer(id).await;
        is_not_found(&answer["error"], "thread", &thread);
    }
}

pub(super) async fn app_149_a_rehearsal_says_what_would_go_and_nothing_goes(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool("t")]).await;
    let project = bot.call("project/create", json!({"name": "Moss"})).await["project"]["projectId"].clone();
    let of_project = bot.call("thread/start", json!({"projectId": project})).await["thread"]["threadId"].clone();
    let run = bot.submit(&thread, "sleep 600000").await;
    let before = (bot.log(&thread).await, bot.call("project/list", json!({})).await);
    let rehearsal = json!({"threadId": thread, "dryRun": true, "operationId": "rehearsal"});
    let removed = bot.call("thread/delete", rehearsal.clone()).await;
    assert_eq!((&removed["applied"], &removed["dryRun"]), (&json!(false), &json!(true)));
    let again = bot.call("thread/delete", rehearsal).await;
    assert_eq!(again["replayed"], false, "a rehearsal does not use its operation up");
    let removed = bot.call("project/delete", json!({"projectId": project, "dryRun": true})).await;
    assert_eq!(
        removed["effect"],
        "Deletes the project Moss for good, with 1 thread, 0 grants and 0 rules. Files in its directories stay."
    );
    assert_eq!((bot.log(&thread).await, bot.call("project/list", json!({})).await), before);
    assert_eq!(bot.call("run/read", json!({"runId": run})).await["run"]["state"], "running");
    bot.call("thread/read", json!({"threadId": of_project})).await;
    let applied = json!({"threadId": thread, "dryRun": false, "operationId": "rehearsal"});
    assert_eq!(bot.call("thread/delete", applied).await["applied"], true);
}

pub(super) async fn a_deletion_is_repeated_by_its_operation_and_a_submit_to_what_is_gone_is_not(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let submit = json!({"threadId": thread, "input": text("say x"), "operationId": "submit"});
    let run = bot.call("run/submit", submit.clone()).await["runId"].clone();
    bot.ended(&run).await;
    assert_eq!(bot.call("run/submit", submit.clone()).await["replayed"], true);
    let delete = json!({"threadId": thread, "operationId": "delete"});
    let first = bot.call("thread/delete", delete.clone()).await;
    let mut other = subject.client("other", "in-B").await;
    for client in [&mut bot, &mut other] {
        let again = client.call("thread/delete", delete.clone()).await;
        assert_eq!((&again["replayed"], &again["applied"]), (&json!(true), &json!(true)));
        assert_eq!(again["effect"], first["effect"]);
        // What it was answered with is not there any more, and its operation went with it.
        is_not_found(&client.refused("run/submit", submit.clone()).await, "thread", &thread);
    }
    let error = bot.refused("thread/delete", json!({"threadId": "another", "operationId": "delete"})).await;
    assert_eq!(error["data"]["kind"], "idempotencyConflict");
}

pub(super) async fn k36_who_follows_a_thread_that_is_deleted_is_told_behind_its_last_event(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut other = subject.client("other", "in-B").await;
    let thread = bot.start(&[]).await;
    other.call("thread/subscribe", json!({"threadId": thread})).await;
    bot.submit(&thread, "sleep 600000").await;
    bot.call("thread/delete", json!({"threadId": thread})).await;
    for client in [&mut bot, &mut other] {
        let is_end = |line: &Value| {
            line["method"] == "thread/unsubscribed" || line["params"]["event"]["type"] == "runCompleted"
        };
        let ended = client.until("the end of its run", is_end).await;
        let told = client.until("the end of its events", is_end).await;
        assert_eq!((&ended["method"], &told["method"]), (&json!("thread/event"), &json!("thread/unsubscribed")));
        let params = &told["params"];
        assert_eq!((&params["threadId"], &params["after"]), (&thread, &ended["params"]["seq"]));
        is_not_found(&params["error"], "thread", &thread);
    }
}

pub(super) async fn a_start_that_is_repeated_after_its_thread_was_deleted_begins_no_second_one(subject: Fresh) {
    let mut bot = subject.bot().await;
    let project = bot.call("project/create", json!({"name": "Moss"})).await["project"]["projectId"].clone();
    let alone = json!({"title": "alone", "operationId": "start-alone"});
    let within = json!({"title": "within", "projectId": project, "operationId": "start-within"});
    let mut threads = Vec::new();
    for start in [&alone, &within] {
        threads.push(bot.call("thread/start", start.clone()).await["thread"]["threadId"].clone());
    }
    bot.call("thread/delete", json!({"threadId": threads[0]})).await;
    bot.call("project/delete", json!({"projectId": project})).await;
    let mut other = subject.client("other", "in-B").await;
    for client in [&mut bot, &mut other] {
        for (start, thread) in [&alone, &within].into_iter().zip(&threads) {
            let error = client.refused("thread/start", start.clone()).await;
            is_not_found(&error, "thread", thread);
            assert!(error["message"].as_str().unwrap().contains("was deleted"), "{error}");
        }
        let another = json!({"title": "another", "operationId": "start-alone"});
        let error = client.refused("thread/start", another).await;
        assert_eq!(error["data"]["kind"], "idempotencyConflict", "the id stands for the start that was");
        assert_eq!(listed(client).await, Vec::<Value>::new(), "there is no thread");
    }
}

pub(super) async fn app_29_a_project_goes_with_its_threads_grants_and_rules(subject: Fresh) {
    let mut bot = subject.bot().await;
    let kept = bot.start(&[]).await;
    let default = bot.project_of(&kept).await;
    let ensure = json!({"path": "/tmp", "name": "Moss"});
    let project = bot.call("project/ensure", ensure.clone()).await["project"]["projectId"].clone();
    let start = json!({"projectId": project});
    let thread = bot.call("thread/start", start.clone()).await["thread"]["threadId"].clone();
    bot.rule("project", &project, "x", "ask").await;
    bot.rule("thread", &thread, "x", "ask").await;
    let rule = bot.rule("thread", &kept, "x", "ask").await;
    bot.submit(&thread, "sleep 600000").await;
    let error = bot.refused("project/delete", json!({"projectId": default})).await;
    let data = (&error["data"]["kind"], &error["data"]["path"], &error["data"]["reason"]);
    assert_eq!(data, (&json!("invalidParams"), &json!("/projectId"), &json!("is_default")), "{error}");
    let removed = bot.call("project/delete", json!({"projectId": project})).await;
    assert_eq!(
        removed["effect"],
        "Deletes the project Moss for good, with 1 thread, 1 grant and 1 rule. Files in its directories stay."
    );
    is_not_found(&bot.refused("project/read", json!({"projectId": project})).await, "project", &project);
    is_not_found(&bot.refused("thread/read", json!({"threadId": thread})).await, "thread", &thread);
    is_not_found(&bot.refused("thread/start", start).await, "project", &project);
    for list in ["grant/list", "thread/list", "run/list", "policy/list"] {
        is_not_found(&bot.refused(list, json!({"projectId": project})).await, "project", &project);
    }
    assert_eq!(listed(&mut bot).await, [kept]);
    let rules = bot.call("policy/list", json!({})).await["items"].clone();
    assert_eq!(rules.as_array().unwrap().iter().map(|rule| &rule["policyId"]).collect::<Vec<_>>(), [&rule]);
    let made = bot.call("project/ensure", ensure).await;
    assert_eq!(made["created"], true, "its directory is there for another one");
    assert_ne!(made["project"]["projectId"], project);
}

pub(super) async fn who_shows_lists_is_told_of_a_deletion(subject: Fresh) {
    let mut watch = Raw::introduced(subject.open().await, "watch", "in-W", json!({}), json!([])).await;
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    watch.told("data/changed").await;
    bot.call("thread/delete", json!({"threadId": thread})).await;
    subject.advance(Duration::from_millis(250));
    let told = watch.told("data/changed").await;
    assert!(told["kinds"].as_array().unwrap().contains(&json!("thread")), "{told}");
    assert!(told["ids"].as_array().unwrap().contains(&thread), "{told}");
}

pub(super) async fn operations_are_recognised_for_a_day(subject: Fresh) {
    let mut bot = subject.bot().await;
    let create = json!({"name": "one", "operationId": "create"});
    let first = bot.call("project/create", create.clone()).await["project"]["projectId"].clone();
    subject.advance(Duration::from_millis(86_400_000));
    bot.settle_down().await;
    let again = bot.call("project/create", create.clone()).await;
    assert_eq!((&again["replayed"], &again["project"]["projectId"]), (&json!(true), &first));
    subject.advance(Duration::from_secs(3_600));
    let expired = |answer: &Value| answer["store"]["deadBytes"].as_u64().is_some_and(|dead| dead > 0);
    bot.eventually("daemon/status", json!({}), expired).await;
    let anew = bot.call("project/create", create).await;
    assert_eq!(anew["replayed"], false);
    assert_ne!(anew["project"]["projectId"], first);
}
