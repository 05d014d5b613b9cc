//! One run with everything in it that a connection can be lost at, played by a program that knows nothing of connections.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use ropewalk::{
    Approval, Client, Connect, Connection, Decision, EventStream, InputReply, QuestionAnswer, Questions, Thread, Tool,
    ToolContext,
    protocol::{ApprovalWish, Event, ItemId, RunWaitParams, Seq, WaitUntil},
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::in_time;

/// Text, a call without and one with an approval, a question, and text again.
const SCRIPT: &str = r#"say Looking at one two three
call look {}
then call write {}
then call ask_user {"questions":[{"id":"q","text":"Which?","options":[{"label":"A"},{"label":"B"}]}]}
then say all of it is done"#;
const ANSWER: &str = "all of it is done";

/// Where the run is held up until the test lets it go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The handler of a tool is at it.
    Handler,
    /// A person is being asked for a decision.
    Approval,
    /// A person is being asked a question.
    Question,
}

impl Phase {
    pub(crate) const ALL: [Self; 3] = [Self::Handler, Self::Approval, Self::Question];
}

/// The handlers of the program, how often each was called, and the gate one of them stands at.
#[derive(Clone)]
pub(super) struct Handlers {
    held: Option<Phase>,
    at: mpsc::UnboundedSender<Phase>,
    gate: watch::Receiver<bool>,
    looks: Arc<AtomicUsize>,
    writes: Arc<AtomicUsize>,
    approvals: Arc<AtomicUsize>,
    questions: Arc<AtomicUsize>,
}

/// The test's end of the handlers.
pub(super) struct Holding {
    at: mpsc::UnboundedReceiver<Phase>,
    gate: watch::Sender<bool>,
}

impl Handlers {
    pub(super) fn new(held: Option<Phase>) -> (Self, Holding) {
        let ((tell, at), (open, gate)) = (mpsc::unbounded_channel(), watch::channel(false));
        let count = Arc::<AtomicUsize>::default;
        let handlers =
            Self { held, at: tell, gate, looks: count(), writes: count(), approvals: count(), questions: count() };
        (handlers, Holding { at, gate: open })
    }

    async fn pass(&self, phase: Phase) {
        if self.held == Some(phase) {
            self.at.send(phase).unwrap();
            self.gate.clone().wait_for(|open| *open).await.unwrap();
        }
    }

    /// A client that has them.
    pub(super) async fn connected(&self, connect: Connect, context: &str) -> Client {
        let (approver, answerer) = (self.clone(), self.clone());
        let connect = connect.on_approval(move |_: Approval| {
            let handlers = approver.clone();
            async move {
                handlers.approvals.fetch_add(1, Ordering::SeqCst);
                handlers.pass(Phase::Approval).await;
                Decision::Accept
            }
        });
        let connect = connect.on_input(move |_: Questions| {
            let handlers = answerer.clone();
            async move {
                handlers.questions.fetch_add(1, Ordering::SeqCst);
                handlers.pass(Phase::Question).await;
                let answer = QuestionAnswer { selected: vec![0], other: None };
                InputReply::Answers(BTreeMap::from([("q".into(), answer)]))
            }
        });
        in_time(context, connect.into_future()).await.unwrap_or_else(|error| panic!("{context}: {error}"))
    }

    fn tools(&self) -> [Tool; 2] {
        let (looker, writer) = (self.clone(), self.clone());
        let look = Tool::new("look").description("Look.").handler(move |_, cx: ToolContext| {
            let handlers = looker.clone();
            async move {
                handlers.looks.fetch_add(1, Ordering::SeqCst);
                handlers.pass(Phase::Handler).await;
                cx.progress("nearly there", 0.9);
                "seen"
            }
        });
        let write = Tool::new("write").description("Write.").approval(ApprovalWish::Ask).handler(move |_, _| {
            let handlers = writer.clone();
            async move {
                handlers.writes.fetch_add(1, Ordering::SeqCst);
                "written"
            }
        });
        [look, write]
    }

    /// Every handler was called once.
    fn check(&self, context: &str) {
        let counts = [&self.looks, &self.writes, &self.approvals, &self.questions].map(|it| it.load(Ordering::SeqCst));
        assert_eq!(counts, [1, 1, 1, 1], "{context}: calls of look, write, the approver and the answerer");
    }
}

