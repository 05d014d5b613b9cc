//! MCP servers that others wrote, as processes of the real daemon: added, reviewed, called by runs, and gone with it.

use std::path::PathBuf;

use ropewalk_conformance::{DaemonProcess, npm_package, suite::Raw};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::UnixStream;

use super::listening;
use crate::{process::with_argument, support::text};

/// A daemon that has one server, and somebody who uses both.
struct Owner {
    daemon: DaemonProcess,
    raw: Raw<UnixStream>,
    place: TempDir,
    script: String,
    thread: Value,
}

impl Owner {
    async fn new(script: PathBuf) -> Self {
        let (daemon, place) = listening().await;
        let mut raw = Raw::greeted(daemon.connect().await.unwrap(), "owner", "in-owner").await;
        let thread = raw.call("thread/start", json!({})).await["thread"]["threadId"].clone();
        Self { daemon, raw, place, script: script.to_str().unwrap().to_owned(), thread }
    }

    /// The script of a server that is an npm package, with an owner for it.
    async fn of_package(package: &str) -> Self {
        Self::new(npm_package(package).unwrap().join("dist/index.js")).await
    }

    /// Adds the server under the name `peer`, and approves all of its review that can be used; these tools.
    async fn approve(&mut self, arguments: &[&str], env: Value) -> Vec<Value> {
        let arguments: Vec<_> = [self.script.as_str()].into_iter().chain(arguments.iter().copied()).collect();
        let params = json!({"name": "peer", "command": "node", "args": arguments, "env": env});
        let server = self.raw.call("mcp/server/add", params).await["server"].clone();
        assert_eq!(server["state"], json!("needsReview"), "{server}");
        let server = server["serverId"].clone();
        let review = self.raw.call("mcp/review/read", json!({"serverId": server})).await["review"].clone();
        let tools = review["tools"].as_array().unwrap().clone();
        let (usable, unusable): (Vec<_>, Vec<_>) = tools.into_iter().partition(|tool| tool["state"] == "new");
        let is_task = |tool: &Value| tool["reason"].as_str().is_some_and(|reason| reason.starts_with("task_required"));
        assert!(unusable.iter().all(|tool| tool["state"] == "unusable" && is_task(tool)), "{review}");
        let names: Vec<_> = usable.iter().map(|tool| tool["name"].clone()).collect();
        let params = json!({"serverId": server, "digest": review["digest"], "tools": names, "trusted": true});
        let server = self.raw.call("mcp/review/submit", params).await["server"].clone();
        assert_eq!(
            (&server["state"], &server["counts"]["approved"]),
            (&json!("ready"), &json!(names.len())),
            "{server}"
        );
        names
    }

    /// The item of the one call of a run; whoever is asked about it says yes.
    async fn run(&mut self, tool: &str, arguments: Value) -> Value {
        let input = text(&format!("call mcp_peer_{tool} {arguments}"));
        let run = self.raw.call("run/submit", json!({"threadId": self.thread, "input": input})).await["run"].clone();
        let is_over = |line: &Value| {
            line["method"] == "approval/request"
                || (line["params"]["event"]["type"] == "runCompleted"
                    && line["params"]["event"]["run"]["runId"] == run["runId"])
        };
        let line = self.raw.until("an approval or the end of the run", is_over).await;
        if line["method"] == "approval/request" {
            self.raw.reply(&line, json!({"decision": "accept"})).await;
            self.raw.until("the end of the run", is_over).await;
        }
        let params = json!({"threadId": self.thread, "runId": run["runId"]});
        let items = self.raw.call("item/list", params).await;
        let call = items["items"].as_array().unwrap().iter().find(|item| item["kind"] == "toolCall").cloned();
        call.unwrap_or_else(|| panic!("no call in {items}"))
    }

    /// A run whose call completes; the item of the call as text.
    async fn completed(&mut self, tool: &str, arguments: Value) -> String {
        let item = self.run(tool, arguments).await;
        assert_eq!(item["state"], json!("completed"), "{item}");
        item.to_string()
    }

    /// Ends the daemon, which has the server as a child until then; nothing of the server is left.
    async fn leaves_nothing(mut self) {
        let pids = with_argument(&self.script);
        assert!(!pids.is_empty(), "the server runs: {}", self.daemon.log());
        self.raw.call("daemon/shutdown", json!({"graceMs": 1_000})).await;
        assert_eq!(self.daemon.ended().await.unwrap().code(), Some(0), "{}", self.daemon.log());
        let left = with_argument(&self.script);
        assert!(left.is_empty(), "{left:?} of {pids:?} outlived the daemon");
    }
}

