//! Secrets planted through every door, and looked for in everything that comes out: a key of an endpoint, the environment of a
//! server, an argument that its tool calls secret, a request that is refused.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ropewalk_conformance::{DaemonProcess, RawReply, RawServer, suite::Raw};
use serde_json::{Value, json};
use tokio::{net::UnixStream, process::Command};

use super::{Place, client, program};

/// What all planted secrets have in common.
const MARK: &str = "PLANTED";
const KEY: &str = "sk-PLANTED-key-1";
const ENVIRONMENT: &str = "env-PLANTED-value-2";
const ARGUMENT: &str = "arg-PLANTED-value-3";

/// A server that prints what it was given to both of its ways out, and repeats the secret of a call in its result.
const SERVER: &str = r#"
import { createInterface } from "node:readline";
import { writeFileSync } from "node:fs";
const schema = { type: "object", properties: { name: { type: "string" }, credential: { type: "string", writeOnly: true } } };
const tools = [{ name: "store_key", description: "Stores a key.", inputSchema: schema }];
console.error(`started with ${process.env.TOKEN}`);
console.log(`no message, and ${process.env.TOKEN}`);
const results = {
  initialize: () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "Keys", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ arguments: given }) => {
    writeFileSync(process.argv[2], given.credential + process.env.TOKEN);
    return { content: [{ type: "text", text: `stored ${given.credential}` }], structuredContent: { given }, _meta: { given } };
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method]?.(params);
  const answer = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\n");
}
"#;

fn events(chunks: &[Value]) -> String {
    let lines = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    lines.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn chunk(delta: Value, finish: Value) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
}

/// An answer of a model that makes one call.
fn calls(name: &str, arguments: &Value) -> RawReply {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let call = json!({"index": 0, "id": "call-1", "type": "function", "function": function});
    let begins = chunk(json!({"role": "assistant", "content": null, "tool_calls": [call]}), Value::Null);
    RawReply::stream(events(&[begins, chunk(json!({}), json!("tool_calls"))]))
}

fn says(words: &str) -> RawReply {
    let begins = chunk(json!({"role": "assistant", "content": words}), Value::Null);
    RawReply::stream(events(&[begins, chunk(json!({}), json!("stop"))]))
}

/// All files below a directory.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut directories) = (Vec::new(), vec![root.to_owned()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            match (kind.is_dir(), kind.is_file()) {
                (true, _) => directories.push(entry.path()),
                (_, true) => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

fn has_it(bytes: &[u8]) -> bool {
    bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes())
}

