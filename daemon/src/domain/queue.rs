//! Submitting input: a run at once on an idle branch, a place in the queue on a busy one.

use ropewalk_protocol::{
    BranchId, Delivery, EndpointId, Event, MessageId, Mode, OperationId, Part, Principal, PrincipalKind, QueueChange,
    QueueChanged, QueueEntry, Run, RunId, RunStatus, Sender, SubmitState, Unattended, Usage, limits::QUEUE_ENTRIES,
};
use serde_json::Value;

use super::{Change, DomainError, Effect, Fact, Joined, QueuedInput, QueuedRun, Replaced, notes::UserMessage};

/// An input to submit.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The branch.
    pub branch_id: BranchId,
    /// What is said.
    pub input: Vec<Part>,
    /// The operation, where the caller named it.
    pub operation_id: Option<OperationId>,
    /// The endpoint asked for, for this run alone.
    pub asked_endpoint: Option<EndpointId>,
    /// What happens to a question nobody can answer.
    pub unattended: Unattended,
    /// The schema of the final answer.
    pub output_schema: Option<Value>,
    /// The run that says it, where it is no client.
    pub sender: Option<Sender>,
}

/// What became of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Its run.
    pub run_id: RunId,
    /// Its message.
    pub message_id: MessageId,
    /// Running or queued.
    pub state: SubmitState,
}

