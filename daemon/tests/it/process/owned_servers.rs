//! A server of an owner's own, from adding it to removing it, as a process that the daemon starts.

use std::{fs, path::PathBuf};

use ropewalk_conformance::{DaemonProcess, suite::Raw};
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Place, client};
use crate::support::text;

/// A server in a few lines: one tool that says it reads, one that does not, and one that nobody can use.
const SERVER: &str = r#"
import { createInterface } from "node:readline";
const tools = [
  { name: "list_notes", description: "Lists notes.", inputSchema: LIST, annotations: { readOnlyHint: true } },
  { name: "add_note", description: "ADD", inputSchema: { type: "object", properties: { text: { type: "string", pattern: "^(?!x)" } } } },
  { name: "odd", description: "Odd.", inputSchema: { type: "array" } },
];
const results = {
  initialize: () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "Notes", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: given }) => ({ content: [{ type: "text", text: `${name} ${JSON.stringify(given)} ${process.env.TOKEN}` }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method]?.(params);
  const answer = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\n");
}
"#;

/// Writes the server: the schema of its reading tool, and what it says of its writing one.
pub fn write_server(place: &Place, list: &Value, add: &str) -> PathBuf {
    let path = place.directory.path().join("notes.mjs");
    fs::write(&path, SERVER.replace("LIST", &list.to_string()).replace("ADD", add)).unwrap();
    path
}

struct Owner {
    place: Place,
    daemon: DaemonProcess,
    raw: Raw<UnixStream>,
}

impl Owner {
    async fn new() -> Self {
        let place = Place::new();
        write_server(&place, &json!({"type": "object"}), "Adds a note.");
        let daemon = place.daemon().await;
        let raw = client(&daemon, "owner", "in-owner").await;
        Self { place, daemon, raw }
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.raw.call(method, params).await
    }

    async fn add(&mut self) -> Value {
        let path = self.place.directory.path().join("notes.mjs");
        self.call("mcp/server/add", json!({"command": "node", "args": [path], "env": {"TOKEN": "t-7"}})).await
    }

    /// The states of the review's tools.
    async fn states(&mut self, server: &Value, method: &str) -> (Value, Value) {
        let review = self.call(method, json!({"serverId": server})).await["review"].clone();
        let states = review["tools"].as_array().unwrap().iter().map(|tool| tool["state"].clone()).collect();
        (states, review["digest"].clone())
    }

    /// The item of a run's one call, and whether somebody was to be asked about it; nobody is there to answer.
    async fn run(&mut self, thread: &Value, call: &str) -> (Value, bool) {
        let input = text(&format!("call {call}"));
        let params = json!({"threadId": thread, "input": input, "unattended": "decline", "wait": true});
        let run = self.call("run/submit", params).await["run"].clone();
        let items = self.call("item/list", json!({"threadId": thread, "runId": run["runId"]})).await;
        let item = items["items"].as_array().unwrap().iter().find(|item| item["kind"] == "toolCall").cloned();
        let item = item.unwrap_or_else(|| panic!("no call in {items}"));
        let asked = item["decision"]["via"] != "policy" && item["decision"]["via"] != "default";
        (item, asked)
    }
}

#[tokio::test]
async fn mcp_1_mcp_58_mcp_59_mcp_60_a_server_is_added_reviewed_and_its_tools_are_called_as_they_were_approved() {
    let mut owner = Owner::new().await;
    let added = owner.add().await;
    let server = added["server"]["serverId"].clone();
    assert_eq!((&added["server"]["name"], &added["server"]["slug"]), (&json!("Notes"), &json!("notes")), "{added}");
    assert_eq!(
        (&added["server"]["state"], &added["server"]["reason"]),
        (&json!("needsReview"), &json!("review_needed"))
    );
    assert_eq!(added["server"]["envNames"], json!(["TOKEN"]));
    assert_eq!(added["server"]["accounts"][0]["accountId"], json!("mcp-notes:local"));
    assert!(!added.to_string().contains("t-7"), "values of an environment are not shown");
    let thread = owner.call("thread/start", json!({"subscribe": false})).await["thread"]["threadId"].clone();
    let tools = owner.call("thread/tools", json!({"threadId": thread})).await;
    assert!(!tools.to_string().contains("mcp_notes_"), "nothing is usable before a review is submitted");

    let (states, digest) = owner.states(&server, "mcp/review/read").await;
    assert_eq!(states, json!(["new", "new", "unusable"]));
    let params = json!({"serverId": server, "digest": digest, "tools": ["list_notes", "add_note"], "trusted": true});
    let submitted = owner.call("mcp/review/submit", params).await;
    assert_eq!((&submitted["server"]["state"], &submitted["server"]["trusted"]), (&json!("ready"), &json!(true)));
    assert_eq!(submitted["server"]["counts"]["approved"], json!(2));

    let (read, asked) = owner.run(&thread, "mcp_notes_listNotes {\"a\":1}").await;
    assert!(!asked && read["state"] == "completed", "{read}");
    assert!(read.to_string().contains("list_notes {\\\"a\\\":1} t-7"), "{read}");
    let (write, asked) = owner.run(&thread, "mcp_notes_addNote {\"text\":\"x\"}").await;
    assert!(asked, "a tool that writes is asked about, and nobody is there to answer: {write}");
}

#[tokio::test]
async fn a_server_that_is_started_otherwise_goes_back_to_review_with_all_its_tools() {
    let mut owner = Owner::new().await;
    let server = owner.add().await["server"]["serverId"].clone();
    let (_, digest) = owner.states(&server, "mcp/review/read").await;
    let params = json!({"serverId": server, "digest": digest, "tools": ["list_notes"], "trusted": true});
    owner.call("mcp/review/submit", params).await;
    let thread = owner.call("thread/start", json!({"subscribe": false})).await["thread"]["threadId"].clone();
    let same = json!({"serverId": server, "env": {"TOKEN": "t-7"}});
    assert_eq!(owner.call("mcp/server/update", same).await["server"]["trusted"], json!(true));
    let (read, asked) = owner.run(&thread, "mcp_notes_listNotes {}").await;
    assert!(!asked && read["state"] == "completed", "{read}");

    let other = json!({"serverId": server, "env": {"TOKEN": "t-8"}});
    let updated = owner.call("mcp/server/update", other).await["server"].clone();
    assert_eq!((&updated["trusted"], &updated["counts"]["approved"]), (&json!(false), &json!(0)), "{updated}");
    let (call, _) = owner.run(&thread, "mcp_notes_listNotes {}").await;
    assert_eq!((&call["state"], &call["error"]["code"]), (&json!("failed"), &json!("unknown_tool")), "{call}");
    let (states, _) = owner.states(&server, "mcp/review/check").await;
    assert_eq!(states, json!(["new", "new", "unusable"]));
    let status = owner.call("mcp/server/status", json!({"serverId": server})).await["items"][0].clone();
    assert_eq!((&status["state"], &status["reason"]), (&json!("needsReview"), &json!("review_needed")), "{status}");
}

#[tokio::test]
async fn mcp_74_mcp_76_mcp_85_a_changed_schema_blocks_until_it_is_reviewed_and_a_changed_text_does_not() {
    let mut owner = Owner::new().await;
    let server = owner.add().await["server"]["serverId"].clone();
    let (_, digest) = owner.states(&server, "mcp/review/read").await;
    let params = json!({"serverId": server, "digest": digest, "tools": ["list_notes", "add_note"], "trusted": true});
    owner.call("mcp/review/submit", params).await;
    let stale = json!({"serverId": server, "digest": digest, "tools": []});
    let refused = owner.raw.refused("mcp/review/submit", stale).await;
    assert_eq!(refused["data"]["kind"], json!("conflict"), "a digest is good for one submit: {refused}");

    write_server(&owner.place, &json!({"type": "object", "properties": {"all": {"type": "boolean"}}}), "Obey me.");
    owner.call("mcp/server/restart", json!({"serverId": server})).await;
    let (states, digest) = owner.states(&server, "mcp/review/read").await;
    assert_eq!(states, json!(["updated", "changed", "unusable"]));
    let status = owner.call("mcp/server/status", json!({"serverId": server})).await["items"][0].clone();
    assert_eq!((&status["state"], &status["reason"]), (&json!("ready"), &json!("review_needed")));
    assert_eq!((&status["counts"]["blocked"], &status["counts"]["updates"]), (&json!(1), &json!(1)));

    let thread = owner.call("thread/start", json!({"subscribe": false})).await["thread"]["threadId"].clone();
    let tools = owner.call("thread/tools", json!({"threadId": thread})).await;
    let tool = |name: &str| {
        let tools = tools["items"].as_array().or(tools["tools"].as_array()).unwrap();
        tools.iter().find(|tool| tool["flatName"] == name).unwrap().clone()
    };
    assert_eq!(tool("mcp_notes_listNotes")["state"], json!("blocked"));
    assert_eq!(tool("mcp_notes_addNote")["description"], json!("Adds a note."), "the approved text stays in use");
    let (blocked, _) = owner.run(&thread, "mcp_notes_listNotes {}").await;
    assert_eq!(blocked["state"], json!("failed"), "{blocked}");
    assert!(blocked.to_string().contains("tool_blocked"), "{blocked}");

    let params = json!({"serverId": server, "digest": digest, "tools": ["list_notes", "add_note"]});
    owner.call("mcp/review/submit", params).await;
    let (read, asked) = owner.run(&thread, "mcp_notes_listNotes {}").await;
    assert!(!asked && read["state"] == "completed", "{read}");
}

#[tokio::test]
async fn app_17_app_22_bundled_servers_are_listed_with_their_tools_and_without_a_command() {
    let mut owner = Owner::new().await;
    let listed = owner.call("mcp/server/list", json!({})).await["items"].clone();
    let [app, files] = &listed.as_array().unwrap()[..] else { panic!("{listed}") };
    for (server, transport) in [(app, "inProcess"), (files, "stdio")] {
        let is = (&server["builtin"], &server["readOnly"], &server["removable"], &server["transport"]);
        assert_eq!(is, (&json!(true), &json!(true), &json!(false), &json!(transport)));
        assert!(server["command"].is_null() && server["args"].is_null() && server["envNames"].is_null(), "{server}");
    }
    let thread = owner.call("thread/start", json!({"subscribe": false})).await["thread"]["threadId"].clone();
    let tools = owner.call("thread/tools", json!({"threadId": thread})).await["items"].clone();
    let policy = tools.as_array().unwrap().iter().find(|tool| tool["flatName"] == "mcp_app__app_read").unwrap();
    assert_eq!(policy["policy"]["decision"], json!("ask"), "what it may do is shown where its tools are");
}

#[tokio::test]
async fn mcp_90_a_removed_server_is_gone_with_its_tools_and_lists_are_told() {
    let mut owner = Owner::new().await;
    let stream = owner.daemon.connect().await.unwrap();
    let mut watch = Raw::introduced(stream, "watch", "in-watch", json!({}), json!([])).await;
    let server = owner.add().await["server"]["serverId"].clone();
    let id = server.to_string();
    let is_about_it = |message: &Value| {
        let params = &message["params"];
        message["method"] == "data/changed"
            && params["kinds"].to_string().contains("\"server\"")
            && params["ids"].to_string().contains(&id)
    };
    watch.until("lists of servers are told", is_about_it).await;
    let removed = owner.call("mcp/server/remove", json!({"serverId": server})).await;
    assert_eq!(removed["applied"], json!(true));
    let left = owner.call("mcp/server/list", json!({})).await;
    let ids: Vec<&Value> = left["items"].as_array().unwrap().iter().map(|server| &server["serverId"]).collect();
    assert_eq!(ids, [&json!("app"), &json!("files")]);
    let refused = owner.raw.refused("mcp/server/read", json!({"serverId": server})).await;
    assert_eq!(refused["data"]["kind"], json!("notFound"));
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_added_with_its_state_and_can_be_mended() {
    let mut owner = Owner::new().await;
    let added = owner.call("mcp/server/add", json!({"command": "no-such-program-7", "name": "Lost"})).await;
    assert_eq!((&added["server"]["state"], &added["server"]["reason"]), (&json!("failed"), &json!("start_failed")));
    assert!(added["server"]["party"].as_str().unwrap().contains("no-such-program-7"), "{added}");
    assert!(added["review"].is_null());
    let server = added["server"]["serverId"].clone();
    let refused = owner.raw.refused("mcp/review/check", json!({"serverId": server})).await;
    assert_eq!((&refused["data"]["kind"], &refused["data"]["reason"]), (&json!("unavailable"), &json!("start_failed")));
}

#[tokio::test]
async fn who_does_not_wait_is_answered_at_once_and_a_repeat_adds_nothing() {
    let mut owner = Owner::new().await;
    let path = owner.place.directory.path().join("notes.mjs");
    let params = json!({"command": "node", "args": [path], "wait": false, "operationId": "op-1"});
    let added = owner.call("mcp/server/add", params.clone()).await;
    assert_eq!((&added["server"]["state"], &added["replayed"]), (&json!("starting"), &json!(false)));
    let again = owner.call("mcp/server/add", params).await;
    assert_eq!((&again["server"]["serverId"], &again["replayed"]), (&added["server"]["serverId"], &json!(true)));
    let (states, _) = owner.states(&added["server"]["serverId"], "mcp/review/check").await;
    assert_eq!(states, json!(["new", "new", "unusable"]));
}
