//! A thread's state between two changes, and the one place where it changes.

use std::sync::Arc;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ropewalk_protocol::{
    Branch, BranchId, CallDecision, CallId, ClientRef, Event, Interaction, InteractionId, Item, ItemBody, ItemId,
    MessageId, QueueChange, QueueChanged, QueueEntry, Run, RunId, Seq, Thread, Timestamp, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AnsweredCall, ClientTool, Fact, Joined, Link, ProviderParts, QueuedRun, runs::Ends as _};

/// Everything about a thread that decides what may happen next. Bounded: history is in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadState {
    /// The header.
    pub thread: Thread,
    /// The thread's own instructions.
    pub instructions: Option<String>,
    /// The first line of its first input, for lists of threads without titles.
    pub first_line: Option<String>,
    /// The revision of the tool set.
    pub tools_revision: u64,
    /// Its branches.
    pub branches: BTreeMap<BranchId, BranchState>,
    /// Runs that have not ended, queued ones excepted.
    pub runs: BTreeMap<RunId, RunState>,
    /// Interactions that are open.
    pub interactions: BTreeMap<InteractionId, Interaction>,
    /// Client tools by who declared them.
    pub tool_sets: BTreeMap<ClientRef, ToolSet>,
    /// What has changed since the rows were last written.
    pub touched: Touched,
}

/// A branch and what waits on it.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchState {
    /// The branch as the wire shows it.
    pub branch: Branch,
    /// Its head.
    pub head: Option<Link>,
    /// What waits on it.
    pub queue: VecDeque<QueuedInput>,
    /// The last run that ended badly on it and was neither recovered nor skipped.
    pub bad_end: Option<RunId>,
}

/// An input that waits, and what its run will need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuedInput {
    /// The entry as the wire shows it.
    pub entry: QueueEntry,
    /// The rest.
    pub run: QueuedRun,
}

/// A run under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// The run as the wire shows it.
    pub run: Run,
    /// The first event of the run.
    pub from_seq: Seq,
    /// The schema of its final answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// The calls that are being worked off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Batch>,
    /// Its open items, with the event that started each.
    pub open_items: BTreeMap<ItemId, (Seq, Item)>,
    /// Text of open items at the last checkpoint.
    #[serde(default)]
    pub checkpoints: BTreeMap<ItemId, String>,
    /// Calls each tool has had, by flat name.
    #[serde(default)]
    pub calls_by_tool: BTreeMap<String, u64>,
}

/// The calls of one answer of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The assistant message that joins with the last result.
    pub message_id: MessageId,
    /// The items of its text, then of its calls.
    pub items: Vec<ItemId>,
    /// The first event that has one of its items.
    pub from_seq: Seq,
    /// The calls in order.
    pub calls: Vec<BatchCall>,
    /// What the provider wants back.
    pub provider_parts: Option<ProviderParts>,
}

/// One call of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchCall {
    /// As the model made it.
    pub call: AnsweredCall,
    /// Whether its result is stored.
    pub done: bool,
    /// What was decided about it.
    pub decision: Option<CallDecision>,
    /// How long its approval was open.
    pub approval_ms: Option<u64>,
}

/// The tools one client process has declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSet {
    /// Whether the process named itself, so that it can come back.
    pub lasting: bool,
    /// The tools.
    pub tools: Vec<Arc<ClientTool>>,
}

/// What has changed since the rows were last written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touched {
    /// The header, its revision of tools or its instructions. Always set when anything changed, because `seq` does.
    pub thread: bool,
    /// Its time of last activity or its archive flag as they were before, so that the old place in the order is found.
    pub ordered_before: Option<(bool, Timestamp)>,
    /// Branches.
    pub branches: BTreeSet<BranchId>,
    /// Queues.
    pub queues: BTreeSet<BranchId>,
    /// Runs that began or changed.
    pub runs: BTreeSet<RunId>,
    /// Runs that ended, as they ended.
    pub ended: Vec<(Run, Seq)>,
    /// Runs that were taken out of a queue without beginning.
    pub dropped: Vec<RunId>,
    /// Interactions that opened or changed.
    pub interactions: BTreeSet<InteractionId>,
    /// Interactions that were settled, as they ended, and the event that says so.
    pub settled: Vec<(Interaction, Seq)>,
    /// Tool sets.
    pub tool_sets: BTreeSet<ClientRef>,
}

