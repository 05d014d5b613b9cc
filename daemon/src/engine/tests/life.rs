//! One life of a daemon under test, and what survives its crash.

use std::{sync::Arc, time::Duration};

use ropewalk_protocol::{
    BranchId, Event, Item, ItemBody, Limits, Origin, Part, Run, RunId, RunStatus, RunSubmitted, ThreadEvent, ThreadId,
    Unattended,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::{
    client::Person,
    model::{Asked, Script},
    spy::Spy,
};
use crate::{
    clock::{Clock as _, Ids, ManualClock},
    daemon::{Daemon, Parts},
    domain::{StartThread, Submission, tests::check},
    engine::{Engine, StartRequest, SubmitRequest, ThreadHandle, ThreadProjector, history},
    secrets::MemorySecrets,
    store::MemoryStore,
    tools::{ClientTool, check_declarations, servers::Servers},
};

/// How long a test waits for anything, by the machine's clock, before it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// One life of a daemon.
pub(crate) struct Life {
    pub(crate) daemon: Arc<Daemon>,
    pub(crate) store: Arc<Spy>,
    pub(crate) clock: ManualClock,
    asked: UnboundedReceiver<Asked>,
}

/// Waits, but not for ever.
pub(crate) async fn soon<T>(waited: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, waited).await.expect("what was waited for happens soon")
}

/// Lets everything that can go on go on. There is no disk and no other thread, so that some turns are enough.
pub(crate) async fn idle() {
    for _ in 0..300 {
        tokio::task::yield_now().await;
    }
}

impl Life {
    /// The first life.
    pub(crate) async fn first() -> Self {
        let projector = Arc::new(ThreadProjector);
        let clock = ManualClock::new("2026-11-30T10:00:00Z".parse().unwrap());
        Self::over(MemoryStore::with_projector(projector), clock).await
    }

    /// The first life, beside servers of a test.
    pub(crate) async fn beside(servers: Arc<dyn Servers>) -> Self {
        let projector = Arc::new(ThreadProjector);
        let clock = ManualClock::new("2026-11-30T10:00:00Z".parse().unwrap());
        Self::of(MemoryStore::with_projector(projector), clock, Some(servers)).await
    }

    /// A life over what the last one left.
    pub(crate) async fn over(store: MemoryStore, clock: ManualClock) -> Self {
        Self::of(store, clock, None).await
    }

    async fn of(store: MemoryStore, clock: ManualClock, servers: Option<Arc<dyn Servers>>) -> Self {
        let store = Spy::new(store);
        let (script, asked) = Script::new();
        let parts = Parts {
            store: store.clone(),
            secrets: Arc::new(MemorySecrets::new()),
            ids: Arc::new(Ids::new(clock.now())),
            models: script,
            clock: Arc::new(clock.clone()),
        };
        let daemon = match servers {
            Some(servers) => parts.assemble_beside(servers).await,
            None => parts.assemble().await,
        };
        Self { daemon: daemon.unwrap(), store, clock, asked }
    }

    /// The daemon dies and is started again `later`. The index is the one a rebuild from the logs makes.
    pub(crate) async fn crash(self, later: Duration) -> Self {
        let (kept, rebuilt) = (self.store.store.crash(), self.store.store.crash_without_index());
        assert_eq!(Spy::rows(&kept), Spy::rows(&rebuilt), "an index built from the logs is another one");
        let clock = ManualClock::new(self.clock.now());
        clock.advance(later);
        Self::over(rebuilt, clock).await
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.daemon.engine
    }

    pub(crate) fn thread(&self, id: &ThreadId) -> ThreadHandle {
        self.engine().thread(id).unwrap()
    }

    /// Time passes, once everybody has gone to sleep.
    pub(crate) async fn passes(&self, duration: Duration) {
        idle().await;
        self.clock.advance(duration);
        idle().await;
    }

    /// The next request the model gets.
    pub(crate) async fn asked(&mut self) -> Asked {
        soon(self.asked.recv()).await.expect("the model is asked")
    }

    /// Whether the model has been asked and nobody has looked.
    pub(crate) fn is_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// A thread of `person`, with these tools.
    pub(crate) async fn start(&self, person: &Person, tools: Vec<Arc<ClientTool>>) -> ThreadHandle {
        soon(self.engine().start(self.request(person, tools))).await.unwrap().thread
    }

    pub(crate) fn request(&self, person: &Person, tools: Vec<Arc<ClientTool>>) -> StartRequest {
        let project = self.daemon.catalogue.snapshot().default_project().project_id.clone();
        StartRequest {
            start: StartThread {
                thread_id: "".into(),
                project_id: project,
                title: None,
                endpoint_id: None,
                instructions: None,
                agent: None,
                origin: Origin { client_name: "bot".to_owned(), channel: None, user_id: None },
            },
            tools,
            client: person.end.clone(),
            subscribe: true,
            operation: None,
        }
    }

    /// A run as it is now, ended or not.
    pub(crate) async fn run(&self, thread: &ThreadHandle, id: &RunId) -> Run {
        match soon(thread.run_now(id.clone())).await.unwrap().0 {
            Some(run) => run,
            None => self.engine().run(id).unwrap(),
        }
    }

