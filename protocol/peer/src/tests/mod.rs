//! The peer over an in-memory pipe: what a stranger on the other end may send, and what comes of it.

mod calls;
mod framing;
mod lanes;
mod messages;
mod mutations;
mod scanning;
mod specification;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::future::BoxFuture;
use ropewalk_protocol::RpcError;
use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::Notify,
};

use crate::{Feed, NoFeed, Options, Peer, Request, Responder, Service, serve};

/// Long enough never to be reached by a test that works.
const DEADLINE: Duration = Duration::from_secs(20);

/// Answers as the examples of the JSON-RPC specification do, and keeps what asks to be kept.
#[derive(Default)]
struct Examples {
    kept: Mutex<VecDeque<Responder>>,
    notified: Mutex<Vec<String>>,
    closed: Mutex<u32>,
    changed: Notify,
}

impl Service for Examples {
    fn request(&self, peer: &Peer, request: Request) {
        let Request { method, params, responder, in_batch, .. } = request;
        let params: Value = params.map_or(Value::Null, |raw| serde_json::from_str(raw.get()).unwrap());
        match method.as_str() {
            "subtract" => {
                let (a, b) = if params.is_array() {
                    (&params[0], &params[1])
                } else {
                    (&params["minuend"], &params["subtrahend"])
                };
                responder.ok(&(a.as_i64().unwrap() - b.as_i64().unwrap()));
            }
            "sum" => responder.ok(&params.as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).sum::<i64>()),
            "get_data" => responder.ok(&json!(["hello", 5])),
            "echo" => responder.ok(&params),
            "null" => responder.ok(&()),
            "in_batch" => responder.ok(&in_batch),
            "raw" => responder.ok_raw("{\"a\":1}"),
            "long" => responder.ok(&"x".repeat(usize::try_from(params["bytes"].as_u64().unwrap()).unwrap())),
            "drop" => drop(responder),
            "keep" => {
                self.kept.lock().unwrap().push_back(responder);
                self.changed.notify_one();
            }
            "nested" => {
                let peer = peer.clone();
                tokio::spawn(async move {
                    match peer.call_raw("echo", Some(&raw(&params.to_string()))).await {
                        Ok(result) => responder.ok(&result),
                        Err(error) => responder.error(RpcError::invalid_params("", "nested", error.to_string())),
                    }
                });
            }
            _ => responder.error(RpcError::new(
                ropewalk_protocol::ErrorDetail::MethodNotFound { method: method.clone() },
                "Method not found",
            )),
        }
    }

    fn notification(&self, _: &Peer, method: String, _: Option<Box<RawValue>>) {
        self.notified.lock().unwrap().push(method);
        self.changed.notify_one();
    }

    fn closed(&self, _: &Peer) {
        *self.closed.lock().unwrap() += 1;
        self.changed.notify_one();
    }
}

impl Examples {
    async fn until<T>(&self, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        in_time(async {
            loop {
                if let Some(found) = look(self) {
                    return found;
                }
                self.changed.notified().await;
            }
        })
        .await
    }

    async fn kept(&self) -> Responder {
        self.until(|service| service.kept.lock().unwrap().pop_front()).await
    }
}

/// A stranger that writes bytes and reads lines.
struct Stranger {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Stranger {
    async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        in_time(self.writer.write_all(bytes.as_ref())).await.unwrap();
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        in_time(self.reader.read_line(&mut line)).await.unwrap();
        assert!(line.ends_with('\n'), "the stream ended: {line:?}");
        line.pop();
        line
    }

    async fn read(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    async fn ask(&mut self, line: &str) -> Value {
        self.send(format!("{line}\n")).await;
        self.read().await
    }

    async fn at_end(&mut self) -> bool {
        let mut line = String::new();
        in_time(self.reader.read_line(&mut line)).await.unwrap_or(0) == 0
    }

    /// That nothing was sent but what has been read: the next answer is that of a new request.
    async fn nothing_more(&mut self) {
        let answer = self.ask(r#"{"jsonrpc":"2.0","id":"fence","method":"null"}"#).await;
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": "fence", "result": null}));
    }
}

struct Setting {
    peer: Peer,
    service: Arc<Examples>,
    stranger: Stranger,
}

fn setting() -> Setting {
    setting_of(Options::default(), Arc::new(NoFeed))
}

fn setting_of(options: Options, feed: Arc<dyn Feed>) -> Setting {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let service = Arc::new(Examples::default());
    let peer = serve(ours, options, service.clone(), feed);
    let (reader, writer) = tokio::io::split(theirs);
    Setting { peer, service, stranger: Stranger { reader: BufReader::new(reader), writer } }
}

/// Two peers that talk to each other.
fn pair(options: Options) -> ((Peer, Arc<Examples>), (Peer, Arc<Examples>)) {
    let (a, b) = tokio::io::duplex(1 << 16);
    let (left, right) = (Arc::new(Examples::default()), Arc::new(Examples::default()));
    let left_peer = serve(a, options, left.clone(), Arc::new(NoFeed));
    let right_peer = serve(b, options, right.clone(), Arc::new(NoFeed));
    ((left_peer, left), (right_peer, right))
}

async fn in_time<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(DEADLINE, future).await.expect("it comes in time")
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

fn kind(answer: &Value) -> &str {
    answer["error"]["data"]["kind"].as_str().unwrap_or("no error")
}

/// Yields what a test puts in.
#[derive(Default)]
struct TestFeed {
    chunks: Mutex<VecDeque<Bytes>>,
    more: Notify,
}

impl TestFeed {
    fn put(&self, chunk: impl Into<Bytes>) {
        self.chunks.lock().unwrap().push_back(chunk.into());
        self.more.notify_one();
    }
}

impl Feed for TestFeed {
    fn next(&self) -> BoxFuture<'_, Bytes> {
        Box::pin(async {
            loop {
                if let Some(chunk) = self.chunks.lock().unwrap().pop_front() {
                    return chunk;
                }
                self.more.notified().await;
            }
        })
    }
}
