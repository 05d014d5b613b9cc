//! Errors of a request that is understood: unknown ids, outdated revisions, cancelled waits, a daemon that is stopping.

use serde_json::{Value, json};

use super::{Fresh, Raw, get_issue, text};
use crate::{RawEnding, RawReply, RawServer};

pub(super) async fn an_unknown_id_of_each_noun_is_not_found(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let project = bot.project_of(&thread).await;
    let rule = json!({"level": "thread", "threadId": "nope", "tool": {"source": "s", "name": "n"}, "decision": "ask"});
    let cases = [
        ("project/read", json!({"projectId": "nope"}), "project"),
        ("project/update", json!({"projectId": "nope"}), "project"),
        ("thread/start", json!({"projectId": "nope"}), "project"),
        ("grant/list", json!({"projectId": "nope"}), "project"),
        ("grant/add", json!({"projectId": "nope", "path": "/", "capabilities": ["read"]}), "project"),
        ("grant/remove", json!({"projectId": project, "grantId": "nope"}), "grant"),
        ("policy/remove", json!({"policyId": "nope"}), "policy"),
        ("policy/set", rule, "thread"),
        ("thread/read", json!({"threadId": "nope"}), "thread"),
        ("thread/resume", json!({"threadId": "nope"}), "thread"),
        ("thread/update", json!({"threadId": "nope"}), "thread"),
        ("thread/archive", json!({"threadId": "nope"}), "thread"),
        ("thread/messages", json!({"threadId": "nope"}), "thread"),
        ("thread/messages", json!({"threadId": thread, "branchId": "nope"}), "branch"),
        ("thread/events", json!({"threadId": "nope", "after": 0}), "thread"),
        ("thread/subscribe", json!({"threadId": "nope"}), "thread"),
        ("thread/unsubscribe", json!({"threadId": "nope"}), "thread"),
        ("thread/tools", json!({"threadId": "nope"}), "thread"),
        ("thread/start", json!({"endpointId": "nope"}), "endpoint"),
        ("thread/start", json!({"agent": {"appId": "nope", "agentId": "a"}}), "app"),
        ("run/submit", json!({"threadId": "nope", "input": text("x")}), "thread"),
        ("run/submit", json!({"threadId": thread, "branchId": "nope", "input": text("x")}), "branch"),
        ("run/submit", json!({"threadId": thread, "endpointId": "nope", "input": text("x")}), "endpoint"),
        ("run/submit", json!({"threadId": thread, "input": [{"type": "resource", "resourceId": "nope"}]}), "resource"),
        ("run/submit", json!({"threadId": thread, "input": [{"type": "review", "reviewId": "nope"}]}), "review"),
        ("run/stop", json!({"threadId": "nope"}), "thread"),
        ("run/stop", json!({"threadId": thread, "branchId": "nope"}), "branch"),
        ("run/stop", json!({"threadId": thread, "runId": "nope"}), "run"),
        ("run/wait", json!({"runId": "nope"}), "run"),
        ("run/read", json!({"runId": "nope"}), "run"),
        ("run/skip", json!({"threadId": thread, "branchId": "nope"}), "branch"),
        ("run/resume", json!({"threadId": thread, "runId": "nope"}), "run"),
        ("queue/list", json!({"threadId": thread, "branchId": "nope"}), "branch"),
        ("queue/update", json!({"threadId": thread, "messageId": "nope", "input": text("x")}), "message"),
        ("queue/remove", json!({"threadId": thread, "messageId": "nope"}), "message"),
        ("queue/clear", json!({"threadId": thread, "branchId": "nope"}), "branch"),
        ("queue/reorder", json!({"threadId": "nope", "messageIds": []}), "thread"),
        ("interaction/settle", json!({"interactionId": "nope", "answer": {}}), "interaction"),
        ("interaction/list", json!({"threadId": "nope"}), "thread"),
        ("endpoint/set", json!({"endpointId": "nope", "name": "x"}), "endpoint"),
        ("endpoint/remove", json!({"endpointId": "nope"}), "endpoint"),
        ("endpoint/test", json!({"endpointId": "nope"}), "endpoint"),
        ("secret/set", json!({"endpointId": "nope", "value": "k"}), "endpoint"),
        ("secret/remove", json!({"endpointId": "nope"}), "endpoint"),
        ("settings/update", json!({"defaultEndpointId": "nope"}), "endpoint"),
    ];
    for (method, params, noun) in cases {
        let error = bot.refused(method, params.clone()).await;
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32005), &json!("notFound")), "{method} {params}: {error}");
        assert_eq!((&error["data"]["noun"], &error["data"]["id"]), (&json!(noun), &json!("nope")), "{method} {params}: {error}");
        assert!(error["message"].as_str().unwrap().contains("nope"));
    }
    assert_eq!(bot.log(&thread).await.len(), 2);
}

