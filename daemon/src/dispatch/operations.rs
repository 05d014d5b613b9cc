//! The operations being answered right now: of equal requests at once, one is executed and the others wait for it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use ropewalk_protocol::{OperationId, Timestamp};
use tokio_util::sync::CancellationToken;

/// The table of them.
#[derive(Default)]
pub(crate) struct Operations {
    running: Mutex<HashMap<OperationId, Running>>,
}

struct Running {
    digest: String,
    since: Timestamp,
    done: CancellationToken,
}

/// How a request with an operation id stands.
pub(crate) enum Begun {
    /// Nobody else is at it.
    Claimed(Claim),
    /// An equal request is; `done` is cancelled when it has ended.
    Running { done: CancellationToken },
    /// Another request has the same id.
    Conflict { since: Timestamp },
}

/// The right to execute an operation, until it is dropped.
pub(crate) struct Claim {
    operations: Arc<Operations>,
    id: OperationId,
}

impl Operations {
    pub(crate) fn begin(self: &Arc<Self>, id: &OperationId, digest: &str, now: Timestamp) -> Begun {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = running.get(id) {
            return if other.digest == digest {
                Begun::Running { done: other.done.clone() }
            } else {
                Begun::Conflict { since: other.since }
            };
        }
        let entry = Running { digest: digest.to_owned(), since: now, done: CancellationToken::new() };
        running.insert(id.clone(), entry);
        Begun::Claimed(Claim { operations: self.clone(), id: id.clone() })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let ended = self.operations.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        if let Some(ended) = ended {
            ended.done.cancel();
        }
    }
}
