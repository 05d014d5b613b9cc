//! How a thread changes: by events and facts, now and when its log is read again.

use std::collections::{BTreeSet, VecDeque};

use ropewalk_protocol::{
    Branch, BranchId, CallId, ClientRef, Event, InteractionBody, InteractionState, Item, ItemBody, Run, RunId,
    RunStatus, Seq, Thread, Timestamp,
};

use super::{
    AnsweredCall, Batch, BatchCall, BranchState, Fact, Joined, Link, RunState, Summary, ThreadState, ToolSet,
    runs::Ends as _,
};

impl ThreadState {
    /// Takes in one event. `at` is the time of its record.
    pub fn apply(&mut self, event: &Event, at: Timestamp) {
        self.thread.seq += 1;
        self.touched.thread = true;
        match event {
            Event::ThreadUpdated { thread } => self.apply_header(thread),
            Event::BranchUpdated { branch } => self.apply_branch(branch),
            Event::BranchDeleted { branch_id } => {
                self.branches.remove(branch_id);
                self.touched.branches.insert(branch_id.clone());
            }
            Event::QueueChanged(change) => self.apply_queue(change),
            Event::RunStarted { run } => self.apply_run_started(run, at),
            Event::RunState { run } => {
                if let Some(state) = self.run_mut(&run.run_id) {
                    state.run = run.clone();
                    state.allowance.run_is(run, at);
                }
            }
            Event::ItemStarted { item } => self.apply_item_started(item, at),
            Event::ItemCompleted { item } => self.apply_item_completed(item, at),
            Event::InteractionOpened { interaction } => {
                self.touched.interactions.insert(interaction.interaction_id.clone());
                self.interactions.insert(interaction.interaction_id.clone(), interaction.clone());
            }
            Event::InteractionSettled { interaction_id, outcome, by, answer } => {
                if let Some(mut interaction) = self.interactions.remove(interaction_id) {
                    interaction.state = InteractionState::Settled;
                    interaction.outcome = Some(*outcome);
                    interaction.by = Some(by.clone());
                    interaction.answer.clone_from(answer);
                    interaction.settled_at = Some(at);
                    self.touched.settled.push((interaction, self.thread.seq));
                }
            }
            Event::ToolsChanged(changed) => self.tools_revision = changed.revision,
            Event::RunCompleted { run_id, outcome, usage, change_set, .. } => {
                self.apply_run_completed(run_id, at, |run| {
                    run.outcome = Some(outcome.clone());
                    run.usage = usage.clone();
                    run.change_set.clone_from(change_set);
                });
            }
            Event::ItemDelta { .. } | Event::ToolProgress { .. } => self.thread.seq -= 1,
        }
    }

