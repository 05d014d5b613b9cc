//! A daemon played by the test, over an in-memory pipe.

use std::{
    collections::{HashMap, VecDeque},
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use ropewalk::{Client, Connect, Ropewalk, Thread, Tools, protocol::RpcError};
use ropewalk_peer::{CallError, NoFeed, Options, Peer, Request, Responder, Service, serve};
use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};

/// Long enough never to be reached by a test that works.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// How a method is answered.
pub(crate) type Reply = Box<dyn FnMut(Value) -> Result<Value, RpcError> + Send>;

/// The daemon's end.
pub(crate) struct Fake {
    pub(crate) peer: Peer,
    shared: Arc<Shared>,
    unanswered: mpsc::UnboundedReceiver<(String, Value, Responder)>,
    notices: mpsc::UnboundedReceiver<(String, Value)>,
}

struct Shared {
    replies: Mutex<HashMap<String, Reply>>,
    asked: Mutex<Vec<(String, Value)>>,
    unanswered: mpsc::UnboundedSender<(String, Value, Responder)>,
    notices: mpsc::UnboundedSender<(String, Value)>,
}

impl Service for Shared {
    fn request(&self, _: &Peer, request: Request) {
        let params: Value = request.params.map_or(Value::Null, |raw| serde_json::from_str(raw.get()).unwrap());
        self.asked.lock().unwrap().push((request.method.clone(), params.clone()));
        match self.replies.lock().unwrap().get_mut(&request.method) {
            Some(reply) => match reply(params) {
                Ok(answer) => request.responder.ok(&answer),
                Err(error) => request.responder.error(error),
            },
            None => drop(self.unanswered.send((request.method, params, request.responder))),
        }
    }

    fn notification(&self, _: &Peer, method: String, params: Option<Box<RawValue>>) {
        let params = params.map_or(Value::Null, |raw| serde_json::from_str(raw.get()).unwrap());
        let _ = self.notices.send((method, params));
    }
}

impl Fake {
    /// A daemon that answers the handshake, and the builder of a client that leads to it.
    pub(crate) fn new() -> (Self, Connect) {
        let (fake, connect) = Self::mute();
        fake.reply("initialize", |_| Ok(initialized()));
        (fake, connect)
    }

    /// A daemon that answers nothing by itself.
    pub(crate) fn mute() -> (Self, Connect) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        (Self::behind(ours), Ropewalk::over(theirs).name("bot"))
    }

    /// A daemon at the other end of a stream.
    pub(crate) fn behind(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        let (unanswered_in, unanswered) = mpsc::unbounded_channel();
        let (notices_in, notices) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            replies: Mutex::default(),
            asked: Mutex::default(),
            unanswered: unanswered_in,
            notices: notices_in,
        });
        let peer = serve(stream, Options::default(), shared.clone(), Arc::new(NoFeed));
        Self { peer, shared, unanswered, notices }
    }

    /// Answers a method from now on.
    pub(crate) fn reply(&self, method: &str, reply: impl FnMut(Value) -> Result<Value, RpcError> + Send + 'static) {
        self.shared.replies.lock().unwrap().insert(method.to_owned(), Box::new(reply));
    }

    /// No longer answers a method by itself.
    pub(crate) fn hold(&self, method: &str) {
        self.shared.replies.lock().unwrap().remove(method);
    }

    /// Answers `thread/events` from these events, in pages of 100.
    pub(crate) fn keep_log(&self, thread: &'static str, log: Vec<(u64, Value)>) {
        self.reply("thread/events", move |params| {
            let after = params["after"].as_u64().unwrap();
            assert_eq!(params["threadId"], thread);
            let page: Vec<Value> = log
                .iter()
                .filter(|(seq, _)| *seq > after)
                .take(100)
                .map(|(seq, event)| durable(thread, *seq, event.clone()))
                .collect();
            let next_after = page.last().map_or(after, |event| event["seq"].as_u64().unwrap());
            Ok(json!({"events": page, "nextAfter": next_after}))
        });
    }

    /// The parameters of every request of a method so far.
    pub(crate) fn asked(&self, method: &str) -> Vec<Value> {
        let asked = self.shared.asked.lock().unwrap();
        asked.iter().filter(|(name, _)| name == method).map(|(_, params)| params.clone()).collect()
    }

    /// How many requests came so far.
    pub(crate) fn requests(&self) -> usize {
        self.shared.asked.lock().unwrap().len()
    }

    /// The next request that nothing answers by itself.
    pub(crate) async fn next(&mut self) -> (String, Value, Responder) {
        in_time(self.unanswered.recv()).await.unwrap()
    }

    /// The next notification of the client.
    pub(crate) async fn notice(&mut self) -> (String, Value) {
        in_time(self.notices.recv()).await.unwrap()
    }

    /// Asks the client for something.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        match in_time(self.peer.call_raw(method, Some(&raw(&params)))).await {
            Ok(answer) => Ok(serde_json::from_str(answer.get()).unwrap()),
            Err(CallError::Rpc(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }

    /// Begins to ask; the answer comes through what is returned. The request has been sent.
    pub(crate) fn begin(&self, method: &str, params: Value) -> tokio::task::JoinHandle<Result<Value, CallError>> {
        let pending = self.peer.start_call(method, &params).unwrap();
        tokio::spawn(async move { Ok(serde_json::from_str(pending.await?.get()).unwrap()) })
    }

    /// Tells the client something.
    pub(crate) fn tell(&self, method: &str, params: Value) {
        let line = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string() + "\n";
        self.peer.send_line(line.into()).unwrap();
    }

    /// Sends a durable event.
    pub(crate) fn event(&self, thread: &str, seq: u64, event: Value) {
        self.tell("thread/event", durable(thread, seq, event));
    }

    /// Sends an ephemeral event.
    pub(crate) fn ephemeral(&self, thread: &str, after: u64, event: Value) {
        self.tell("thread/event", json!({"threadId": thread, "after": after, "at": AT, "event": event}));
    }

    pub(crate) fn settle(&self, interaction: &str, outcome: &str) {
        let by = json!({"kind": "stop", "clientName": "other", "instanceId": "in-B"});
        let params = json!({"interactionId": interaction, "outcome": outcome, "by": by, "at": AT});
        self.tell("interaction/settled", params);
    }

    /// Waits until the client has taken in everything that was sent: it answers in the order of the lines.
    pub(crate) async fn fence(&self) {
        let answer = self.ask("test/fence", json!({})).await;
        assert_eq!(answer.unwrap_err().code, -32601);
    }
}

