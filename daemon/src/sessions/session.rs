//! A session with a server: one connection from its handshake to its end, over whatever carries lines (APP-9).

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rmcp::{
    Peer, RoleClient,
    model::{
        ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult,
        SubscriptionFilter,
    },
    service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, PeerRequestOptions, RunningService},
};
use ropewalk_protocol::Timestamp;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{Mutex as AsyncMutex, watch},
};

use super::{
    call::{self, Outgoing, RequestFailure},
    child::Child,
    diagnostics::Diagnostics,
    handler::Handler,
    lines::{Ended, Lines},
    listing::{Listing, Pages, Then},
};
use crate::{
    clock::Clock,
    tools::{CallFailure, servers::Signs},
};

/// How long a subscription to changes is left alone after it has ended.
const LISTEN_AGAIN: Duration = Duration::from_secs(5);

/// How long closing a connection may take before it is left to itself.
const CLOSING: Duration = Duration::from_secs(2);

/// How long the rest of what a process said is waited for when the process has gone.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What a session knows of its server from the beginning.
pub struct About {
    /// The process behind it, where there is one.
    pub child: Option<Child>,
    /// What people call the server.
    pub name: String,
    /// The version that was negotiated with this server before.
    pub version: Option<String>,
    /// Where its other words go.
    pub diagnostics: Diagnostics,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// A session with a server.
pub struct Session {
    name: String,
    peer: Peer<RoleClient>,
    handler: Handler,
    version: String,
    running: AsyncMutex<Option<RunningService<RoleClient, Handler>>>,
    ended: Ended,
    child: Option<Child>,
    clock: Arc<dyn Clock>,
    listing: Mutex<(Arc<Listing>, Timestamp)>,
    used_at: Mutex<Timestamp>,
    in_flight: watch::Sender<usize>,
    has_served: AtomicBool,
}

/// Why a session could not be begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotBegun {
    /// What went wrong, as a sentence.
    pub reason: String,
    /// Whether the server went away when it was asked which protocols it speaks; then it is asked the old way.
    pub has_hung_up: bool,
}

impl Session {
    /// Shakes hands: with a server whose version is known in its own way, with any other by asking first.
    ///
    /// # Errors
    /// What the server did instead.
    pub async fn begin(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
        about: About,
    ) -> Result<Self, NotBegun> {
        let About { child, name, version, diagnostics, clock } = about;
        let (lines, ended) = Lines::over(read, write, diagnostics);
        let handler = Handler::new();
        let begun = handler.clone().serve_with_lifecycle(lines, lifecycle(version.as_deref())).await;
        let running = begun.map_err(|error| not_begun(&error))?;
        let peer = running.peer().clone();
        let info = peer.peer_info();
        let version = info.as_ref().map(|info| info.protocol_version.to_string()).unwrap_or_default();
        let has_changes = info.and_then(|info| info.capabilities.tools.as_ref()?.list_changed).unwrap_or(false);
        if has_changes && is_modern(&version) {
            tokio::spawn(listen(peer.clone(), handler.clone(), clock.clone()));
        }
        let now = clock.now();
        Ok(Self {
            name,
            peer,
            handler,
            version,
            running: AsyncMutex::new(Some(running)),
            ended,
            child,
            clock,
            listing: Mutex::new((Arc::default(), now)),
            used_at: Mutex::new(now),
            in_flight: watch::Sender::new(0),
            has_served: AtomicBool::new(false),
        })
    }

    /// What the server calls itself, where it says.
    #[must_use]
    pub fn server_name(&self) -> Option<String> {
        let info = self.peer.peer_info()?.server_info.clone()?;
        let names = info.title.into_iter().chain([info.name]);
        names.map(|name| name.trim().to_owned()).find(|name| !name.is_empty())
    }

