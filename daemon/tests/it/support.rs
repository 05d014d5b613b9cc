//! A client that speaks the wire itself, so that nothing of ours stands between a test and what it claims.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadHalf, WriteHalf},
    time::timeout,
};

/// How long a test waits for anything before it says what it was waiting for.
const PATIENCE: Duration = Duration::from_secs(20);

/// A raw client over any stream.
pub struct Raw<S> {
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

    /// A client that has shaken hands as `name`, instance `instance`, with both capabilities.
    pub async fn greeted(stream: S, name: &str, instance: &str) -> Self {
        let mut client = Self::new(stream);
        let answer = client
            .call(
                "initialize",
                json!({
                    "protocol": {"min": 1, "max": 1},
                    "client": {"name": name, "version": "0.1.0", "instanceId": instance},
                    "capabilities": {"approvals": true, "input": true},
                    "optOut": ["data/changed"],
                }),
            )
            .await;
        assert_eq!(answer["protocol"], 1, "{answer}");
        client
    }

    /// Sends a line as it is.
    pub async fn line(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    /// Sends a message.
    pub async fn send(&mut self, message: Value) {
        self.line(&message.to_string()).await;
    }

    /// The next line, whatever it is.
    pub async fn next(&mut self) -> Value {
        let mut line = String::new();
        let read = timeout(PATIENCE, self.reader.read_line(&mut line)).await.expect("a line within the deadline");
        assert!(read.unwrap() > 0, "the connection ended");
        serde_json::from_str(&line).unwrap()
    }

    /// The next line that `wanted` takes; the ones before it are kept.
    pub async fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&wanted) {
            return self.kept.remove(at);
        }
        let search = async {
            loop {
                let line = self.next().await;
                if wanted(&line) {
                    return line;
                }
                self.kept.push(line);
            }
        };
        timeout(PATIENCE, search).await.unwrap_or_else(|_| panic!("waited for {what}"))
    }

    /// Sends a request and returns its id.
    pub async fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// The whole answer to a request.
    pub async fn answer(&mut self, id: i64) -> Value {
        self.until(&format!("the answer to {id}"), |line| line["id"] == id && line.get("method").is_none()).await
    }

    /// Calls a method and returns its result; an error fails the test.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        let mut answer = self.answer(id).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Calls a method and returns its error; a result fails the test.
    pub async fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        let mut answer = self.answer(id).await;
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].take()
    }

    /// The next request of the daemon with this method.
    pub async fn asked(&mut self, method: &str) -> Value {
        self.until(method, |line| line["method"] == method && line.get("id").is_some()).await
    }

    /// Answers a request of the daemon.
    pub async fn reply(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
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
}

/// The declaration of the tool that the transcripts use.
pub fn get_issue() -> Value {
    json!({
        "name": "get_issue",
        "description": "Read an issue.",
        "inputSchema": {
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": true},
    })
}

/// An input of one text.
pub fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}
