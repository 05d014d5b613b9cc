//! Asides and steers: input for the run under way, which joins its chain at the next step boundary.

use ropewalk_protocol::{
    BranchId, Delivery, Event, MessageId, Mode, Part, QueueChange, QueueChanged, QueueEntry, RunId, Sender,
    SubmitState, limits::QUEUE_ENTRIES,
};

use super::{Change, DomainError, QueuedInput, notes::UserMessage};

/// An input for the run under way, without a run of its own.
#[derive(Clone, Debug)]
pub struct Remark {
    /// The branch.
    pub branch_id: BranchId,
    /// What is said.
    pub input: Vec<Part>,
    /// For a steer the run it is meant for; an aside has none.
    pub steers: Option<RunId>,
    /// The run that says it, where it is no client.
    pub sender: Option<Sender>,
}

/// What became of a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remarked {
    /// The run it waits for, unless it is in the chain already.
    pub run_id: Option<RunId>,
    /// Its message.
    pub message_id: MessageId,
    /// Queued or recorded.
    pub state: SubmitState,
}

impl Change<'_> {
    /// Stores a remark: for the next step boundary of the run under way, or at once where nothing runs.
    ///
    /// # Errors
    /// [`DomainError::NoBranch`], [`DomainError::QueueFull`]; for a steer also [`DomainError::OtherRun`] and
    /// [`DomainError::NothingToSteer`].
    pub fn remark(&mut self, remark: Remark) -> Result<Remarked, DomainError> {
        let Remark { branch_id, input, steers, sender } = remark;
        let Some(branch) = self.state.branches.get(&branch_id) else { return Err(DomainError::NoBranch(branch_id)) };
        let (active, queue) = (branch.branch.active_run_id.clone(), branch.branch.queue.clone());
        let message_id: MessageId = self.id();
        let mode = if steers.is_some() { Mode::Steer } else { Mode::Aside };
        let run_id = match (active, steers) {
            (Some(active), Some(expected)) if active != expected => return Err(DomainError::OtherRun(active)),
            (Some(active), _) => active,
            (None, Some(_)) => return Err(DomainError::NothingToSteer),
            (None, None) => {
                self.joins_as_user(UserMessage {
                    branch_id,
                    run_id: None,
                    message_id: message_id.clone(),
                    content: input,
                    sender,
                    delivery: Delivery::Aside,
                });
                return Ok(Remarked { run_id: None, message_id, state: SubmitState::Recorded });
            }
        };
        if queue.length >= QUEUE_ENTRIES {
            return Err(DomainError::QueueFull(QUEUE_ENTRIES));
        }
        let entry = QueueEntry {
            message_id: message_id.clone(),
            run_id: run_id.clone(),
            input,
            mode,
            sender,
            editable: true,
            submitted_at: self.at,
        };
        self.event(Event::QueueChanged(QueueChanged {
            branch_id,
            held: queue.held,
            length: queue.length + 1,
            change: QueueChange::Added,
            entry: Some(entry),
            message_id: None,
            order: None,
        }));
        Ok(Remarked { run_id: Some(run_id), message_id, state: SubmitState::Queued })
    }

    /// The run is at a step boundary: what waits for it joins its chain, first in line first.
    ///
    /// Never between the calls of a message and their results: while there are any, it goes on waiting. Whether anything
    /// joined.
    pub fn deliver_remarks(&mut self, run_id: &RunId) -> bool {
        let Some(state) = self.state.runs.get(run_id).filter(|state| state.batch.is_none()) else { return false };
        let branch_id = state.run.branch_id.clone();
        self.deliver(&branch_id, Some(run_id))
    }

    /// The run of a branch has ended: what still waited for it is recorded, as an aside on an idle branch is (ruling 13).
    pub(super) fn record_remarks(&mut self, branch_id: &BranchId) {
        self.deliver(branch_id, None);
    }

    fn deliver(&mut self, branch_id: &BranchId, run_id: Option<&RunId>) -> bool {
        let Some(branch) = self.state.branches.get(branch_id) else { return false };
        let remarks: Vec<QueueEntry> = branch
            .queue
            .iter()
            .filter(|input| !input.begins_a_run() && run_id.is_none_or(|run_id| input.entry.run_id == *run_id))
            .map(|input| input.entry.clone())
            .collect();
        let is_any = !remarks.is_empty();
        for (entry, left) in remarks.into_iter().zip((0..branch.branch.queue.length).rev()) {
            let QueueEntry { message_id, input, mode, sender, .. } = entry;
            self.event(Event::QueueChanged(QueueChanged {
                branch_id: branch_id.clone(),
                held: false,
                length: left,
                change: QueueChange::Started,
                entry: None,
                message_id: Some(message_id.clone()),
                order: None,
            }));
            let delivery = if mode == Mode::Steer { Delivery::Steer } else { Delivery::Aside };
            self.joins_as_user(UserMessage {
                branch_id: branch_id.clone(),
                run_id: run_id.cloned(),
                message_id,
                content: input,
                sender,
                delivery,
            });
        }
        is_any
    }
}

impl QueuedInput {
    /// Whether it waits for its turn and begins a run then; a steer or an aside waits for a step of another's.
    #[must_use]
    pub fn begins_a_run(&self) -> bool {
        !matches!(self.entry.mode, Mode::Aside | Mode::Steer)
    }
}