impl Change<'_> {
    /// Stores an input: as a run that begins, or behind what runs or waits on its branch.
    ///
    /// # Errors
    /// [`DomainError::NoBranch`], [`DomainError::QueueFull`].
    pub fn submit(&mut self, submission: Submission) -> Result<Submitted, DomainError> {
        self.enter(submission, Mode::Queue, None)
    }

    /// Stores an input that begins a run, in any of the modes that do.
    pub(super) fn enter(
        &mut self,
        submission: Submission,
        mode: Mode,
        replaces: Option<Replaced>,
    ) -> Result<Submitted, DomainError> {
        let Some(branch) = self.state.branches.get(&submission.branch_id) else {
            return Err(DomainError::NoBranch(submission.branch_id));
        };
        let busy = branch.branch.active_run_id.is_some() || branch.branch.queue.length > 0;
        if branch.branch.queue.length >= QUEUE_ENTRIES {
            return Err(DomainError::QueueFull(QUEUE_ENTRIES));
        }
        let held = branch.branch.queue.held;
        let length = branch.branch.queue.length;
        let (run_id, message_id) = (self.id::<RunId>(), self.id::<MessageId>());
        let run = QueuedRun {
            run_id: run_id.clone(),
            operation_id: submission.operation_id,
            endpoint_id: submission.asked_endpoint,
            unattended: submission.unattended,
            output_schema: submission.output_schema,
            replaces,
        };
        let entry = QueueEntry {
            message_id: message_id.clone(),
            run_id: run_id.clone(),
            input: submission.input,
            mode,
            sender: submission.sender,
            editable: true,
            submitted_at: self.at,
        };
        if !busy {
            let seq = self.seq() + 1;
            self.begin_run(&submission.branch_id, QueuedInput { entry, run, seq, place: 0 });
            return Ok(Submitted { run_id, message_id, state: SubmitState::Running });
        }
        self.event(Event::QueueChanged(QueueChanged {
            branch_id: submission.branch_id,
            held,
            length: length + 1,
            change: QueueChange::Added,
            entry: Some(entry),
            message_id: None,
            order: None,
        }));
        self.fact(Fact::Queued(run));
        Ok(Submitted { run_id, message_id, state: SubmitState::Queued })
    }

    /// Begins the run of the first input that waits, unless the branch is busy or held.
    pub fn start_next(&mut self, branch_id: &BranchId) -> Option<RunId> {
        let branch = self.state.branches.get(branch_id)?;
        if branch.branch.active_run_id.is_some() || branch.branch.queue.held {
            return None;
        }
        let next = branch.queue.iter().find(|input| input.begins_a_run())?.clone();
        let run_id = next.entry.run_id.clone();
        self.event(Event::QueueChanged(QueueChanged {
            branch_id: branch_id.clone(),
            held: false,
            length: branch.branch.queue.length - 1,
            change: QueueChange::Started,
            entry: None,
            message_id: Some(next.entry.message_id.clone()),
            order: None,
        }));
        self.begin_run(branch_id, next);
        Some(run_id)
    }

    /// Lets what is held go on: its first input begins.
    pub fn release(&mut self, branch_id: &BranchId) -> (bool, Option<RunId>) {
        let is_held = self.let_go(branch_id);
        (is_held, if is_held { self.start_next(branch_id) } else { None })
    }

    /// Holds no longer what waits on a branch; something has to begin in the same record. Whether it was held.
    pub(super) fn let_go(&mut self, branch_id: &BranchId) -> bool {
        let Some(branch) = self.state.branches.get(branch_id) else { return false };
        if !branch.branch.queue.held {
            return false;
        }
        self.event(Event::QueueChanged(QueueChanged {
            branch_id: branch_id.clone(),
            held: false,
            length: branch.branch.queue.length,
            change: QueueChange::Released,
            entry: None,
            message_id: None,
            order: None,
        }));
        true
    }

    /// Takes the input of a run out of the queue it waits in. `false` when the run waits in none.
    pub fn drop_queued(&mut self, run_id: &RunId) -> bool {
        let found = self.state.branches.iter().find_map(|(id, branch)| {
            let mut own = branch.queue.iter().filter(|input| input.begins_a_run());
            let input = own.find(|input| input.entry.run_id == *run_id)?;
            Some((id.clone(), input.entry.message_id.clone()))
        });
        let Some((branch_id, message_id)) = found else { return false };
        self.take_out(&branch_id, &message_id);
        true
    }

    /// Holds what waits after a bad end.
    pub(super) fn hold(&mut self, branch_id: &BranchId) {
        let Some(branch) = self.state.branches.get(branch_id) else { return };
        self.event(Event::QueueChanged(QueueChanged {
            branch_id: branch_id.clone(),
            held: true,
            length: branch.branch.queue.length,
            change: QueueChange::Held,
            entry: None,
            message_id: None,
            order: None,
        }));
    }

    fn begin_run(&mut self, branch_id: &BranchId, input: QueuedInput) {
        let mut run = queued_run(&self.state.thread, branch_id, &input);
        let QueuedInput { entry, run: queued, .. } = input;
        let is_lost = queued.replaces.as_ref().is_some_and(|replaced| replaced.is_gone);
        if let Some(replaced) = queued.replaces.filter(|_| !is_lost) {
            self.move_head(branch_id, replaced.parent);
        }
        run.state = RunStatus::Running;
        run.started_at = Some(self.at);
        if let Some((endpoint_id, model)) = self.world.endpoint(&self.state.thread, queued.endpoint_id.as_ref()) {
            run.endpoint_id = endpoint_id;
            run.model = model;
        }
        self.event(Event::RunStarted { run });
        if let Some(endpoint_id) = queued.endpoint_id {
            self.fact(Fact::AskedEndpoint { run_id: entry.run_id.clone(), endpoint_id });
        }
        if let Some(schema) = queued.output_schema {
            self.fact(Fact::OutputSchema { run_id: entry.run_id.clone(), schema });
        }
        if is_lost {
            self.fail_without_parent(branch_id, entry);
            return;
        }
        self.joins_as_user(UserMessage {
            branch_id: branch_id.clone(),
            run_id: Some(entry.run_id.clone()),
            message_id: entry.message_id,
            content: entry.input,
            sender: entry.sender,
            delivery: Delivery::Turn,
        });
        self.effect(Effect::Drive(entry.run_id));
    }

    /// Appends messages to the chain of a branch.
    pub(super) fn join(&mut self, branch_id: &BranchId, messages: Vec<Joined>) {
        let parent = self.state.branches.get(branch_id).and_then(|branch| branch.head.clone());
        self.fact(Fact::Joined { branch_id: branch_id.clone(), messages, parent });
    }
}

/// The run a waiting input will have, as it is shown before it begins.
#[must_use]
pub fn queued_run(thread: &ropewalk_protocol::Thread, branch_id: &BranchId, input: &QueuedInput) -> Run {
    let QueuedInput { entry, run: queued, .. } = input;
    Run {
        run_id: entry.run_id.clone(),
        thread_id: thread.thread_id.clone(),
        branch_id: branch_id.clone(),
        message_id: entry.message_id.clone(),
        operation_id: queued.operation_id.clone(),
        mode: entry.mode,
        state: RunStatus::Queued,
        waiting_on: None,
        outcome: None,
        reason: None,
        usage: Usage::default(),
        // Which endpoint it is is settled when it begins; until then it is the one asked for.
        endpoint_id: queued.endpoint_id.clone().or_else(|| thread.endpoint_id.clone()).unwrap_or_else(|| "".into()),
        model: String::new(),
        unattended: queued.unattended,
        principal: Principal { kind: PrincipalKind::Owner, app_id: None },
        parent: None,
        previous_run_id: None,
        recovery: Vec::new(),
        change_set: None,
        steps: 0,
        tool_calls: 0,
        submitted_at: entry.submitted_at,
        started_at: None,
        ended_at: None,
    }
}
