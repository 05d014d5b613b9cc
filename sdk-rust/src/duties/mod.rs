//! What this client does for the daemon: answer tool calls, approvals and questions, and pass events on.

mod answers;
mod approvals;
mod bindings;
mod calls;
mod fence;
mod incoming;
mod ledger;
mod questions;

use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

pub use answers::{InputReply, IntoApprovalAnswer, IntoInputAnswer};
pub use approvals::Approval;
pub use questions::Questions;

pub(crate) use approvals::ApprovalHandler;
pub(crate) use bindings::{Bindings, Registered, ThreadTools};
pub(crate) use incoming::Incoming;
pub(crate) use questions::InputHandler;

use ropewalk_protocol::{DataChangedParams, InstanceId};

use crate::{
    events::Hub,
    link::{Dial, Link},
    recovery::{Attachments, Greeting},
};
use ledger::Ledger;

/// Everything that outlives a single connection: handlers, what they are working on, and who reads events.
pub(crate) struct Duties {
    pub(crate) link: Link,
    pub(crate) hub: Hub,
    pub(crate) bindings: Bindings,
    pub(crate) attachments: Attachments,
    pub(crate) ledger: Ledger,
    /// How a connection is made.
    pub(crate) dial: Box<dyn Dial>,
    /// What is said first on every connection.
    pub(crate) greeting: Greeting,
    /// Which process this client is, on all its connections.
    pub(crate) instance: InstanceId,
    /// How long a lost connection is tried to be made again.
    pub(crate) reconnect_for: Duration,
    /// How many connections there were.
    pub(crate) connections: AtomicU64,
    handlers: Handlers,
}

/// What the application has registered.
pub(crate) struct Handlers {
    pub(crate) approvals: Option<Arc<ApprovalHandler>>,
    pub(crate) input: Option<Arc<InputHandler>>,
    pub(crate) changes: Option<Arc<ChangeHandler>>,
}

/// Told that lists may have changed.
pub(crate) type ChangeHandler = dyn Fn(DataChangedParams) + Send + Sync;

/// What a client is made of.
pub(crate) struct Setup {
    pub(crate) link: Link,
    pub(crate) dial: Box<dyn Dial>,
    pub(crate) greeting: Greeting,
    pub(crate) instance: InstanceId,
    pub(crate) reconnect_for: Duration,
    pub(crate) handlers: Handlers,
}

impl Duties {
    pub(crate) fn new(setup: Setup) -> Self {
        let Setup { link, dial, greeting, instance, reconnect_for, handlers } = setup;
        Self {
            link,
            hub: Hub::default(),
            bindings: Bindings::default(),
            attachments: Attachments::default(),
            ledger: Ledger::default(),
            dial,
            greeting,
            instance,
            reconnect_for,
            connections: AtomicU64::new(0),
            handlers,
        }
    }

    /// Tells the application that lists may have changed.
    pub(crate) fn tell(&self, change: DataChangedParams) {
        let Some(handler) = &self.handlers.changes else { return };
        if let Err(panic) = fence::guarded(|| handler(change)) {
            tracing::error!(panic, "the change handler of the application panicked");
        }
    }
}
