//! The world of a seed: the daemon in its life, the clients, time, and everything that lasts.

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use ropewalk_daemon::{
    clock::{Clock, Ids, ManualClock},
    daemon::Parts,
    embed::{Embedded, embed_parts},
    engine::ThreadProjector,
    models::Models,
    secrets::MemorySecrets,
    store::{Key, MemoryStore, Rows as _, Scan},
};
use ropewalk_protocol::Timestamp;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::{
    book::Book,
    client::{Client, Connection},
    hear::Ear,
    store::{Faulty, Plan, lock},
    trace::Trace,
    wire::Wire,
};

/// 2026-11-30T10:00:00Z.
const BEGINNING_MS: i64 = 1_796_032_800_000;
/// How often everything may go on before it must have come to rest.
const ROUNDS: usize = 2_000;
/// How long the daemon may take to start or to stop, by a clock that runs only when nothing else does.
const PATIENCE: Duration = Duration::from_secs(60);

/// The world of a seed.
pub(crate) struct World {
    pub(crate) rng: StdRng,
    pub(crate) clock: ManualClock,
    pub(crate) plan: Arc<Mutex<Plan>>,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clients: Vec<Client>,
    pub(crate) connections: Vec<Connection>,
    pub(crate) book: Book,
    pub(crate) trace: Trace,
    /// How often the daemon was killed.
    pub(crate) crashes: u32,
    /// How often of these between the two logs of an operation.
    pub(crate) crashes_between: u32,
    pub(crate) next: u64,
    pass: u64,
    ids: Arc<Ids>,
    secrets: Arc<MemorySecrets>,
    life: Option<Life>,
}

/// One life of the daemon. What it does ends with its runtime, wherever it is.
struct Life {
    daemon: Embedded,
    runtime: Runtime,
}

impl World {
    /// A world whose daemon has just been started for the first time.
    pub(crate) fn new(seed: u64) -> Self {
        let projector = Arc::new(ThreadProjector);
        let inspector = Client::new("inspector", "in-0", false);
        let mut world = Self {
            rng: StdRng::seed_from_u64(seed),
            clock: ManualClock::new(Timestamp::from_millis(BEGINNING_MS)),
            plan: Arc::new(Mutex::new(Plan::new(seed))),
            store: Arc::new(MemoryStore::with_projector(projector)),
            clients: vec![inspector, client("bot", "in-A"), client("bot", "in-B"), client("watch", "in-C")],
            connections: Vec::new(),
            book: Book::default(),
            trace: Trace::new(),
            crashes: 0,
            crashes_between: 0,
            next: 0,
            pass: 0,
            ids: Arc::new(Ids::seeded(seed)),
            secrets: Arc::new(MemorySecrets::new()),
            life: None,
        };
        world.start();
        world
    }

    fn start(&mut self) {
        lock(&self.plan).restart();
        // One task at a time, so that anything can happen between any two.
        let mut builder = Builder::new_current_thread();
        builder.enable_time().start_paused(true).event_interval(1).max_blocking_threads(1);
        // What is woken from outside, by a line, the clock or another thread, goes when nothing else can. Else it would by turns
        // go first and last, and the turns depend on how long other threads take.
        builder.global_queue_interval(u32::MAX);
        let runtime = builder.build().expect("a runtime");
        let clock: Arc<dyn Clock> = Arc::new(self.clock.clone());
        let parts = Parts {
            store: Arc::new(Faulty::new(self.store.clone(), self.plan.clone())),
            secrets: self.secrets.clone(),
            ids: self.ids.clone(),
            models: Arc::new(Models::new(clock.clone())),
            clock,
        };
        let started = runtime.block_on(async { tokio::time::timeout(PATIENCE, embed_parts(parts)).await });
        let daemon = started.expect("the daemon starts").expect("the daemon starts");
        self.life = Some(Life { daemon, runtime });
        self.connect(0);
    }

    /// The daemon dies where it is, and is started again on what is durable.
    pub(crate) fn crash(&mut self, keeps_index: bool) {
        let was_between = lock(&self.plan).was_between;
        self.crashes += 1;
        self.crashes_between += u32::from(was_between);
        self.trace.note(&format!("** the daemon is killed; index kept: {keeps_index}; between logs: {was_between}"));
        self.connections.clear();
        drop(self.life.take());
        let (kept, rebuilt) = (self.store.crash(), self.store.crash_without_index());
        assert_eq!(lasting(rows(&kept)), lasting(rows(&rebuilt)), "an index built from the logs is another one");
        self.store = Arc::new(if keeps_index { kept } else { rebuilt });
        self.start();
    }

    /// The daemon is stopped in good order, and started again.
    pub(crate) fn restart(&mut self) {
        self.settle();
        self.trace.note("** the daemon is stopped");
        let Life { daemon, runtime } = self.life.take().expect("a daemon");
        let stopped = runtime.block_on(async { tokio::time::timeout(PATIENCE, daemon.stop(0)).await });
        self.listen();
        if !lock(&self.plan).is_dead {
            stopped.expect("the daemon stops");
            let open = self.connections.iter().find(|connection| connection.is_up_to_date());
            assert!(open.is_none(), "connection {:?} was not closed", open.map(|connection| connection.key));
            let unanswered = |connection: &&Connection| !connection.wire.is_slow && !connection.pending.is_empty();
            if let Some(connection) = self.connections.iter().find(unanswered) {
                let methods: Vec<&str> = connection.pending.values().map(|pending| pending.method.as_str()).collect();
                panic!("connection {} was closed without answers to {methods:?}", connection.key);
            }
        }
        self.connections.clear();
        drop(runtime);
        self.store = Arc::new(self.store.crash());
        self.start();
    }

