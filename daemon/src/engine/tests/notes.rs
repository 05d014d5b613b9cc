//! A server of a test: its one tool writes a note, when the test says so.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use futures::future::BoxFuture;
use ropewalk_protocol::{
    Annotations, Change, Effect, Part, PolicyDecision, ProjectId, Severity, SourceKind, ToolState,
};
use serde_json::{Map, Value, json};
use tokio::sync::{
    Semaphore,
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use super::life::{Life, soon};
use crate::tools::{
    CallFailure, SourceCall, SourceDefault, SourceResult, Stakes, ToolSpec,
    digest::tool_digest,
    servers::{Missing, Place, ServerTool, Servers, Signs},
};

/// What the model calls its tool.
pub(crate) const WRITE: &str = "mcp_notes_write";

/// The test's end of it.
pub(crate) struct Notes {
    server: Arc<Server>,
    called: UnboundedReceiver<SourceCall>,
}

struct Server {
    spec: Arc<ToolSpec>,
    calls: UnboundedSender<SourceCall>,
    may_answer: Semaphore,
    at_work: AtomicUsize,
    is_listed: AtomicBool,
}

/// A call at work, however it ends.
struct AtWork<'a>(&'a AtomicUsize);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Notes {
    /// A life beside the server, whose tool is asked about.
    pub(crate) async fn beside() -> (Life, Self) {
        let (calls, called) = unbounded_channel();
        let server = Arc::new(Server {
            spec: Arc::new(spec()),
            calls,
            may_answer: Semaphore::new(0),
            at_work: AtomicUsize::new(0),
            is_listed: AtomicBool::new(true),
        });
        (Life::beside(server.clone()).await, Self { server, called })
    }

    /// Whether its tool is known from now on.
    pub(crate) fn is_listed(&self, is_listed: bool) {
        self.server.is_listed.store(is_listed, Ordering::SeqCst);
    }

    /// The next call it gets.
    pub(crate) async fn called(&mut self) -> SourceCall {
        soon(self.called.recv()).await.expect("the server is called")
    }

    /// Lets one call come to its end.
    pub(crate) fn answers(&self) {
        self.server.may_answer.add_permits(1);
    }

    /// How many calls are at work.
    pub(crate) fn at_work(&self) -> usize {
        self.server.at_work.load(Ordering::SeqCst)
    }

    /// Calls that came and were not looked at.
    pub(crate) fn unread(&self) -> usize {
        self.called.len()
    }
}

fn spec() -> ToolSpec {
    let (input, annotations) = (json!({"type": "object"}), Annotations::default());
    ToolSpec {
        flat_name: WRITE.to_owned(),
        name: "write".to_owned(),
        namespace: None,
        namespace_description: None,
        title: Some("Write a note".to_owned()),
        description: "Writes a note.".to_owned(),
        digest: tool_digest(&input, None, &annotations),
        annotations,
        source: "notes".to_owned(),
        source_kind: SourceKind::Mcp,
        source_name: "Notes".to_owned(),
        input_schema: Arc::new(input),
        output_schema: None,
        default: SourceDefault {
            decision: PolicyDecision::Ask,
            silence_ms: 60_000,
            exempt_from_asking: false,
            why: "default of servers".into(),
        },
        owner: None,
    }
}

impl Servers for Server {
    fn tools(&self, _: &ProjectId) -> Vec<ServerTool> {
        let tool = ServerTool { spec: self.spec.clone(), state: ToolState::Ready, reason: None };
        self.is_listed.load(Ordering::SeqCst).then_some(tool).into_iter().collect()
    }

    fn sources(&self, _: &ProjectId) -> Vec<String> {
        vec!["notes".to_owned()]
    }

    fn get_ready<'a>(&'a self, _: &'a Place, _: &'a [String]) -> BoxFuture<'a, Vec<Missing>> {
        Box::pin(async { Vec::new() })
    }

    fn call<'a>(
        &'a self,
        _: &'a Place,
        call: SourceCall,
        _: Signs,
    ) -> BoxFuture<'a, Result<SourceResult, CallFailure>> {
        Box::pin(async move {
            self.at_work.fetch_add(1, Ordering::SeqCst);
            let _at_work = AtWork(&self.at_work);
            let _ = self.calls.send(call);
            let permit = self.may_answer.acquire().await.expect("the server lives as long as its test");
            permit.forget();
            Ok(SourceResult {
                content: vec![Part::text("noted")],
                structured_content: Some(json!({"for": "clients alone"})),
                meta: Some(json!({"beside": "the result"})),
                failure: None,
                effect: Effect::Done,
                severity: Severity::Info,
                call_ms: None,
            })
        })
    }

    /// A call that names `widens` is about what runs may do.
    fn stakes<'a>(
        &'a self,
        _: &'a Place,
        _: &'a ToolSpec,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Option<Stakes>> {
        let change = Change { before: json!("closed"), after: json!("open") };
        let stakes = arguments.get("widens").and_then(Value::as_bool).map(|widens| Stakes { change, widens });
        Box::pin(async move { stakes })
    }
}
