//! `operationId`: the same request again returns the stored result, another one with the same id is a conflict.

use ropewalk_protocol::{Direction, METHODS};
use serde_json::{Value, json};

use super::{Fresh, Raw, text, tool, tool_with};

scenarios! { $ repeating
    wire:
        each_mutating_method_is_done_once_for_one_operation_id
        an_operation_id_belongs_to_one_method
        equal_submits_at_once_make_one_message
        a_refused_request_does_not_use_its_operation_id_up;
    clock:;
}

/// Stopping the daemon has no result that could be replayed, and no client can take an input's parent away.
const LEFT_OUT: [&str; 2] = ["daemon/shutdown", "run/rebase"];

pub(super) async fn each_mutating_method_is_done_once_for_one_operation_id(subject: Fresh) {
    let mut bot = subject.bot().await;
    let things = Things::make(&mut bot).await;
    let mutating = METHODS.iter().filter(|entry| entry.mutates && entry.direction == Direction::ToDaemon);
    for entry in mutating.filter(|entry| !LEFT_OUT.contains(&entry.name)) {
        let method = entry.name;
        let (body, other) = things.bodies(method);
        let with_id = |mut params: Value| {
            params["operationId"] = json!(format!("op:{method}").replace('/', "."));
            params
        };
        let first = bot.call(method, with_id(body.clone())).await;
        assert_eq!(first["replayed"], false, "{method}: {first}");
        let before = things.fingerprint(&mut bot).await;
        // Also from another connection, and with its fields in another order.
        let mut elsewhere = subject.client("bot", "in-A").await;
        let again = elsewhere.call(method, with_id(body)).await;
        let mut expected = first.clone();
        expected["replayed"] = json!(true);
        assert_eq!(again, expected, "{method}");
        drop(elsewhere);
        let error = bot.refused(method, with_id(other)).await;
        assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32007), &json!("idempotencyConflict")), "{method}: {error}");
        assert_eq!(error["data"]["operationId"], format!("op:{method}").replace('/', "."));
        assert!(error["data"]["firstAt"].is_string(), "{error}");
        assert_eq!(things.fingerprint(&mut bot).await, before, "{method} was done once");
    }
}

pub(super) async fn an_operation_id_belongs_to_one_method(subject: Fresh) {
    let mut bot = subject.bot().await;
    bot.call("project/create", json!({"name": "x", "operationId": "shared"})).await;
    let error = bot.refused("settings/update", json!({"approvalMs": 5_000, "operationId": "shared"})).await;
    assert_eq!(error["data"]["kind"], "idempotencyConflict");
    let mut other = subject.client("other", "in-B").await;
    let replay = other.call("project/create", json!({"operationId": "shared", "name": "x"})).await;
    assert_eq!(replay["replayed"], true, "ids are shared by all owner clients, and the order of fields is no matter");
}

pub(super) async fn equal_submits_at_once_make_one_message(subject: Fresh) {
    let mut bot = subject.bot().await;
    let mut other = subject.client("other", "in-B").await;
    let thread = bot.start(&[]).await;
    for round in 0..10 {
        let submit = json!({"threadId": thread, "input": text("say x"), "operationId": format!("once:{round}")});
        let (one, two) = (bot.request("run/submit", submit.clone()).await, other.request("run/submit", submit).await);
        let (one, two) = (bot.answer(one).await, other.answer(two).await);
        assert_eq!(one["result"]["runId"], two["result"]["runId"], "{one} {two}");
        assert_ne!(one["result"]["replayed"], two["result"]["replayed"]);
        bot.ended(&one["result"]["runId"]).await;
    }
    let users = bot.chain(&thread).await.into_iter().filter(|message| message["role"] == "user").count();
    assert_eq!(users, 10);
}

pub(super) async fn a_refused_request_does_not_use_its_operation_id_up(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.start(&[]).await;
    let bad = json!({"threadId": thread, "title": "", "operationId": "again"});
    bot.refused("thread/update", bad).await;
    let good = json!({"threadId": thread, "title": "fine", "operationId": "again"});
    assert_eq!(bot.call("thread/update", good).await["replayed"], false);
    for odd in [json!(""), json!("a b"), json!("x".repeat(129)), json!(5), json!("ü")] {
        let error = bot.refused("thread/update", json!({"threadId": thread, "operationId": odd})).await;
        assert_eq!((&error["data"]["kind"], &error["data"]["path"]), (&json!("invalidParams"), &json!("/operationId")));
    }
    let longest = json!({"threadId": thread, "operationId": "x".repeat(128)});
    bot.call("thread/update", longest).await;
}

