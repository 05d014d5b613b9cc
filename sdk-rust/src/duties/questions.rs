//! Questions to a person, asked through the one handler the application registered.

use std::{ops::Deref, sync::Arc};

use futures::future::BoxFuture;
use ropewalk_peer::Request;
use ropewalk_protocol::{InputAnswer, InputAsk, InputRequest};
use tokio_util::sync::CancellationToken;

use super::{
    Duties,
    fence::fenced,
    incoming::{declined, no_handler, params, written},
};

/// The application's handler, its answer already in the shape of the wire.
pub(crate) type InputHandler = dyn Fn(Questions) -> BoxFuture<'static, Option<InputAnswer>> + Send + Sync;

/// Questions that are asked. Reads like its [`InputRequest`].
#[derive(Clone, Debug)]
pub struct Questions {
    request: Arc<InputRequest>,
    cancelled: CancellationToken,
}

impl Questions {
    /// Resolves when no answer is needed any more, as [`Approval::cancelled`](crate::Approval::cancelled).
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// Whether no answer is needed any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }
}

impl Deref for Questions {
    type Target = InputRequest;

    fn deref(&self) -> &InputRequest {
        &self.request
    }
}

/// Takes an `input/request` in.
pub(super) fn take(duties: &Arc<Duties>, request: Request, generation: u64) {
    let Some(handler) = duties.handlers.input.clone() else {
        return request.responder.error(no_handler::<InputAsk>());
    };
    let Some((request, responder)) = params::<InputRequest>(request) else { return };
    let id = request.interaction_id.clone();
    let Some(cancelled) = duties.ledger.offer(&id, &request.thread_id, generation, responder) else { return };
    let duties = Arc::clone(duties);
    tokio::spawn(async move {
        let questions = Questions { request: Arc::new(request), cancelled };
        let answer = fenced(async move { handler(questions).await }).await;
        let answer = match answer {
            Ok(Some(answer)) => written(&answer),
            Ok(None) => Err(Box::new(declined("input", "gave no answer"))),
            Err(panic) => Err(Box::new(declined("input", &format!("panicked: {panic}")))),
        };
        duties.ledger.finish(&id, answer);
    });
}