/// The daemons a client reaches one after another; none of them is there before it is made.
#[derive(Clone, Default)]
pub(crate) struct Daemons {
    next: Arc<Mutex<VecDeque<tokio::io::DuplexStream>>>,
}

impl Daemons {
    /// The daemon that is reached next, which answers the handshake.
    pub(crate) fn next(&self) -> Fake {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        self.next.lock().unwrap().push_back(theirs);
        let fake = Fake::behind(ours);
        fake.reply("initialize", |_| Ok(initialized()));
        fake
    }

    /// A client that reaches them.
    pub(crate) fn connect(&self) -> Connect {
        let next = Arc::clone(&self.next);
        let dial = move || std::future::ready(next.lock().unwrap().pop_front().ok_or(io::ErrorKind::NotFound.into()));
        Ropewalk::through(dial).name("bot")
    }
}

/// A connected client.
pub(crate) async fn connected() -> (Fake, Client) {
    let (fake, connect) = Fake::new();
    let client = in_time(connect.into_future()).await.unwrap();
    (fake, client)
}

/// A connected client with a thread `th-1` and these tools; what is submitted there becomes `run-1`.
pub(crate) async fn attached(tools: Tools) -> (Fake, Thread) {
    let (fake, connect) = Fake::new();
    attach(fake, connect, tools).await
}

pub(crate) async fn attach(fake: Fake, connect: Connect, tools: Tools) -> (Fake, Thread) {
    fake.reply("thread/start", |_| Ok(started("th-1", 3)));
    fake.reply("run/submit", |_| Ok(submitted("run-1")));
    let client = in_time(connect.into_future()).await.unwrap();
    let thread = in_time(client.threads().start().tools(tools.iter().cloned()).into_future()).await.unwrap();
    (fake, thread)
}

pub(crate) const AT: &str = "2026-11-30T10:00:00Z";

pub(crate) fn durable(thread: &str, seq: u64, event: Value) -> Value {
    json!({"threadId": thread, "seq": seq, "at": AT, "event": event})
}

pub(crate) fn initialized() -> Value {
    json!({
        "protocol": 1,
        "daemon": {"name": "ropewalk", "version": "0.1.0", "pid": 4242, "instanceId": "dm-1", "startedAt": AT},
        "limits": ropewalk::protocol::Limits::default(),
        "schemaHash": "1e6ed65d",
    })
}

pub(crate) fn header(thread: &str, seq: u64) -> Value {
    json!({
        "threadId": thread, "projectId": "pr-1", "pinned": false, "archived": false, "unread": false,
        "origin": {"clientName": "bot"}, "seq": seq, "createdAt": AT, "updatedAt": AT, "revision": 1,
    })
}

pub(crate) fn started(thread: &str, seq: u64) -> Value {
    json!({"thread": header(thread, seq), "seq": seq, "tools": [], "replayed": false})
}

pub(crate) fn submitted(run: &str) -> Value {
    json!({"runId": run, "messageId": "m-1", "branchId": "th-1", "state": "running", "replayed": false})
}

pub(crate) fn run(run: &str, state: &str) -> Value {
    json!({
        "runId": run, "threadId": "th-1", "branchId": "th-1", "messageId": "m-1", "mode": "queue", "state": state,
        "usage": usage(), "endpointId": "scripted", "model": "scripted", "unattended": "decline",
        "principal": {"kind": "owner"}, "recovery": [], "steps": 0, "toolCalls": 0, "submittedAt": AT,
    })
}

pub(crate) fn usage() -> Value {
    json!({"inputTokens": 1, "outputTokens": 2, "requests": 1, "estimated": true})
}

pub(crate) fn assistant(run: &str, item: &str, state: &str, text: &str) -> Value {
    json!({
        "itemId": item, "runId": run, "branchId": "th-1", "kind": "assistantMessage", "state": state,
        "startedAt": AT, "messageId": "m-2", "text": text,
    })
}

pub(crate) fn completed(run: &str, outcome: Value) -> Value {
    json!({"type": "runCompleted", "runId": run, "branchId": "th-1", "outcome": outcome, "usage": usage()})
}

/// The parameters of a `tool/call`.
pub(crate) fn call(interaction: &str, tool: &str, arguments: Value) -> Value {
    json!({
        "interactionId": interaction, "threadId": "th-1", "runId": "run-1", "callId": "call-1", "attempt": 1,
        "tool": tool, "arguments": arguments, "silenceMs": 120_000, "deadlineAt": AT,
    })
}

pub(crate) async fn in_time<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(DEADLINE, future).await.expect("it comes in time")
}

pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}
