//! Everything the daemon sends, to where it belongs.

use std::sync::Arc;

use ropewalk_peer::{Peer, Request, Responder, Service};
use ropewalk_protocol::{
    ApprovalAsk, DataChanged, ErrorDetail, InputAsk, InteractionId, InteractionInvalidAnswer,
    InteractionInvalidAnswerParams, InteractionSettledSent, Method, Notification, RpcError, ThreadEventSent,
    ThreadUnsubscribed, ThreadUnsubscribedParams, ToolCall,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{Duties, approvals, calls, ledger::Answer, questions};
use crate::{
    events::{Delivered, Failure},
    recovery,
};

/// What is read of a settlement.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Over {
    interaction_id: InteractionId,
}

/// The client's end of one connection.
pub(crate) struct Incoming {
    duties: Arc<Duties>,
    /// Which of the client's connections it is.
    generation: u64,
}

impl Service for Incoming {
    fn request(&self, _: &Peer, request: Request) {
        self.duties.link.hear();
        match request.method.as_str() {
            ToolCall::NAME => calls::take(&self.duties, request, self.generation),
            ApprovalAsk::NAME => approvals::take(&self.duties, request, self.generation),
            InputAsk::NAME => questions::take(&self.duties, request, self.generation),
            _ => {
                let method = request.method;
                let message = format!("This client knows no method {method}.");
                request.responder.error(RpcError::new(ErrorDetail::MethodNotFound { method }, message));
            }
        }
    }

    fn notification(&self, _: &Peer, method: String, params: Option<Box<RawValue>>) {
        self.duties.link.hear();
        let Some(params) = params else { return };
        let read = match method.as_str() {
            ThreadEventSent::NAME => {
                Delivered::read(&params).map(|(thread, event)| self.duties.hub.publish(thread, &event))
            }
            ThreadUnsubscribed::NAME => serde_json::from_str(params.get()).map(|lost| self.lose(lost)),
            // However it was settled, in words this build may not know, it is over.
            InteractionSettledSent::NAME => serde_json::from_str::<Over>(params.get())
                .map(|settled| self.duties.ledger.settle(&settled.interaction_id)),
            InteractionInvalidAnswer::NAME => {
                serde_json::from_str::<InteractionInvalidAnswerParams>(params.get()).map(|refused| {
                    let InteractionInvalidAnswerParams { interaction_id, path, reason } = refused;
                    tracing::warn!(interaction = %interaction_id, path, reason, "the daemon refused a handler's answer");
                    self.duties.ledger.refuse(&interaction_id);
                })
            }
            DataChanged::NAME => serde_json::from_str(params.get()).map(|change| self.duties.tell(change)),
            // A newer daemon may tell things this build knows nothing of.
            _ => Ok(()),
        };
        if let Err(error) = read {
            tracing::warn!(method, %error, "a notification of the daemon cannot be read");
        }
    }

    fn closed(&self, _: &Peer) {
        // Whoever closes from this side has said so to the link before.
        recovery::lost(&self.duties, self.generation);
    }
}

impl Incoming {
    pub(crate) const fn new(duties: Arc<Duties>, generation: u64) -> Self {
        Self { duties, generation }
    }

    /// No more events come of a thread: its streams end with why. It is not taken up again on a new connection.
    fn lose(&self, lost: ThreadUnsubscribedParams) {
        let ThreadUnsubscribedParams { thread_id, after, error } = lost;
        tracing::warn!(thread = %thread_id, after, %error, "a thread is followed no more");
        self.duties.attachments.remove(&thread_id);
        self.duties.hub.fail(&thread_id, Failure::Refused(Box::new(error)));
    }
}

/// The parameters of a request; one whose parameters cannot be read is answered here.
pub(super) fn params<P: DeserializeOwned>(request: Request) -> Option<(P, Responder)> {
    let text = request.params.as_deref().map_or("null", RawValue::get);
    match serde_json::from_str(text) {
        Ok(params) => Some((params, request.responder)),
        Err(error) => {
            let message = format!("The parameters of {} cannot be read: {error}.", request.method);
            request.responder.error(RpcError::invalid_params("", "unreadable", message));
            None
        }
    }
}

/// A person's answer as JSON.
pub(super) fn written(answer: &impl Serialize) -> Answer {
    match serde_json::to_string(answer) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(Box::new(declined("answer", &format!("gave what is no JSON: {error}")))),
    }
}

/// "Not I", because the handler did not come to an answer.
pub(super) fn declined(what: &str, how: &str) -> RpcError {
    let detail = ErrorDetail::Cancelled { reason: Some("no_answer".to_owned()) };
    RpcError::new(detail, format!("The {what} handler of this client {how}."))
}

/// "Not I", because nobody here can be asked.
pub(super) fn no_handler<M: Method>() -> RpcError {
    let detail = ErrorDetail::MethodNotFound { method: M::NAME.to_owned() };
    RpcError::new(detail, format!("This client has no handler for {}.", M::NAME))
}