    /// A run once it has ended.
    pub(crate) async fn ended(&self, thread: &ThreadHandle, id: &RunId) -> Run {
        self.until(thread, id, |run| run.state.is_terminal()).await
    }

    /// A run once it waits for somebody.
    pub(crate) async fn waiting(&self, thread: &ThreadHandle, id: &RunId) -> Run {
        self.until(thread, id, |run| run.state == RunStatus::Waiting).await
    }

    /// A run once it is paused.
    pub(crate) async fn paused(&self, thread: &ThreadHandle, id: &RunId) -> Run {
        self.until(thread, id, |run| run.state == RunStatus::Paused).await
    }

    async fn until(&self, thread: &ThreadHandle, id: &RunId, is_it: impl Fn(&Run) -> bool) -> Run {
        for _ in 0..100 {
            let run = self.run(thread, id).await;
            if is_it(&run) {
                return run;
            }
            idle().await;
        }
        panic!("the run is still {:?}", self.run(thread, id).await.state)
    }

    /// Checks the chain of a thread's original branch, and returns who says what in it, oldest first.
    pub(crate) async fn said(&self, thread: &ThreadHandle) -> Vec<String> {
        self.said_on(thread, &thread.id().clone().into()).await
    }

    /// The same of any branch.
    pub(crate) async fn said_on(&self, thread: &ThreadHandle, branch: &BranchId) -> Vec<String> {
        let branch = branch.clone();
        let line = soon(thread.turn(move |turn| Ok(turn.state().branches[&branch].line()))).await;
        let shared = thread.shared();
        let (found, rest) = history::chain(shared, thread.id(), &line.unwrap(), usize::MAX).await.unwrap();
        assert_eq!(rest, None);
        let chain: Vec<_> = found.into_iter().rev().map(|(_, message)| message).collect();
        check::history(&chain);
        let say = |message: &crate::domain::ChainMessage| {
            let texts: Vec<&str> = message.message.content.iter().filter_map(Part::as_text).collect();
            format!("{:?}: {}", message.message.role, texts.join(" "))
        };
        chain.iter().map(say).collect()
    }
}

pub(crate) fn request(thread: &ThreadHandle, text: &str, unattended: Unattended) -> SubmitRequest {
    SubmitRequest {
        submission: Submission {
            branch_id: thread.id().clone().into(),
            input: vec![Part::text(text)],
            operation_id: None,
            asked_endpoint: None,
            unattended,
            output_schema: None,
            sender: None,
        },
        operation: None,
    }
}

pub(crate) async fn submit(thread: &ThreadHandle, text: &str) -> RunSubmitted {
    soon(thread.submit(request(thread, text, Unattended::Decline))).await.unwrap()
}

/// Submits to an idle branch.
pub(crate) async fn begin(thread: &ThreadHandle, text: &str) -> RunId {
    submit(thread, text).await.run_id.unwrap()
}

/// Client tools that take any object; `fields` of a declaration go over that.
pub(crate) fn tools(declared: &[(&str, Value)]) -> Vec<Arc<ClientTool>> {
    let declare = |(name, fields): &(&str, Value)| {
        let mut tool = json!({"name": name, "description": "A tool.", "inputSchema": {"type": "object"}});
        for (name, value) in fields.as_object().unwrap() {
            tool[name] = value.clone();
        }
        serde_json::from_value(tool).unwrap()
    };
    let declared: Vec<_> = declared.iter().map(declare).collect();
    check_declarations(&declared, &Limits::default(), 1_800_000).unwrap()
}

/// Tools that take any object and are allowed.
pub(crate) fn plain(names: &[&str]) -> Vec<Arc<ClientTool>> {
    tools(&names.iter().map(|name| (*name, json!({}))).collect::<Vec<_>>())
}

/// A tool people are asked about.
pub(crate) fn asking(name: &str) -> Vec<Arc<ClientTool>> {
    tools(&[(name, json!({"approval": "ask"}))])
}

/// Every event of a thread.
pub(crate) async fn events(thread: &ThreadHandle) -> Vec<ThreadEvent> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = soon(thread.events(after, 1_000)).await.unwrap();
        if page.events.is_empty() {
            return all;
        }
        all.extend(page.events);
        after = page.next_after;
    }
}

/// The types of a thread's events.
pub(crate) async fn types(thread: &ThreadHandle) -> Vec<String> {
    let events = events(thread).await;
    let name = |event: &ThreadEvent| serde_json::to_value(&event.event).unwrap()["type"].as_str().unwrap().to_owned();
    events.iter().map(name).collect()
}

/// The items of a thread that are complete, in order, those of users left out.
pub(crate) async fn completed(thread: &ThreadHandle) -> Vec<Item> {
    let items = events(thread).await.into_iter().filter_map(|event| match event.event {
        Event::ItemCompleted { item } => Some(item),
        _ => None,
    });
    items.filter(|item| !matches!(item.body, ItemBody::UserMessage { .. })).collect()
}

/// The code and effect of the calls that are complete, in order.
pub(crate) async fn call_ends(thread: &ThreadHandle) -> Vec<Value> {
    let items = completed(thread).await;
    let calls = items.iter().map(|item| serde_json::to_value(item).unwrap()).filter(|item| item["kind"] == "toolCall");
    calls.map(|item| json!([item["state"], item["error"]["code"], item["effect"]])).collect()
}
