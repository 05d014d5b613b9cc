//! What this client does for the daemon: answer tool calls, approvals and questions, and pass events on.

mod answers;
mod approvals;
mod bindings;
mod calls;
mod fence;
mod incoming;
mod ledger;
mod questions;

use std::sync::Arc;

pub use answers::{InputReply, IntoApprovalAnswer, IntoInputAnswer};
pub use approvals::Approval;
pub use questions::Questions;

pub(crate) use approvals::ApprovalHandler;
pub(crate) use bindings::{Bindings, Registered, ThreadTools};
pub(crate) use incoming::Incoming;
pub(crate) use questions::InputHandler;

use ropewalk_protocol::DataChangedParams;

use crate::{events::Hub, link::Link};
use ledger::Ledger;

/// Everything that outlives a single connection: handlers, what they are working on, and who reads events.
pub(crate) struct Duties {
    pub(crate) link: Link,
    pub(crate) hub: Hub,
    pub(crate) bindings: Bindings,
    handlers: Handlers,
    ledger: Ledger,
}

/// What the application has registered.
pub(crate) struct Handlers {
    pub(crate) approvals: Option<Arc<ApprovalHandler>>,
    pub(crate) input: Option<Arc<InputHandler>>,
    pub(crate) changes: Option<Arc<ChangeHandler>>,
}

/// Told that lists may have changed.
pub(crate) type ChangeHandler = dyn Fn(DataChangedParams) + Send + Sync;

impl Duties {
    pub(crate) fn new(link: Link, handlers: Handlers) -> Self {
        Self { link, hub: Hub::default(), bindings: Bindings::default(), handlers, ledger: Ledger::default() }
    }

    /// The client ends: nobody waits for any result any more.
    pub(crate) fn end(&self) {
        self.ledger.cancel_all();
    }
}
