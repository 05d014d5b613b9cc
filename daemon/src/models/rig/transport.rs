//! How requests reach a provider: rig's transport contract over reqwest, with our limits and without our secrets in
//! its errors.

use std::{
    error::Error as _,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, Either, select},
    stream,
    stream::BoxStream,
};
use rig_core::http_client::{
    self, HeaderMap, HeaderValue, HttpClientExt, LazyBody, MultipartForm, Request, Response, StatusCode,
    StreamingResponse,
};

use super::{
    Connection, Sender, Shape,
    last_event::LastEvent,
    mend::Mender,
    scan::{EVENT_BYTES, Framing, REPLY_BYTES, Scanner},
};
use crate::clock::Clock;

const GEMINI_KEY: &str = "x-goog-api-key";

const ANTHROPIC_KEY: &str = "x-api-key";

/// How much of a body that is no answer is read for the error that tells of it.
const REFUSAL_BYTES: usize = 64 << 10;

/// What one request's transport saw that rig's errors do not tell.
#[derive(Default)]
pub(super) struct Watch(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    data: bool,
    lost: bool,
    torn: bool,
    cut: bool,
    ending: Option<Ending>,
}

/// Why a body ended before the provider ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The connection broke; the text says how.
    Broken(String),
    /// The provider was silent for too long.
    Stalled,
    /// The provider sent too much.
    TooLarge,
}

impl Watch {
    /// Whether any event arrived.
    pub(super) fn saw_data(&self) -> bool {
        self.lock().data
    }

    /// Whether there was a piece of a call that belongs to no call.
    pub(super) fn saw_lost_arguments(&self) -> bool {
        self.lock().lost
    }

    /// Whether the output limit was named as a reason for the end.
    pub(super) fn saw_output_limit(&self) -> bool {
        self.lock().cut
    }

    /// Whether the body ended within a record.
    pub(super) fn saw_torn_record(&self) -> bool {
        self.lock().torn
    }

    /// Why the body ended, unless it just did.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.lock().ending.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why there is no body to read.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    /// No connection, or it broke before the provider answered.
    #[error("{0}")]
    Unreachable(String),
    /// The provider took the request and did not answer in time.
    #[error("the provider did not answer")]
    Stalled,
    /// Status 200, but no stream of the kind that was asked for.
    #[error("the answer is {content_type}, not a stream")]
    NoStream {
        /// What it is instead.
        content_type: String,
        /// The beginning of it.
        body: String,
    },
}

/// A transport for one request.
#[derive(Clone)]
pub(super) struct Transport {
    shape: Shape,
    headers: HeaderMap,
    http: Sender,
    clock: Arc<dyn Clock>,
    idle_timeout: Duration,
    watch: Arc<Watch>,
}

impl Transport {
    pub(super) fn new(connection: &Connection, watch: Arc<Watch>) -> Self {
        let mut headers = connection.headers.clone();
        let key = connection.key.as_deref().filter(|_| connection.shape == Shape::Gemini);
        if let Some(mut key) = key.and_then(|key| HeaderValue::from_str(key).ok()) {
            key.set_sensitive(true);
            headers.insert(GEMINI_KEY, key);
        }
        let (http, clock) = (connection.http.clone(), Arc::clone(&connection.clock));
        Self { shape: connection.shape, headers, http, clock, idle_timeout: connection.idle_timeout, watch }
    }

    /// The request as it leaves: with the endpoint's headers, which replace ours of the same name, without a key in its
    /// address, and without a header for a key that there is not.
    fn prepared(&self, request: Request<Bytes>) -> Request<Bytes> {
        let (mut parts, body) = request.into_parts();
        if self.shape == Shape::Gemini {
            parts.uri = without_key(&parts.uri.to_string()).parse().unwrap_or(parts.uri);
        }
        if parts.headers.get(ANTHROPIC_KEY).is_some_and(HeaderValue::is_empty) {
            parts.headers.remove(ANTHROPIC_KEY);
        }
        for (name, value) in &self.headers {
            parts.headers.insert(name, value.clone());
        }
        Request::from_parts(parts, body)
    }