/// What the methods are tried on.
struct Things {
    project: Value,
    grant: Value,
    policy: Value,
    thread: Value,
    held: Value,
    busy: Value,
    waiting: Value,
    asking: Value,
    paused: Value,
    forked: Value,
    branch: Value,
    failed: Value,
    doomed: [Value; 2],
    secured: Value,
    endpoints: [Value; 2],
    servers: [Value; 2],
    review: Value,
}

impl Things {
    async fn make(bot: &mut Raw) -> Self {
        let thread = bot.start(&[tool("t")]).await;
        let project = bot.project_of(&thread).await;
        let add = json!({"projectId": project, "path": "/", "capabilities": ["read"]});
        let grant = bot.call("grant/add", add).await["grant"]["grantId"].clone();
        let policy = bot.rule("global", &Value::Null, "nothing", "ask").await;
        let mut endpoints = Vec::new();
        for name in ["a", "b"] {
            let set = json!({"name": name, "provider": "openaiCompatible", "baseUrl": "https://a.example/v1", "model": "m"});
            endpoints.push(bot.call("endpoint/set", set).await["endpoint"]["endpointId"].clone());
        }
        bot.call("secret/set", json!({"endpointId": endpoints[0], "value": "key"})).await;
        // A branch that is held, and an approval that is open.
        let held = bot.start(&[]).await;
        let submit = |thread: &Value, input: &str| json!({"threadId": thread, "input": text(input), "endpointId": "scripted"});
        bot.call("run/submit", submit(&held, "sleep 600000")).await;
        bot.call("run/submit", submit(&held, "say waits")).await;
        bot.call("run/stop", json!({"threadId": held})).await;
        // An input that waits behind a run.
        let busy = bot.start(&[]).await;
        bot.call("run/submit", submit(&busy, "sleep 600000")).await;
        let waiting = bot.call("run/submit", submit(&busy, "say waits")).await["messageId"].clone();
        let asks = bot.start(&[tool_with("act", json!({"approval": "ask"}))]).await;
        bot.call("run/submit", submit(&asks, "call act")).await;
        let asking = bot.asked("approval/request").await["params"]["interactionId"].clone();
        // A run that is paused: the scripted model needs more tokens than it may have.
        let paused = bot.start(&[]).await;
        bot.call("settings/update", json!({"runMaxTokens": 1})).await;
        let run = bot.call("run/submit", submit(&paused, "call nothing\nthen sleep 600000")).await["runId"].clone();
        bot.call("run/wait", json!({"runId": run, "until": "blocked"})).await;
        bot.call("settings/update", json!({"runMaxTokens": null})).await;
        // A run that has failed.
        let failed = bot.start(&[]).await;
        let run = bot.call("run/submit", submit(&failed, "fail badRequest")).await["runId"].clone();
        bot.ended(&run).await;
        let endpoints = [endpoints[0].clone(), endpoints[1].clone()];
        let forked = bot.start(&[]).await;
        let mut fork = submit(&forked, "say hello");
        fork["mode"] = json!("fork");
        let branch = bot.call("run/submit", fork).await["branchId"].clone();
        let endpoints = [endpoints[0].clone(), endpoints[1].clone()];
        let secured = bot.call("project/create", json!({"name": "secured"})).await["project"]["projectId"].clone();
        let doomed = bot.call("project/create", json!({"name": "doomed"})).await["project"]["projectId"].clone();
        let doomed = [bot.start(&[]).await, doomed];
        // Servers that cannot be started are there all the same.
        let mut servers = [Value::Null, Value::Null];
        for (server, name) in servers.iter_mut().zip(["kept", "doomed"]) {
            let add = json!({"command": "no-such-program-of-anybody", "name": name});
            *server = bot.call("mcp/server/add", add).await["server"]["serverId"].clone();
        }
        let review = bot.call("mcp/review/read", json!({"serverId": servers[0]})).await["review"]["digest"].clone();
        Self {
            servers,
            review,
            secured,
             project, grant, policy, thread, held, busy, waiting, asking, paused, forked, branch, failed, doomed, endpoints }
    }

