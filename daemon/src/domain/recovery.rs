//! Taking up a thread's runs: after the daemon has died, and after the thread's log took nothing for a while.

use ropewalk_protocol::{Event, ItemState, OutcomeStatus, Run, RunId, RunOutcome, RunStatus};

use super::{Change, Effect, Partial, runs::SHUTDOWN};

/// Nothing that streamed is known any more but what was kept of it.
const FORGOTTEN: Partial<'static> = &|_| None;

/// How a run ends that a crash of the daemon has cut off and that cannot go on.
fn interrupted(reason: &str) -> RunOutcome {
    let (status, reason) = (OutcomeStatus::Interrupted, Some(reason.to_owned()));
    RunOutcome { status, text: None, structured: None, reason, by: None, error: None }
}

impl Change<'_> {
    /// Brings every run under way to a point from which it can be driven: texts that were streaming are closed with
    /// what was kept of them and stay out of the chain, since their step is asked again. Calls and interactions stay as
    /// they are.
    ///
    /// A run whose branch is gone cannot go on: it is interrupted, and says so.
    pub fn recover(&mut self) {
        for run_id in self.runs_under_way() {
            self.forget_absence(&run_id);
            match self.has_branch(&run_id) {
                true => self.take_up(&run_id),
                false => self.finish_run(&run_id, interrupted("branch_deleted"), FORGOTTEN),
            }
        }
        let branches: Vec<_> = self.state.branches.keys().cloned().collect();
        for branch_id in branches {
            self.start_next(&branch_id);
        }
    }

    /// Nobody drives the thread's runs any more, because a record of it could not be stored. Those that are paused stay as
    /// they are, those that were working off calls are taken up again, and the rest end as `outcome` says: taking them up
    /// would ask their model once more for every record that fails.
    pub fn rescue(&mut self, outcome: &RunOutcome) {
        for run_id in self.runs_under_way() {
            match self.state.runs.get(&run_id) {
                Some(state) if state.run.state == RunStatus::Paused => {}
                Some(state) if state.batch.is_none() => self.finish_run(&run_id, outcome.clone(), FORGOTTEN),
                _ => self.take_up(&run_id),
            }
        }
    }

    fn has_branch(&self, run_id: &RunId) -> bool {
        let branch_id = self.state.runs.get(run_id).map(|state| &state.run.branch_id);
        branch_id.is_some_and(|branch_id| self.state.branches.contains_key(branch_id))
    }

    fn runs_under_way(&self) -> Vec<RunId> {
        self.state.runs.keys().cloned().collect()
    }

    fn take_up(&mut self, run_id: &RunId) {
        let Some(state) = self.state.runs.get(run_id).cloned() else { return };
        let parked = state.run.reason.as_deref() == Some(SHUTDOWN);
        if state.run.state == RunStatus::Paused && !parked {
            return;
        }
        self.close_texts(&state, ItemState::Cancelled, FORGOTTEN);
        if state.run.state == RunStatus::Paused || state.waits_for_endpoint() {
            let recovery = Vec::new();
            let run = Run { state: RunStatus::Running, waiting_on: None, reason: None, recovery, ..state.run };
            self.event(Event::RunState { run });
        }
        self.effect(Effect::Drive(run_id.clone()));
    }
}
