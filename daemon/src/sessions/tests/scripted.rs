//! A server whose every line is in the test's hand.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream},
    sync::mpsc,
};

use super::until;

/// What a server does about a message.
pub(crate) enum Does {
    /// Answers with a result.
    Answers(Value),
    /// Answers with an error.
    Refuses(i64, &'static str),
    /// Writes a line, whatever it is.
    Writes(String),
    /// Writes a line without its end.
    Begins(String),
    /// Ends the connection.
    HangsUp,
}

type Script = Arc<dyn Fn(&Value) -> Vec<Does> + Send + Sync>;

/// A server.
#[derive(Clone)]
pub(crate) struct Server {
    script: Script,
    heard: Arc<Mutex<Vec<Value>>>,
    connections: Arc<Mutex<usize>>,
    open: Arc<Mutex<usize>>,
    lines: Arc<Mutex<VecDeque<mpsc::UnboundedSender<String>>>>,
}

impl Server {
    /// A server that shakes hands, lists nothing, and does for all else what the script says.
    pub(crate) fn new(script: impl Fn(&Value) -> Vec<Does> + Send + Sync + 'static) -> Self {
        Self {
            script: Arc::new(script),
            heard: Arc::default(),
            connections: Arc::default(),
            open: Arc::default(),
            lines: Arc::default(),
        }
    }

    /// A server with these tools, whose calls answer what the function says.
    pub(crate) fn with_tools(tools: Vec<Value>, calls: impl Fn(&Value) -> Vec<Does> + Send + Sync + 'static) -> Self {
        Self::new(move |message| match message["method"].as_str() {
            Some("tools/list") => vec![Does::Answers(json!({ "tools": tools }))],
            Some("tools/call") => calls(message),
            _ => Vec::new(),
        })
    }

    /// The messages with this method that it has got.
    pub(crate) fn heard(&self, method: &str) -> Vec<Value> {
        self.heard.lock().unwrap().iter().filter(|message| message["method"] == method).cloned().collect()
    }

    /// Waits for so many messages with this method.
    pub(crate) async fn hears(&self, method: &str, count: usize) {
        until(&format!("the server hears {method} {count} times"), || self.heard(method).len() >= count).await;
    }

    /// How often it was connected to.
    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> usize {
        *self.open.lock().unwrap()
    }

    /// Writes a line on its newest connection.
    pub(crate) fn write(&self, line: impl ToString) {
        self.lines.lock().unwrap().back().unwrap().send(line.to_string()).unwrap();
    }

    /// The other end of a new connection.
    pub(crate) fn connect(&self) -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (sender, lines) = mpsc::unbounded_channel();
        *self.connections.lock().unwrap() += 1;
        *self.open.lock().unwrap() += 1;
        self.lines.lock().unwrap().push_back(sender);
        tokio::spawn(self.clone().serve(ours, lines));
        theirs
    }

    async fn serve(self, stream: DuplexStream, mut lines: mpsc::UnboundedReceiver<String>) {
        let (read, mut write) = tokio::io::split(stream);
        let mut read = BufReader::new(read).lines();
        loop {
            tokio::select! {
                line = lines.recv() => {
                    let Some(line) = line else { break };
                    if write.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                        break;
                    }
                }
                line = read.next_line() => {
                    let Ok(Some(line)) = line else { break };
                    let message: Value = serde_json::from_str(&line).unwrap();
                    self.heard.lock().unwrap().push(message.clone());
                    let mut is_over = false;
                    for does in self.does(&message) {
                        let line = match does {
                            Does::Answers(result) => json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string(),
                            Does::Refuses(code, text) => {
                                let error = json!({ "code": code, "message": text });
                                json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string()
                            }
                            Does::Writes(line) => line,
                            Does::Begins(part) => {
                                is_over |= write.write_all(part.as_bytes()).await.is_err();
                                continue;
                            }
                            Does::HangsUp => {
                                is_over = true;
                                break;
                            }
                        };
                        is_over |= write.write_all(format!("{line}\n").as_bytes()).await.is_err();
                    }
                    if is_over {
                        break;
                    }
                }
            }
        }
        *self.open.lock().unwrap() -= 1;
    }

    fn does(&self, message: &Value) -> Vec<Does> {
        let scripted = (self.script)(message);
        if !scripted.is_empty() || message.get("id").is_none() {
            return scripted;
        }
        match message["method"].as_str() {
            Some("initialize") => vec![Does::Answers(json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "scripted", "version": "1" },
            }))],
            Some("tools/list") => vec![Does::Answers(json!({ "tools": [] }))],
            Some("tools/call") => Vec::new(),
            _ => vec![Does::Refuses(-32_601, "Method not found")],
        }
    }
}

/// A notification that tools changed.
pub(crate) fn list_changed() -> String {
    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }).to_string()
}

/// A notification of progress of a call.
pub(crate) fn progress(of: &Value, at: u64) -> String {
    let token = &of["params"]["_meta"]["progressToken"];
    let params = json!({ "progressToken": token, "progress": at, "total": 10, "message": format!("step {at}") });
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }).to_string()
}
