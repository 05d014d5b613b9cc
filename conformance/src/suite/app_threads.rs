//! `app_threads` over a wire: threads that are made, renamed and cleared away by a run, while a client looks on.

use serde_json::{Value, json};

use super::{
    Fresh, Raw,
    signals::{heard, quiet, watcher},
    told_text,
};

scenarios! { $ app_threads
    wire:
        app_94_a_branch_is_renamed_while_its_thread_is_at_work
        app_148_app_149_a_deletion_that_nobody_confirms_says_what_would_go_and_deletes_nothing
        app_154_a_thread_that_is_gone_is_not_found_and_has_no_conflict
        app_155_a_repeated_create_makes_one_thread
        app_156_a_refused_change_does_not_use_up_its_operation_id;
    clock:
        app_2_a_run_starts_a_thread_and_gives_it_work_and_a_client_sees_both
        app_5_a_run_tidies_old_history_and_a_client_sees_each_change;
}

const THREADS: &str = "mcp_app__app_threads";
const RUNS: &str = "mcp_app__app_runs";

/// A client whose models may use the App tools without a question, and a thread.
pub(super) async fn ready(subject: &Fresh) -> (Raw, Value) {
    let mut bot = subject.bot().await;
    bot.call("policy/set", json!({"level": "global", "source": "app", "decision": "allow"})).await;
    let thread = bot.start(&[]).await;
    (bot, thread)
}

/// Has a run of a thread make a change; the item of the call.
pub(super) async fn changed(bot: &mut Raw, from: &Value, tool: &str, arguments: Value) -> Value {
    bot.run(from, &format!("call {tool} {arguments}")).await;
    bot.calls(from).await.pop().expect("there was a call")
}

fn applied(item: &Value) -> &Value {
    assert_eq!(item["structuredContent"]["status"], "Applied", "{item}");
    &item["structuredContent"]
}

async fn thread_of(bot: &mut Raw, thread: &Value) -> Value {
    bot.call("thread/read", json!({"threadId": thread})).await["thread"].clone()
}

pub(super) async fn app_2_a_run_starts_a_thread_and_gives_it_work_and_a_client_sees_both(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let mut watch = watcher(&subject, "in-W").await;
    quiet(&subject, &mut watch).await;
    let create = json!({"operation": "Create", "operationId": "make", "title": "Dig"});
    let made = applied(&changed(&mut bot, &from, THREADS, create).await)["threadId"].clone();
    heard(&subject, &mut watch, "the new thread", "thread", &made).await;
    assert_eq!(thread_of(&mut watch, &made).await["title"], "Dig");

    let submit = json!({
        "operation": "Submit", "operationId": "give", "threadId": made, "text": "say dug", "wait": true,
    });
    let run = applied(&changed(&mut bot, &from, RUNS, submit).await)["runId"].clone();
    heard(&subject, &mut watch, "its run", "run", &run).await;
    assert_eq!(watch.said(&made).await[0]["text"], "dug");
    assert_eq!(watch.chain(&made).await[0]["sender"]["threadId"], from);
}

pub(super) async fn app_5_a_run_tidies_old_history_and_a_client_sees_each_change(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let (old, older) = (bot.start(&[]).await, bot.start(&[]).await);
    bot.run(&old, "say first").await;
    let fork = json!({"threadId": old, "mode": "fork", "input": super::text("say side"), "wait": true});
    let side = bot.call("run/submit", fork).await["branchId"].clone();
    let mut watch = watcher(&subject, "in-W").await;
    quiet(&subject, &mut watch).await;

    let revision = thread_of(&mut bot, &old).await["revision"].clone();
    let rename = json!({
        "operation": "Rename", "operationId": "1", "threadId": old, "title": "Kept", "expectedRevision": revision,
    });
    applied(&changed(&mut bot, &from, THREADS, rename).await);
    heard(&subject, &mut watch, "the new title", "thread", &old).await;
    assert_eq!(thread_of(&mut watch, &old).await["title"], "Kept");

    let branches = thread_of(&mut bot, &old).await["branches"].clone();
    let known = branches.as_array().unwrap().iter().find(|branch| branch["branchId"] == side).expect("the branch");
    let revision = known["revision"].clone();
    let cut = json!({
        "operation": "DeleteBranch", "operationId": "2", "threadId": old, "branchId": side, "dryRun": false,
        "expectedRevision": revision,
    });
    quiet(&subject, &mut watch).await;
    applied(&changed(&mut bot, &from, THREADS, cut).await);
    heard(&subject, &mut watch, "the branch that went", "thread", &old).await;
    let left = thread_of(&mut watch, &old).await["branches"].clone();
    assert!(left.as_array().unwrap().iter().all(|branch| branch["branchId"] != side), "{left}");

    let revision = thread_of(&mut bot, &older).await["revision"].clone();
    let delete = json!({
        "operation": "Delete", "operationId": "3", "threadId": older, "dryRun": false, "expectedRevision": revision,
    });
    quiet(&subject, &mut watch).await;
    applied(&changed(&mut bot, &from, THREADS, delete).await);
    heard(&subject, &mut watch, "the thread that went", "thread", &older).await;
    let error = watch.refused("thread/read", json!({"threadId": older})).await;
    assert_eq!(error["data"]["kind"], "notFound");
}

