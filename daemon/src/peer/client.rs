//! A client as the daemon knows it: one socket connection, and what it is asked on it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use ropewalk_peer::{CallError, Peer};
use ropewalk_protocol::{
    Capabilities, ClientRef, ErrorDetail, InteractionId, InteractionInvalidAnswer, InteractionInvalidAnswerParams,
    InteractionSettledParams, InteractionSettledSent, RpcError, ThreadId,
};
use tokio::task::AbortHandle;

use super::EventFeed;
use crate::engine::{AttachedClient, ConnectionId, Offer, ThreadHandle};

/// Requests of one interaction that may be unanswered on one connection; the oldest beyond it is over.
const REQUESTS_OF_ONE: usize = 8;

/// What a client said of itself in the handshake.
#[derive(Clone, Debug)]
pub struct Session {
    /// Which process it is.
    pub client: ClientRef,
    /// Whether the process named itself, so that it can come back.
    pub is_lasting: bool,
    /// What it can do for the daemon.
    pub capabilities: Capabilities,
}

/// One socket connection of one client.
pub struct Client {
    id: ConnectionId,
    peer: Peer,
    session: OnceLock<Session>,
    feed: Arc<EventFeed>,
    asked: Mutex<HashMap<InteractionId, Vec<AbortHandle>>>,
    threads: Mutex<HashMap<ThreadId, ThreadHandle>>,
    me: std::sync::Weak<Self>,
}

impl Client {
    /// A connection that has not shaken hands yet.
    pub fn new(id: ConnectionId, peer: Peer, feed: Arc<EventFeed>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            id,
            peer,
            session: OnceLock::new(),
            feed,
            asked: Mutex::default(),
            threads: Mutex::default(),
            me: me.clone(),
        })
    }

    /// Takes in the handshake. Only the first one counts.
    pub fn greet(&self, session: Session) {
        let _ = self.session.set(session);
    }

    /// Which process it is.
    #[must_use]
    pub fn client_ref(&self) -> ClientRef {
        self.session().client.clone()
    }

    /// The events it is sent.
    #[must_use]
    pub const fn feed(&self) -> &Arc<EventFeed> {
        &self.feed
    }

    /// This client, as the engine knows it.
    #[must_use]
    pub fn attached(&self) -> Arc<dyn AttachedClient> {
        self.me.upgrade().expect("a client is only reached through its own handle")
    }

    /// Notes a thread the client is attached to, so that it is told when the connection ends.
    pub fn attached_to(&self, thread: ThreadHandle) {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).insert(thread.id().clone(), thread);
    }

    /// Forgets a thread it has left.
    pub fn detached_from(&self, thread: &ThreadId) -> Option<ThreadHandle> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).remove(thread)
    }

    /// Ends everything of the client: its connection is over.
    pub fn end(&self) {
        self.feed.end();
        for (_, tasks) in self.asked.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            tasks.iter().for_each(AbortHandle::abort);
        }
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let id = self.id;
        tokio::spawn(async move {
            for thread in threads.into_values() {
                thread.leave(id, false).await;
            }
        });
    }

    fn session(&self) -> &Session {
        self.session.get().expect("no handler runs before the handshake, and nobody attaches without a handler")
    }

    fn forget(&self, interaction_id: &InteractionId) {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).remove(interaction_id);
        asked.unwrap_or_default().iter().for_each(AbortHandle::abort);
    }
}

impl AttachedClient for Client {
    fn connection(&self) -> ConnectionId {
        self.id
    }

    fn client_ref(&self) -> &ClientRef {
        &self.session().client
    }

    fn is_lasting(&self) -> bool {
        self.session().is_lasting
    }

    fn capabilities(&self) -> Capabilities {
        self.session().capabilities
    }

    fn offer(&self, offer: Offer, thread: ThreadHandle) {
        // A connection that is closing is told by its end, which settles what it was offered.
        let Ok(pending) = self.peer.start_call(offer.method, &offer.params) else { return };
        let (client, id) = (self.attached(), offer.interaction_id.clone());
        let task = tokio::spawn(async move {
            let response = match pending.await {
                Ok(result) => Ok(result),
                Err(CallError::Rpc(error)) => Err(error),
                Err(CallError::Closed) => return,
                Err(CallError::Unreadable(why)) => Err(unreadable(&why)),
                Err(CallError::TooLarge { what, limit, actual }) => Err(too_large(what, limit, actual)),
            };
            thread.answered(client, id, response).await;
        });
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        for tasks in asked.values_mut() {
            tasks.retain(|task| !task.is_finished());
        }
        asked.retain(|_, tasks| !tasks.is_empty());
        // Asked again, the client may answer either request: its answer to the older one may be on its way already.
        let tasks = asked.entry(offer.interaction_id).or_default();
        tasks.push(task.abort_handle());
        if tasks.len() > REQUESTS_OF_ONE {
            tasks.remove(0).abort();
        }
    }

    fn settled(&self, params: &InteractionSettledParams) {
        self.forget(&params.interaction_id);
        let _ = self.peer.notify::<InteractionSettledSent>(params);
    }

    fn invalid_answer(&self, params: &InteractionInvalidAnswerParams) {
        let _ = self.peer.notify::<InteractionInvalidAnswer>(params);
    }
}

fn unreadable(why: &str) -> RpcError {
    let detail = ErrorDetail::InvalidRequest { reason: "unreadable_answer".to_owned() };
    RpcError::new(detail, format!("The answer could not be read: {why}."))
}

fn too_large(what: &str, limit: u64, actual: u64) -> RpcError {
    let detail = ErrorDetail::TooLarge { limit, actual, what: what.to_owned() };
    RpcError::new(detail, format!("The {what} is too large: {actual} where {limit} are allowed."))
}
