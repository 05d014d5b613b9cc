//! Requests over an in-memory pipe against a small daemon of toy handlers.

mod admission;
mod handshake;
mod lifetime;
mod operations;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::future::BoxFuture;
use ropewalk_peer::{Feed, Peer};
use ropewalk_protocol::{
    DaemonShutdown, DaemonState, DaemonStatus, DataChanged, DataChangedParams, Empty, GrantList, GrantRemove,
    Initialize, InitializeParams, Initialized, Method, OperationId, ProjectCreate, ProjectList, ProjectRead, RpcError,
    RunSubmit, RunWait, ThreadEvents, ThreadUnsubscribe, Timestamp,
};
use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::{Notify, Semaphore},
};

use super::Serving;
use crate::{
    clock::{Clock, SystemClock},
    dispatch::{Call, Host, Journal, Standing, StoredOperation, Table},
};

const DEADLINE: Duration = Duration::from_secs(60);

/// A daemon that knows how often it did what.
pub(crate) struct Toy {
    pub(crate) standing: Mutex<Standing>,
    journal: ToyJournal,
    /// How often `project/create` was executed.
    created: AtomicU64,
    /// Handlers that block take one of these; a test gives them.
    pub(crate) gate: Semaphore,
    notified: Mutex<Vec<String>>,
    disconnected: AtomicU64,
    pub(crate) wound_down: Semaphore,
    changed: Notify,
}

/// A client whose feed can be held.
pub(crate) struct ToyClient {
    feed: Arc<ToyFeed>,
}

#[derive(Default)]
struct ToyFeed {
    chunks: Mutex<(Vec<Bytes>, u32)>,
    changed: Notify,
}

struct Hold(Arc<ToyFeed>);

#[derive(Default)]
struct ToyJournal {
    stored: Mutex<HashMap<OperationId, StoredOperation>>,
}

impl Journal for ToyJournal {
    fn find(&self, id: &OperationId) -> Result<Option<StoredOperation>, RpcError> {
        Ok(self.stored.lock().unwrap().get(id).cloned())
    }

    fn digest(&self, method: &str, canonical_params: &[u8]) -> String {
        format!("{method} {}", std::str::from_utf8(canonical_params).unwrap())
    }
}

impl Feed for ToyFeed {
    fn next(&self) -> BoxFuture<'_, Bytes> {
        Box::pin(async {
            loop {
                {
                    let (chunks, holds) = &mut *self.chunks.lock().unwrap();
                    if *holds == 0 && !chunks.is_empty() {
                        return chunks.remove(0);
                    }
                }
                self.changed.notified().await;
            }
        })
    }
}

impl ToyClient {
    fn hold_events(&self) -> Hold {
        self.feed.chunks.lock().unwrap().1 += 1;
        Hold(self.feed.clone())
    }

    fn send_event(&self) {
        let params = DataChangedParams { seq: 1, kinds: Vec::new(), ids: None, origin: None };
        let line = ropewalk_peer::notification_line::<DataChanged>(&params).unwrap();
        self.feed.chunks.lock().unwrap().0.push(line);
        self.feed.changed.notify_one();
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.chunks.lock().unwrap().1 -= 1;
        self.0.changed.notify_one();
    }
}

impl Host for Toy {
    type Client = ToyClient;

    fn connected(self: &Arc<Self>, _: &Peer) -> (Arc<ToyClient>, Arc<dyn Feed>) {
        let feed = Arc::new(ToyFeed::default());
        (Arc::new(ToyClient { feed: feed.clone() }), feed)
    }

    fn disconnected(self: &Arc<Self>, _: &Arc<ToyClient>) {
        self.disconnected.fetch_add(1, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    fn notification(self: &Arc<Self>, _: &Arc<ToyClient>, method: &str, _: Option<&RawValue>) {
        self.notified.lock().unwrap().push(method.to_owned());
    }

    fn journal(&self) -> &dyn Journal {
        &self.journal
    }

    fn clock(&self) -> &dyn Clock {
        &SystemClock
    }

    fn standing(&self) -> Standing {
        *self.standing.lock().unwrap()
    }

    fn wound_down(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { drop(self.wound_down.acquire().await) })
    }
}

impl Toy {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            standing: Mutex::new(Standing::Serving),
            journal: ToyJournal::default(),
            created: AtomicU64::new(0),
            gate: Semaphore::new(0),
            notified: Mutex::default(),
            disconnected: AtomicU64::new(0),
            wound_down: Semaphore::new(0),
            changed: Notify::new(),
        })
    }

    async fn until(&self, is_so: impl Fn(&Self) -> bool) {
        in_time(async {
            loop {
                let changed = self.changed.notified();
                if is_so(self) {
                    return;
                }
                changed.await;
            }
        })
        .await;
    }
}

fn refusal() -> RpcError {
    RpcError::not_found("project", "p1")
}

