//! What follows when a thread's log does not take a record: waiting, and saying why runs ended.

use std::time::Duration;

use ropewalk_protocol::{ErrorDetail, RpcError, RunErrorKind, RunOutcome, Timestamp};

use super::run::failed;

/// The first wait before the thread's runs are rescued, and the longest.
const WAITS_MS: (u64, u64) = (1_000, 60_000);

/// A record of a thread could not be stored, and none has been since.
#[derive(Debug)]
pub struct Trouble {
    /// Whether what is in memory is what is stored.
    pub is_read: bool,
    takes_records: bool,
    next_try: Timestamp,
    wait_ms: u64,
    cause: RpcError,
}

impl Trouble {
    /// A record failed at `now`, perhaps after others. Every failure doubles the wait.
    #[must_use]
    pub fn after(former: Option<Self>, now: Timestamp, cause: &RpcError) -> Self {
        let wait_ms = former.map_or(WAITS_MS.0, |former| (former.wait_ms * 2).min(WAITS_MS.1));
        Self { is_read: false, takes_records: false, next_try: now.plus_millis(wait_ms), wait_ms, cause: cause.clone() }
    }

    /// How long it is until the thread's runs are to be rescued.
    #[must_use]
    pub fn wait(&self, now: Timestamp) -> Duration {
        Duration::from_millis(self.next_try.millis_since(now))
    }

    /// A record could be stored at `now`: what is left is to rescue the thread's runs, at once.
    pub const fn is_over(&mut self, now: Timestamp) {
        self.takes_records = true;
        self.next_try = now;
    }

    /// Whether a record could be stored since.
    #[must_use]
    pub const fn takes_records(&self) -> bool {
        self.takes_records
    }

    /// How runs end that cannot go on.
    #[must_use]
    pub fn outcome(&self) -> RunOutcome {
        let kind = match self.cause.data.detail {
            ErrorDetail::Internal { .. } => RunErrorKind::Internal,
            _ => RunErrorKind::Storage,
        };
        failed(kind, self.cause.message.clone(), true)
    }
}