    /// A body of each mutating method, and another one.
    fn bodies(&self, method: &str) -> (Value, Value) {
        let Self { project, grant, policy, thread, held, asking, paused, failed, endpoints: [first, second], .. } = self;
        let (busy, waiting, forked) = (&self.busy, &self.waiting, &self.forked);
        let (mut body, field, other) = match method {
            "settings/update" => (json!({"approvalMs": 5_000}), "approvalMs", json!(6_000)),
            "project/create" => (json!({"name": "one"}), "name", json!("two")),
            "project/update" => (json!({"projectId": project, "name": "one"}), "name", json!("two")),
            "project/delete" => (json!({"projectId": self.doomed[1]}), "projectId", json!("x")),
            "thread/delete" => (json!({"threadId": self.doomed[0]}), "threadId", json!("x")),
            "project/ensure" => (json!({"path": "/tmp"}), "path", json!("/")),
            "grant/add" => (json!({"projectId": project, "path": "/tmp", "capabilities": ["read"]}), "path", json!("/")),
            "grant/remove" => (json!({"projectId": project, "grantId": grant}), "grantId", json!("x")),
            "policy/set" => (
                json!({"level": "global", "source": "client:bot", "decision": "ask"}),
                "decision",
                json!("deny"),
            ),
            "project/security/replace" => (
                json!({"projectId": self.secured, "grants": [], "policies": [], "expectedRevision": 1}),
                "grants",
                json!([{"path": "/", "capabilities": ["read"]}]),
            ),
            "policy/remove" => (json!({"policyId": policy}), "policyId", json!("x")),
            "thread/start" => (json!({"title": "one"}), "title", json!("two")),
            "thread/resume" => (json!({"threadId": thread, "tools": [tool("u")]}), "tools", json!([])),
            "thread/update" => (json!({"threadId": thread, "title": "one"}), "title", json!("two")),
            "thread/archive" => (json!({"threadId": thread}), "archived", json!(false)),
            "run/submit" => (json!({"threadId": held, "input": text("say queued")}), "input", text("else")),
            "run/stop" => (json!({"threadId": thread}), "runId", json!("x")),
            "thread/markRead" => (json!({"threadId": thread, "seq": 1}), "seq", json!(2)),
            "run/retry" => (json!({"threadId": failed}), "branchId", json!("x")),
            "run/resume" => (json!({"threadId": paused}), "branchId", json!("x")),
            "run/skip" => (json!({"threadId": held}), "branchId", json!("x")),
            "branch/update" => (json!({"threadId": thread, "branchId": thread, "title": "one"}), "title", json!("two")),
            "branch/delete" => (json!({"threadId": forked, "branchId": self.branch}), "dryRun", json!(true)),
            "queue/update" => {
                (json!({"threadId": busy, "messageId": waiting, "input": text("one")}), "input", text("two"))
            }
            "queue/remove" => (json!({"threadId": busy, "messageId": waiting}), "messageId", json!("x")),
            "queue/clear" => (json!({"threadId": busy}), "branchId", json!("x")),
            "queue/reorder" => (json!({"threadId": busy, "messageIds": []}), "messageIds", json!(["x"])),
            "interaction/settle" => (
                json!({"interactionId": asking, "answer": {"decision": "decline"}}),
                "answer",
                json!({"decision": "accept"}),
            ),
            "endpoint/set" => (json!({"endpointId": first, "name": "one"}), "name", json!("two")),
            "endpoint/remove" => (json!({"endpointId": second}), "endpointId", json!("x")),
            "secret/set" => (json!({"endpointId": first, "value": "one"}), "value", json!("two")),
            "mcp/server/add" => {
                (json!({"command": "no-such-program-of-anybody", "name": "one", "wait": false}), "name", json!("two"))
            }
            "mcp/server/update" => (json!({"serverId": self.servers[0], "name": "one"}), "name", json!("two")),
            "mcp/server/restart" => (json!({"serverId": self.servers[0]}), "serverId", json!("x")),
            "mcp/server/remove" => (json!({"serverId": self.servers[1]}), "serverId", json!("x")),
            "mcp/review/submit" => (
                json!({"serverId": self.servers[0], "digest": self.review, "tools": []}),
                "tools",
                json!(["x"]),
            ),
            "secret/remove" => (json!({"endpointId": first}), "endpointId", json!("x")),
            other => panic!("the mutating method {other} is not tried yet"),
        };
        let mut changed = body.clone();
        changed[field] = other;
        (body.take(), changed)
    }

    /// Everything a repeated request could have changed.
    async fn fingerprint(&self, bot: &mut Raw) -> Vec<Value> {
        let mut seen = Vec::new();
        for (method, params) in [
            ("project/list", json!({})),
            ("grant/list", json!({"projectId": self.project})),
            ("policy/list", json!({})),
            ("endpoint/list", json!({})),
            ("settings/read", json!({})),
        ] {
            seen.push(bot.call(method, params).await);
        }
        // Whether a server has been started yet is no matter.
        let servers = bot.call("mcp/server/list", json!({})).await["items"].as_array().unwrap().clone();
        let stored = |server: &Value| json!([server["serverId"], server["name"], server["revision"]]);
        seen.extend(servers.iter().map(stored));
        let threads = bot.call("thread/list", json!({"sort": "created"})).await;
        seen.push(json!(threads["items"].as_array().unwrap().len()));
        seen.push(bot.call("thread/read", json!({"threadId": self.thread})).await["thread"]["revision"].clone());
        seen.push(bot.call("branch/list", json!({"threadId": self.thread})).await);
        seen.push(bot.call("queue/list", json!({"threadId": self.busy})).await);
        seen
    }
}
