//! The word to one client that lists may have changed: merged, and told a few times a second at most.

use std::time::Duration;

use ropewalk_protocol::{DataChangedParams, DataKind, InstanceId, Timestamp};

/// The shortest time between two `data/changed` of one connection.
const APART_MS: u64 = 250;
/// Ids a `data/changed` names; with more it names none.
const IDS: usize = 100;

/// What one client has not been told yet.
pub(super) struct Changes {
    is_wanted: bool,
    waiting: Option<DataChangedParams>,
    sent_at: Timestamp,
}

impl Changes {
    /// For a client that has not said whether it wants to be told.
    pub(super) const fn new() -> Self {
        Self { is_wanted: false, waiting: None, sent_at: Timestamp::from_millis(0) }
    }

    /// Whether the client wants to be told.
    pub(super) const fn want(&mut self, is_wanted: bool) {
        self.is_wanted = is_wanted;
    }

    /// Something has changed; whether the client is to be told.
    pub(super) fn note(&mut self, seq: u64, kinds: &[DataKind], ids: &[String], origin: Option<&InstanceId>) -> bool {
        if !self.is_wanted {
            return false;
        }
        let fresh = || DataChangedParams { seq, kinds: Vec::new(), ids: Some(Vec::new()), origin: origin.cloned() };
        let waiting = self.waiting.get_or_insert_with(fresh);
        waiting.seq = seq;
        waiting.kinds.extend_from_slice(kinds);
        waiting.kinds.sort_unstable();
        waiting.kinds.dedup();
        if waiting.origin.as_ref() != origin {
            waiting.origin = None;
        }
        if let Some(known) = &mut waiting.ids {
            known.extend(ids.iter().filter(|id| !known.contains(id)).cloned().collect::<Vec<_>>());
            if known.len() > IDS {
                waiting.ids = None;
            }
        }
        true
    }

    /// What is to be told now.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<DataChangedParams> {
        if now.millis_since(self.sent_at) < APART_MS {
            return None;
        }
        let waiting = self.waiting.take()?;
        self.sent_at = now;
        Some(waiting)
    }

    /// How long it is until something is to be told.
    pub(super) fn due_in(&self, now: Timestamp) -> Option<Duration> {
        self.waiting.as_ref()?;
        let since = now.millis_since(self.sent_at);
        Some(Duration::from_millis(APART_MS.saturating_sub(since).max(1)))
    }
}
