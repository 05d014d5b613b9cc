//! The scripted model as a provider: the same script engine as inside the daemon, over HTTP.

mod chat;
mod fault;
mod journal;
mod strict;

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

pub use self::{fault::Fault, journal::RecordedRequest};
use self::{journal::Journal, strict::Refusal};

/// The longest request that is read, in bytes.
const REQUEST_BYTES: usize = 64 << 20;

/// How a [`ScriptedServer`] behaves.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// Whether it refuses, with status 400, what real providers refuse: calls without results and results without
    /// calls, repeated ids, odd or repeated tool names, schemas with a combinator at the root or a reference that leads
    /// nowhere, empty texts, arguments that are no object, a missing model or missing messages.
    pub strict: bool,
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
            answers: AtomicU64::new(0),
            ended: ending.clone(),
        });
        let app = Router::new()
            .route("/v1/chat/completions", post(chat_completions))
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

    /// What an endpoint takes as its `baseUrl`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far, oldest first; at most the last 4,096.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.journal.requests()
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

async fn chat_completions(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let refusal = shared.refusal(&headers, &body);
    shared.journal.record(&headers, &body, refusal.as_ref());
    if let Some(refusal) = refusal {
        return json_response(refusal.status, &refusal.body());
    }
    let fault = shared.faults.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let fault = fault.or_else(|| shared.options.fault.clone());
    if let Some(Fault::Reply { status, headers, body }) = fault {
        return fault::reply(status, &headers, body);
    }
    let number = shared.answers.fetch_add(1, Ordering::Relaxed);
    let mut response = chat::answer(&body, number).await;
    let ended = Box::pin(over(shared.ended.clone()));
    *response.body_mut() = fault::apply(std::mem::take(response.body_mut()), fault, ended);
    response
}

async fn models(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    match shared.wrong_key(&headers) {
        Some(refusal) => json_response(refusal.status, &refusal.body()),
        None => {
            let model = json!({"id": "scripted", "object": "model", "created": 0, "owned_by": "ropewalk"});
            json_response(StatusCode::OK, &json!({"object": "list", "data": [model]}))
        }
    }
}

impl Shared {
    fn refusal(&self, headers: &HeaderMap, body: &Value) -> Option<Refusal> {
        self.wrong_key(headers).or_else(|| {
            let object = body.is_object();
            let malformed = (!object).then(|| Refusal::bad_request("the body is not a JSON object", None));
            malformed.or_else(|| self.options.strict.then(|| strict::refusal(body)).flatten())
        })
    }

    fn wrong_key(&self, headers: &HeaderMap) -> Option<Refusal> {
        let expected = format!("Bearer {}", self.options.key.as_deref()?);
        let given = headers.get(header::AUTHORIZATION).and_then(|given| given.to_str().ok());
        (given != Some(&expected)).then(Refusal::wrong_key)
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