/// Plays the whole run and checks everything a program can see of it.
pub(super) async fn play(client: Client, handlers: &Handlers, context: &str) {
    let thread = in_time(context, client.threads().start().tools(handlers.tools()).into_future()).await;
    let thread = thread.unwrap_or_else(|error| panic!("{context}: {error}"));
    let watching = tokio::spawn(watch_run(thread.events_after(0), context.to_owned()));
    let run = in_time(context, thread.run(SCRIPT).submit()).await.unwrap_or_else(|error| panic!("{context}: {error}"));
    let params =
        RunWaitParams { run_id: run.id().clone(), until: Some(WaitUntil::Terminal), timeout_ms: Some(600_000) };
    let runs = client.runs();
    let (result, waited) = in_time(context, async { tokio::join!(run.result(), runs.wait(params)) }).await;
    let result = result.unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!((result.is_completed(), result.text()), (true, ANSWER), "{context}: {result:?}");
    let waited = waited.unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(waited.run.outcome.map(|outcome| outcome.status), Some(result.outcome.status), "{context}");
    handlers.check(context);
    let seen = in_time(context, watching).await.unwrap();
    assert_eq!(seen, in_time(context, log(&client, &thread)).await, "{context}: what was seen is the log");
    in_time(context, client.close()).await;
}

/// Holds the run up in a phase, has the connection lost there, and lets it go on when the client is back.
pub(crate) async fn play_held(connect: Connect, phase: Phase, interrupt: impl Future<Output = ()>, context: &str) {
    let (handlers, mut holding) = Handlers::new(Some(phase));
    let client = handlers.connected(connect, context).await;
    let mut connection = client.connection();
    let playing = tokio::spawn({
        let context = context.to_owned();
        async move { play(client, &handlers, &context).await }
    });
    assert_eq!(in_time(context, holding.at.recv()).await, Some(phase));
    interrupt.await;
    let is_back = |it: &Connection| matches!(it, Connection::Connected { reconnects: 1.., .. });
    in_time(context, connection.wait_for(is_back)).await.unwrap();
    holding.gate.send_replace(true);
    in_time(context, playing).await.unwrap();
}

/// Holds the run up in a phase, has the daemon stand still there, lets the program go on meanwhile, and then the daemon.
pub(crate) async fn play_stalled(
    connect: Connect,
    phase: Phase,
    stall: impl Future<Output = ()>,
    resume: impl FnOnce(),
    context: &str,
) {
    let (handlers, mut holding) = Handlers::new(Some(phase));
    let client = handlers.connected(connect, context).await;
    let playing = tokio::spawn({
        let context = context.to_owned();
        async move { play(client, &handlers, &context).await }
    });
    assert_eq!(in_time(context, holding.at.recv()).await, Some(phase));
    stall.await;
    holding.gate.send_replace(true);
    resume();
    in_time(context, playing).await.unwrap();
}

/// Reads a thread to the end of its run: durable events without gap or repeat, texts without hole or repeat.
async fn watch_run(mut events: EventStream, context: String) -> Vec<Value> {
    let (mut seen, mut texts) = (Vec::new(), HashMap::<ItemId, String>::new());
    let mut last: Seq = 0;
    loop {
        let event = in_time(&context, events.next()).await.unwrap_or_else(|| panic!("{context}: no end"));
        let event = event.unwrap_or_else(|error| panic!("{context}: {error}"));
        if let Event::ItemDelta { item_id, offset, text } = &event.event {
            let so_far = texts.entry(item_id.clone()).or_default();
            assert_eq!(*offset, so_far.len() as u64, "{context}: text of {item_id} after {so_far:?}");
            so_far.push_str(text);
        }
        let Some(seq) = event.seq else { continue };
        assert_eq!(seq, last + 1, "{context}");
        last = seq;
        let shown = serde_json::to_value(&*event).unwrap();
        if let Event::ItemCompleted { item } = &event.event {
            let whole = shown["event"]["item"]["text"].as_str().unwrap_or_default();
            let so_far = texts.remove(&item.item_id).unwrap_or_default();
            assert!(whole.starts_with(&so_far), "{context}: {so_far:?} is no beginning of {whole:?}");
        }
        seen.push(shown);
        if matches!(event.event, Event::RunCompleted { .. }) {
            return seen;
        }
    }
}

/// The events of a thread as the daemon has them, up to the end of its run.
async fn log(client: &Client, thread: &Thread) -> Vec<Value> {
    let mut log = Vec::new();
    loop {
        let after = log.len();
        let params = json!({"threadId": thread.id(), "after": after, "limit": 1_000});
        let page = client.raw("thread/events", params).await.unwrap();
        for event in page["events"].as_array().unwrap() {
            log.push(event.clone());
            if event["event"]["type"] == "runCompleted" {
                return log;
            }
        }
        assert!(log.len() > after, "the end of the run is in the log");
    }
}
