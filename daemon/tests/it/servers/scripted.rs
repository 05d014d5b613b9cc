//! Servers as processes: this very test program, told by its environment what to be. Some are good, and most are not.

use std::{
    env, fs,
    io::{self, BufRead, Write},
    iter, thread,
    time::Duration,
};

use serde_json::{Value, json};

/// What to be.
pub const ROLE: &str = "SCRIPTED_SERVER";

/// A file that gets a line for each time such a server starts: its process id.
pub const STARTS: &str = "SCRIPTED_STARTS";

/// A file that gets a line when the server ends because its input did.
pub const ENDS: &str = "SCRIPTED_ENDS";

/// A file that gets a line for each call.
pub const LEDGER: &str = "SCRIPTED_LEDGER";

/// The test that is the server, where the environment says so.
pub const TEST: &str = "servers::scripted::a_server_as_scripted";

#[test]
fn a_server_as_scripted() {
    let Ok(role) = env::var(ROLE) else { return };
    note(STARTS, &std::process::id().to_string());
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if !answer(&role, &message) {
            return;
        }
    }
    note(ENDS, "clean exit");
}

/// Appends a line to the file that a variable names.
fn note(variable: &str, line: &str) {
    let Ok(path) = env::var(variable) else { return };
    let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}

fn write(text: &str) {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).unwrap();
    out.write_all(b"\n").unwrap();
    out.flush().unwrap();
}

/// Does what the role does about a message; false when the server goes.
fn answer(role: &str, message: &Value) -> bool {
    let (method, id) = (message["method"].as_str().unwrap_or_default(), &message["id"]);
    if role == "silent" || id.is_null() {
        return true;
    }
    if role == "junk" {
        for junk in ["Listening on stdio", "{\"level\":\"info\"}", "", "not json {", "\r"] {
            write(junk);
        }
    }
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": role, "version": "1" },
        }),
        "tools/list" => list(role, message),
        "tools/call" => {
            note(LEDGER, &message["params"]["name"].to_string());
            match call(role) {
                Some(result) => result,
                None => return false,
            }
        }
        _ => {
            let error = json!({ "code": -32_601, "message": "Method not found" });
            write(&json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
            return true;
        }
    };
    write(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
    if role == "changes" && method == "tools/call" {
        write(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }).to_string());
    }
    role != "once" || method != "tools/call"
}

fn call(role: &str) -> Option<Value> {
    match role {
        "dies" => {
            io::stderr().write_all(b"panic: the disk is on fire\n").unwrap();
            return None;
        }
        "floods" => {
            let mut stderr = io::stderr().lock();
            for _ in 0..4_096 {
                writeln!(stderr, "{}", "e".repeat(63)).unwrap();
            }
            stderr.write_all(&vec![b'x'; 1 << 20]).unwrap();
        }
        "slow" => thread::sleep(Duration::from_secs(600)),
        _ => {}
    }
    let text = if role == "big" { "x".repeat(10 << 20) } else { "hello".to_owned() };
    Some(json!({ "content": [{ "type": "text", "text": text }] }))
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "Does something.", "inputSchema": { "type": "object" } })
}

fn list(role: &str, message: &Value) -> Value {
    let tools = match role {
        "changes" => {
            let called = env::var(LEDGER).ok().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
            let mut changing = tool("echo");
            changing["inputSchema"]["required"] = json!(vec!["text"; called.lines().count().min(1)]);
            vec![changing]
        }
        "cursor" => {
            let next = message["params"]["cursor"].as_str().and_then(|at| at.parse().ok()).unwrap_or(0) + 1;
            let tools = if next == 1 { vec![tool("echo")] } else { vec![tool(&format!("more{next}"))] };
            return json!({ "tools": tools, "nextCursor": next.to_string() });
        }
        "duplicates" => {
            let mut other = tool("twice");
            other["description"] = json!("Does something else.");
            vec![tool("twice"), other, tool("echo")]
        }
        "longnames" => vec![tool(&"n".repeat(300)), tool("echo")],
        "odd" => {
            let with = |name: &str, schema: Value| json!({ "name": name, "inputSchema": schema });
            let fine = json!({ "type": "object", "properties": { "anything": true, "else": { "$ref": "#/$defs/x" } }, "$defs": { "x": {} } });
            vec![
                with("truth", json!(true)),
                with("list", json!([])),
                with("text", json!({ "type": "string" })),
                json!({ "name": "none" }),
                json!({ "name": 7, "inputSchema": { "type": "object" } }),
                json!("no tool"),
                with(
                    "deep",
                    json!({ "type": "object", "x": iter::repeat_n((), 80).fold(json!({}), |inner, ()| json!({ "y": inner })) }),
                ),
                with("echo", fine),
            ]
        }
        _ => vec![tool("echo")],
    };
    json!({ "tools": tools })
}
