//! The sweep: what becomes of a thread's runs after the daemon has died.

use ropewalk_protocol::RunId;

use super::{Change, Effect};

impl Change<'_> {
    /// Brings every run under way to a point from which it can be driven: texts that were streaming are closed with
    /// what was kept of them and stay out of the chain, since their step is asked again. Calls and interactions stay as
    /// they are.
    pub fn recover(&mut self) {
        let runs: Vec<RunId> = self.state.runs.keys().cloned().collect();
        for run_id in runs {
            let Some(state) = self.state.runs.get(&run_id).cloned() else { continue };
            self.close_texts(&state);
            self.effect(Effect::Drive(run_id));
        }
        let idle: Vec<_> = self.state.branches.keys().cloned().collect();
        for branch_id in idle {
            self.start_next(&branch_id);
        }
    }
}
