//! A client that speaks the wire itself, so that nothing of ours stands between a scenario and what it claims.

use std::time::Duration;

use ropewalk_protocol::limits::MAX_MESSAGE_BYTES;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadHalf, WriteHalf},
    time::timeout,
};

use super::Stream;

/// How long anything is waited for before the scenario says what it was waiting for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A raw client over any stream. What fails panics with what was waited for.
pub struct Raw<S = Stream> {
    reader: BufReader<ReadHalf<S>>,
    writer: WriteHalf<S>,
    next_id: i64,
    /// Lines that came while something else was waited for, in order.
    pub kept: Vec<Value>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Raw<S> {
    /// A client that has not shaken hands.
    pub fn new(stream: S) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: BufReader::new(reader), writer, next_id: 1, kept: Vec::new() }
    }

    /// A client that has shaken hands as `name`, instance `instance`, with both capabilities and without
    /// `data/changed`.
    pub async fn greeted(stream: S, name: &str, instance: &str) -> Self {
        let capabilities = json!({"approvals": true, "input": true});
        Self::introduced(stream, name, instance, capabilities, json!(["data/changed"])).await
    }

    /// A client that has shaken hands with these capabilities, without these ephemeral events.
    pub async fn introduced(stream: S, name: &str, instance: &str, capabilities: Value, opt_out: Value) -> Self {
        let mut client = Self::new(stream);
        let handshake = json!({
            "protocol": {"min": 1, "max": 1},
            "client": {"name": name, "version": "0.1.0", "instanceId": instance},
            "capabilities": capabilities,
            "optOut": opt_out,
        });
        let answer = client.call("initialize", handshake).await;
        assert_eq!(answer["protocol"], 1, "{answer}");
        client
    }

    /// Sends bytes as they are.
    pub async fn bytes(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.expect("the daemon reads");
    }

    /// Sends a line as it is.
    pub async fn line(&mut self, line: &str) {
        self.bytes(line.as_bytes()).await;
        self.bytes(b"\n").await;
    }

    /// Sends a message.
    pub async fn send(&mut self, message: Value) {
        self.line(&message.to_string()).await;
    }

    /// The next line, whatever it is.
    pub async fn next(&mut self) -> Value {
        let line = timeout(PATIENCE, self.next_or_end()).await.expect("a line within the deadline");
        line.expect("the connection goes on")
    }

    /// The next line; `None` when the daemon has closed the connection.
    pub async fn next_or_end(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).await.unwrap_or(0);
        assert!(line.len() as u64 <= MAX_MESSAGE_BYTES + 1, "a line of {} bytes", line.len());
        (read > 0).then(|| serde_json::from_str(&line).expect("every line is JSON"))
    }

    /// The next line that `wanted` takes; the ones before it are kept.
    pub async fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&wanted) {
            return self.kept.remove(at);
        }
        let search = async {
            loop {
                let line = self.next_or_end().await.unwrap_or_else(|| panic!("the connection ended before {what}"));
                if wanted(&line) {
                    return line;
                }
                self.kept.push(line);
            }
        };
        let found = timeout(PATIENCE, search).await;
        found.unwrap_or_else(|_| panic!("waited for {what}; meanwhile came {}", self.summary()))
    }

    /// Sends a request and returns its id.
    pub async fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// The whole answer to a request.
    pub async fn answer(&mut self, id: i64) -> Value {
        self.until(&format!("the answer to {id}"), |line| line["id"] == id && line.get("method").is_none()).await
    }

    /// Calls a method and returns its result; an error fails the scenario.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        let mut answer = self.answer(id).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Calls a method and returns its error; a result fails the scenario.
    pub async fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        let mut answer = self.answer(id).await;
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].take()
    }

    /// Calls a method until its result is so, within the deadline; that result.
    pub async fn eventually(&mut self, method: &str, params: Value, is_so: impl Fn(&Value) -> bool) -> Value {
        let asking = async {
            loop {
                let result = self.call(method, params.clone()).await;
                if is_so(&result) {
                    return result;
                }
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("{method} did not become so"))
    }

    /// Reads what is left until the daemon has closed the connection.
    pub async fn closed(&mut self) {
        let reading = async { while self.next_or_end().await.is_some() {} };
        timeout(PATIENCE, reading).await.expect("the connection is closed within the deadline");
    }

    /// The next request of the daemon with this method.
    pub async fn asked(&mut self, method: &str) -> Value {
        self.until(method, |line| line["method"] == method && line.get("id").is_some()).await
    }

    /// Answers a request of the daemon.
    pub async fn reply(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    /// Answers a request of the daemon with an error.
    pub async fn reply_error(&mut self, request: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).await;
    }

    /// The next notification with this method.
    pub async fn told(&mut self, method: &str) -> Value {
        let mut line = self.until(method, |line| line["method"] == method && line.get("id").is_none()).await;
        line["params"].take()
    }

    /// The next durable event of this type.
    pub async fn event(&mut self, kind: &str) -> Value {
        let is_it = |line: &Value| line["params"]["event"]["type"] == kind && line["params"].get("seq").is_some();
        let mut line = self.until(kind, is_it).await;
        line["params"].take()
    }

    /// The lines kept so far that `wanted` takes.
    pub fn seen(&self, wanted: impl Fn(&Value) -> bool) -> Vec<&Value> {
        self.kept.iter().filter(|line| wanted(line)).collect()
    }

    /// The last lines that were kept, a word or two each, and the very last whole.
    fn summary(&self) -> String {
        let words = |line: &Value| {
            let event = line["params"]["event"]["type"].as_str();
            event.or(line["method"].as_str()).map_or_else(|| line.to_string(), str::to_owned)
        };
        let recent: Vec<_> = self.kept.iter().rev().take(30).rev().map(words).collect();
        let last = self.kept.last().map(Value::to_string).unwrap_or_default();
        format!("{}; the last: {last}", recent.join(" "))
    }

    /// Everything sent before now has been answered or is kept: a round trip through the control lane.
    pub async fn settle_down(&mut self) {
        self.call("daemon/status", json!({})).await;
    }
}