pub(super) async fn an_outdated_revision_is_a_conflict_with_the_document_as_it_is(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let project = bot.project_of(&thread).await;
    let set = json!({"name": "a", "provider": "openaiCompatible", "baseUrl": "https://a.example/v1", "model": "m"});
    let endpoint = bot.call("endpoint/set", set).await["endpoint"]["endpointId"].clone();
    let policy = bot.rule("global", &Value::Null, "x", "ask").await;
    let path = std::env::temp_dir();
    let add = json!({"projectId": project, "path": path, "capabilities": ["read"]});
    let grant = bot.call("grant/add", add).await["grant"]["grantId"].clone();
    let rule = json!({"level": "global", "tool": {"source": "client:bot", "name": "x"}, "decision": "deny"});
    let cases = [
        ("project/update", json!({"projectId": project, "name": "n"}), "projectId"),
        ("grant/add", json!({"projectId": project, "path": path, "capabilities": ["write"]}), "projectId"),
        ("grant/remove", json!({"projectId": project, "grantId": grant}), "projectId"),
        ("policy/set", rule, "policyId"),
        ("policy/remove", json!({"policyId": policy}), "policyId"),
        ("thread/update", json!({"threadId": thread, "title": "n"}), "threadId"),
        ("thread/archive", json!({"threadId": thread}), "threadId"),
        ("endpoint/set", json!({"endpointId": endpoint, "name": "n"}), "endpointId"),
        ("endpoint/remove", json!({"endpointId": endpoint}), "endpointId"),
        ("settings/update", json!({"approvalMs": 5_000}), "toolSilenceMs"),
    ];
    for (method, mut params, field) in cases {
        params["expectedRevision"] = json!(999);
        let error = bot.refused(method, params.clone()).await;
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32006), &json!("conflict")), "{method}: {error}");
        assert!(error["data"]["current"].get(field).is_some(), "{method} shows the document: {error}");
        let current = error["data"]["currentRevision"].clone();
        assert_eq!(error["data"]["current"]["revision"], current, "{method}: {error}");
        params["expectedRevision"] = current;
        bot.call(method, params).await;
    }
}

pub(super) async fn a_wait_that_is_cancelled_ends_as_cancelled_and_other_requests_ignore_it(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000").await;
    let waits = [
        ("run/wait", json!({"runId": run})),
        ("thread/events", json!({"threadId": thread, "after": 4, "waitMs": 600_000})),
        ("run/submit", json!({"threadId": thread, "input": text("hello"), "wait": true})),
    ];
    for (method, params) in waits {
        let id = bot.request(method, params).await;
        bot.settle_down().await;
        if method == "run/submit" {
            bot.event("queueChanged").await;
        }
        bot.notify("$/cancelRequest", json!({"id": id})).await;
        let answer = bot.answer(id).await;
        let error = &answer["error"];
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32014), &json!("cancelled")), "{method}: {answer}");
    }
    let queue = bot.call("queue/list", json!({"threadId": thread})).await;
    assert_eq!(queue["entries"].as_array().unwrap().len(), 1, "the wait was cancelled, not the input");
    bot.notify("$/cancelRequest", json!({"id": 4711})).await;
    bot.notify("$/cancelRequest", json!({"id": "unknown"})).await;
    bot.notify("$/cancelRequest", json!({})).await;
    let id = bot.request("thread/read", json!({"threadId": thread})).await;
    bot.notify("$/cancelRequest", json!({"id": id})).await;
    assert!(bot.answer(id).await.get("result").is_some(), "ignored for the rest");
}

pub(super) async fn a_daemon_that_is_stopping_takes_no_new_work_and_answers_who_waits(subject: Fresh) {
    let server = RawServer::start([RawReply { ending: RawEnding::Stall, ..RawReply::stream("") }]).await.unwrap();
    let mut bot = subject.bot().await;
    let mut other = subject.client("other", "in-B").await;
    let thread = bot.start(&[get_issue()]).await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    bot.asked("tool/call").await;
    let wait = other.request("run/wait", json!({"runId": run})).await;
    other.settle_down().await;
    // What is under way has the grace to end; this keeps the daemon until the server is gone.
    let endpoint = bot.use_model_at(&server.base_url()).await;
    let under_way = bot.request("endpoint/test", json!({"endpointId": endpoint})).await;
    assert_eq!(bot.call("daemon/shutdown", json!({"graceMs": 60_000})).await, json!({}));
    for (method, params) in [
        ("thread/start", json!({})),
        ("run/submit", json!({"threadId": thread, "input": text("x")})),
        ("project/create", json!({"name": "x"})),
    ] {
        let error = bot.refused(method, params).await;
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32015), &json!("shuttingDown")), "{error}");
        assert_eq!((&error["data"]["graceMs"], &error["data"]["retryable"]), (&json!(60_000), &json!(true)));
    }
    bot.settle_down().await;
    drop(server);
    assert_eq!(bot.answer(under_way).await["result"]["ok"], false, "it ended in its own way");
    let answer = other.answer(wait).await;
    assert_eq!(answer["error"]["data"]["kind"], "shuttingDown", "who waits is answered: {answer}");
    bot.closed().await;
}

pub(super) async fn what_was_settled_is_already_settled_whoever_asks_and_however_late(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[get_issue()]).await;
    bot.rule("thread", &thread, "get_issue", "ask").await;
    let run = bot.submit(&thread, "call get_issue {\"id\":\"1\"}").await;
    let approval = bot.asked("approval/request").await;
    let id = approval["params"]["interactionId"].clone();
    bot.reply(&approval, json!({"decision": "decline"})).await;
    bot.ended(&run).await;
    let before = bot.log(&thread).await.len();
    for decision in ["accept", "cancel", "acceptAlways"] {
        let error = bot.refused("interaction/settle", json!({"interactionId": id, "answer": {"decision": decision}})).await;
        assert_eq!(error["data"]["kind"], "alreadySettled");
        assert_eq!(error["data"]["outcome"], "declined");
        assert_eq!(error["data"]["by"]["instanceId"], "in-A");
        assert_eq!(error["data"]["answer"], json!({"decision": "decline"}));
    }
    let same = bot.call("interaction/settle", json!({"interactionId": id, "answer": {"decision": "decline"}})).await;
    assert_eq!((&same["replayed"], &same["outcome"]), (&json!(true), &json!("declined")));
    assert_eq!(bot.log(&thread).await.len(), before, "nothing came of any of them");
    let mut other: Raw = subject.client("other", "in-B").await;
    let error = other.refused("interaction/settle", json!({"interactionId": id, "answer": {"decision": "decline"}})).await;
    assert_eq!(error["data"]["kind"], "alreadySettled");
}
