//! What all clients of a torture have seen together, and the table that is made of it.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Broken promises that are named; with more of them something is so wrong that the first ones tell it.
const NAMED_VIOLATIONS: usize = 40;

/// What came of a torture.
#[derive(Clone, Debug, Default)]
pub struct TortureReport {
    /// How often the daemon was killed, or lost its power.
    pub blows: u32,
    /// How many of them came before it had said that it was ready.
    pub while_starting: u32,
    /// Clients that were in this phase when it happened; one may be in several.
    pub phases: BTreeMap<&'static str, u64>,
    /// Mutating requests that were answered with a result.
    pub acknowledged: u64,
    /// Interactions that were offered to a client which had been offered them before.
    pub offered_again: u64,
    /// Requests that were sent again under their operation id.
    pub repeated: u64,
    /// Of these, how many had been done before and were answered from the journal.
    pub replayed: u64,
    /// Handlers of tools that were started.
    pub effects: u64,
    /// Durable events that clients received.
    pub events: u64,
    /// Threads whose log was held against what clients remember, and how often that was done.
    pub logs: u64,
    /// Threads whose history a strict endpoint accepted at the end, whole.
    pub histories: u64,
    /// Promises that were broken, at most the first of them; empty when all is well.
    pub violations: Vec<String>,
    /// Where the home is left, for a look at its logs, when there are any.
    pub kept: Option<PathBuf>,
}

impl TortureReport {
    /// Clients that were in this phase.
    #[must_use]
    pub fn phase(&self, phase: &str) -> u64 {
        self.phases.get(phase).copied().unwrap_or(0)
    }
}

impl fmt::Display for TortureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows =
            [("blows", u64::from(self.blows)), ("  before the daemon was ready", u64::from(self.while_starting))];
        for (name, count) in rows {
            writeln!(f, "{name:<58} {count:>9}")?;
        }
        for (phase, count) in &self.phases {
            writeln!(f, "  clients hit with {phase:<39} {count:>9}")?;
        }
        let rows = [
            ("acknowledged writes, each found again", self.acknowledged),
            ("interactions offered again", self.offered_again),
            ("operations repeated", self.repeated),
            ("  answered from the journal", self.replayed),
            ("handlers started", self.effects),
            ("events received, each once", self.events),
            ("logs compared with what was received", self.logs),
            ("histories accepted by the strict endpoint", self.histories),
            ("violations", self.violations.len() as u64),
        ];
        for (name, count) in rows {
            writeln!(f, "{name:<58} {count:>9}")?;
        }
        if let Some(kept) = &self.kept {
            writeln!(f, "the home is left in {}", kept.display())?;
        }
        self.violations.iter().try_for_each(|violation| writeln!(f, "VIOLATION {violation}"))
    }
}

/// What clients write into while they work.
#[derive(Default)]
pub(super) struct Tally {
    report: Mutex<TortureReport>,
    seen: Mutex<HashSet<String>>,
}

impl Tally {
    pub(super) fn report(&self) -> MutexGuard<'_, TortureReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A promise was broken. The same words count once.
    pub(super) fn violation(&self, what: String) {
        let is_new = self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(what.clone());
        let mut report = self.report();
        if is_new && report.violations.len() < NAMED_VIOLATIONS {
            report.violations.push(what);
        }
    }
}