impl ThreadState {
    /// A thread that does not exist yet: its first event brings the header.
    #[must_use]
    pub fn new(thread: Thread) -> Self {
        Self {
            thread,
            instructions: None,
            first_line: None,
            tools_revision: 0,
            branches: BTreeMap::new(),
            runs: BTreeMap::new(),
            interactions: BTreeMap::new(),
            tool_sets: BTreeMap::new(),
            touched: Touched::default(),
        }
    }

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
                }
            }
            Event::ItemStarted { item } => self.apply_item_started(item),
            Event::ItemCompleted { item } => self.apply_item_completed(item),
            Event::InteractionOpened { interaction } => {
                self.touched.interactions.insert(interaction.interaction_id.clone());
                self.interactions.insert(interaction.interaction_id.clone(), interaction.clone());
            }
            Event::InteractionSettled { interaction_id, outcome, by, answer } => {
                if let Some(mut interaction) = self.interactions.remove(interaction_id) {
                    interaction.state = ropewalk_protocol::InteractionState::Settled;
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
            Fact::Queued(queued) => {
                for (id, branch) in &mut self.branches {
                    if let Some(input) = branch.queue.iter_mut().find(|input| input.entry.run_id == queued.run_id) {
                        input.run = queued.clone();
                        self.touched.queues.insert(id.clone());
                    }
                }
            }
            Fact::OutputSchema { run_id, schema } => {
                if let Some(state) = self.run_mut(run_id) {
                    state.output_schema = Some(schema.clone());
                }
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
            Fact::Step { run_id, usage, tool_calls } => self.apply_step(run_id, usage, *tool_calls),
            Fact::Decided { run_id, call_id, decision, approval_ms } => {
                if let Some(call) = self.call_mut(run_id, call_id) {
                    call.decision = Some(decision.clone());
                    call.approval_ms = *approval_ms;
                }
            }
            Fact::Joined { branch_id, messages, parent } => self.apply_joined(branch_id, messages, parent.as_ref(), n),
            Fact::Checkpoint { item_id, text } => {
                let runs = &mut self.runs;
                if let Some((id, state)) = runs.iter_mut().find(|(_, state)| state.open_items.contains_key(item_id)) {
                    state.checkpoints.insert(item_id.clone(), text.clone());
                    self.touched.runs.insert(id.clone());
                }
            }
        }
    }

    /// The call of a batch under way.
    #[must_use]
    pub fn call(&self, run_id: &RunId, call_id: &CallId) -> Option<&BatchCall> {
        self.runs.get(run_id)?.batch.as_ref()?.calls.iter().find(|call| call.call.call_id == *call_id)
    }

    fn call_mut(&mut self, run_id: &RunId, call_id: &CallId) -> Option<&mut BatchCall> {
        self.run_mut(run_id)?.batch.as_mut()?.calls.iter_mut().find(|call| call.call.call_id == *call_id)
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
        let (head, queue, bad_end) = known.map_or_else(Default::default, |old| (old.head, old.queue, old.bad_end));
        self.branches.insert(branch.branch_id.clone(), BranchState { branch: branch.clone(), head, queue, bad_end });
    }

    fn apply_queue(&mut self, change: &QueueChanged) {
        let Some(state) = self.branches.get_mut(&change.branch_id) else { return };
        self.touched.branches.insert(change.branch_id.clone());
        self.touched.queues.insert(change.branch_id.clone());
        state.branch.queue.held = change.held;
        match change.change {
            QueueChange::Added => {
                if let Some(entry) = &change.entry {
                    state.queue.push_back(QueuedInput { entry: entry.clone(), run: QueuedRun::plain(&entry.run_id) });
                }
            }
            QueueChange::Edited => {
                if let Some(entry) = &change.entry
                    && let Some(input) = state.queue.iter_mut().find(|i| i.entry.message_id == entry.message_id)
                {
                    input.entry = entry.clone();
                }
            }
            QueueChange::Removed | QueueChange::Started => {
                if let Some(at) =
                    state.queue.iter().position(|i| Some(&i.entry.message_id) == change.message_id.as_ref())
                    && let Some(input) = state.queue.remove(at)
                    && change.change == QueueChange::Removed
                {
                    self.touched.dropped.push(input.entry.run_id);
                }
            }
            QueueChange::Moved => {
                let order = change.order.as_deref().unwrap_or_default();
                let place = |input: &QueuedInput| order.iter().position(|id| *id == input.entry.message_id);
                state.queue.make_contiguous().sort_by_key(|input| place(input).unwrap_or(usize::MAX));
            }
            QueueChange::Released => state.bad_end = None,
            QueueChange::Held => {}
        }
        state.branch.queue.length = state.queue.len() as u64;
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
        self.runs.insert(run.run_id.clone(), RunState::new(run.clone(), self.thread.seq));
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
            branch.bad_end = (state.run.state != ropewalk_protocol::RunStatus::Completed).then(|| run_id.clone());
            self.touched.branches.insert(state.run.branch_id.clone());
        }
        self.touched.ended.push((state.run, state.from_seq));
    }

    fn apply_item_started(&mut self, item: &Item) {
        let seq = self.thread.seq;
        let Some(run_id) = &item.run_id else { return };
        if let Some(state) = self.run_mut(run_id) {
            state.open_items.insert(item.item_id.clone(), (seq, item.clone()));
        }
    }

    fn apply_item_completed(&mut self, item: &Item) {
        if let ItemBody::UserMessage { content, .. } = &item.body
            && self.first_line.is_none()
        {
            self.first_line = content.iter().find_map(ropewalk_protocol::Part::as_text).map(first_line);
        }
        let Some(run_id) = &item.run_id else { return };
        let Some(state) = self.run_mut(run_id) else { return };
        state.open_items.remove(&item.item_id);
        state.checkpoints.remove(&item.item_id);
        if let ItemBody::ToolCall(call) = &item.body
            && let Some(batch) = &mut state.batch
            && let Some(done) = batch.calls.iter_mut().find(|known| known.call.call_id == call.call_id)
        {
            done.done = true;
        }
    }

    fn apply_step(&mut self, run_id: &RunId, usage: &Usage, tool_calls: u64) {
        let ended = self.touched.ended.iter_mut().map(|(run, _)| run);
        let open = self.runs.values_mut().map(|state| &mut state.run);
        // When a log is read again, a run that ended with this very step has ended already.
        let Some(run) = open.chain(ended).find(|run| run.run_id == *run_id) else { return };
        if run.ended_at.is_none() {
            run.usage.add(usage);
            self.touched.runs.insert(run_id.clone());
        }
        run.steps += 1;
        run.tool_calls += tool_calls;
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

    fn apply_joined(&mut self, branch_id: &BranchId, messages: &[Joined], parent: Option<&Link>, n: Seq) {
        let Some(last) = messages.last() else { return };
        let depth = parent.map_or(0, |parent| parent.depth + 1) + messages.len() as u64 - 1;
        if let Some(state) = self.branches.get_mut(branch_id) {
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
            }
        }
    }
}

impl RunState {
    /// A run that begins now.
    #[must_use]
    pub const fn new(run: Run, from_seq: Seq) -> Self {
        Self {
            run,
            from_seq,
            output_schema: None,
            batch: None,
            open_items: BTreeMap::new(),
            checkpoints: BTreeMap::new(),
            calls_by_tool: BTreeMap::new(),
        }
    }
}

impl QueuedRun {
    /// A run with nothing special asked for.
    #[must_use]
    pub fn plain(run_id: &RunId) -> Self {
        Self {
            run_id: run_id.clone(),
            operation_id: None,
            endpoint_id: None,
            unattended: ropewalk_protocol::Unattended::Decline,
            output_schema: None,
        }
    }
}

/// The first line of a text, at most 80 characters.
fn first_line(text: &str) -> String {
    text.trim_start().lines().next().unwrap_or_default().chars().take(80).collect()
}
