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

use crate::{events::Hub, link::Link};
use ledger::Ledger;

/// Everything that outlives a single connection: handlers, what they are working on, and who reads events.
pub(crate) struct Duties {
    pub(crate) link: Link,
    pub(crate) hub: Hub,
    pub(crate) bindings: Bindings,
    pub(crate) approvals: Option<Arc<ApprovalHandler>>,
    pub(crate) input: Option<Arc<InputHandler>>,
    ledger: Ledger,
}

impl Duties {
    pub(crate) fn new(link: Link, approvals: Option<Arc<ApprovalHandler>>, input: Option<Arc<InputHandler>>) -> Self {
        Self { link, hub: Hub::default(), bindings: Bindings::default(), approvals, input, ledger: Ledger::default() }
    }

    /// The client ends: nobody waits for any result any more.
    pub(crate) fn end(&self) {
        self.ledger.cancel_all();
    }
}
