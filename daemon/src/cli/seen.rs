//! Which calls the person has seen begin. Approvals and questions may overtake the events they belong to, and whoever is
//! asked about a call should have seen it first.

use std::{collections::HashSet, sync::Arc, time::Duration};

use ropewalk_protocol::CallId;
use tokio::{sync::watch, time::timeout};

/// Events follow a request closely; when they do not, the question is more important than the order.
const PATIENCE: Duration = Duration::from_secs(1);

/// The calls that have been shown. Clones know the same.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<watch::Sender<HashSet<CallId>>>);

impl Seen {
    /// A call was shown.
    pub(crate) fn mark(&self, call: &CallId) {
        self.0.send_if_modified(|calls| calls.insert(call.clone()));
    }

    /// Waits until a call was shown, or for a second.
    pub(crate) async fn call(&self, call: &CallId) {
        let mut calls = self.0.subscribe();
        let _ = timeout(PATIENCE, calls.wait_for(|calls| calls.contains(call))).await;
    }
}

#[cfg(test)]
mod tests;
