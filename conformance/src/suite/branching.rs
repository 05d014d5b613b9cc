//! Branches: forks at any message, at work beside each other, named, listed and deleted.

use serde_json::{Value, json};

use super::{
    Fresh, Raw, assert_all_closed, get_issue,
    received::{Talk, same_as_shown},
    success, text, tool_with,
};
use crate::Shape;

scenarios! { $ branching
    wire:
        transcript_h_a_fork_begins_with_its_own_event_and_runs_on_its_own_chain
        ruling_14_a_fork_follows_whole_batches_and_nothing_inside_one
        branches_run_beside_each_other_with_calls_and_approvals_on_each
        queue_asides_and_steers_are_those_of_their_branch
        a_title_compares_no_revision_and_a_page_of_branches_is_by_id
        k20_a_deleted_branch_takes_its_run_and_its_queue_and_leaves_its_forks
        every_endpoint_accepts_the_chains_of_forks;
    clock:;
}

/// What a fork is submitted with.
fn fork(thread: &Value, from: &Value, input: &str) -> Value {
    let mut params = json!({"threadId": thread, "mode": "fork", "input": text(input)});
    if !from.is_null() {
        params["fromMessageId"] = from.clone();
    }
    params
}

/// The chain of a branch, oldest message first.
async fn chain(bot: &mut Raw, thread: &Value, branch: &Value) -> Vec<Value> {
    let page = bot.call("thread/messages", json!({"threadId": thread, "branchId": branch, "limit": 1000})).await;
    page["items"].as_array().unwrap().iter().rev().cloned().collect()
}

async fn branch(bot: &mut Raw, thread: &Value, id: &Value) -> Value {
    let branches = bot.call("branch/list", json!({"threadId": thread})).await;
    let found = branches["items"].as_array().unwrap().iter().find(|branch| branch["branchId"] == *id).cloned();
    found.unwrap_or_else(|| panic!("there is a branch {id}"))
}

/// The next request of a kind that belongs to a run.
async fn asked_for(bot: &mut Raw, method: &str, run: &Value) -> Value {
    bot.until(method, |line| line["method"] == method && line["params"]["runId"] == *run).await
}

/// The end of a run all of whose calls are answered. Where a fork follows an input, a model may read both as one script.
async fn answering(bot: &mut Raw, run: &Value) -> Value {
    loop {
        let is_it = |line: &Value| {
            let event = &line["params"]["event"];
            let ends = event["type"] == "runCompleted" && event["runId"] == *run;
            ends || line["method"] == "tool/call" && line["params"]["runId"] == *run
        };
        let mut line = bot.until("a call, or the end of the run", is_it).await;
        if line["method"] != "tool/call" {
            return line["params"]["event"].take();
        }
        bot.reply(&line, success("c")).await;
    }
}

pub(super) async fn transcript_h_a_fork_begins_with_its_own_event_and_runs_on_its_own_chain(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    bot.run(&thread, "say one").await;
    bot.run(&thread, "say two").await;
    let before = bot.chain(&thread).await;
    let seen = bot.log(&thread).await.len();
    let mut submit = fork(&thread, &before[1]["messageId"], "say hello");
    submit["title"] = json!("what if");
    let forked = bot.call("run/submit", submit).await;
    assert_eq!((&forked["state"], &forked["replayed"]), (&json!("running"), &json!(false)));
    assert_ne!(forked["branchId"], thread);
    bot.ended(&forked["runId"]).await;
    let log = bot.log(&thread).await;
    let types: Vec<_> = log[seen..].iter().map(|event| event["event"]["type"].as_str().unwrap()).collect();
    let expected = ["branchUpdated", "runStarted", "itemCompleted", "itemStarted", "itemCompleted", "runCompleted"];
    assert_eq!(types, expected);
    let root = &before[1]["messageId"];
    let first = json!({
        "branchId": forked["branchId"], "threadId": thread, "title": "what if", "parentBranchId": thread,
        "rootMessageId": root, "headMessageId": root, "queue": {"length": 0, "held": false}, "revision": 1,
    });
    assert_eq!(log[seen]["event"]["branch"], first);
    assert_eq!(log[seen + 1]["event"]["run"]["mode"], "fork");
    assert_eq!(bot.chain(&thread).await, before, "the source branch is as it was");
    let own = chain(&mut bot, &thread, &forked["branchId"]).await;
    assert_eq!(own[..2], before[..2], "both share what came before");
    assert_eq!((own.len(), &own[2]["messageId"], &own[2]["parentMessageId"]), (4, &forked["messageId"], root));
    assert_all_closed(&log);
}

