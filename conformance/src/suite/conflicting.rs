//! Errors of a request that is understood: unknown ids, outdated revisions, cancelled waits, a daemon that is stopping.

use ropewalk_protocol::{Direction, METHODS, bundle};
use serde_json::{Value, json};

use super::{Fresh, Raw, get_issue, text};
use crate::{RawEnding, RawReply, RawServer};

scenarios! { $ conflicting
    wire:
        an_unknown_id_of_each_noun_is_not_found
        an_unknown_id_of_each_noun_of_a_run_is_not_found
        an_outdated_revision_is_a_conflict_with_the_document_as_it_is
        every_change_of_something_with_a_revision_can_be_based_on_one
        app_151_only_deletions_and_replacements_can_be_rehearsed
        a_wait_that_is_cancelled_ends_as_cancelled_and_other_requests_ignore_it
        a_daemon_that_is_stopping_takes_no_new_work_and_answers_who_waits
        k21_what_was_settled_is_already_settled_whoever_asks_and_however_late;
    clock:;
}

pub(super) async fn an_unknown_id_of_each_noun_is_not_found(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let project = bot.project_of(&thread).await;
    let rule = json!({"level": "thread", "threadId": "nope", "tool": {"source": "client:s", "name": "n"}, "decision": "ask"});
    let cases = [
        ("grant/add", json!({"projectId": "nope", "path": "/", "capabilities": ["read"]}), "project"),
        ("grant/remove", json!({"projectId": project, "grantId": "nope"}), "grant"),
        ("policy/remove", json!({"policyId": "nope"}), "policy"),
        ("policy/set", rule, "thread"),
        ("endpoint/set", json!({"endpointId": "nope", "name": "x"}), "endpoint"),
        ("endpoint/remove", json!({"endpointId": "nope"}), "endpoint"),
        ("endpoint/test", json!({"endpointId": "nope"}), "endpoint"),
        ("secret/set", json!({"endpointId": "nope", "value": "k"}), "endpoint"),
        ("secret/remove", json!({"endpointId": "nope"}), "endpoint"),
        ("settings/update", json!({"defaultEndpointId": "nope"}), "endpoint"),
        ("project/read", json!({"projectId": "nope"}), "project"),
        ("project/update", json!({"projectId": "nope"}), "project"),
        ("project/delete", json!({"projectId": "nope"}), "project"),
        (
            "project/security/replace",
            json!({"projectId": "nope", "grants": [], "policies": [], "expectedRevision": 1}),
            "project",
        ),
        ("thread/delete", json!({"threadId": "nope"}), "thread"),
        ("thread/delete", json!({"threadId": "nope", "dryRun": true}), "thread"),
        ("thread/start", json!({"projectId": "nope"}), "project"),
        ("grant/list", json!({"projectId": "nope"}), "project"),
        ("memory/read", json!({"entryId": "nope"}), "entry"),
        ("memory/update", json!({"entryId": "nope"}), "entry"),
        ("memory/delete", json!({"entryId": "nope"}), "entry"),
        ("memory/list", json!({"projectId": "nope"}), "project"),
        ("instructions/read", json!({"projectId": "nope"}), "project"),
        ("instructions/replace", json!({"projectId": "nope", "text": "", "expectedRevision": 1}), "project"),
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
    ];
    all_not_found(&mut bot, cases).await;
    assert_eq!(bot.log(&thread).await.len(), 2);
}

pub(super) async fn an_unknown_id_of_each_noun_of_a_run_is_not_found(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let cases = [
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
        ("run/submit", json!({"threadId": thread, "mode": "fork", "branchId": "nope", "input": text("x")}), "branch"),
        ("branch/list", json!({"threadId": "nope"}), "thread"),
        ("branch/update", json!({"threadId": thread, "branchId": "nope"}), "branch"),
        ("branch/delete", json!({"threadId": thread, "branchId": "nope"}), "branch"),
        ("queue/list", json!({"threadId": thread, "branchId": "nope"}), "branch"),
        ("queue/update", json!({"threadId": thread, "messageId": "nope", "input": text("x")}), "message"),
        ("queue/remove", json!({"threadId": thread, "messageId": "nope"}), "message"),
        ("queue/clear", json!({"threadId": thread, "branchId": "nope"}), "branch"),
        ("queue/reorder", json!({"threadId": "nope", "messageIds": []}), "thread"),
        ("interaction/settle", json!({"interactionId": "nope", "answer": {}}), "interaction"),
        ("interaction/list", json!({"threadId": "nope"}), "thread"),
        ("interaction/list", json!({"threadId": "nope", "state": "settled"}), "thread"),
        ("item/list", json!({"threadId": "nope"}), "thread"),
        ("item/list", json!({"threadId": thread, "branchId": "nope"}), "branch"),
        ("item/list", json!({"threadId": thread, "runId": "nope"}), "run"),
        ("queue/list", json!({"threadId": "nope"}), "thread"),
        ("run/list", json!({"threadId": "nope"}), "thread"),
        ("run/list", json!({"projectId": "nope"}), "project"),
        ("thread/list", json!({"projectId": "nope"}), "project"),
        ("policy/list", json!({"threadId": "nope"}), "thread"),
        ("policy/list", json!({"projectId": "nope"}), "project"),
    ];
    all_not_found(&mut bot, cases).await;
    assert_eq!(bot.log(&thread).await.len(), 2);
}