async fn ropewalk(home: &Path, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new(program());
    command.arg("--home").arg(home).args(arguments).stdin(std::process::Stdio::null()).kill_on_drop(true);
    command.env_remove("ROPEWALK_HOME").env_remove("ROPEWALK_SOCKET").env("ROPEWALK_SECRET_STORE", "file");
    let output = tokio::time::timeout(super::PATIENCE, command.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    [output.stdout, output.stderr].concat()
}

/// Everything a client can ask for.
async fn everything(owner: &mut Raw<UnixStream>, thread: &Value, server: &Value) -> String {
    let mut all = Vec::new();
    for (method, params) in [
        ("endpoint/list", json!({})),
        ("settings/read", json!({})),
        ("project/list", json!({})),
        ("policy/list", json!({})),
        ("thread/list", json!({})),
        ("run/list", json!({})),
        ("attention/list", json!({})),
        ("daemon/status", json!({})),
        ("interaction/list", json!({})),
        ("interaction/list", json!({"threadId": thread, "state": "settled"})),
        ("thread/read", json!({"threadId": thread})),
        ("thread/tools", json!({"threadId": thread, "schemas": true})),
        ("thread/messages", json!({"threadId": thread})),
        ("thread/events", json!({"threadId": thread, "after": 0})),
        ("item/list", json!({"threadId": thread})),
        ("context/preview", json!({"threadId": thread})),
        ("mcp/server/list", json!({})),
        ("mcp/server/read", json!({"serverId": server})),
        ("mcp/server/status", json!({})),
        ("mcp/review/read", json!({"serverId": server})),
    ] {
        all.push(json!([method, owner.call(method, params).await]));
    }
    all.extend(std::mem::take(&mut owner.kept));
    Value::from(all).to_string()
}

#[tokio::test]
async fn app_138_app_139_a_secret_that_was_planted_through_any_door_is_found_nowhere_but_where_it_is_kept() {
    let place = Place::new();
    let script = place.directory.path().join("keys.mjs");
    fs::write(&script, SERVER).unwrap();
    let given = place.directory.path().join("given");
    let options = place.options().variable("ROPEWALK_SECRET_STORE", "file").variable("ROPEWALK_LOG", "trace");
    let daemon = DaemonProcess::start(&options).await.unwrap();
    let mut owner = client(&daemon, "owner", "in-owner").await;
    let mut told = Vec::new();

    // The doors of documents, and requests that are refused with what they hold.
    let model = RawServer::start([says("Nothing.")]).await.unwrap();
    let endpoint = owner.use_model_at(&model.base_url()).await;
    let set = json!({"endpointId": endpoint, "value": KEY, "operationId": "key:1"});
    told.push(owner.call("secret/set", set.clone()).await);
    told.push(owner.call("secret/set", set).await);
    assert_eq!(owner.call("endpoint/list", json!({})).await["items"][0]["hasCredential"], true, "the flag says so");
    let wrong = [
        ("secret/set", json!({"endpointId": endpoint, "value": [KEY]})),
        ("secret/set", json!({"endpointId": endpoint, "value": format!("{KEY} ")})),
        ("secret/set", json!({"endpointId": endpoint, "value": KEY, "expectedRevision": 99})),
        ("secret/set", json!({"endpointId": endpoint, "value": format!("{KEY}2"), "operationId": "key:1"})),
        ("mcp/server/add", json!({"command": "node", "env": {"TOKEN": [ENVIRONMENT]}})),
        ("mcp/server/add", json!({"command": "", "env": {"TOKEN": ENVIRONMENT}})),
    ];
    for (method, params) in wrong {
        told.push(owner.refused(method, params).await);
    }
    let add = json!({"command": "node", "args": [script, given], "env": {"TOKEN": ENVIRONMENT}});
    let added = owner.call("mcp/server/add", add).await;
    let server = added["server"]["serverId"].clone();
    told.push(added);
    let digest = owner.call("mcp/review/read", json!({"serverId": server})).await["review"]["digest"].clone();
    let submit = json!({"serverId": server, "digest": digest, "tools": ["store_key"]});
    told.push(owner.call("mcp/review/submit", submit).await);

    // The door of a call: once refused by a person, once made.
    let thread = owner.call("thread/start", json!({"endpointId": endpoint})).await["thread"]["threadId"].clone();
    let slug = told.iter().find_map(|answer| answer["server"]["slug"].as_str()).unwrap().to_owned();
    for decision in ["decline", "accept"] {
        model.play(calls(&format!("mcp_{slug}_storeKey"), &json!({"name": "work", "credential": ARGUMENT})));
        let run = owner.submit(&thread, "store it").await;
        let asked = owner.asked("approval/request").await;
        assert_eq!(asked["params"]["arguments"]["credential"], format!("(a secret of {} characters)", ARGUMENT.len()));
        told.push(asked.clone());
        let open = owner.call("interaction/list", json!({})).await;
        told.push(open);
        model.play(says("Well."));
        owner.reply(&asked, json!({"decision": decision})).await;
        told.push(owner.ended(&run).await);
    }
    assert_eq!(fs::read_to_string(&given).unwrap(), format!("{ARGUMENT}{ENVIRONMENT}"), "the tool got both");
    fs::remove_file(&given).unwrap();
    for request in model.requests() {
        assert!(!has_it(&request.body), "the model is asked with it: {}", String::from_utf8_lossy(&request.body));
    }

    // Everything that comes out.
    told.push(everything(&mut owner, &thread, &server).await.into());
    let told = Value::from(told).to_string();
    assert!(!has_it(told.as_bytes()), "a client is told it: {told}");
    let calls = owner.calls(&thread).await;
    let stored = calls.last().expect("there were calls");
    assert_eq!((&stored["state"], stored["arguments"]["name"].as_str()), (&json!("completed"), Some("work")));
    let thread = thread.as_str().unwrap();
    nothing_is_left(&place, daemon, thread, &script).await;
}

/// What is backed up, exported, printed, logged and stored has none of it, the file of secrets excepted.
async fn nothing_is_left(place: &Place, daemon: DaemonProcess, thread: &str, script: &Path) {
    let backup = place.directory.path().join("backup.jsonl");
    let mut printed = ropewalk(&place.home(), &["backup", backup.to_str().unwrap()]).await;
    for arguments in
        [&["export", thread][..], &["export", thread, "--format", "json"], &["threads"], &["mcp", "list"], &["doctor"]]
    {
        printed.extend(ropewalk(&place.home(), arguments).await);
    }
    assert!(!has_it(&printed), "it is printed: {}", String::from_utf8_lossy(&printed));
    let stderr = daemon.log();
    let logged: Vec<&str> = stderr.lines().filter(|line| has_it(line.as_bytes())).take(3).collect();
    assert!(logged.is_empty(), "it is logged: {logged:#?}");
    daemon.kill().await.unwrap();
    let kept = place.home().join("secrets");
    assert!(has_it(&fs::read(&kept).unwrap()), "it is where it is kept");
    for path in files(place.directory.path()).into_iter().filter(|path| *path != kept && path != script) {
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{} cannot be looked at: {error}", path.display()));
        assert!(!has_it(&bytes), "it is in {}", path.display());
    }
}