    async fn execute(self, request: Request<Bytes>) -> http_client::Result<reqwest::Response> {
        let request = self.prepared(request).map(reqwest::Body::from).try_into().map_err(unreachable)?;
        let deadline = self.clock.sleep(self.idle_timeout);
        match select(self.http.execute(request).boxed(), deadline).await {
            Either::Left((response, _)) => response.map_err(unreachable),
            Either::Right(_) => Err(http_client::Error::instance(OpenError::Stalled)),
        }
    }

    async fn open(self, request: Request<Bytes>) -> http_client::Result<StreamingResponse> {
        let response = self.clone().execute(request).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        if status != StatusCode::OK {
            let body = self.excerpt(response).await;
            return Err(http_client::Error::non_success_with_details(status, headers, body));
        }
        let content_type = headers.get("content-type").map(|value| String::from_utf8_lossy(value.as_bytes()));
        let content_type = content_type.map(std::borrow::Cow::into_owned);
        let framing = self.shape.framing();
        if let Some(content_type) = content_type.filter(|found| !is_stream(framing, found)) {
            let body = self.excerpt(response).await;
            return Err(http_client::Error::instance(OpenError::NoStream { content_type, body }));
        }
        let body: BoxStream<'static, http_client::Result<Bytes>> = self.watched(response.bytes_stream().boxed());
        let mut opened = Response::new(Box::pin(body) as http_client::BoxedStream);
        *opened.status_mut() = status;
        *opened.headers_mut() = headers;
        // Some servers name no type at all; what they send will show what it is.
        opened.headers_mut().insert("content-type", HeaderValue::from_static("text/event-stream"));
        Ok(opened)
    }

    /// The body up to where it ends, breaks, stalls or grows too large. All four look like an end to the decoder, which
    /// alone knows whether the answer was complete by then; the watch keeps the difference.
    fn watched(
        self,
        body: BoxStream<'static, reqwest::Result<Bytes>>,
    ) -> BoxStream<'static, http_client::Result<Bytes>> {
        let deadline = self.clock.sleep(self.idle_timeout);
        let scanner = Scanner::new(self.shape.framing());
        let mender = Mender::of(self.shape);
        let last_event = (self.shape.framing() == Framing::Events).then(LastEvent::default);
        let reading = Body { transport: self, body: Some(body), scanner, mender, last_event, deadline };
        stream::unfold(reading, |mut reading| async {
            let chunk = reading.next().await?;
            Some((Ok(chunk), reading))
        })
        .boxed()
    }

    /// The beginning of a body that is no answer, as far as it comes before the deadline.
    async fn excerpt(&self, response: reqwest::Response) -> String {
        let mut body = response.bytes_stream().boxed();
        let mut deadline = self.clock.sleep(self.idle_timeout);
        let mut excerpt = Vec::new();
        while excerpt.len() < REFUSAL_BYTES {
            match select(body.next(), &mut deadline).await {
                Either::Left((Some(Ok(chunk)), _)) => excerpt.extend_from_slice(&chunk),
                _ => break,
            }
        }
        excerpt.truncate(REFUSAL_BYTES);
        String::from_utf8_lossy(&excerpt).into_owned()
    }
}

/// A body under way.
struct Body {
    transport: Transport,
    /// None once it ended.
    body: Option<BoxStream<'static, reqwest::Result<Bytes>>>,
    scanner: Scanner,
    mender: Option<Mender>,
    last_event: Option<LastEvent>,
    deadline: BoxFuture<'static, ()>,
}

