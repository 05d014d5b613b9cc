//! The scripted model as a provider: the same script engine as inside the daemon, over HTTP, in three shapes.

mod chat;
mod fault;
mod journal;
mod memory;
mod messages;
mod plan;
mod refusal;
mod responses;
mod shape;
mod strict;
mod tokens;
mod voice;

use std::{
    collections::VecDeque,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{
    Router,
    body::Body,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
    routing::{get, post},
};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};

pub use self::{fault::Fault, journal::RecordedRequest, shape::Shape};
use self::{journal::Journal, memory::Memory, refusal::Refusal, voice::Asked};

/// The longest request that is read, in bytes.
const REQUEST_BYTES: usize = 64 << 20;

/// How a [`ScriptedServer`] behaves.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// Whether it refuses, with status 400, what real providers refuse; `conformance/README.md` has the list. It
    /// remembers what it said, so that reasoning must come back as it was.
    pub strict: bool,
    /// The tokens a request may have, by the same count as the usage that is reported: four bytes of the names and
    /// values of its texts and tools are one token.
    pub window_tokens: Option<u64>,
    /// The id that every call has, as with gateways that repeat theirs; without it each has its own.
    pub call_id: Option<String>,
    /// What goes wrong with every answer.
    pub fault: Option<Fault>,
    /// The key it asks for; without it a request gets status 401.
    pub key: Option<String>,
}

/// A provider on a loopback port whose model is scripted. Ends when dropped, with its connections.
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    ended: watch::Sender<bool>,
}

struct Shared {
    options: ServerOptions,
    faults: Mutex<VecDeque<Fault>>,
    journal: Journal,
    memory: Memory,
    answers: AtomicU64,
    ended: watch::Receiver<bool>,
}

impl ScriptedServer {
    /// Starts on a free port.
    ///
    /// # Errors
    /// When no port can be listened on.
    pub async fn start(options: ServerOptions) -> io::Result<Self> {
        Self::start_on(0, options).await
    }

    /// Starts on this port of 127.0.0.1; 0 takes a free one.
    ///
    /// # Errors
    /// When the port cannot be listened on.
    pub async fn start_on(port: u16, options: ServerOptions) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let (ended, ending) = watch::channel(false);
        let shared = Arc::new(Shared {
            options,
            faults: Mutex::default(),
            journal: Journal::default(),
            memory: Memory::default(),
            answers: AtomicU64::new(0),
            ended: ending.clone(),
        });
        let app = Router::new()
            .route(Shape::Chat.path(), post(|state, headers, body| asked(Shape::Chat, state, headers, body)))
            .route(Shape::Responses.path(), post(|state, headers, body| asked(Shape::Responses, state, headers, body)))
            .route(Shape::Messages.path(), post(|state, headers, body| asked(Shape::Messages, state, headers, body)))
            .route("/v1/messages/count_tokens", post(count_tokens))
            .route("/v1/models", get(models))
            .layer(DefaultBodyLimit::max(REQUEST_BYTES))
            .with_state(Arc::clone(&shared));
        tokio::spawn(async move {
            let served = axum::serve(listener, app).with_graceful_shutdown(over(ending));
            // It ends with the server; there is nobody left to tell.
            let _ = served.await;
        });
        Ok(Self { address, shared, ended })
    }

    /// What an endpoint of OpenAI's shapes takes as its `baseUrl`: what comes before `/chat/completions`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.root_url())
    }

    /// The address without a path: what comes before `/v1/messages`.
    #[must_use]
    pub fn root_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, oldest first; at most the last 4,096.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.journal.requests()
    }

    /// Why requests were refused, with the request, oldest first; the first 64 of them, however long ago that was.
    #[must_use]
    pub fn refusals(&self) -> Vec<String> {
        self.shared.journal.refusals()
    }

    /// Lets this go wrong with one answer, after those faults that were asked for before and instead of the one of the
    /// options.
    pub fn fault_next(&self, fault: Fault) {
        self.shared.faults.lock().unwrap_or_else(PoisonError::into_inner).push_back(fault);
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.ended.send_replace(true);
    }
}

async fn over(mut ended: watch::Receiver<bool>) {
    // An error means that the server was dropped, which is the same.
    let _ = ended.wait_for(|ended| *ended).await;
}

async fn asked(shape: Shape, State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let refusal = shared.refusal(shape, &headers, &body);
    shared.journal.record(shape, &headers, &body, refusal.as_ref());
    if let Some(refusal) = refusal {
        return refusal.response(shape);
    }
    let fault = shared.faults.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let fault = fault.or_else(|| shared.options.fault.clone());
    if let Some(Fault::Reply { status, headers, body }) = fault {
        return fault::reply(status, &headers, body);
    }
    let number = shared.answers.fetch_add(1, Ordering::Relaxed);
    let only_call_id = shared.options.call_id.as_deref();
    let mut response = voice::answer(body, Asked { shape, number, memory: &shared.memory, only_call_id }).await;
    let ended = Box::pin(over(shared.ended.clone()));
    *response.body_mut() = fault::apply(std::mem::take(response.body_mut()), fault, ended);
    response
}

async fn count_tokens(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    match Shape::Messages.header_refusal(&headers, shared.options.key.as_deref(), shared.options.strict) {
        Some(refusal) => refusal.response(Shape::Messages),
        None => json_response(StatusCode::OK, &json!({"input_tokens": tokens::of_request(Shape::Messages, &body)})),
    }
}

async fn models(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    // Anthropic's clients say their version, and send the key in a header of their own.
    let shape = if headers.contains_key("anthropic-version") { Shape::Messages } else { Shape::Chat };
    if let Some(refusal) = shape.header_refusal(&headers, shared.options.key.as_deref(), false) {
        return refusal.response(shape);
    }
    let list = if shape == Shape::Messages {
        let created_at = "2026-01-01T00:00:00Z";
        let model = json!({"type": "model", "id": "scripted", "display_name": "Scripted", "created_at": created_at});
        json!({"data": [model], "has_more": false, "first_id": "scripted", "last_id": "scripted"})
    } else {
        let model = json!({"id": "scripted", "object": "model", "created": 0, "owned_by": "ropewalk"});
        json!({"object": "list", "data": [model]})
    };
    json_response(StatusCode::OK, &list)
}

impl Shared {
    fn refusal(&self, shape: Shape, headers: &HeaderMap, body: &Value) -> Option<Refusal> {
        let ServerOptions { strict, window_tokens, .. } = self.options;
        shape
            .header_refusal(headers, self.options.key.as_deref(), strict)
            .or_else(|| (!body.is_object()).then(|| Refusal::bad_request("the body is not a JSON object", None)))
            .or_else(|| {
                let (window, tokens) = (window_tokens?, tokens::of_request(shape, body));
                (tokens > window).then(|| Refusal::too_long(shape, tokens, window))
            })
            .or_else(|| strict.then(|| shape.strict_refusal(body, &self.memory)).flatten())
    }
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests;
