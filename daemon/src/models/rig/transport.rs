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
    self, HttpClientExt, LazyBody, MultipartForm, Request, Response, StatusCode, StreamingResponse,
};

use super::{
    Connection, Sender,
    scan::{EVENT_BYTES, REPLY_BYTES, Scanner},
};
use crate::clock::Clock;

/// How much of a body that is no answer is read for the error that tells of it.
const REFUSAL_BYTES: usize = 64 << 10;

/// What one request's transport saw that rig's errors do not tell.
#[derive(Default)]
pub(super) struct Watch(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    data: bool,
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
    /// Status 200, but no event stream.
    #[error("the answer is {content_type}, not an event stream")]
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
    http: Sender,
    clock: Arc<dyn Clock>,
    idle_timeout: Duration,
    watch: Arc<Watch>,
}

impl Transport {
    pub(super) fn new(connection: &Connection, watch: Arc<Watch>) -> Self {
        let (http, clock) = (connection.http.clone(), Arc::clone(&connection.clock));
        Self { http, clock, idle_timeout: connection.idle_timeout, watch }
    }

    async fn execute(self, request: Request<Bytes>) -> http_client::Result<reqwest::Response> {
        let request = request.map(reqwest::Body::from).try_into().map_err(unreachable)?;
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
        if let Some(content_type) = content_type.filter(|found| !found.starts_with("text/event-stream")) {
            let body = self.excerpt(response).await;
            return Err(http_client::Error::instance(OpenError::NoStream { content_type, body }));
        }
        let body: BoxStream<'static, http_client::Result<Bytes>> = self.watched(response.bytes_stream().boxed());
        let mut opened = Response::new(Box::pin(body) as http_client::BoxedStream);
        *opened.status_mut() = status;
        *opened.headers_mut() = headers;
        // Some servers name no type at all; what they send will show what it is.
        opened.headers_mut().insert("content-type", http_client::HeaderValue::from_static("text/event-stream"));
        Ok(opened)
    }

    /// The body up to where it ends, breaks, stalls or grows too large. All four look like an end to the decoder, which
    /// alone knows whether the answer was complete by then; the watch keeps the difference.
    fn watched(
        self,
        body: BoxStream<'static, reqwest::Result<Bytes>>,
    ) -> BoxStream<'static, http_client::Result<Bytes>> {
        let deadline = self.clock.sleep(self.idle_timeout);
        let reading = Body { transport: self, body, scanner: Scanner::default(), deadline };
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
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    scanner: Scanner,
    deadline: BoxFuture<'static, ()>,
}

impl Body {
    async fn next(&mut self) -> Option<Bytes> {
        let ending = match select(self.body.next(), &mut self.deadline).await {
            Either::Left((Some(Ok(chunk)), _)) => {
                let seen = self.scanner.push(&chunk);
                if seen.data {
                    self.deadline = self.transport.clock.sleep(self.transport.idle_timeout);
                    self.transport.watch.lock().data = true;
                }
                if !seen.too_large {
                    return Some(chunk);
                }
                tracing::warn!(EVENT_BYTES, REPLY_BYTES, "a provider's answer is over the limit");
                Ending::TooLarge
            }
            Either::Left((Some(Err(error)), _)) => Ending::Broken(chain(&error.without_url())),
            Either::Left((None, _)) => return None,
            Either::Right(_) => Ending::Stalled,
        };
        self.transport.watch.lock().ending = Some(ending);
        None
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
