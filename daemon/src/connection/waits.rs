//! The requests of one connection that wait for something to happen, so that they can be cancelled.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use ropewalk_protocol::RequestId;
use tokio_util::sync::CancellationToken;

/// The requests of one connection that wait, by their ids.
#[derive(Default)]
pub(super) struct Waits {
    tokens: Mutex<HashMap<RequestId, (u64, CancellationToken)>>,
    next: AtomicU64,
}

/// One of them, until it is dropped.
pub(super) struct Wait {
    waits: Arc<Waits>,
    id: Option<RequestId>,
    key: u64,
    /// Cancelled when nobody waits for the answer any more.
    pub(super) token: CancellationToken,
}

impl Waits {
    pub(super) fn begin(self: &Arc<Self>, id: Option<RequestId>, over: &CancellationToken) -> Wait {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        let token = over.child_token();
        if let Some(id) = &id {
            let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
            tokens.insert(id.clone(), (key, token.clone()));
        }
        Wait { waits: self.clone(), id, key, token }
    }

    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some((_, token)) = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).get(id) {
            token.cancel();
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let Some(id) = &self.id else { return };
        let mut tokens = self.waits.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        // A client may have used the id again; then the entry is the newer request's.
        if tokens.get(id).is_some_and(|(key, _)| *key == self.key) {
            tokens.remove(id);
        }
    }
}
