//! How runs wait, go on and end.

use ropewalk_protocol::{
    By, ByKind, CallError, Effect as CallEffect, Event, Item, ItemBody, ItemState, OutcomeStatus, Recovery, Run, RunId,
    RunOutcome, RunStatus, Severity, Timestamp, WaitingOn,
};

use super::{CallEnd, Change, Effect, Joined, RunState, Settlement};
use ropewalk_protocol::{Outcome, Role};

/// Sets an ended run's last fields. Kept beside [`Change::finish_run`], which is what makes runs end.
pub(super) trait Ends {
    /// The run has ended at `at`, with the outcome it carries.
    fn end(&mut self, at: Timestamp);
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
        self.ended_at = Some(at);
        if status != OutcomeStatus::Completed {
            self.recovery = vec![Recovery::Skip];
        }
    }
}

impl Change<'_> {
    /// The run begins or ends a wait.
    pub fn run_waits(&mut self, run_id: &RunId, waiting_on: Option<WaitingOn>) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        let mut run = state.run.clone();
        run.state = if waiting_on.is_some() { RunStatus::Waiting } else { RunStatus::Running };
        run.waiting_on = waiting_on;
        self.event(Event::RunState { run });
    }

    /// Ends a run: whatever of it is open ends with it, in this record, and its branch moves on or is held.
    pub fn finish_run(&mut self, run_id: &RunId, outcome: RunOutcome) {
        let Some(state) = self.state.runs.get(run_id) else { return };
        let branch_id = state.run.branch_id.clone();
        let usage = state.run.usage.clone();
        let change_set = state.run.change_set.clone();
        self.settle_all(run_id, &outcome);
        self.close_items(run_id, &outcome);
        let completed = outcome.status == OutcomeStatus::Completed;
        self.event(Event::RunCompleted {
            run_id: run_id.clone(),
            branch_id: branch_id.clone(),
            outcome,
            usage,
            change_set,
        });
        self.effect(Effect::Abandon(run_id.clone()));
        let waits = self.state.branches.get(&branch_id).is_some_and(|branch| !branch.queue.is_empty());
        match (waits, completed) {
            (false, _) => {}
            (true, true) => {
                self.start_next(&branch_id);
            }
            (true, false) => self.hold(&branch_id),
        }
    }

    /// Stops the active run of a branch. The caller has made sure that there is one.
    pub fn stop_run(&mut self, run_id: &RunId, by: By, partial: &dyn Fn(&ropewalk_protocol::ItemId) -> Option<String>) {
        self.keep_partial(run_id, partial);
        self.finish_run(
            run_id,
            RunOutcome {
                status: OutcomeStatus::Stopped,
                text: None,
                structured: None,
                reason: None,
                by: Some(by),
                error: None,
            },
        );
    }

    /// Writes down what has streamed of open texts, so that closing them keeps it.
    pub fn keep_partial(&mut self, run_id: &RunId, partial: &dyn Fn(&ropewalk_protocol::ItemId) -> Option<String>) {
        let Some(state) = self.state.runs.get_mut(run_id) else { return };
        let texts: Vec<_> =
            state.open_items.keys().filter_map(|id| partial(id).map(|text| (id.clone(), text))).collect();
        state.checkpoints.extend(texts);
    }

    /// Settles what the run waits for, as its end says: a stop cancels, everything else cancels on behalf of the daemon.
    fn settle_all(&mut self, run_id: &RunId, outcome: &RunOutcome) {
        let by = outcome.by.clone().unwrap_or_else(|| By::of(ByKind::Daemon));
        let open: Vec<_> = self
            .state
            .interactions
            .values()
            .filter(|interaction| interaction.run_id == *run_id)
            .map(|interaction| interaction.interaction_id.clone())
            .collect();
        for interaction_id in open {
            self.settle(Settlement {
                interaction_id,
                outcome: Outcome::Cancelled,
                by: by.clone(),
                at: self.at,
                answer: None,
            });
        }
    }

    fn close_items(&mut self, run_id: &RunId, outcome: &RunOutcome) {
        let Some(state) = self.state.runs.get(run_id).cloned() else { return };
        let texts = self.close_texts(&state);
        if !texts.is_empty() && state.batch.is_none() {
            let branch_id = state.run.branch_id.clone();
            self.join(&branch_id, texts);
        }
        let Some(batch) = &state.batch else { return };
        let sent = |id: &ropewalk_protocol::CallId| {
            self.state.touched.settled.iter().any(|(settled, _)| {
                settled.call_id == *id && settled.body.kind() == ropewalk_protocol::InteractionKind::ToolCall
            })
        };
        let open: Vec<_> = batch
            .calls
            .iter()
            .filter(|call| !call.done)
            .map(|call| (call.call.call_id.clone(), sent(&call.call.call_id)))
            .collect();
        for (call_id, was_sent) in open {
            let end = CallEnd::cancelled(outcome, was_sent);
            self.complete_call(run_id, &call_id, end);
        }
    }

    /// Completes the open text items of a run that does not go on; what there is of an answer joins the chain.
    pub(super) fn close_texts(&mut self, state: &RunState) -> Vec<Joined> {
        let mut joined = Vec::new();
        let open: Vec<_> = state.open_items.values().map(|(seq, item)| (*seq, item.clone())).collect();
        for (from_seq, mut item) in open {
            let kept = state.checkpoints.get(&item.item_id).cloned().unwrap_or_default();
            match &mut item.body {
                ItemBody::AssistantMessage { message_id, text, incomplete } => {
                    if !kept.is_empty() {
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
            self.close_item(item, ItemState::Cancelled);
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
        let text = match outcome.status {
            OutcomeStatus::Stopped => "The run was stopped before this call had a result.",
            _ => "The run ended before this call had a result.",
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
