//! Parking runs and letting them go on under their ids.

use ropewalk_protocol::{Event, Run, RunId, RunStatus, Severity};

use super::{Change, DomainError, Effect, Notice};

/// Why a run is paused that the daemon parked when it went. It goes on by itself.
pub(super) const SHUTDOWN: &str = "shutdown";

/// Why a run is paused until somebody lets it go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseReason {
    /// A budget of it is used up.
    Budget,
    /// Its endpoint is gone.
    Endpoint,
}

impl PauseReason {
    const fn word(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Endpoint => "endpoint",
        }
    }
}

impl Change<'_> {
    /// Parks a run that works, because the daemon goes; one that waits stays as it is.
    pub fn park_run(&mut self, run_id: &RunId) {
        self.pause(run_id, SHUTDOWN);
    }

    /// Pauses a run that works until somebody lets it go on; `text` tells people why, and what to do. Calls it has not
    /// made yet stay open, and are made when it goes on.
    pub fn pause_run(&mut self, run_id: &RunId, reason: PauseReason, text: String) {
        if self.state.runs.get(run_id).is_none_or(|state| state.run.state != RunStatus::Running) {
            return;
        }
        self.notice(run_id, Notice { code: reason.word(), text, severity: Severity::Warning });
        self.pause(run_id, reason.word());
        self.effect(Effect::Abandon(run_id.clone()));
    }

    /// Lets a paused run go on under its id: with its whole allowance, and with its endpoint, or the one its thread has
    /// now where that is gone.
    ///
    /// # Errors
    /// [`DomainError::NoRun`], [`DomainError::NotPaused`], [`DomainError::NoEndpoint`].
    pub fn resume_run(&mut self, run_id: &RunId) -> Result<(), DomainError> {
        let Some(state) = self.state.runs.get(run_id) else { return Err(DomainError::NoRun(run_id.clone())) };
        let run = state.run.clone();
        if run.state != RunStatus::Paused {
            return Err(DomainError::NotPaused(run.state));
        }
        let thread = &self.state.thread;
        let endpoint = self.world.endpoint(thread, Some(&run.endpoint_id));
        let endpoint = endpoint.or_else(|| self.world.endpoint(thread, None));
        let (endpoint_id, model) = endpoint.ok_or(DomainError::NoEndpoint)?;
        self.event(Event::RunState { run: Run { state: RunStatus::Running, reason: None, endpoint_id, model, ..run } });
        self.allow_anew(run_id);
        self.effect(Effect::Drive(run_id.clone()));
        Ok(())
    }

    fn pause(&mut self, run_id: &RunId, reason: &str) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        if state.run.state == RunStatus::Running {
            let reason = Some(reason.to_owned());
            self.event(Event::RunState { run: Run { state: RunStatus::Paused, reason, ..state.run.clone() } });
        }
    }
}