    /// The version of the protocol both speak.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether the server is still there.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !*self.ended.borrow() && !self.peer.is_transport_closed()
    }

    /// Resolves when the server's side has ended.
    pub async fn ended(&self) {
        let mut ended = self.ended.clone();
        // Whoever watched the end has ended: so has the connection.
        let ended = ended.wait_for(|ended| *ended);
        let Some(child) = &self.child else {
            let _ = ended.await;
            return;
        };
        // Its last words may still be in its pipe when the process is gone; they count.
        let gone = async {
            child.exited().await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            _ = ended => {}
            () = gone => {}
        }
    }

    /// How its process ended, where it has one and that has.
    #[must_use]
    pub fn exit(&self) -> Option<String> {
        self.child.as_ref().and_then(Child::exit)
    }

    /// Its tools as they were listed last, and when that was.
    #[must_use]
    pub fn listing(&self) -> (Arc<Listing>, Timestamp) {
        self.listing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts up whenever the server says that its tools changed.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.handler.changes()
    }

    /// Whether it has answered a call.
    #[must_use]
    pub fn has_served(&self) -> bool {
        self.has_served.load(Ordering::Relaxed)
    }

    /// Since when nobody has used it; nothing while a call is under way.
    #[must_use]
    pub fn idle_since(&self) -> Option<Timestamp> {
        let is_used = *self.in_flight.borrow() > 0;
        (!is_used).then(|| *self.used_at.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Resolves when no call is under way, which is soon once the connection has ended.
    pub async fn settled(&self) {
        // It lives as long as this session does.
        let _ = self.in_flight.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Somebody uses it.
    pub fn touch(&self) {
        *self.used_at.lock().unwrap_or_else(PoisonError::into_inner) = self.clock.now();
    }

    /// Lists its tools anew, page by page, each within `patience`.
    ///
    /// # Errors
    /// What the server did instead, as a sentence. The former list stays.
    pub async fn list(&self, patience: Duration) -> Result<Arc<Listing>, String> {
        let mut pages = Pages::default();
        let mut cursor = None;
        loop {
            let page = match self.page(cursor, patience).await {
                Ok(page) => page,
                Err(RequestFailure::Refused(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => break,
                Err(failure) => return Err(self.not_listed(&failure, patience)),
            };
            match pages.take(&page) {
                Then::Next(next) => cursor = Some(next),
                Then::Done => break,
            }
        }
        let listing = Arc::new(pages.finish());
        let listed = (listing.clone(), self.clock.now());
        *self.listing.lock().unwrap_or_else(PoisonError::into_inner) = listed;
        Ok(listing)
    }

    async fn page(&self, cursor: Option<String>, patience: Duration) -> Result<Value, RequestFailure> {
        let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = ListToolsRequest { params, ..ListToolsRequest::default() };
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_cancellable_request(ClientRequest::ListToolsRequest(request), options).await;
        let handle = sent.map_err(|_| RequestFailure::Lost)?;
        match call::answer_within(handle, &self.clock, patience).await? {
            ServerResult::CustomResult(page) => Ok(page.0),
            other => Ok(serde_json::to_value(other).unwrap_or_default()),
        }
    }

    fn not_listed(&self, failure: &RequestFailure, patience: Duration) -> String {
        match failure {
            RequestFailure::Refused(error) => format!("tools/list was answered with an error: {}", error.message),
            RequestFailure::Lost => self.exit().unwrap_or_else(|| "the connection ended during tools/list".to_owned()),
            RequestFailure::Silent => format!("tools/list timed out: no answer within {} s", patience.as_secs()),
        }
    }

    /// Makes a call, and returns its result as the server wrote it. Dropping the future takes the call back.
    ///
    /// # Errors
    /// How it ended instead.
    pub async fn call(&self, call: Outgoing, signs: &Signs) -> Result<Value, CallFailure> {
        if !self.is_alive() {
            return Err(call::offline(&self.name));
        }
        let _using = Using::begin(self);
        let line = call::Line { peer: &self.peer, handler: &self.handler, clock: &self.clock, server: &self.name };
        let result = call::make(line, call, signs).await;
        if result.is_ok() {
            self.has_served.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Ends it: the server is told by the end of what it reads, and its process is gone when this resolves.
    pub async fn close(&self) {
        if let Some(mut running) = self.running.lock().await.take() {
            // What does not end in time ends with its process.
            if *self.ended.borrow() {
                // It ends by itself, when it has taken in what the server said last.
                let _ = tokio::time::timeout(CLOSING, running.waiting()).await;
            } else {
                let _ = running.close_with_timeout(CLOSING).await;
            }
        }
        if let Some(child) = &self.child {
            child.end().await;
        }
    }
}

/// A call under way keeps its session from being closed as idle.
struct Using<'a>(&'a Session);

impl<'a> Using<'a> {
    fn begin(session: &'a Session) -> Self {
        session.in_flight.send_modify(|count| *count += 1);
        Self(session)
    }
}

impl Drop for Using<'_> {
    fn drop(&mut self) {
        self.0.touch();
        self.0.in_flight.send_modify(|count| *count -= 1);
    }
}

/// Whether a version has no handshake and says changes on request only.
fn is_modern(version: &str) -> bool {
    version >= ProtocolVersion::V_2026_07_28.as_str()
}

fn lifecycle(known: Option<&str>) -> ClientLifecycleMode {
    match known {
        Some(version) if is_modern(version) => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        }
        Some(_) => ClientLifecycleMode::Initialize,
        None => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    }
}

fn not_begun(error: &ClientInitializeError) -> NotBegun {
    let has_hung_up =
        matches!(error, ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. });
    let reason = match error {
        ClientInitializeError::ConnectionClosed(_) => "it hung up during initialize".to_owned(),
        ClientInitializeError::JsonRpcError(error) => format!("initialize was refused: {}", error.message),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => return not_begun(fallback),
        other => format!("initialize failed: {other}"),
    };
    NotBegun { reason, has_hung_up }
}

/// Servers of the newer protocol say changes to those who ask to be told.
async fn listen(peer: Peer<RoleClient>, handler: Handler, clock: Arc<dyn Clock>) {
    while !peer.is_transport_closed() {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        if let Ok(mut subscription) = peer.listen(filter).await {
            while let Ok(Some(_)) = subscription.next().await {
                handler.tools_changed();
            }
        }
        clock.sleep(LISTEN_AGAIN).await;
    }
}