/// A handler that does what the test asked for with `then` and has no result worth having.
pub(crate) fn table() -> Table<Toy> {
    let mut table = Table::default();
    table
        .on::<Initialize>(async |_: Call<Toy>, params: InitializeParams| match params.protocol.max {
            0 => Err(RpcError::invalid_params("/protocol", "too_old", "no")),
            _ => Ok(serde_json::from_value::<Initialized>(initialized()).unwrap()),
        })
        .on::<DaemonStatus>(async |_: Call<Toy>, _: Empty| Err::<DaemonState, _>(refusal()))
        .on::<DaemonShutdown>(async |_: Call<Toy>, _| Ok(Empty {}))
        .on::<ProjectRead>(async |_: Call<Toy>, _| Err(refusal()))
        .on::<GrantList>(async |_: Call<Toy>, _| panic!("a handler panics at once"))
        .on::<GrantRemove>(async |_: Call<Toy>, _| {
            tokio::task::yield_now().await;
            panic!("a handler panics later")
        })
        .on::<ProjectCreate>(create)
        .on::<ProjectList>(blocked::<ProjectList>)
        .on::<RunWait>(blocked::<RunWait>)
        .on::<ThreadEvents>(blocked::<ThreadEvents>)
        .on::<ThreadUnsubscribe>(async |_: Call<Toy>, _| Ok(Empty {}))
        .on::<RunSubmit>(submit);
    table
}

/// Blocks until the test opens the gate.
async fn blocked<M: Method>(call: Call<Toy>, _: M::Params) -> Result<M::Result, RpcError> {
    call.daemon.gate.acquire().await.unwrap().forget();
    Err(refusal())
}

async fn create(
    call: Call<Toy>,
    _: <ProjectCreate as Method>::Params,
) -> Result<<ProjectCreate as Method>::Result, RpcError> {
    call.daemon.created.fetch_add(1, Ordering::SeqCst);
    call.daemon.changed.notify_waiters();
    call.daemon.gate.acquire().await.unwrap().forget();
    let answer = json!({"project": {
        "projectId": "p1", "name": "n", "isDefault": false, "servers": [], "createdAt": "2026-11-30T12:00:00Z",
        "updatedAt": "2026-11-30T12:00:00Z", "revision": 1, "grants": [], "policies": [],
    }, "replayed": false});
    store(&call, &answer);
    Ok(serde_json::from_value(answer).unwrap())
}

/// Sends an event before it answers, and with `wait` waits after it has committed.
async fn submit(
    call: Call<Toy>,
    params: <RunSubmit as Method>::Params,
) -> Result<<RunSubmit as Method>::Result, RpcError> {
    let waits = params.wait == Some(true);
    let mut answer = json!({"runId": "r1", "messageId": "m1", "branchId": "b1", "state": "running", "replayed": false});
    if let Some(replay) = &call.replay {
        answer = serde_json::from_str(replay.replayed().unwrap().get()).unwrap();
    } else {
        call.daemon.created.fetch_add(1, Ordering::SeqCst);
        call.keep_until_answered(call.client.hold_events());
        call.client.send_event();
        store(&call, &answer);
    }
    call.committed();
    if waits {
        call.daemon.changed.notify_waiters();
        call.daemon.gate.acquire().await.unwrap().forget();
    } else {
        tokio::task::yield_now().await;
    }
    Ok(serde_json::from_value(answer).unwrap())
}

fn store(call: &Call<Toy>, answer: &Value) {
    if let Some(operation) = &call.operation {
        let stored = StoredOperation {
            digest: operation.digest.clone(),
            method: operation.method.to_owned(),
            at: Timestamp::now(),
            answer: serde_json::value::to_raw_value(answer).unwrap(),
        };
        call.daemon.journal.stored.lock().unwrap().insert(operation.id.clone(), stored);
    }
}

fn initialized() -> Value {
    json!({
        "protocol": 1,
        "daemon": {"name": "ropewalk", "version": "0", "pid": 1, "instanceId": "i", "startedAt": "2026-11-30T12:00:00Z"},
        "limits": ropewalk_protocol::Limits::default(), "schemaHash": "",
    })
}

struct Setting {
    toy: Arc<Toy>,
    serving: Serving<Toy>,
}

fn setting() -> Setting {
    let toy = Toy::new();
    Setting { serving: Serving::new(toy.clone(), Arc::new(table())), toy }
}

impl Setting {
    /// A connection that has not said who it is.
    fn stranger(&self) -> Stranger {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let peer = self.serving.connect(ours);
        let (reader, writer) = tokio::io::split(theirs);
        Stranger { peer, reader: BufReader::new(reader), writer }
    }

    async fn client(&self) -> Stranger {
        let mut client = self.stranger();
        let answer = client.ask(1, "initialize", hello()).await;
        assert_eq!(answer["result"], initialized(), "{answer}");
        client
    }
}

pub(crate) fn hello() -> Value {
    json!({"protocol": {"min": 1, "max": 1}, "client": {"name": "test", "version": "0"}})
}

struct Stranger {
    peer: Option<Peer>,
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Stranger {
    async fn send(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        self.send_json(&json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})).await;
    }

    async fn send_json(&mut self, message: &Value) {
        in_time(self.writer.write_all(format!("{message}\n").as_bytes())).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let mut line = String::new();
        in_time(self.reader.read_line(&mut line)).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("the connection ended: {line:?}"))
    }

    async fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        self.send(id, method, params).await;
        self.read().await
    }

    async fn at_end(&mut self) -> bool {
        let mut line = String::new();
        in_time(self.reader.read_line(&mut line)).await.unwrap_or(0) == 0
    }
}

pub(crate) async fn in_time<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(DEADLINE, future).await.expect("it comes in time")
}

pub(crate) fn kind(answer: &Value) -> &str {
    answer["error"]["data"]["kind"].as_str().unwrap_or("no error")
}

pub(crate) fn data(answer: &Value) -> &Value {
    &answer["error"]["data"]
}
