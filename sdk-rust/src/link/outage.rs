//! How often and for how long a lost connection is tried to be made again.

use std::time::Duration;

use tokio::time::Instant;

/// The wait before the second attempt; each later one is twice as long. The first comes at once.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest wait between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A connection that is lost sooner than this belongs to the outage before it: one that is made and lost for ever is
/// given up like one that cannot be made.
const STEADY: Duration = Duration::from_secs(10);
/// Longer than any process lives, and still a moment that can be reckoned with.
const FOREVER: Duration = Duration::from_secs(86_400 * 365 * 30);

/// The time without a connection that lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outage {
    /// When the connection was lost.
    pub(crate) since: Instant,
    /// Attempts so far.
    pub(crate) attempts: u32,
}

/// What is remembered between two outages.
#[derive(Debug, Default)]
pub(super) struct History {
    last: Option<(Outage, Instant)>,
}

impl History {
    /// The connection was lost that had stood since `connected_at`: a new outage, or the last one goes on.
    pub(super) fn lost(&mut self, connected_at: Instant) -> Outage {
        let now = Instant::now();
        match self.last.take() {
            Some((outage, ended_at)) if now.duration_since(connected_at.max(ended_at)) < STEADY => outage,
            _ => Outage { since: now, attempts: 0 },
        }
    }

    /// The connection stands again.
    pub(super) fn ended(&mut self, outage: Outage) {
        self.last = Some((outage, Instant::now()));
    }
}

impl Outage {
    /// When it is given up.
    pub(crate) fn deadline(&self, patience: Duration) -> Instant {
        self.since + patience.min(FOREVER)
    }

    /// The wait before the attempt that comes next. `random` is from 0 to 1 and takes up to half of it away, so that the
    /// clients of one daemon do not all come at once.
    pub(crate) fn pause(&self, random: f64) -> Duration {
        let Some(doublings) = self.attempts.checked_sub(2) else { return Duration::ZERO };
        let whole = FIRST_PAUSE.saturating_mul(1_u32.checked_shl(doublings).unwrap_or(u32::MAX)).min(LONGEST_PAUSE);
        whole.mul_f64(1.0 - random / 2.0)
    }
}

#[cfg(test)]
mod tests;