pub(super) async fn app_94_a_branch_is_renamed_while_its_thread_is_at_work(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let busy = bot.start(&[]).await;
    bot.submit(&busy, "sleep 600000").await;
    let rename = json!({
        "operation": "RenameBranch", "operationId": "o", "threadId": busy, "branchId": busy, "title": "At it",
    });
    applied(&changed(&mut bot, &from, THREADS, rename).await);
    assert_eq!(thread_of(&mut bot, &busy).await["branches"][0]["title"], "At it");
    bot.call("run/stop", json!({"threadId": busy})).await;
}

pub(super) async fn app_148_app_149_a_deletion_that_nobody_confirms_says_what_would_go_and_deletes_nothing(
    subject: Fresh,
) {
    let (mut bot, from) = ready(&subject).await;
    let old = bot.start(&[]).await;
    bot.run(&old, "say kept").await;
    let before = (thread_of(&mut bot, &old).await, bot.log(&old).await);
    let delete = json!({"operation": "Delete", "operationId": "o", "threadId": old});
    let item = changed(&mut bot, &from, THREADS, delete).await;
    let told = &item["structuredContent"];
    assert_eq!((&told["status"], &told["applied"]), (&json!("DryRun"), &json!(false)), "{item}");
    assert!(!told["effect"].as_str().unwrap().is_empty());
    assert_eq!((thread_of(&mut bot, &old).await, bot.log(&old).await), before);
}

pub(super) async fn app_154_a_thread_that_is_gone_is_not_found_and_has_no_conflict(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let old = bot.start(&[]).await;
    bot.call("thread/delete", json!({"threadId": old, "dryRun": false})).await;
    let rename =
        json!({"operation": "Rename", "operationId": "o", "threadId": old, "title": "x", "expectedRevision": 1});
    let item = changed(&mut bot, &from, THREADS, rename).await;
    let told = told_text(&item);
    assert_eq!(item["state"], "failed", "{item}");
    assert!(told.contains("NotFound") && !told.contains("Conflict"), "{told}");
}

pub(super) async fn app_155_a_repeated_create_makes_one_thread(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let create = json!({"operation": "Create", "operationId": "o", "title": "One"});
    let first = changed(&mut bot, &from, THREADS, create.clone()).await;
    let again = changed(&mut bot, &from, THREADS, create.clone()).await;
    assert_eq!((&applied(&first)["replayed"], &applied(&again)["replayed"]), (&json!(false), &json!(true)));
    assert_eq!(applied(&first)["threadId"], applied(&again)["threadId"]);
    // The same name from another thread is another operation.
    let other = bot.start(&[]).await;
    let elsewhere = changed(&mut bot, &other, THREADS, create).await;
    assert_ne!(applied(&elsewhere)["threadId"], applied(&first)["threadId"]);
}

pub(super) async fn app_156_a_refused_change_does_not_use_up_its_operation_id(subject: Fresh) {
    let (mut bot, from) = ready(&subject).await;
    let old = bot.start(&[]).await;
    let revision = thread_of(&mut bot, &old).await["revision"].clone();
    let rename = |revision: Value| json!({"operation": "Rename", "operationId": "o", "threadId": old, "title": "x", "expectedRevision": revision});
    let stale = changed(&mut bot, &from, THREADS, rename(json!(99))).await;
    assert_eq!(stale["state"], "failed", "{stale}");
    assert!(told_text(&stale).contains("Conflict"), "{}", told_text(&stale));
    let fixed = changed(&mut bot, &from, THREADS, rename(revision)).await;
    assert_eq!(applied(&fixed)["replayed"], false);
    assert_eq!(thread_of(&mut bot, &old).await["title"], "x");
}