    /// Takes in one fact. `n` is the first event of its record.
    pub fn apply_fact(&mut self, fact: &Fact, n: Seq) {
        self.touched.thread = true;
        match fact {
            Fact::Instructions { text } => self.instructions = Some(text.clone()),
            Fact::Tools { client_name, instance_id, lasting, tools } => {
                let owner = ClientRef { client_name: client_name.clone(), instance_id: instance_id.clone() };
                self.touched.tool_sets.insert(owner.clone());
                if tools.is_empty() {
                    self.tool_sets.remove(&owner);
                } else {
                    self.tool_sets.insert(owner, ToolSet { lasting: *lasting, tools: tools.clone() });
                }
            }
            Fact::Queued(queued) => self.apply_queued(queued),
            Fact::OutputSchema { run_id, schema } => {
                self.with_run(run_id, |state| state.output_schema = Some(schema.clone()));
            }
            Fact::Repair { run_id, repairs } => self.with_run(run_id, |state| state.repairs = *repairs),
            Fact::Pinned { run_id, names } => self.with_run(run_id, |state| state.pinned.clone_from(names)),
            Fact::Result { run_id, digest } => self.with_run(run_id, |state| state.repeats.result(digest)),
            Fact::Allowance { run_id, calls_before, tokens_before, worked_ms, at } => {
                let begin = |state: &mut RunState| {
                    state.allowance.begin(*calls_before, *tokens_before, *worked_ms, *at);
                };
                self.with_run(run_id, begin);
            }
            Fact::Answer { run_id, message_id, items, from_seq, calls, provider_parts } => {
                let batch = Batch {
                    message_id: message_id.clone(),
                    items: items.iter().cloned().chain(calls.iter().map(|call| call.item_id.clone())).collect(),
                    from_seq: *from_seq,
                    calls: Vec::new(),
                    provider_parts: provider_parts.clone(),
                };
                self.apply_answer(run_id, batch, calls);
            }
            Fact::Step { run_id, usage, steps, tool_calls } => {
                // When a log is read again, a run that ended with this very step has ended already.
                self.touched.runs.insert(run_id.clone());
                let open = self.runs.get_mut(run_id).map(|state| &mut state.run);
                let mut ended = self.touched.ended.iter_mut().map(|(run, _)| run);
                if let Some(run) = open.or_else(|| ended.find(|run| run.run_id == *run_id)) {
                    run.usage = usage.clone();
                    run.steps = *steps;
                    run.tool_calls = *tool_calls;
                }
            }
            Fact::Decided { run_id, call_id, decision, approval_ms } => {
                if let Some(call) = self.call_mut(run_id, call_id) {
                    call.decision = Some(decision.clone());
                    call.approval_ms = *approval_ms;
                }
            }
            Fact::Joined { branch_id, messages, parent } => self.apply_joined(branch_id, messages, parent.as_ref(), n),
            Fact::Compacted { branch_id, covers, message_id, .. } => {
                let summary = Summary { covers: covers.clone(), message_id: message_id.clone(), n };
                self.apply_compacted(branch_id, summary);
            }
            Fact::Checkpoint { item_id, text } => {
                let runs = &mut self.runs;
                if let Some((id, state)) = runs.iter_mut().find(|(_, state)| state.open_items.contains_key(item_id)) {
                    state.checkpoints.entry(item_id.clone()).or_default().push_str(text);
                    self.touched.runs.insert(id.clone());
                }
            }
            Fact::Attempt { interaction_id, attempt } => {
                if let Some(interaction) = self.interactions.get_mut(interaction_id) {
                    interaction.offered_again(*attempt);
                    self.touched.interactions.insert(interaction_id.clone());
                }
            }
        }
    }

    fn call_mut(&mut self, run_id: &RunId, call_id: &CallId) -> Option<&mut BatchCall> {
        self.run_mut(run_id)?.batch.as_mut()?.calls.iter_mut().find(|call| call.call.call_id == *call_id)
    }

    /// Changes a run, unless it is over.
    fn with_run(&mut self, run_id: &RunId, change: impl FnOnce(&mut RunState)) {
        if let Some(state) = self.run_mut(run_id) {
            change(state);
        }
    }

    fn run_mut(&mut self, run_id: &RunId) -> Option<&mut RunState> {
        let state = self.runs.get_mut(run_id)?;
        self.touched.runs.insert(run_id.clone());
        Some(state)
    }

    fn note_order(&mut self) {
        self.touched.ordered_before.get_or_insert((self.thread.archived, self.thread.updated_at));
    }

    fn apply_header(&mut self, thread: &Thread) {
        self.note_order();
        let seq = self.thread.seq;
        self.thread = Thread { seq, branches: None, ..thread.clone() };
    }

    fn apply_branch(&mut self, branch: &Branch) {
        self.touched.branches.insert(branch.branch_id.clone());
        let known = self.branches.remove(&branch.branch_id);
        let fresh =
            || BranchState { branch: branch.clone(), head: None, summary: None, queue: VecDeque::new(), bad_end: None };
        let known = known.unwrap_or_else(fresh);
        self.branches.insert(branch.branch_id.clone(), BranchState { branch: branch.clone(), ..known });
    }

    fn apply_run_started(&mut self, run: &Run, at: Timestamp) {
        self.note_order();
        self.thread.updated_at = at;
        if let Some(branch) = self.branches.get_mut(&run.branch_id) {
            branch.branch.active_run_id = Some(run.run_id.clone());
            branch.bad_end = None;
            self.touched.branches.insert(run.branch_id.clone());
        }
        self.touched.runs.insert(run.run_id.clone());
        let mut state = RunState::new(run.clone(), self.thread.seq);
        state.allowance.run_is(run, at);
        self.runs.insert(run.run_id.clone(), state);
    }

    fn apply_run_completed(&mut self, run_id: &RunId, at: Timestamp, finish: impl FnOnce(&mut Run)) {
        self.note_order();
        self.thread.updated_at = at;
        let Some(mut state) = self.runs.remove(run_id) else { return };
        self.touched.runs.remove(run_id);
        finish(&mut state.run);
        state.run.end(at);
        if let Some(branch) = self.branches.get_mut(&state.run.branch_id) {
            branch.branch.active_run_id = None;
            branch.bad_end = (state.run.state != RunStatus::Completed).then(|| run_id.clone());
            self.touched.branches.insert(state.run.branch_id.clone());
        }
        self.touched.ended.push((state.run, state.from_seq));
    }

