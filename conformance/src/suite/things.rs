//! One of each thing that a method can change, and a request that changes it: for scenarios that try every method there is.

use serde_json::{Value, json};

use super::{Raw, text, tool, tool_with};

/// What the methods are tried on.
pub(super) struct Things {
    project: Value,
    grant: Value,
    policy: Value,
    pub(super) thread: Value,
    held: Value,
    pub(super) busy: Value,
    waiting: Value,
    asking: Value,
    paused: Value,
    forked: Value,
    branch: Value,
    failed: Value,
    doomed: [Value; 2],
    secured: Value,
    entries: [Value; 2],
    endpoints: [Value; 2],
    servers: [Value; 2],
    review: Value,
    wanted: Value,
}

impl Things {
    pub(super) async fn make(bot: &mut Raw) -> Self {
        let thread = bot.start(&[tool("t")]).await;
        let project = bot.project_of(&thread).await;
        let add = json!({"projectId": project, "path": "/", "capabilities": ["read"]});
        let grant = bot.call("grant/add", add).await["grant"]["grantId"].clone();
        let policy = bot.rule("global", &Value::Null, "nothing", "ask").await;
        let mut endpoints = Vec::new();
        for name in ["a", "b"] {
            let set =
                json!({"name": name, "provider": "openaiCompatible", "baseUrl": "https://a.example/v1", "model": "m"});
            endpoints.push(bot.call("endpoint/set", set).await["endpoint"]["endpointId"].clone());
        }
        bot.call("secret/set", json!({"endpointId": endpoints[0], "value": "key"})).await;
        // A branch that is held, and an approval that is open.
        let held = bot.start(&[]).await;
        let submit =
            |thread: &Value, input: &str| json!({"threadId": thread, "input": text(input), "endpointId": "scripted"});
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
        // Another one, which waits for the person.
        let standing = bot.start(&[]).await;
        let run = bot.call("run/submit", submit(&standing, "fail badRequest")).await["runId"].clone();
        bot.ended(&run).await;
        let waits = bot.call("attention/list", json!({})).await["items"].as_array().unwrap().clone();
        let wanted = waits.iter().find(|waits| waits["subject"] == run).expect("it waits")["attentionId"].clone();
        let forked = bot.start(&[]).await;
        let mut fork = submit(&forked, "say hello");
        fork["mode"] = json!("fork");
        let branch = bot.call("run/submit", fork).await["branchId"].clone();
        let endpoints = [endpoints[0].clone(), endpoints[1].clone()];
        let entries = two_entries(bot).await;
        let secured = new_project(bot, "secured").await;
        let doomed = [bot.start(&[]).await, new_project(bot, "doomed").await];
        let servers = two_servers(bot).await;
        let review = bot.call("mcp/review/read", json!({"serverId": servers[0]})).await["review"]["digest"].clone();
        Self {
            servers,
            review,
            secured,
            entries,
            wanted,
            project,
            grant,
            policy,
            thread,
            held,
            busy,
            waiting,
            asking,
            paused,
            forked,
            branch,
            failed,
            doomed,
            endpoints,
        }
    }

    /// A body of each mutating method, and another one.
    pub(super) fn bodies(&self, method: &str) -> (Value, Value) {
        let Self { project, grant, policy, thread, held, asking, paused, failed, endpoints: [first, second], .. } =
            self;
        let (busy, waiting, forked) = (&self.busy, &self.waiting, &self.forked);
        let (mut body, field, other) = match method {
            "settings/update" => (json!({"approvalMs": 5_000}), "approvalMs", json!(6_000)),
            "project/create" => (json!({"name": "one"}), "name", json!("two")),
            "project/update" => (json!({"projectId": project, "name": "one"}), "name", json!("two")),
            "project/delete" => (json!({"projectId": self.doomed[1]}), "projectId", json!("x")),
            "thread/delete" => (json!({"threadId": self.doomed[0]}), "threadId", json!("x")),
            "project/ensure" => (json!({"path": "/tmp"}), "path", json!("/")),
            "grant/add" => {
                (json!({"projectId": project, "path": "/tmp", "capabilities": ["read"]}), "path", json!("/"))
            }
            "grant/remove" => (json!({"projectId": project, "grantId": grant}), "grantId", json!("x")),
            "policy/set" => {
                (json!({"level": "global", "source": "client:bot", "decision": "ask"}), "decision", json!("deny"))
            }
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
            "attention/seen" => (json!({"attentionId": self.wanted}), "attentionId", json!("x")),
            "endpoint/set" => (json!({"endpointId": first, "name": "one"}), "name", json!("two")),
            "endpoint/remove" => (json!({"endpointId": second}), "endpointId", json!("x")),
            "secret/set" => (json!({"endpointId": first, "value": "one"}), "value", json!("two")),
            "mcp/server/add" => {
                (json!({"command": "no-such-program-of-anybody", "name": "one", "wait": false}), "name", json!("two"))
            }
            "mcp/server/update" => (json!({"serverId": self.servers[0], "name": "one"}), "name", json!("two")),
            "mcp/server/restart" => (json!({"serverId": self.servers[0]}), "serverId", json!("x")),
            "mcp/server/remove" => (json!({"serverId": self.servers[1]}), "serverId", json!("x")),
            "mcp/review/submit" => {
                (json!({"serverId": self.servers[0], "digest": self.review, "tools": []}), "tools", json!(["x"]))
            }
            "secret/remove" => (json!({"endpointId": first}), "endpointId", json!("x")),
            other => self.document(other),
        };
        let mut changed = body.clone();
        changed[field] = other;
        (body.take(), changed)
    }

    /// The same, of what is written as a document.
    fn document(&self, method: &str) -> (Value, &'static str, Value) {
        match method {
            "memory/create" => {
                (json!({"scope": "user", "kind": "fact", "title": "one", "body": "x"}), "title", json!("two"))
            }
            "memory/update" => (json!({"entryId": self.entries[0], "title": "one"}), "title", json!("two")),
            "memory/delete" => (json!({"entryId": self.entries[1]}), "entryId", json!("x")),
            "instructions/replace" => {
                (json!({"projectId": self.secured, "text": "one", "expectedRevision": 1}), "text", json!("two"))
            }
            "project/security/replace" => (
                json!({"projectId": self.secured, "grants": [{"path": "/", "capabilities": ["read"]}],
                    "policies": [], "expectedRevision": 1}),
                "grants",
                json!([]),
            ),
            other => panic!("the mutating method {other} is not tried yet"),
        }
    }

    /// Everything a repeated request could have changed.
    pub(super) async fn fingerprint(&self, bot: &mut Raw) -> Vec<Value> {
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

/// Two servers. Those that cannot be started are there all the same.
async fn two_servers(bot: &mut Raw) -> [Value; 2] {
    let mut servers = [Value::Null, Value::Null];
    for (server, name) in servers.iter_mut().zip(["kept", "doomed"]) {
        let add = json!({"command": "no-such-program-of-anybody", "name": name});
        *server = bot.call("mcp/server/add", add).await["server"]["serverId"].clone();
    }
    servers
}

async fn two_entries(bot: &mut Raw) -> [Value; 2] {
    let mut entries = [Value::Null, Value::Null];
    for (entry, title) in entries.iter_mut().zip(["kept", "doomed"]) {
        let create = json!({"scope": "user", "kind": "fact", "title": title, "body": "x"});
        *entry = bot.call("memory/create", create).await["entry"]["entryId"].clone();
    }
    entries
}

async fn new_project(bot: &mut Raw, name: &str) -> Value {
    bot.call("project/create", json!({"name": name})).await["project"]["projectId"].clone()
}
