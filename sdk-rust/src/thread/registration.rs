//! A tool's place in a thread, for as long as somebody holds it.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use crate::duties::{Registered, ThreadTools};

/// Keeps a handler attached to a thread. Dropping it detaches the handler: calls are answered with `UnsupportedTool`
/// then, while the declaration stays until the thread's tools are declared the next time. Calls under way end as they
/// would have.
#[must_use = "dropping the registration detaches the handler; call `keep` to leave it attached"]
pub struct Registration {
    handlers: Weak<ThreadTools>,
    registered: Option<Registered>,
}

impl Registration {
    pub(super) fn new(handlers: &Arc<ThreadTools>, registered: Registered) -> Self {
        Self { handlers: Arc::downgrade(handlers), registered: Some(registered) }
    }

    /// Leaves the handler attached until the thread or the client is closed.
    pub fn keep(mut self) {
        self.registered = None;
    }

    /// Detaches the handler; the same as dropping the registration.
    pub fn detach(self) {}
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let (Some(registered), Some(handlers)) = (&self.registered, self.handlers.upgrade()) {
            handlers.unbind(registered);
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("registered", &self.registered).finish_non_exhaustive()
    }
}
