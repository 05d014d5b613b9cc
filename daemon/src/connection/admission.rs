//! How much one connection may ask at once.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use ropewalk_protocol::{Lane, Limits, RpcError};
use tokio::sync::Notify;

use super::refusals::overloaded;

/// What one connection has asked and was not answered yet.
pub(crate) struct Load {
    in_flight: AtomicU64,
    waiting: AtomicU64,
    max_in_flight: u64,
    max_waiting: u64,
    /// Told when something ends.
    changes: Arc<Notify>,
}

/// The class of a request. Each has a limit of its own; control requests have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Work,
    Control,
    Wait,
}

impl Class {
    pub(crate) const fn of(lane: Lane, waits: bool) -> Self {
        match (lane, waits) {
            (_, true) => Self::Wait,
            (Lane::Work, false) => Self::Work,
            (Lane::Control, false) => Self::Control,
        }
    }
}

impl Load {
    pub(crate) const fn new(limits: &Limits, changes: Arc<Notify>) -> Self {
        Self {
            in_flight: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            max_in_flight: limits.max_in_flight,
            max_waiting: limits.max_waiting,
            changes,
        }
    }

    /// Admits one more request of `class`, until the permit is dropped.
    pub(crate) fn admit(self: &Arc<Self>, class: Class) -> Result<Permit, RpcError> {
        let permit = Permit { load: self.clone(), class };
        let (count, limit, what) = match class {
            Class::Control => return Ok(permit),
            Class::Work => (&self.in_flight, self.max_in_flight, "requests in flight"),
            Class::Wait => (&self.waiting, self.max_waiting, "waiting requests"),
        };
        if count.fetch_add(1, Ordering::AcqRel) < limit {
            return Ok(permit);
        }
        Err(overloaded(what, limit, "Wait for an answer before asking more."))
    }

    /// Whether nothing is being worked on.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) == 0
    }

    /// Whether no request waits.
    pub(crate) fn nothing_waits(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == 0
    }
}

/// The place of one request; given back when its answer was written.
pub(crate) struct Permit {
    load: Arc<Load>,
    class: Class,
}

impl Drop for Permit {
    fn drop(&mut self) {
        match self.class {
            Class::Control => return,
            Class::Work => self.load.in_flight.fetch_sub(1, Ordering::AcqRel),
            Class::Wait => self.load.waiting.fetch_sub(1, Ordering::AcqRel),
        };
        self.load.changes.notify_waiters();
    }
}
