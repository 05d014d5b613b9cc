//! How runs wait, go on and end.

use ropewalk_protocol::{
    By, ByKind, CallError, CallId, Effect as CallEffect, Event, InteractionKind, Item, ItemBody, ItemId, ItemState,
    OutcomeStatus, Recovery, Role, Run, RunId, RunOutcome, RunStatus, Severity, Timestamp, Usage, WaitingOn,
};

use super::{CallEnd, Change, Effect, Joined, RunState};

/// Why a run is paused that the daemon parked when it went.
pub(super) const SHUTDOWN: &str = "shutdown";

/// The text an open item has come to, where it has been streaming in this life of the daemon.
pub type Partial<'a> = &'a dyn Fn(&ItemId) -> Option<String>;

/// Sets an ended run's last fields. Kept beside [`Change::finish_run`], which is what makes runs end.
pub(super) trait Ends {
    /// The run has ended at `at`, with the outcome it carries.
    fn end(&mut self, at: Timestamp);

    /// The run has come to these numbers.
    fn count(&mut self, usage: &Usage, steps: u64, tool_calls: u64);
}

impl Ends for Run {
    fn end(&mut self, at: Timestamp) {
        let status = self.outcome.as_ref().map_or(OutcomeStatus::Interrupted, |outcome| outcome.status);
        self.state = match status {
            OutcomeStatus::Completed => RunStatus::Completed,
            OutcomeStatus::Failed => RunStatus::Failed,
            OutcomeStatus::Stopped => RunStatus::Stopped,
            OutcomeStatus::Interrupted => RunStatus::Interrupted,
        };
        self.waiting_on = None;
        self.reason = None;
        self.ended_at = Some(at);
        // What can be done about a bad end is the branch's to say, because it changes with it.
        self.recovery.clear();
    }

    fn count(&mut self, usage: &Usage, steps: u64, tool_calls: u64) {
        self.usage.clone_from(usage);
        self.steps = steps;
        self.tool_calls = tool_calls;
    }
}