    /// If the daemon has died, it is started again.
    pub(crate) fn bury(&mut self) -> bool {
        let is_dead = {
            let plan = lock(&self.plan);
            plan.is_dead || plan.is_between
        };
        if is_dead {
            let keeps_index = self.rng.random_bool(0.6);
            self.crash(keeps_index);
        }
        is_dead
    }

    /// A new connection of a client, with its handshake; its place among the connections.
    pub(crate) fn connect(&mut self, client: usize) -> usize {
        let life = self.life.as_ref().expect("a daemon");
        let stream = {
            let _inside = life.runtime.enter();
            life.daemon.pipe()
        };
        self.next += 1;
        let opt_out = if self.rng.random_bool(0.5) { json!(["data/changed"]) } else { json!([]) };
        let handshake = self.clients[client].handshake(&opt_out);
        self.connections.push(Connection::new(self.next, client, Wire::new(stream)));
        let at = self.connections.len() - 1;
        self.request(at, "initialize", handshake);
        self.settle();
        at
    }

    /// Sends a request. One that declares tools has them checked on another thread, which is waited for here: what else
    /// would happen meanwhile is not for the seed to decide.
    pub(crate) fn request(&mut self, at: usize, method: &str, params: Value) -> i64 {
        self.book.asks(method, &params);
        self.trace.note(&format!("{} > {method} {params}", self.connections[at].key));
        let declares = params["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        if declares {
            self.settle();
        }
        let was_done = self.book.is_done(method, &params);
        let id = self.connections[at].request(method, params, false);
        if let Some(pending) = self.connections[at].pending.get_mut(&id) {
            pending.was_done = was_done;
        }
        if declares {
            self.wait_for_the_other_thread();
            self.settle();
        }
        id
    }

    /// What is done on another thread has been done when this returns, and not before everything here has come to rest:
    /// else it would be for the machine to say which is first.
    fn wait_for_the_other_thread(&mut self) {
        let (open, gate) = mpsc::channel();
        self.life.as_ref().expect("a daemon").runtime.spawn_blocking(move || gate.recv());
        self.turns(200);
        let (done, is_done) = mpsc::channel();
        self.life.as_ref().expect("a daemon").runtime.spawn_blocking(move || done.send(()));
        open.send(()).expect("the other thread waits");
        is_done.recv().expect("the other thread goes on");
    }

    /// Asks the daemon something that changes nothing, and lets everything go on until it has answered. `None`, when the
    /// daemon has died.
    pub(crate) fn query(&mut self, method: &str, params: Value) -> Option<Result<Value, Value>> {
        let id = self.connections[0].request(method, params, true);
        self.settle();
        let answer = self.connections[0].answers.remove(&id);
        let plan = lock(&self.plan);
        assert!(answer.is_some() || plan.is_dead || plan.is_between, "{method} was not answered");
        answer
    }

    /// Lets so many tasks go on.
    pub(crate) fn turns(&mut self, turns: u32) {
        let life = self.life.as_ref().expect("a daemon");
        life.runtime.block_on(async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        });
        self.listen();
    }

    /// Lets everything go on that can.
    pub(crate) fn settle(&mut self) {
        for _ in 0..ROUNDS {
            let life = self.life.as_ref().expect("a daemon");
            // This clock runs only when nobody has anything to do.
            life.runtime.block_on(async { tokio::time::sleep(Duration::from_millis(1)).await });
            if !self.listen() {
                return;
            }
        }
        panic!("it does not come to rest");
    }

    /// Everybody who listens hears what has come. Whether anything has.
    fn listen(&mut self) -> bool {
        let mut any = false;
        self.pass += 1;
        for at in 0..self.connections.len() {
            let connection = &mut self.connections[at];
            let lines = connection.wire.pump();
            any |= connection.wire.has_moved;
            for line in lines {
                let client = &mut self.clients[connection.client];
                let (book, trace, pass) = (&mut self.book, &mut self.trace, self.pass);
                Ear { connection, client, book, trace, pass }.hear(&line);
            }
        }
        any
    }

    /// A whole number below `end`, as the seed has it.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.rng.random_range(0..end)
    }

    /// Whether something with this chance happens.
    pub(crate) fn chance(&mut self, chance: f64) -> bool {
        self.rng.random_bool(chance)
    }

    /// One of these; `None` of nothing.
    pub(crate) fn choose<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        if from.is_empty() {
            return None;
        }
        let at = self.below(from.len());
        Some(from[at].clone())
    }

    /// A new word, for ids and texts.
    pub(crate) fn word(&mut self, of: &str) -> String {
        self.next += 1;
        format!("{of}-{}", self.next)
    }
}

fn client(name: &str, instance: &str) -> Client {
    Client::new(name, instance, true)
}

/// Rows without the payloads of threads whose tombstone stands: what is left of these is removed by the next start, and an
/// index built from the logs leaves out their logs.
fn lasting(mut rows: Vec<(String, String)>) -> Vec<(String, String)> {
    let tombstone = |key: &str| Some(key.strip_prefix("tombstone/")?.trim_end_matches('/').to_owned());
    let buried: Vec<String> = rows.iter().filter_map(|(key, _)| tombstone(key)).collect();
    rows.retain(|(key, _)| !(key.starts_with("blob") && buried.iter().any(|thread| key.contains(thread))));
    rows
}

/// Every row of a store.
pub(crate) fn rows(store: &MemoryStore) -> Vec<(String, String)> {
    let scan = Scan { prefix: Key(Vec::new()), after: None, reverse: false, limit: usize::MAX };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\0', "/");
    store.scan(&scan).unwrap().iter().map(|(key, value)| (text(&key.0), text(value))).collect()
}
