//! What a run has used of its budgets: since it began, or since somebody last let it go on.

use ropewalk_protocol::{Run, RunId, RunStatus, Timestamp, WaitingKind};
use serde::{Deserialize, Serialize};

use super::{Change, Fact, RunState};

/// Where a run's budgets begin to count, and how long it has worked since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Allowance {
    /// Tool calls that were done before.
    pub calls_before: u64,
    /// Tokens that were used before.
    pub tokens_before: u64,
    /// How long the run has worked, in milliseconds.
    pub worked_ms: u64,
    /// Up to when that is counted, while it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_to: Option<Timestamp>,
}

/// What a run has used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Tool calls that are done.
    pub tool_calls: u64,
    /// Tokens its model read and wrote.
    pub tokens: u64,
    /// How long it has worked, in milliseconds: without waits for a person, pauses, and times without a daemon.
    pub worked_ms: u64,
}

impl Allowance {
    /// Time has passed.
    pub(super) fn count(&mut self, at: Timestamp) {
        if let Some(counted_to) = &mut self.counted_to {
            self.worked_ms += at.millis_since(*counted_to);
            *counted_to = at;
        }
    }

    /// The run is in this state from now on.
    pub(super) fn run_is(&mut self, run: &Run, at: Timestamp) {
        self.count(at);
        self.counted_to = works(run).then_some(at);
    }

    /// What [`Fact::Allowance`] does.
    pub(super) fn begin(&mut self, calls_before: u64, tokens_before: u64, worked_ms: u64, at: Timestamp) {
        let counted_to = self.counted_to.map(|_| at);
        *self = Self { calls_before, tokens_before, worked_ms, counted_to };
    }
}

/// A run that waits for a tool works; one that waits for a person does not.
fn works(run: &Run) -> bool {
    let waits_for = run.waiting_on.as_ref().map(|waiting| waiting.kind);
    let for_a_person = matches!(waits_for, Some(WaitingKind::Approval | WaitingKind::Input));
    matches!(run.state, RunStatus::Running | RunStatus::Waiting) && !for_a_person
}

impl RunState {
    /// What the run has used of its allowance.
    #[must_use]
    pub fn used(&self, now: Timestamp) -> Used {
        let mut allowance = self.allowance.clone();
        allowance.count(now);
        Used {
            tool_calls: self.calls_done().saturating_sub(allowance.calls_before),
            tokens: self.tokens().saturating_sub(allowance.tokens_before),
            worked_ms: allowance.worked_ms,
        }
    }

    fn calls_done(&self) -> u64 {
        let open = self.batch.iter().flat_map(|batch| &batch.calls).filter(|call| !call.done).count();
        self.run.tool_calls.saturating_sub(open as u64)
    }

    const fn tokens(&self) -> u64 {
        self.run.usage.input_tokens + self.run.usage.output_tokens
    }
}

impl Change<'_> {
    /// Gives a run its whole allowance again.
    pub(super) fn allow_anew(&mut self, run_id: &RunId) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        let (calls_before, tokens_before) = (state.calls_done(), state.tokens());
        let run_id = run_id.clone();
        self.fact(Fact::Allowance { run_id, calls_before, tokens_before, worked_ms: 0, at: self.at });
    }

    /// Leaves the time out of the count that passed since the run was last heard of, because no daemon was there.
    pub(super) fn forget_absence(&mut self, run_id: &RunId) {
        let Some(Allowance { calls_before, tokens_before, worked_ms, counted_to }) =
            self.state.runs.get(run_id).map(|state| state.allowance.clone())
        else {
            return;
        };
        if counted_to.is_some_and(|counted_to| counted_to != self.at) {
            let run_id = run_id.clone();
            self.fact(Fact::Allowance { run_id, calls_before, tokens_before, worked_ms, at: self.at });
        }
    }
}
