//! Pausing runs until somebody lets them go on, under their ids.

use ropewalk_protocol::{Event, Recovery, Run, RunId, RunStatus, Severity};

use super::{Change, DomainError, Effect, Notice};

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
    /// Pauses a run that works until somebody lets it go on; `text` tells people why, and what to do. Calls it has not
    /// made yet stay open, and are made when it goes on. Returns whether it is paused now.
    pub fn pause_run(&mut self, run_id: &RunId, reason: PauseReason, text: String) -> bool {
        let Some(run) = self.state.runs.get(run_id).map(|state| state.run.clone()) else { return false };
        if run.state != RunStatus::Running {
            return false;
        }
        self.notice(run_id, Notice { code: reason.word(), text, severity: Severity::Warning });
        let reason = Some(reason.word().to_owned());
        let recovery = vec![Recovery::Resume];
        self.event(Event::RunState { run: Run { state: RunStatus::Paused, reason, recovery, ..run } });
        self.effect(Effect::Abandon(run_id.clone()));
        true
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
        let going = Run { state: RunStatus::Running, reason: None, recovery: Vec::new(), endpoint_id, model, ..run };
        self.event(Event::RunState { run: going });
        self.allow_anew(run_id);
        self.effect(Effect::Drive(run_id.clone()));
        Ok(())
    }
}