impl Change<'_> {
    /// The run begins or ends a wait.
    pub fn run_waits(&mut self, run_id: &RunId, waiting_on: Option<WaitingOn>) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        let mut run = state.run.clone();
        run.state = if waiting_on.is_some() { RunStatus::Waiting } else { RunStatus::Running };
        run.waiting_on = waiting_on;
        run.reason = None;
        run.recovery.clear();
        self.event(Event::RunState { run });
    }

    /// Parks a run that works, because the daemon goes. One that waits for somebody stays as it is; one that waits to ask
    /// its endpoint again is parked, since that wait is the daemon's own.
    pub fn park_run(&mut self, run_id: &RunId) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        if state.run.state == RunStatus::Running || state.waits_for_endpoint() {
            let reason = Some(SHUTDOWN.to_owned());
            let recovery = vec![Recovery::Resume];
            let run = Run { state: RunStatus::Paused, waiting_on: None, reason, recovery, ..state.run.clone() };
            self.event(Event::RunState { run });
        }
    }

    /// Ends a run: whatever of it is open ends with it, in this record, and its branch moves on or is held. Of a text that
    /// was streaming stays what `partial` has, else what was kept of it.
    pub fn finish_run(&mut self, run_id: &RunId, outcome: RunOutcome, partial: Partial<'_>) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        let branch_id = state.run.branch_id.clone();
        let usage = state.run.usage.clone();
        let change_set = state.run.change_set.clone();
        let by = outcome.by.clone().unwrap_or_else(|| By::of(ByKind::Daemon));
        self.settle_open(|interaction| interaction.run_id == *run_id, &by);
        self.close_items(run_id, &outcome, partial);
        let completed = outcome.status == OutcomeStatus::Completed;
        self.event(Event::RunCompleted {
            run_id: run_id.clone(),
            branch_id: branch_id.clone(),
            outcome,
            usage,
            change_set,
        });
        self.effect(Effect::Abandon(run_id.clone()));
        self.record_remarks(&branch_id);
        let waits = self.state.branches.get(&branch_id).is_some_and(|branch| !branch.queue.is_empty());
        match (waits, completed) {
            (false, _) => {}
            (true, true) => {
                self.start_next(&branch_id);
            }
            (true, false) => self.hold(&branch_id),
        }
    }

    fn close_items(&mut self, run_id: &RunId, outcome: &RunOutcome, partial: Partial<'_>) {
        let Some(state) = self.state.runs.get(run_id).cloned() else { return };
        let closed_as = match outcome.status {
            OutcomeStatus::Failed => ItemState::Failed,
            _ => ItemState::Cancelled,
        };
        let texts = self.close_texts(&state, closed_as, partial);
        if !texts.is_empty() && state.batch.is_none() {
            let branch_id = state.run.branch_id.clone();
            self.join(&branch_id, texts);
        }
        let Some(batch) = &state.batch else { return };
        let sent = |id: &CallId| {
            self.state
                .touched
                .settled
                .iter()
                .any(|(settled, _)| settled.call_id == *id && settled.body.kind() == InteractionKind::ToolCall)
        };
        let open: Vec<_> = batch
            .calls
            .iter()
            .filter(|call| !call.done)
            .map(|call| (call.call.call_id.clone(), call.is_begun || sent(&call.call.call_id)))
            .collect();
        for (call_id, was_sent) in open {
            let end = CallEnd::cancelled(outcome, was_sent);
            self.complete_call(run_id, &call_id, end);
        }
    }

    /// Completes the open text items of an answer that does not go on. Returns what there is of it, for the chain.
    pub(super) fn close_texts(&mut self, state: &RunState, closed_as: ItemState, partial: Partial<'_>) -> Vec<Joined> {
        let mut joined = Vec::new();
        let open: Vec<_> = state.open_items.values().map(|(seq, item)| (*seq, item.clone())).collect();
        for (from_seq, mut item) in open {
            let kept = partial(&item.item_id).or_else(|| state.checkpoints.get(&item.item_id).cloned());
            let kept = kept.unwrap_or_default();
            match &mut item.body {
                ItemBody::AssistantMessage { message_id, text, incomplete } => {
                    if !kept.trim().is_empty() {
                        joined.push(Joined {
                            message_id: message_id.clone(),
                            role: Role::Assistant,
                            run_id: item.run_id.clone(),
                            items: vec![item.item_id.clone()],
                            from_seq,
                            provider_parts: None,
                        });
                    }
                    *text = kept;
                    *incomplete = true;
                }
                ItemBody::Reasoning { text, incomplete, .. } => {
                    *text = kept;
                    *incomplete = true;
                }
                ItemBody::UserMessage { .. } | ItemBody::ToolCall(_) | ItemBody::Notice { .. } => continue,
            }
            self.close_item(item, closed_as);
        }
        joined
    }

    pub(super) fn close_item(&mut self, mut item: Item, state: ItemState) {
        item.state = state;
        item.ended_at = Some(self.at);
        self.event(Event::ItemCompleted { item });
    }
}

impl CallEnd {
    /// A call that its run's end leaves without a result.
    fn cancelled(outcome: &RunOutcome, was_sent: bool) -> Self {
        let text = match (outcome.status, was_sent) {
            (OutcomeStatus::Stopped, false) => "The run was stopped before this call had a result. It was not made.",
            (OutcomeStatus::Stopped, true) => {
                "The run was stopped before this call had a result. It had been sent: whether it took effect is unknown."
            }
            (_, false) => "The run ended before this call had a result. It was not made.",
            (_, true) => {
                "The run ended before this call had a result. It had been sent: whether it took effect is unknown."
            }
        };
        Self {
            state: ItemState::Cancelled,
            severity: Severity::Warning,
            effect: Some(if was_sent { CallEffect::Unknown } else { CallEffect::None }),
            error: Some(CallError { code: "cancelled".to_owned(), message: text.to_owned() }),
            ..Self::told(text)
        }
    }
}
