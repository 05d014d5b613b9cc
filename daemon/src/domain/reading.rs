//! What of a thread nobody has seen yet: what makes it unread, and what makes it read.

use ropewalk_protocol::{BranchId, Event, OutcomeStatus, RunStatus, Seq};

use super::{Change, DomainError, Fact, ThreadState, runs::SHUTDOWN};

impl ThreadState {
    /// What [`Fact::Unseen`] does.
    pub(super) fn apply_unseen(&mut self, branch_id: &BranchId, seq: Seq) {
        if let Some(branch) = self.branches.get_mut(branch_id) {
            branch.unseen = Some(seq);
            self.touched.branches.insert(branch_id.clone());
        }
        self.look_what_is_unread();
    }

    /// What [`Fact::Read`] does.
    pub(super) fn apply_read(&mut self, branch_id: Option<&BranchId>, seq: Seq) {
        for (id, branch) in &mut self.branches {
            if branch_id.is_none_or(|only| only == id) && branch.unseen.is_some_and(|unseen| unseen <= seq) {
                branch.unseen = None;
                self.touched.branches.insert(id.clone());
            }
        }
        self.look_what_is_unread();
    }

    /// A thread is unread while any of its branches is.
    pub(super) fn look_what_is_unread(&mut self) {
        self.thread.unread = self.branches.values().any(|branch| branch.unseen.is_some());
    }
}

impl Change<'_> {
    /// Remembers that nobody was there to see a run of this change end, or be paused until somebody resumes it. A stop is
    /// no news: whoever stopped it knows.
    pub fn nobody_sees(&mut self) {
        let first = self.n();
        let news = |(event, seq): (&Event, Seq)| match event {
            Event::RunCompleted { branch_id, outcome, .. } if outcome.status != OutcomeStatus::Stopped => {
                Some((branch_id.clone(), seq))
            }
            Event::RunState { run } => {
                let is_parked = run.state == RunStatus::Paused && run.reason.as_deref() != Some(SHUTDOWN);
                is_parked.then(|| (run.branch_id.clone(), seq))
            }
            _ => None,
        };
        let unseen: Vec<_> = self.events.iter().zip(first..).filter_map(news).collect();
        for (branch_id, seq) in unseen {
            self.fact(Fact::Unseen { branch_id, seq });
        }
    }

    /// Somebody has read what happened up to an event, on one branch or on all of them. Writes nothing when nothing was
    /// unread.
    ///
    /// # Errors
    /// [`DomainError::NoBranch`].
    pub fn mark_read(&mut self, branch_id: Option<BranchId>, seq: Seq) -> Result<(), DomainError> {
        if let Some(branch_id) = branch_id.as_ref().filter(|id| !self.state.branches.contains_key(*id)) {
            return Err(DomainError::NoBranch(branch_id.clone()));
        }
        let is_meant = |id: &BranchId| branch_id.as_ref().is_none_or(|only| only == id);
        let mut branches = self.state.branches.iter().filter(|(id, _)| is_meant(id));
        if branches.any(|(_, branch)| branch.unseen.is_some_and(|unseen| unseen <= seq)) {
            self.fact(Fact::Read { branch_id, seq });
        }
        Ok(())
    }
}
