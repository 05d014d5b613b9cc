//! A client as the daemon knows it: one socket connection, and what it is asked on it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    time::Duration,
};

use ropewalk_peer::{CallError, Peer};
use ropewalk_protocol::{
    Capabilities, ClientRef, ErrorDetail, InstanceId, InteractionInvalidAnswer, InteractionInvalidAnswerParams,
    InteractionSettledParams, InteractionSettledSent, Method, RpcError, ThreadId, ToolCall,
};

use super::{EventFeed, asked::Asked};
use crate::{
    clock::Clock,
    engine::{AttachedClient, ConnectionId, Offer, ThreadHandle, UNREPRESENTABLE_RESULT, on_behalf_of},
};

/// Bytes a client may leave unread before it is asked nothing more. Less than what stops its own requests from being
/// read, so that it can still stop a run.
const UNREAD_BYTES: usize = 1 << 20;
/// How long it has to read before that is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

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
    asked: Mutex<Asked>,
    threads: Mutex<BTreeMap<ThreadId, ThreadHandle>>,
    me: Weak<Self>,
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

    /// The process that what it asks for is done on behalf of; none before the handshake.
    #[must_use]
    pub fn origin(&self) -> Option<InstanceId> {
        self.session.get().map(|session| session.client.instance_id.clone())
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
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        // One that was deleted meanwhile has told its clients so, and would be kept for nothing.
        if !thread.is_deleted() {
            threads.insert(thread.id().clone(), thread);
        }
    }

    /// Forgets a thread it has left.
    pub fn detached_from(&self, thread: &ThreadId) -> Option<ThreadHandle> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).remove(thread)
    }

    /// Whether it shows what it is asked to. One that has not shaken hands yet has not said so.
    #[must_use]
    pub fn navigates(&self) -> bool {
        self.session.get().is_some_and(|session| session.capabilities.navigation)
    }

    /// Ends everything of the client: its connection is over.
    pub fn end(&self) {
        self.feed.end();
        let answering = self.asked().end();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let id = self.id;
        tokio::spawn(async move {
            // Whoever answers and leaves at once is heard first. Calls without an answer have failed with the connection.
            for task in answering {
                let _ = task.await;
            }
            for thread in threads.into_values() {
                thread.leave(id, false).await;
            }
        });
    }

    fn session(&self) -> &Session {
        self.session.get().expect("no handler runs before the handshake, and nobody attaches without a handler")
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks what was held back for an answer; whether that is all of it.
    fn ask_held(&self) -> bool {
        let mut asked = self.asked();
        while !self.feed.is_held() {
            let Some((offer, thread)) = asked.take_held() else { return true };
            self.ask(&mut asked, offer, thread);
        }
        false
    }

    fn ask(&self, asked: &mut Asked, offer: Offer, thread: ThreadHandle) {
        if self.peer.queued_bytes() > UNREAD_BYTES {
            let clock = thread.shared().clock.clone();
            if asked.add_later(offer.interaction_id, thread) {
                tokio::spawn(ask_when_it_reads(self.me.clone(), clock));
            }
            return;
        }
        // A connection that is closing is told by its end, which settles what it was offered.
        let Ok(pending) = self.peer.start_call(offer.method, &offer.params) else { return };
        let (client, id) = (self.attached(), offer.interaction_id.clone());
        let task = tokio::spawn(async move {
            let response = match pending.await {
                Ok(result) => Ok(result),
                Err(CallError::Rpc(error)) => Err(error),
                Err(CallError::Closed) => return,
                Err(CallError::Unreadable(why)) => Err(unreadable(&why)),
                Err(CallError::Unrepresentable(what)) => Err(unrepresentable(what)),
                Err(CallError::TooLarge { what, limit, actual }) => Err(too_large(what, limit, actual)),
            };
            let origin = Some(client.client_ref().instance_id.clone());
            on_behalf_of(origin, thread.answered(client, id, response)).await;
        });
        // The work is the same whichever request asked for it, so that its result counts as the answer to either. Of a
        // person's answers only that to the newest request does: an older one may have been refused.
        asked.add(offer.interaction_id, task, offer.method == ToolCall::NAME);
    }
}

/// Asks a client what was held back for an answer, as soon as it has that.
async fn ask_after_the_answer(client: Weak<Client>, feed: Arc<EventFeed>) {
    loop {
        feed.released().await;
        let Some(client) = client.upgrade() else { return };
        if client.ask_held() {
            return;
        }
    }
}

/// Asks a client what could not be asked before, as soon as it has read most of what it was sent.
async fn ask_when_it_reads(client: Weak<Client>, clock: Arc<dyn Clock>) {
    loop {
        clock.sleep(LOOK_AGAIN).await;
        let Some(client) = client.upgrade().filter(|client| !client.peer.is_closed()) else { return };
        if client.peer.queued_bytes() > UNREAD_BYTES / 2 {
            continue;
        }
        let later = client.asked().take_later();
        for (interaction_id, thread) in later {
            thread.offer_once_more(client.attached(), interaction_id).await;
        }
        return;
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
        let mut asked = self.asked();
        // What a request brings about comes after its answer: events are held back, and so are questions. While some are, a new
        // one joins them, or it would be asked before an older one of its own interaction.
        if !self.feed.is_held() && !asked.holds_any() {
            self.ask(&mut asked, offer, thread);
        } else if asked.hold(offer, thread) {
            tokio::spawn(ask_after_the_answer(self.me.clone(), self.feed.clone()));
        }
    }

    fn settled(&self, params: &InteractionSettledParams) {
        if self.asked().forget(&params.interaction_id) {
            let _ = self.peer.notify::<InteractionSettledSent>(params);
        }
    }

    fn thread_gone(&self, thread: &ThreadId) {
        drop(self.detached_from(thread));
    }

    fn invalid_answer(&self, params: &InteractionInvalidAnswerParams) {
        let _ = self.peer.notify::<InteractionInvalidAnswer>(params);
    }
}

fn unreadable(why: &str) -> RpcError {
    let detail = ErrorDetail::InvalidRequest { reason: "unreadable_answer".to_owned() };
    RpcError::new(detail, format!("The answer could not be read: {why}."))
}

fn unrepresentable(what: String) -> RpcError {
    RpcError::new(ErrorDetail::InvalidRequest { reason: UNREPRESENTABLE_RESULT.to_owned() }, what)
}

fn too_large(what: &str, limit: u64, actual: u64) -> RpcError {
    let detail = ErrorDetail::TooLarge { limit, actual, what: what.to_owned() };
    RpcError::new(detail, format!("The {what} is too large: {actual} where {limit} are allowed."))
}