#[tokio::test]
async fn app_9_m46_k14_server_everything_answers_shows_progress_and_does_not_outlive_the_daemon() {
    let mut owner = Owner::of_package("@modelcontextprotocol/server-everything").await;
    let tools = owner.approve(&["stdio"], json!({})).await;
    let task = json!("simulate-research-query");
    assert!(tools.len() == 12 && !tools.contains(&task), "what can be called as a task only is not for us: {tools:?}");
    let echo = owner.completed("echo", json!({"message": "to sea"})).await;
    assert!(echo.contains("Echo: to sea"), "{echo}");
    let sum = owner.completed("getSum", json!({"a": 19, "b": 23})).await;
    assert!(sum.contains("The sum of 19 and 23 is 42"), "{sum}");
    let weather = owner.completed("getStructuredContent", json!({"location": "Chicago"})).await;
    assert!(weather.contains("\"conditions\""), "{weather}");

    let long = owner.completed("triggerLongRunningOperation", json!({"duration": 1, "steps": 4})).await;
    assert!(long.contains("Long running operation completed"), "{long}");
    // Ephemeral: a client that is behind gets fewer.
    let shown = owner.raw.seen(|line| line["params"]["event"]["type"] == "toolProgress");
    let fractions: Vec<_> = shown.iter().filter_map(|line| line["params"]["event"]["fraction"].as_f64()).collect();
    assert!(!fractions.is_empty() && fractions.is_sorted(), "{shown:?}");
    assert!(fractions.iter().all(|fraction| [0.25, 0.5, 0.75, 1.0].contains(fraction)), "{fractions:?}");
    owner.leaves_nothing().await;
}

#[tokio::test]
async fn app_9_m46_k14_server_memory_keeps_what_one_run_tells_it_for_the_next() {
    let mut owner = Owner::of_package("@modelcontextprotocol/server-memory").await;
    let file = owner.place.path().join("memory.jsonl");
    let tools = owner.approve(&[], json!({"MEMORY_FILE_PATH": file})).await;
    assert_eq!(tools.len(), 9, "{tools:?}");
    let entity = json!({"name": "Ada", "entityType": "person", "observations": ["splices ropes"]});
    let created = owner.run("createEntities", json!({"entities": [entity]})).await;
    assert_eq!(created["state"], json!("completed"), "{created}");
    assert_eq!(created["decision"]["decision"], json!("accept"), "it writes, so somebody was asked: {created}");
    let graph = owner.completed("readGraph", json!({})).await;
    assert!(graph.contains("splices ropes"), "{graph}");
    owner.leaves_nothing().await;
}

#[tokio::test]
async fn app_9_m46_k14_server_sequential_thinking_counts_thoughts_in_one_session() {
    let mut owner = Owner::of_package("@modelcontextprotocol/server-sequential-thinking").await;
    let tools = owner.approve(&[], json!({})).await;
    assert_eq!(tools, [json!("sequentialthinking")]);
    for number in 1..=2 {
        let thought = json!({
            "thought": "Which knot holds?", "nextThoughtNeeded": number < 2, "thoughtNumber": number, "totalThoughts": 2,
        });
        let item = owner.run("sequentialthinking", thought).await;
        assert_eq!(item["state"], json!("completed"), "{item}");
        let length = format!("thoughtHistoryLength\\\": {number}");
        assert!(item.to_string().replace("\\n", "").contains(&length), "{item}");
    }
    owner.leaves_nothing().await;
}

#[tokio::test]
async fn app_9_m46_k14_server_filesystem_lists_its_directory_and_no_other() {
    let mut owner = Owner::of_package("@modelcontextprotocol/server-filesystem").await;
    let directory = owner.place.path().join("yard");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("hemp.txt"), "three strands").unwrap();
    let directory = directory.canonicalize().unwrap();
    let tools = owner.approve(&[directory.to_str().unwrap()], json!({})).await;
    assert_eq!(tools.len(), 14, "{tools:?}");
    let list = owner.completed("listDirectory", json!({"path": directory})).await;
    assert!(list.contains("[FILE] hemp.txt"), "{list}");
    let file = owner.completed("readTextFile", json!({"path": directory.join("hemp.txt")})).await;
    assert!(file.contains("three strands"), "{file}");
    let outside = owner.run("readTextFile", json!({"path": "/etc/hostname"})).await;
    assert_eq!(outside["state"], json!("failed"), "{outside}");
    assert!(outside.to_string().contains("Access denied"), "{outside}");
    owner.leaves_nothing().await;
}

#[tokio::test]
async fn app_9_a_server_that_speaks_2026_07_28_alone_is_spoken_to_without_a_handshake() {
    npm_package("@modelcontextprotocol/server").unwrap();
    let scripts = concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance/npm/servers/modern.mjs");
    let mut owner = Owner::new(PathBuf::from(scripts).canonicalize().unwrap()).await;
    let tools = owner.approve(&[], json!({})).await;
    assert_eq!(tools, [json!("add"), json!("fail")]);
    let sum = owner.completed("add", json!({"a": 19, "b": 23})).await;
    assert!(sum.contains("the sum is 42"), "{sum}");
    let failed = owner.run("fail", json!({})).await;
    assert_eq!(failed["state"], json!("failed"), "{failed}");
    assert!(failed.to_string().contains("it never works"), "{failed}");
    owner.leaves_nothing().await;
}
