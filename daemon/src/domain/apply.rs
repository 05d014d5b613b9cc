//! How a thread changes: by events and facts, now and when its log is read again.

use ropewalk_protocol::{
    Branch, CallId, ClientRef, Event, InteractionBody, InteractionId, InteractionState, Item, ItemBody, Run, RunId,
    Seq, Thread, Timestamp,
};

use super::{
    AnsweredCall, BadEnd, Batch, BatchCall, BranchState, EndedRun, Fact, RunInput, RunState, Summary, ThreadState,
    ToolSet, runs::Ends as _,
};

impl ThreadState {
    /// Takes in one event. `at` is the time of its record.
    pub fn apply(&mut self, event: &Event, at: Timestamp) {
        self.thread.seq += 1;
        self.touched.thread = true;
        self.last_at = at;
        match event {
            Event::ThreadUpdated { thread } => self.apply_header(thread),
            Event::BranchUpdated { branch } => self.apply_branch(branch),
            Event::BranchDeleted { branch_id } => {
                self.branches.remove(branch_id);
                self.touched.branches.insert(branch_id.clone());
                self.look_what_is_unread();
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
            Fact::AskedEndpoint { .. } | Fact::OutputSchema { .. } | Fact::Pinned { .. } => self.apply_carried(fact),
            Fact::Repair { run_id, repairs } => self.with_run(run_id, |state| state.repairs = *repairs),
            Fact::Result { run_id, digest } => self.with_run(run_id, |state| state.repeats.result(digest)),
            Fact::Allowance { run_id, calls_before, tokens_before, worked_ms, at } => {
                let (calls, tokens, worked_ms, at) = (*calls_before, *tokens_before, *worked_ms, *at);
                self.with_run(run_id, |state| state.allowance.begin(calls, tokens, worked_ms, at));
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
                self.apply_step(run_id, |run| run.count(usage, *steps, *tool_calls));
            }
            Fact::Decided { run_id, call_id, .. }
            | Fact::Shown { run_id, call_id, .. }
            | Fact::Begun { run_id, call_id } => {
                self.apply_to_call(run_id, call_id, fact);
            }
            Fact::Joined { branch_id, messages, parent } => self.apply_joined(branch_id, messages, parent.as_ref(), n),
            Fact::Head { branch_id, head } => self.apply_head(branch_id, head.as_ref()),
            Fact::Forked { branch_id, head, summary } => self.apply_forked(branch_id, head, summary.as_ref()),
            Fact::Unseen { branch_id, seq } => self.apply_unseen(branch_id, *seq),
            Fact::AttentionSeen { attention_id } => self.apply_attention_seen(attention_id),
            Fact::Read { branch_id, seq } => self.apply_read(branch_id.as_ref(), *seq),
            Fact::Compacted { branch_id, covers, message_id, .. } => {
                let summary = Summary { covers: covers.clone(), message_id: message_id.clone(), n };
                self.apply_compacted(branch_id, summary);
            }
            Fact::Checkpoint { item_id, text } => {
                let runs = &mut self.runs;
                if let Some((id, state)) = runs.iter_mut().find(|(_, state)| state.open_items.contains_key(item_id)) {
                    state.checkpoints.entry(item_id.clone()).or_default().push_str(text);
                    self.touched.items.insert((id.clone(), item_id.clone()));
                }
            }
            Fact::Prolonged { interaction_id, .. }
            | Fact::Passed { interaction_id, .. }
            | Fact::Attempt { interaction_id, .. }
            | Fact::Given { interaction_id, .. } => self.apply_to_interaction(interaction_id, fact),
        }
    }

    /// What a fact changes of a call of a batch that is under way.
    fn apply_to_call(&mut self, run_id: &RunId, call_id: &CallId, fact: &Fact) {
        let Some(call) = self.call_mut(run_id, call_id) else { return };
        match fact {
            Fact::Decided { decision, approval_ms, .. } => {
                call.decision = Some(decision.clone());
                call.approval_ms = *approval_ms;
                if let Some(shown) = call.shown.clone() {
                    self.with_run(run_id, |state| state.refusals.note(&shown, decision));
                }
            }
            Fact::Shown { digest, .. } => call.shown = Some(digest.clone()),
            Fact::Begun { .. } => call.is_begun = true,
            _ => {}
        }
    }

    fn call_mut(&mut self, run_id: &RunId, call_id: &CallId) -> Option<&mut BatchCall> {
        self.touched.calls.insert((run_id.clone(), call_id.clone()));
        self.run_mut(run_id)?.batch.as_mut()?.calls.iter_mut().find(|call| call.call.call_id == *call_id)
    }

    /// What a fact changes of an open interaction. What was given is read from the log alone, by whoever compares an answer
    /// with it.
    fn apply_to_interaction(&mut self, interaction_id: &InteractionId, fact: &Fact) {
        let Some(open) = self.interactions.get_mut(interaction_id) else { return };
        match fact {
            Fact::Prolonged { expires_at, .. } => {
                open.expires_at = Some(*expires_at);
                if let InteractionBody::ToolCall(request) = &mut open.body {
                    request.deadline_at = Some(*expires_at);
                }
            }
            Fact::Passed { to, .. } => open.offered_to = vec![to.clone()],
            Fact::Attempt { attempt, .. } => open.offered_again(*attempt),
            _ => return,
        }
        self.touched.interactions.insert(interaction_id.clone());
    }

    /// Changes a run, unless it is over.
    pub(super) fn with_run(&mut self, run_id: &RunId, change: impl FnOnce(&mut RunState)) {
        if let Some(state) = self.run_mut(run_id) {
            change(state);
        }
    }

    /// Changes what stays of a run that has ended badly: a fact of the record that ends a run is read after its end.
    pub(super) fn with_bad_end(&mut self, run_id: &RunId, change: impl FnOnce(&mut BadEnd)) {
        let ends = self.branches.iter_mut().filter_map(|(id, branch)| Some((id, branch.bad_end.as_mut()?)));
        for (id, end) in ends {
            if end.run.run_id == *run_id {
                self.touched.branches.insert(id.clone());
                return change(end);
            }
        }
    }

    /// A run has come to other numbers. When a log is read again, one that ended with this very step has ended already.
    fn apply_step(&mut self, run_id: &RunId, count: impl Fn(&mut Run)) {
        self.touched.runs.insert(run_id.clone());
        let open = self.runs.get_mut(run_id).map(|state| &mut state.run);
        let mut ended = self.touched.ended.iter_mut().map(|ended| &mut ended.run);
        if let Some(run) = open.or_else(|| ended.find(|run| run.run_id == *run_id)) {
            count(run);
        }
        self.with_bad_end(run_id, |end| count(&mut end.run));
    }

    pub(super) fn run_mut(&mut self, run_id: &RunId) -> Option<&mut RunState> {
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
        let known = known.unwrap_or_else(|| BranchState::new(branch.clone()));
        self.branches.insert(branch.branch_id.clone(), BranchState { branch: branch.clone(), ..known });
    }

    fn apply_run_started(&mut self, run: &Run, at: Timestamp) {
        self.note_order();
        self.thread.updated_at = at;
        let mut state = RunState::new(run.clone(), self.thread.seq);
        if let Some(branch) = self.branches.get_mut(&run.branch_id) {
            branch.branch.active_run_id = Some(run.run_id.clone());
            let continued = branch.bad_end.take().filter(|end| run.previous_run_id.as_ref() == Some(&end.run.run_id));
            if let Some(end) = continued {
                (state.input, state.remarks) = (end.input, end.remarks);
            }
            self.touched.branches.insert(run.branch_id.clone());
        }
        self.touched.runs.insert(run.run_id.clone());
        state.allowance.run_is(run, at);
        self.runs.insert(run.run_id.clone(), state);
    }

    fn apply_run_completed(&mut self, run_id: &RunId, at: Timestamp, finish: impl FnOnce(&mut Run)) {
        self.note_order();
        self.thread.updated_at = at;
        let Some(mut state) = self.runs.remove(run_id) else { return };
        self.touched.runs.remove(run_id);
        self.touched.forget_parts(run_id, &state);
        finish(&mut state.run);
        state.run.end(at);
        if let Some(branch) = self.branches.get_mut(&state.run.branch_id) {
            branch.branch.active_run_id = None;
            branch.bad_end = BadEnd::of(&state);
            self.touched.branches.insert(state.run.branch_id.clone());
        }
        self.touched.ended.push(EndedRun { run: state.run, from_seq: state.from_seq, to_seq: self.thread.seq });
    }

    fn apply_item_started(&mut self, item: &Item, at: Timestamp) {
        let seq = self.thread.seq;
        let Some(run_id) = &item.run_id else { return };
        if let Some(state) = self.run_mut(run_id) {
            state.open_items.insert(item.item_id.clone(), (seq, item.clone()));
            state.allowance.count(at);
            self.touched.items.insert((run_id.clone(), item.item_id.clone()));
        }
    }

    fn apply_item_completed(&mut self, item: &Item, at: Timestamp) {
        if let ItemBody::UserMessage { content, .. } = &item.body
            && self.first_line.is_none()
        {
            self.first_line = content.iter().find_map(ropewalk_protocol::Part::as_text).map(first_line);
        }
        let seq = self.thread.seq;
        let Some(run_id) = &item.run_id else {
            self.note_order();
            self.thread.updated_at = at;
            if let Some(branch) = self.branches.get_mut(&item.branch_id)
                && let Some(end) = &mut branch.bad_end
            {
                end.remarks.takes(item, seq);
                self.touched.branches.insert(item.branch_id.clone());
            }
            return;
        };
        let Some(state) = self.run_mut(run_id) else { return };
        if let ItemBody::UserMessage { message_id, .. } = &item.body
            && *message_id == state.run.message_id
        {
            state.input = Some(RunInput { item_id: item.item_id.clone(), from_seq: seq, link: None });
        }
        state.remarks.takes(item, seq);
        state.open_items.remove(&item.item_id);
        state.checkpoints.remove(&item.item_id);
        state.allowance.count(at);
        self.touched.items.insert((run_id.clone(), item.item_id.clone()));
        if let ItemBody::ToolCall(call) = &item.body
            && let Some(done) = self.call_mut(run_id, &call.call_id)
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
            shown: None,
            is_begun: false,
        };
        batch.calls = calls.iter().map(begun).collect();
        // Those that are not done yet stand in the batch's own row as they are.
        let done = batch.calls.iter().filter(|call| call.done);
        let done: Vec<_> = done.map(|call| (run_id.clone(), call.call.call_id.clone())).collect();
        state.batch = Some(batch);
        self.touched.batches.insert(run_id.clone());
        self.touched.calls.extend(done);
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