    fn apply_item_started(&mut self, item: &Item, at: Timestamp) {
        let seq = self.thread.seq;
        let Some(run_id) = &item.run_id else { return };
        if let Some(state) = self.run_mut(run_id) {
            state.open_items.insert(item.item_id.clone(), (seq, item.clone()));
            state.allowance.count(at);
        }
    }

    fn apply_item_completed(&mut self, item: &Item, at: Timestamp) {
        if let ItemBody::UserMessage { content, .. } = &item.body
            && self.first_line.is_none()
        {
            self.first_line = content.iter().find_map(ropewalk_protocol::Part::as_text).map(first_line);
        }
        let Some(run_id) = &item.run_id else {
            self.note_order();
            self.thread.updated_at = at;
            return;
        };
        let Some(state) = self.run_mut(run_id) else { return };
        state.open_items.remove(&item.item_id);
        state.checkpoints.remove(&item.item_id);
        state.allowance.count(at);
        if let ItemBody::ToolCall(call) = &item.body
            && let Some(batch) = &mut state.batch
            && let Some(done) = batch.calls.iter_mut().find(|known| known.call.call_id == call.call_id)
        {
            done.done = true;
        }
    }

    fn apply_answer(&mut self, run_id: &RunId, mut batch: Batch, calls: &[AnsweredCall]) {
        let Some(state) = self.run_mut(run_id) else { return };
        for call in calls {
            *state.calls_by_tool.entry(call.name.clone()).or_default() += 1;
        }
        let begun = |call: &AnsweredCall| BatchCall {
            call: call.clone(),
            // A call may have ended in the record that began it.
            done: !state.open_items.contains_key(&call.item_id),
            decision: None,
            approval_ms: None,
        };
        batch.calls = calls.iter().map(begun).collect();
        state.batch = Some(batch);
    }

    fn apply_compacted(&mut self, branch_id: &BranchId, summary: Summary) {
        let Some(state) = self.branches.get_mut(branch_id) else { return };
        state.summary = Some(summary);
        self.touched.branches.insert(branch_id.clone());
    }

    fn apply_joined(&mut self, branch_id: &BranchId, messages: &[Joined], parent: Option<&Link>, n: Seq) {
        let Some(last) = messages.last() else { return };
        let depth = parent.map_or(0, |parent| parent.depth + 1) + messages.len() as u64 - 1;
        if let Some(state) = self.branches.get_mut(branch_id) {
            // A chain that goes on from before the end of what was summarised has a past of its own.
            let reaches = |summary: &Summary| parent.is_some_and(|parent| parent.depth >= summary.covers.depth);
            state.summary = state.summary.take().filter(reaches);
            state.head = Some(Link { message_id: last.message_id.clone(), n, depth });
            state.branch.head_message_id = Some(last.message_id.clone());
            self.touched.branches.insert(branch_id.clone());
        }
        let run_ids: BTreeSet<&RunId> = messages.iter().filter_map(|joined| joined.run_id.as_ref()).collect();
        for run_id in run_ids {
            if let Some(state) = self.run_mut(run_id)
                && state.batch.as_ref().is_some_and(|batch| messages.iter().any(|m| m.message_id == batch.message_id))
            {
                state.batch = None;
                state.repeats.step_is_over();
            }
        }
    }
}

/// What [`Fact::Attempt`] does, here because the wire's type is not ours.
pub trait OfferedAgain {
    /// The interaction is offered for the `attempt`th time.
    fn offered_again(&mut self, attempt: u64);
}

impl OfferedAgain for ropewalk_protocol::Interaction {
    fn offered_again(&mut self, attempt: u64) {
        self.attempt = attempt;
        match &mut self.body {
            InteractionBody::ToolCall(request) => request.attempt = attempt,
            InteractionBody::Approval(request) => request.attempt = attempt,
            InteractionBody::Input(request) => request.attempt = attempt,
        }
    }
}

/// The first line of a text, at most 80 characters.
fn first_line(text: &str) -> String {
    text.trim_start().lines().next().unwrap_or_default().chars().take(80).collect()
}
