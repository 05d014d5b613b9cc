//! A client that attaches to threads without a socket.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use ropewalk_protocol::{
    Capabilities, ClientRef, InteractionId, InteractionInvalidAnswerParams, InteractionSettledParams, RpcError,
    ThreadId,
};
use serde_json::{Value, json, value::to_raw_value};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::life::soon;
use crate::engine::{AttachedClient, ConnectionId, Offer, Resume, Resumed, ThreadHandle};

/// What a client is told.
pub(crate) enum Told {
    Gone(ThreadId),
    Offer(Offer, ThreadHandle),
    Settled(InteractionSettledParams),
    Invalid(InteractionInvalidAnswerParams),
}

/// The test's end of a client.
pub(crate) struct Person {
    pub(crate) end: Arc<dyn AttachedClient>,
    told: UnboundedReceiver<Told>,
}

struct End {
    connection: ConnectionId,
    client: ClientRef,
    is_lasting: bool,
    capabilities: Capabilities,
    told: UnboundedSender<Told>,
}

static CONNECTIONS: AtomicU64 = AtomicU64::new(1);

/// An offer a client was made.
pub(crate) struct Offered {
    pub(crate) offer: Offer,
    pub(crate) thread: ThreadHandle,
}

impl Person {
    /// A client that named itself `instance` and can settle everything.
    pub(crate) fn new(instance: &str) -> Self {
        Self::with(instance, true, Capabilities { approvals: true, input: true, navigation: false })
    }

    pub(crate) fn with(instance: &str, is_lasting: bool, capabilities: Capabilities) -> Self {
        let (sender, told) = unbounded_channel();
        let connection = ConnectionId(CONNECTIONS.fetch_add(1, Ordering::Relaxed));
        let client = ClientRef { client_name: "bot".into(), instance_id: instance.into() };
        Self { end: Arc::new(End { connection, client, is_lasting, capabilities, told: sender }), told }
    }

    /// Attaches, follows the events, and is offered what is open.
    pub(crate) async fn resume(&self, thread: &ThreadHandle) -> Resumed {
        let resumed = self.attaches(thread).await;
        thread.offer_open(self.end.clone()).await;
        resumed
    }

    /// The same, before it has heard that and is offered what is open.
    pub(crate) async fn attaches(&self, thread: &ThreadHandle) -> Resumed {
        let resume = Resume {
            client: self.end.clone(),
            tools: None,
            after: None,
            takeover: false,
            subscribe: true,
            operation: None,
        };
        soon(thread.resume(resume)).await.unwrap()
    }

    /// The connection breaks.
    pub(crate) async fn breaks(&self, thread: &ThreadHandle) {
        thread.leave(self.end.connection(), false).await;
    }

    /// The next thing it is told.
    pub(crate) async fn told(&mut self) -> Told {
        soon(self.told.recv()).await.expect("the client is told something")
    }

    /// The next request it is offered.
    pub(crate) async fn offered(&mut self, method: &str) -> Offered {
        loop {
            if let Told::Offer(offer, thread) = self.told().await {
                assert_eq!(offer.method, method);
                return Offered { offer, thread };
            }
        }
    }

    /// The next settlement it is told of.
    pub(crate) async fn settled(&mut self) -> InteractionSettledParams {
        loop {
            if let Told::Settled(params) = self.told().await {
                return params;
            }
        }
    }

    /// The next refusal of an answer of its.
    pub(crate) async fn refused(&mut self) -> InteractionInvalidAnswerParams {
        loop {
            if let Told::Invalid(params) = self.told().await {
                return params;
            }
        }
    }

    /// What it has been told and not looked at.
    pub(crate) fn unread(&self) -> usize {
        self.told.len()
    }

    /// Answers a request.
    pub(crate) async fn answers(&self, offered: &Offered, answer: Value) {
        let answer = to_raw_value(&answer).unwrap();
        offered.thread.answered(self.end.clone(), offered.id().clone(), Ok(answer)).await;
    }

    /// Says that it will not answer.
    pub(crate) async fn says_not_i(&self, offered: &Offered) {
        let error = RpcError::not_found("anybody", "here");
        offered.thread.answered(self.end.clone(), offered.id().clone(), Err(error)).await;
    }

    /// Answers a tool call with text.
    pub(crate) async fn returns(&self, offered: &Offered, text: &str) {
        self.answers(offered, json!({"success": true, "contentItems": [{"type": "text", "text": text}]})).await;
    }
}

impl Offered {
    pub(crate) const fn id(&self) -> &InteractionId {
        &self.offer.interaction_id
    }

    pub(crate) fn params(&self) -> Value {
        serde_json::from_str(self.offer.params.get()).unwrap()
    }
}

impl AttachedClient for End {
    fn connection(&self) -> ConnectionId {
        self.connection
    }

    fn client_ref(&self) -> &ClientRef {
        &self.client
    }

    fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn offer(&self, offer: Offer, thread: ThreadHandle) {
        let _ = self.told.send(Told::Offer(offer, thread));
    }

    fn settled(&self, params: &InteractionSettledParams) {
        let _ = self.told.send(Told::Settled(params.clone()));
    }

    fn thread_gone(&self, thread: &ThreadId) {
        let _ = self.told.send(Told::Gone(thread.clone()));
    }

    fn invalid_answer(&self, params: &InteractionInvalidAnswerParams) {
        let _ = self.told.send(Told::Invalid(params.clone()));
    }
}