async fn all_not_found(bot: &mut Raw, cases: impl IntoIterator<Item = (&str, Value, &str)>) {
    for (method, params, noun) in cases {
        let error = bot.refused(method, params.clone()).await;
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32005), &json!("notFound")), "{method} {params}: {error}");
        assert_eq!((&error["data"]["noun"], &error["data"]["id"]), (&json!(noun), &json!("nope")), "{method} {params}: {error}");
        assert!(error["message"].as_str().unwrap().contains("nope"));
    }
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
    let doomed = bot.call("project/create", json!({"name": "doomed"})).await["project"]["projectId"].clone();
    let cases = [
        ("project/update", json!({"projectId": project, "name": "n"}), "projectId"),
        ("grant/add", json!({"projectId": project, "path": path, "capabilities": ["write"]}), "projectId"),
        ("grant/remove", json!({"projectId": project, "grantId": grant}), "projectId"),
        ("project/security/replace", json!({"projectId": project, "grants": [], "policies": []}), "projectId"),
        ("policy/set", rule, "policyId"),
        ("policy/remove", json!({"policyId": policy}), "policyId"),
        ("thread/update", json!({"threadId": thread, "title": "n"}), "threadId"),
        ("thread/archive", json!({"threadId": thread}), "threadId"),
        ("endpoint/set", json!({"endpointId": endpoint, "name": "n"}), "endpointId"),
        ("secret/set", json!({"endpointId": endpoint, "value": "key"}), "endpointId"),
        ("secret/remove", json!({"endpointId": endpoint}), "endpointId"),
        ("endpoint/remove", json!({"endpointId": endpoint}), "endpointId"),
        ("settings/update", json!({"approvalMs": 5_000}), "toolSilenceMs"),
        ("thread/delete", json!({"threadId": thread, "dryRun": true}), "threadId"),
        ("thread/delete", json!({"threadId": thread}), "threadId"),
        ("project/delete", json!({"projectId": doomed, "dryRun": true}), "projectId"),
        ("project/delete", json!({"projectId": doomed}), "projectId"),
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

/// Changes that compare no revision, and why.
const WITHOUT_REVISION: &[(&str, &str)] = &[
    ("daemon/shutdown", "the daemon is no object"),
    ("daemon/backup", "the daemon is no object"),
    ("project/create", "there is nothing yet"),
    ("project/ensure", "it is there, or there is nothing yet"),
    ("thread/start", "there is nothing yet"),
    ("thread/resume", "attaching changes no header, and names held by others have takeover"),
    ("thread/markRead", "who has read what conflicts with nothing"),
    ("attention/seen", "who has seen what conflicts with nothing"),
    ("branch/update", "a branch's title conflicts with nothing (2.4)"),
    ("run/submit", "messages do not raise the revision; a steer names its run"),
    ("run/stop", "stopping is idempotent"),
    ("run/skip", "it leaves things as they ended"),
    ("run/resume", "it names its run, whose state is compared"),
    ("run/retry", "it names its run, whose state is compared"),
    ("run/rebase", "it names its run, whose state is compared"),
    ("queue/update", "it names its input, which waits or does not"),
    ("queue/remove", "it names its input, which waits or does not"),
    ("queue/clear", "what waits has no revision"),
    ("queue/reorder", "it names all that waits"),
    ("interaction/settle", "the first answer wins"),
    ("memory/create", "there is nothing yet"),
    ("mcp/server/add", "there is nothing yet"),
    ("mcp/server/restart", "it changes nothing that is stored"),
    ("mcp/review/submit", "it names what was reviewed by its digest"),
];

/// The fields of a method's parameters.
fn fields(method: &str) -> Vec<String> {
    let bundle = bundle();
    let name = bundle["methods"][method]["params"]["$ref"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let fields = bundle["$defs"][&name]["properties"].as_object().cloned().unwrap_or_default();
    fields.into_iter().map(|(name, _)| name).collect()
}

fn changing() -> impl Iterator<Item = &'static str> {
    METHODS.iter().filter(|entry| entry.mutates && entry.direction == Direction::ToDaemon).map(|entry| entry.name)
}

pub(super) async fn every_change_of_something_with_a_revision_can_be_based_on_one(subject: Fresh) {
    let mut bot = subject.bot().await;
    for method in changing() {
        let reason = WITHOUT_REVISION.iter().find(|(name, _)| *name == method).map(|(_, reason)| reason);
        let compares = fields(method).iter().any(|field| field == "expectedRevision");
        assert_ne!(compares, reason.is_some(), "{method} compares a revision, or there is a reason why not");
    }
    // What is there is another one than was expected, whatever that is.
    let thread = bot.start(&[]).await;
    let error = bot.refused("thread/delete", json!({"threadId": thread, "expectedRevision": 7})).await;
    assert_eq!((&error["data"]["kind"], &error["data"]["currentRevision"]), (&json!("conflict"), &json!(1)));
    assert_eq!(error["data"]["current"]["threadId"], thread);
}

pub(super) async fn app_151_only_deletions_and_replacements_can_be_rehearsed(subject: Fresh) {
    let mut bot = subject.bot().await;
    let rehearsed = ["thread/delete", "branch/delete", "project/delete", "project/security/replace"];
    for method in changing() {
        let is_rehearsed = fields(method).iter().any(|field| field == "dryRun");
        assert_eq!(is_rehearsed, rehearsed.contains(&method), "{method}");
        if !is_rehearsed {
            let error = bot.refused(method, json!({"dryRun": true})).await;
            let data = (&error["data"]["kind"], &error["data"]["path"], &error["data"]["reason"]);
            assert_eq!(data, (&json!("invalidParams"), &json!("/dryRun"), &json!("not_supported")), "{method}: {error}");
        }
    }
    let project = bot.call("project/list", json!({})).await["items"][0]["projectId"].clone();
    bot.call("project/update", json!({"projectId": project, "name": "same", "dryRun": false})).await;
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

pub(super) async fn k21_what_was_settled_is_already_settled_whoever_asks_and_however_late(subject: Fresh) {
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