impl Body {
    async fn next(&mut self) -> Option<Bytes> {
        let body = self.body.as_mut()?;
        let ending = match select(body.next(), &mut self.deadline).await {
            Either::Left((Some(Ok(chunk)), _)) => {
                let seen = self.scanner.push(&chunk);
                if seen.data {
                    self.deadline = self.transport.clock.sleep(self.transport.idle_timeout);
                    self.transport.watch.lock().data = true;
                }
                if let Some(last_event) = &mut self.last_event {
                    last_event.push(&chunk, seen.event_start);
                }
                if !seen.too_large {
                    return Some(self.mended(chunk));
                }
                tracing::warn!(EVENT_BYTES, REPLY_BYTES, "a provider's answer is over the limit");
                Some(Ending::TooLarge)
            }
            Either::Left((Some(Err(error)), _)) => Some(Ending::Broken(chain(&error.without_url()))),
            Either::Left((None, _)) => None,
            Either::Right(_) => Some(Ending::Stalled),
        };
        self.body = None;
        let missing = self.last_event.as_ref().filter(|_| ending.is_none()).and_then(LastEvent::missing);
        {
            let mut seen = self.transport.watch.lock();
            (seen.ending, seen.torn) = (ending, self.scanner.is_within_record());
        }
        let rest = self.mender.as_mut().map(Mender::rest);
        self.note_seen();
        Some([rest.unwrap_or_default(), missing.unwrap_or_default()].concat().into())
    }

    fn mended(&mut self, chunk: Bytes) -> Bytes {
        let Some(mender) = &mut self.mender else { return chunk };
        let mended = mender.push(&chunk);
        self.note_seen();
        mended
    }

    fn note_seen(&self) {
        let Some(mender) = &self.mender else { return };
        let mut seen = self.transport.watch.lock();
        (seen.lost, seen.cut) = (mender.is_lost(), mender.is_cut());
    }
}

impl HttpClientExt for Transport {
    fn send<T, U>(
        &self,
        request: Request<T>,
    ) -> impl Future<Output = http_client::Result<Response<LazyBody<U>>>> + Send + 'static
    where
        T: Into<Bytes> + Send,
        U: From<Bytes> + Send + 'static,
    {
        let (transport, request) = (self.clone(), request.map(Into::into));
        async move {
            let response = transport.clone().execute(request).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = transport.excerpt(response).await;
            let lazy: LazyBody<U> = async move { Ok(U::from(Bytes::from(body))) }.boxed();
            let mut answer = Response::new(lazy);
            *answer.status_mut() = status;
            *answer.headers_mut() = headers;
            Ok(answer)
        }
    }

    fn send_multipart<U>(
        &self,
        _request: Request<MultipartForm>,
    ) -> impl Future<Output = http_client::Result<Response<LazyBody<U>>>> + Send + 'static
    where
        U: From<Bytes> + Send + 'static,
    {
        let refusal = OpenError::Unreachable("multipart requests are not sent by this transport".to_owned());
        std::future::ready(Err(http_client::Error::instance(refusal)))
    }

    fn send_streaming<T>(
        &self,
        request: Request<T>,
    ) -> impl Future<Output = http_client::Result<StreamingResponse>> + Send
    where
        T: Into<Bytes> + Send,
    {
        self.clone().open(request.map(Into::into))
    }
}

/// Whether a body of this type can be a stream of that kind. Lines have no type that servers agree on.
fn is_stream(framing: Framing, content_type: &str) -> bool {
    let content_type = content_type.to_ascii_lowercase();
    match framing {
        Framing::Events => content_type.starts_with("text/event-stream"),
        Framing::Lines => !["text/html", "text/event-stream"].iter().any(|other| content_type.starts_with(other)),
    }
}

/// An address without the member in which Gemini's key would be.
fn without_key(uri: &str) -> String {
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let query = query.split('&').filter(|member| !member.starts_with("key=")).collect::<Vec<_>>().join("&");
    format!("{path}?{query}")
}

fn unreachable(error: reqwest::Error) -> http_client::Error {
    http_client::Error::instance(OpenError::Unreachable(chain(&error.without_url())))
}

/// An error with its causes, the last of which says what happened.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