pub(super) async fn ruling_14_a_fork_follows_whole_batches_and_nothing_inside_one(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}").await;
    let first = bot.asked("tool/call").await;
    let item = bot.event("itemStarted").await["event"]["item"].clone();
    let open = bot.refused("run/submit", fork(&thread, &item["messageId"], "x")).await;
    assert_eq!(open["data"]["reason"], "inside_a_batch", "its calls are being worked off: {open}");
    bot.reply(&first, success("one")).await;
    let second = bot.asked("tool/call").await;
    bot.reply(&second, success("two")).await;
    bot.ended(&run).await;
    for message in bot.chain(&thread).await {
        let submit = fork(&thread, &message["messageId"], "say from here");
        let is_inside = message["toolCalls"].is_array() || message["content"][0]["text"] == "one";
        if is_inside {
            let error = bot.refused("run/submit", submit).await;
            assert_eq!((&error["data"]["path"], &error["data"]["reason"]), (&json!("/fromMessageId"), &json!("inside_a_batch")));
            continue;
        }
        let forked = bot.call("run/submit", submit).await;
        assert_eq!(bot.ended(&forked["runId"]).await["outcome"]["status"], "completed");
        let own = chain(&mut bot, &thread, &forked["branchId"]).await;
        assert_eq!(own[own.len() - 3]["messageId"], message["messageId"], "it follows that message");
    }
    let unknown = bot.refused("run/submit", fork(&thread, &json!("nope"), "x")).await;
    assert_eq!((&unknown["data"]["kind"], &unknown["data"]["noun"]), (&json!("notFound"), &json!("message")));
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn branches_run_beside_each_other_with_calls_and_approvals_on_each(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"})), get_issue()]).await;
    bot.run(&thread, "say hello").await;
    let mut runs = vec![(thread.clone(), bot.submit(&thread, "call act\ncall get_issue {\"id\":\"0\"}").await)];
    for n in 1..4 {
        let input = format!("call act\ncall get_issue {{\"id\":\"{n}\"}}");
        let forked = bot.call("run/submit", fork(&thread, &Value::Null, &input)).await;
        runs.push((forked["branchId"].clone(), forked["runId"].clone()));
    }
    let mut approvals = Vec::new();
    for (_, run) in &runs {
        approvals.push(asked_for(&mut bot, "approval/request", run).await);
    }
    let status = bot.call("daemon/status", json!({})).await;
    assert_eq!((&status["counts"]["runs"]["waiting"], &status["counts"]["openInteractions"]), (&json!(4), &json!(4)));
    // One branch is stopped, one is refused, two are allowed; each is told its own.
    let stop = json!({"threadId": thread, "branchId": runs[3].0});
    bot.call("run/stop", stop).await;
    assert_eq!(bot.ended(&runs[3].1).await["outcome"]["status"], "stopped");
    for (n, decision) in [(2, "accept"), (1, "decline"), (0, "accept")] {
        bot.reply(&approvals[n], json!({"decision": decision})).await;
        if decision == "accept" {
            let call = asked_for(&mut bot, "tool/call", &runs[n].1).await;
            bot.reply(&call, success(&format!("acted {n}"))).await;
        }
    }
    for (n, (_, run)) in runs.iter().enumerate().take(3) {
        let call = asked_for(&mut bot, "tool/call", run).await;
        assert_eq!(call["params"]["arguments"]["id"], n.to_string());
        bot.reply(&call, success(&format!("issue {n}"))).await;
    }
    for (n, (id, run)) in runs.iter().enumerate().take(3) {
        assert_eq!(bot.ended(run).await["outcome"]["status"], "completed");
        let own = chain(&mut bot, &thread, id).await;
        assert!(own.last().unwrap()["content"][0]["text"].as_str().unwrap().contains(&format!("issue {n}")));
        assert!(branch(&mut bot, &thread, id).await.get("activeRunId").is_none());
    }
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn queue_asides_and_steers_are_those_of_their_branch(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    let forked = bot.call("run/submit", fork(&thread, &Value::Null, "call get_issue {\"id\":\"1\"}")).await;
    let (id, run) = (&forked["branchId"], &forked["runId"]);
    let call = bot.asked("tool/call").await;
    let on = |input: &str| json!({"threadId": thread, "branchId": id, "input": text(input)});
    let queued = bot.call("run/submit", on("say later")).await;
    assert_eq!((&queued["state"], &queued["branchId"]), (&json!("queued"), id));
    let mut steer = on("quickly");
    (steer["mode"], steer["expectedRunId"]) = (json!("steer"), run.clone());
    assert_eq!(bot.call("run/submit", steer.clone()).await["state"], "queued");
    steer["branchId"] = thread.clone();
    assert_eq!(bot.refused("run/submit", steer).await["data"]["kind"], "invalidState", "it is idle there");
    let of_branch = json!({"threadId": thread, "branchId": id});
    assert_eq!(bot.call("queue/list", of_branch.clone()).await["entries"].as_array().unwrap().len(), 2);
    assert_eq!(bot.call("queue/list", json!({"threadId": thread})).await["entries"], json!([]));
    assert_eq!(branch(&mut bot, &thread, id).await["queue"], json!({"length": 2, "held": false}));
    let aside = json!({"threadId": thread, "mode": "aside", "input": text("noted")});
    assert_eq!(bot.call("run/submit", aside).await["state"], "recorded", "nothing runs on the original branch");
    bot.reply(&call, success("one")).await;
    bot.ended(run).await;
    bot.ended(&queued["runId"]).await;
    let said: Vec<_> = chain(&mut bot, &thread, id).await.iter().map(|message| message["delivery"].clone()).collect();
    assert_eq!(json!(said), json!(["turn", "turn", "turn", "steer", "turn", "turn", "turn"]));
    assert_eq!(bot.chain(&thread).await.len(), 1);
}

pub(super) async fn a_title_compares_no_revision_and_a_page_of_branches_is_by_id(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let mut watch = subject.client("watch", "in-W").await;
    watch.call("thread/resume", json!({"threadId": thread})).await;
    let forked = bot.call("run/submit", fork(&thread, &Value::Null, "say hello")).await;
    let id = forked["branchId"].clone();
    let update = |title: Value| json!({"threadId": thread, "branchId": id, "title": title, "expectedRevision": 99});
    let named = bot.call("branch/update", update(json!("Named"))).await;
    assert_eq!((&named["branch"]["title"], &named["branch"]["revision"]), (&json!("Named"), &json!(2)));
    watch.until("the title", |line| line["params"]["event"]["branch"]["title"] == "Named").await;
    let cleared = bot.call("branch/update", update(Value::Null)).await;
    assert_eq!(cleared["branch"].get("title"), None);
    let error = bot.refused("branch/update", update(json!(" "))).await;
    assert_eq!(error["data"]["path"], "/title");
    // What is read twice has to stand still.
    bot.ended(&forked["runId"]).await;
    let read = bot.call("thread/read", json!({"threadId": thread})).await;
    let listed = bot.call("branch/list", json!({"threadId": thread})).await;
    assert_eq!(listed["items"], read["thread"]["branches"]);
    let ids: Vec<_> = listed["items"].as_array().unwrap().iter().map(|branch| branch["branchId"].to_string()).collect();
    assert!(ids.is_sorted() && ids.len() == 2);
}

pub(super) async fn k20_a_deleted_branch_takes_its_run_and_its_queue_and_leaves_its_forks(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
    bot.run(&thread, "say hello").await;
    let forked = bot.call("run/submit", fork(&thread, &Value::Null, "call act")).await;
    let id = &forked["branchId"];
    let approval = bot.asked("approval/request").await;
    let queued = bot.call("run/submit", json!({"threadId": thread, "branchId": id, "input": text("say later")})).await;
    let mut below = fork(&thread, &Value::Null, "say below");
    below["branchId"] = id.clone();
    let below = bot.call("run/submit", below).await;
    bot.ended(&below["runId"]).await;
    let kept = chain(&mut bot, &thread, &below["branchId"]).await;

    let delete = |further: Value| {
        let mut params = json!({"threadId": thread, "branchId": id});
        params.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
        params
    };
    let before = bot.log(&thread).await.len();
    let rehearsed = bot.call("branch/delete", delete(json!({"dryRun": true}))).await;
    assert_eq!((&rehearsed["applied"], &rehearsed["dryRun"]), (&json!(false), &json!(true)));
    let error = bot.refused("branch/delete", delete(json!({"expectedRevision": 7}))).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["current"]["branchId"]), (&json!("conflict"), id));
    let error = bot.refused("branch/delete", json!({"threadId": thread, "branchId": thread})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["state"]), (&json!("invalidState"), &json!("original")));
    assert_eq!(bot.log(&thread).await.len(), before, "nothing has changed");

    let deleted = bot.call("branch/delete", delete(json!({"expectedRevision": 1}))).await;
    assert_eq!((&deleted["applied"], &deleted["effect"]), (&json!(true), &rehearsed["effect"]));
    let settled = bot.told("interaction/settled").await;
    assert_eq!((&settled["interactionId"], &settled["outcome"]), (&approval["params"]["interactionId"], &json!("cancelled")));
    let ended = bot.ended(&forked["runId"]).await;
    assert_eq!((&ended["outcome"]["status"], &ended["outcome"]["error"]["kind"]), (&json!("failed"), &json!("branchDeleted")));
    let expected = [
        "queueChanged", "interactionSettled", "itemCompleted", "runCompleted", "branchUpdated", "branchDeleted",
    ];
    assert_eq!(bot.types(&thread, before).await, expected);
    bot.reply(&approval, json!({"decision": "accept"})).await;
    bot.settle_down().await;
    assert_eq!(bot.types(&thread, before).await.len(), expected.len(), "nothing of it comes afterwards");
    assert_eq!(bot.refused("run/read", json!({"runId": queued["runId"]})).await["data"]["kind"], "notFound");
    assert_eq!(bot.call("run/read", json!({"runId": forked["runId"]})).await["run"]["outcome"], ended["outcome"]);
    for (method, params) in [
        ("thread/messages", delete(json!({}))),
        ("branch/delete", delete(json!({}))),
        ("run/submit", delete(json!({"input": text("x")}))),
    ] {
        assert_eq!(bot.refused(method, params).await["data"]["noun"], "branch", "{method}");
    }
    assert_eq!(branch(&mut bot, &thread, &below["branchId"]).await["parentBranchId"], thread);
    assert_eq!(chain(&mut bot, &thread, &below["branchId"]).await, kept);
    assert_all_closed(&bot.log(&thread).await);
}

pub(super) async fn every_endpoint_accepts_the_chains_of_forks(subject: Fresh) {
    for shape in [Shape::Chat, Shape::Responses, Shape::Messages] {
        let mut talk = Talk::new(&subject, shape, &[get_issue()]).await;
        talk.play("say let me look\ncall get_issue {\"id\":\"1\"}\ncall get_issue {\"id\":\"2\"}", &[success("a"), success("b")]).await;
        talk.play("say and on", &[]).await;
        let thread = talk.thread.clone();
        for message in talk.bot.chain(&thread).await {
            let submit = fork(&thread, &message["messageId"], "call get_issue {\"id\":\"3\"}");
            let id = talk.bot.request("run/submit", submit).await;
            let answer = talk.bot.answer(id).await;
            let Some(forked) = answer.get("result") else { continue };
            let ended = answering(&mut talk.bot, &forked["runId"]).await;
            assert_eq!(ended["outcome"]["status"], "completed", "{shape:?}: {ended}");
        }
        assert!(talk.server.requests().iter().all(|request| request.refused.is_none()), "{shape:?}");
        talk.play("say the source goes on", &[]).await;
        same_as_shown(&talk.server, &mut talk.bot, &thread).await;
    }
}
