//! Everything the daemon sends, to where it belongs.

use std::sync::Arc;

use ropewalk_peer::{Peer, Request, Responder, Service};
use ropewalk_protocol::{
    ApprovalAsk, DataChanged, DataChangedParams, ErrorDetail, InputAsk, InteractionInvalidAnswer,
    InteractionInvalidAnswerParams, InteractionSettledParams, InteractionSettledSent, Method, Notification, RpcError,
    ThreadEventSent, ToolCall,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{Duties, approvals, calls, fence, ledger::Answer, questions};
use crate::events::{Delivered, End};

/// The client's end of the connection.
pub(crate) struct Incoming(pub(crate) Arc<Duties>);

impl Service for Incoming {
    fn request(&self, _: &Peer, request: Request) {
        self.0.link.hear();
        match request.method.as_str() {
            ToolCall::NAME => calls::take(&self.0, request),
            ApprovalAsk::NAME => approvals::take(&self.0, request),
            InputAsk::NAME => questions::take(&self.0, request),
            _ => {
                let method = request.method;
                let message = format!("This client knows no method {method}.");
                request.responder.error(RpcError::new(ErrorDetail::MethodNotFound { method }, message));
            }
        }
    }

    fn notification(&self, _: &Peer, method: String, params: Option<Box<RawValue>>) {
        self.0.link.hear();
        let Some(params) = params else { return };
        let read = match method.as_str() {
            ThreadEventSent::NAME => {
                Delivered::read(&params).map(|(thread, event)| self.0.hub.publish(thread, &event))
            }
            InteractionSettledSent::NAME => serde_json::from_str::<InteractionSettledParams>(params.get())
                .map(|settled| self.0.ledger.settle(&settled.interaction_id)),
            InteractionInvalidAnswer::NAME => {
                serde_json::from_str::<InteractionInvalidAnswerParams>(params.get()).map(|refused| {
                    let InteractionInvalidAnswerParams { interaction_id, path, reason } = refused;
                    tracing::warn!(interaction = %interaction_id, path, reason, "the daemon refused a handler's answer");
                    self.0.ledger.refuse(&interaction_id);
                })
            }
            DataChanged::NAME => serde_json::from_str(params.get()).map(|change| self.tell(change)),
            // A newer daemon may tell things this build knows nothing of.
            _ => Ok(()),
        };
        if let Err(error) = read {
            tracing::warn!(method, %error, "a notification of the daemon cannot be read");
        }
    }

    fn closed(&self, _: &Peer) {
        // Whoever closes from this side has said so to the hub before.
        self.0.hub.end(End::Lost);
        let _ = self.0.link.disconnect();
    }
}

impl Incoming {
    fn tell(&self, change: DataChangedParams) {
        let Some(handler) = &self.0.handlers.changes else { return };
        if let Err(panic) = fence::guarded(|| handler(change)) {
            tracing::error!(panic, "the change handler of the application panicked");
        }
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
