//! Calls that servers are still at: a run is stopped under one, and a daemon is killed under another.

use std::{
    fs,
    time::{Duration, Instant},
};

use ropewalk_conformance::{DaemonProcess, ScriptedServer, ServerOptions, suite::Raw};
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Place, children_of, client, eventually, is_alive};
use crate::support::text;

/// A server that starts a program beside itself, notes what it hears, and never answers a call of `hold`.
const SERVER: &str = r#"
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
spawn("sleep", ["1000"], { stdio: "ignore" });
const tools = ["hold", "echo"].map((name) => ({ name, inputSchema: { type: "object" } }));
const results = {
  initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "Holder", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": () => ({ content: [{ type: "text", text: "echoed" }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  appendFileSync(process.env.HEARD, JSON.stringify({ id, method, params }) + "\n");
  if (id === undefined || params?.name === "hold") continue;
  const result = results[method]?.(params);
  const answer = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\n");
}
"#;

/// A project with a granted directory, and a thread that may call the server without asking.
struct Owner {
    place: Place,
    daemon: DaemonProcess,
    raw: Raw<UnixStream>,
    thread: Value,
}

impl Owner {
    async fn new() -> Self {
        let place = Place::new();
        let at = |name: &str| place.directory.path().canonicalize().unwrap().join(name);
        fs::write(at("holder.mjs"), SERVER).unwrap();
        fs::create_dir(at("granted")).unwrap();
        fs::write(at("granted/note.txt"), "noted").unwrap();
        let daemon = place.daemon().await;
        let mut raw = client(&daemon, "owner", "in-owner").await;
        let add = json!({
            "command": "node", "args": [at("holder.mjs")], "env": {"HEARD": at("heard")}, "name": "Holder",
        });
        let server = raw.call("mcp/server/add", add).await["server"]["serverId"].clone();
        let review = raw.call("mcp/review/read", json!({"serverId": server})).await["review"].clone();
        let submit =
            json!({"serverId": server, "digest": review["digest"], "tools": ["hold", "echo"], "trusted": true});
        raw.call("mcp/review/submit", submit).await;
        raw.call("policy/set", json!({"level": "global", "source": server, "decision": "allow"})).await;
        let project = raw.call("project/create", json!({"name": "p"})).await["project"]["projectId"].clone();
        let grant = json!({"projectId": project, "path": at("granted"), "capabilities": ["read"]});
        raw.call("grant/add", grant).await;
        let thread = raw.call("thread/start", json!({"projectId": project})).await["thread"]["threadId"].clone();
        Self { place, daemon, raw, thread }
    }

    async fn submit(&mut self, script: &str) -> Value {
        let params = json!({"threadId": self.thread, "input": text(script)});
        self.raw.call("run/submit", params).await["runId"].clone()
    }

    /// What the server has heard so far with this method.
    fn heard(&self, method: &str) -> Vec<Value> {
        let heard = fs::read_to_string(self.place.directory.path().join("heard")).unwrap_or_default();
        // The last line may be half written.
        let messages = heard.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        messages.filter(|message| message["method"] == method).collect()
    }

    /// Begins a run that reads a file and then holds at a call of the server.
    async fn holds(&mut self) -> Value {
        let note = self.place.directory.path().canonicalize().unwrap().join("granted/note.txt");
        let read = json!({"path": note});
        let run = self.submit(&format!("call mcp_files__read_file {read}\ncall mcp_holder_hold {{}}")).await;
        eventually("the server is at its call", async || !self.heard("tools/call").is_empty()).await;
        run
    }

    async fn states(&mut self, run: &Value) -> Vec<Value> {
        let items = self.raw.call("item/list", json!({"threadId": self.thread, "runId": run})).await;
        let calls = items["items"].as_array().unwrap().iter().rev().filter(|item| item["kind"] == "toolCall");
        calls.map(|call| call["state"].clone()).collect()
    }
}

/// A process, those it has started, and those they have.
fn tree(pid: u32) -> Vec<u32> {
    let below = children_of(pid).into_iter().flat_map(tree);
    std::iter::once(pid).chain(below).collect()
}

#[tokio::test]
async fn k14_m44_a_daemon_that_is_killed_at_a_call_leaves_no_process_of_its_servers() {
    let mut owner = Owner::new().await;
    owner.holds().await;
    let pids = tree(owner.daemon.pid());
    let named = |name: &str| {
        let line = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        pids.iter().filter(|pid| line(pid).contains(name)).count()
    };
    // The servers and who keeps them, and what the owner's one has started.
    assert!(named("files-server") >= 1 && named("holder.mjs") >= 1 && named("sleep") == 1, "{pids:?}");
    let began = Instant::now();
    owner.daemon.kill().await.unwrap();
    eventually("nothing of it is alive", async || !pids.iter().any(|pid| is_alive(*pid))).await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn m32_m34_a_stop_at_a_call_of_a_process_takes_it_back_and_the_thread_goes_on() {
    let mut owner = Owner::new().await;
    let model = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
    let endpoint = json!({
        "name": "strict", "provider": "openaiCompatible", "baseUrl": model.base_url(), "model": "scripted", "isDefault": true,
    });
    owner.raw.call("endpoint/set", endpoint).await;
    let run = owner.holds().await;
    owner.raw.call("run/stop", json!({"threadId": owner.thread, "runId": run})).await;
    let ended = owner.raw.call("run/wait", json!({"runId": run})).await;
    assert_eq!(ended["run"]["outcome"]["status"], "stopped", "{ended}");
    eventually("the server is told", async || !owner.heard("notifications/cancelled").is_empty()).await;
    let taken_back = &owner.heard("notifications/cancelled")[0]["params"]["requestId"];
    assert_eq!(*taken_back, owner.heard("tools/call")[0]["id"]);
    assert_eq!(owner.states(&run).await, ["completed", "cancelled"]);
    let open = owner.raw.call("interaction/list", json!({"state": "open"})).await;
    assert_eq!(open["items"], json!([]));

    let next = owner.submit("call mcp_holder_echo {}").await;
    let ended = owner.raw.call("run/wait", json!({"runId": next})).await;
    assert_eq!(ended["run"]["outcome"]["status"], "completed", "{ended}");
    assert_eq!(owner.states(&next).await, ["completed"]);
    assert_eq!(owner.heard("initialize").len(), 1, "a call that is taken back ends no server");
    let requests = model.requests();
    assert!(requests.len() >= 3 && requests.iter().all(|request| request.refused.is_none()), "the history is valid");
}
