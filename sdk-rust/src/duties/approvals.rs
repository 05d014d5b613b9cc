//! Approvals: a person's decision, asked for through the one handler the application registered.

use std::{ops::Deref, sync::Arc};

use futures::future::BoxFuture;
use ropewalk_peer::Request;
use ropewalk_protocol::{ApprovalAnswer, ApprovalAsk, ApprovalRequest, Decision};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    Duties,
    fence::fenced,
    incoming::{declined, no_handler, params, written},
};

/// The application's handler, its answer already in the shape of the wire.
pub(crate) type ApprovalHandler = dyn Fn(Approval) -> BoxFuture<'static, Option<ApprovalAnswer>> + Send + Sync;

/// A decision that is asked for. Reads like its [`ApprovalRequest`].
#[derive(Clone, Debug)]
pub struct Approval {
    request: Arc<ApprovalRequest>,
    cancelled: CancellationToken,
}

impl Approval {
    /// Resolves when no answer is needed any more: somebody else answered first, a rule or a stop settled it, it
    /// expired, or the client was closed. Close the prompt then; what the handler returns is ignored.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// Whether no answer is needed any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }
}

impl Deref for Approval {
    type Target = ApprovalRequest;

    fn deref(&self) -> &ApprovalRequest {
        &self.request
    }
}

/// A request without the choices that are newer than this build: a person can still be asked for the others.
struct Known(ApprovalRequest);

impl<'de> Deserialize<'de> for Known {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut request = Value::deserialize(deserializer)?;
        if let Some(choices) = request.get_mut("choices").and_then(Value::as_array_mut) {
            choices.retain(|choice| Decision::deserialize(choice).is_ok());
        }
        serde_json::from_value(request).map(Self).map_err(D::Error::custom)
    }
}

/// Takes an `approval/request` in.
pub(super) fn take(duties: &Arc<Duties>, request: Request, generation: u64) {
    let Some(handler) = duties.handlers.approvals.clone() else {
        return request.responder.error(no_handler::<ApprovalAsk>());
    };
    let Some((Known(request), responder)) = params::<Known>(request) else { return };
    let id = request.interaction_id.clone();
    let Some(cancelled) = duties.ledger.offer(&id, &request.thread_id, generation, responder) else { return };
    let duties = Arc::clone(duties);
    tokio::spawn(async move {
        let approval = Approval { request: Arc::new(request), cancelled };
        let answer = fenced(async move { handler(approval).await }).await;
        let answer = match answer {
            Ok(Some(answer)) => written(&answer),
            Ok(None) => Err(Box::new(declined("approval", "gave no answer"))),
            Err(panic) => Err(Box::new(declined("approval", &format!("panicked: {panic}")))),
        };
        duties.ledger.finish(&id, answer);
    });
}
