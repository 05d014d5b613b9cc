//! A thread's state between two changes.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use ropewalk_protocol::{
    Branch, BranchId, CallDecision, CallId, ClientRef, EndpointId, Interaction, InteractionId, Item, ItemId, MessageId,
    QueueEntry, Run, RunId, Seq, Thread, Timestamp, WaitingKind,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Allowance, AnsweredCall, BadEnd, ClientTool, Line, Link, ProviderParts, QueuedRun, Refusals, Remarks, Repeats,
    RunInput, Summary, Wanted,
};

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
    /// When its last event was: until then at least a daemon ran.
    pub last_at: Timestamp,
    /// Its branches.
    pub branches: BTreeMap<BranchId, BranchState>,
    /// Runs that have not ended, queued ones excepted.
    pub runs: BTreeMap<RunId, RunState>,
    /// Interactions that are open.
    pub interactions: BTreeMap<InteractionId, Interaction>,
    /// Client tools by who declared them.
    pub tool_sets: BTreeMap<ClientRef, ToolSet>,
    /// What waits for the person, as the rows have it.
    pub attention: Vec<Wanted>,
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
    /// What stands for its oldest messages, where they no longer fitted into a window.
    pub summary: Option<Summary>,
    /// What waits on it.
    pub queue: VecDeque<QueuedInput>,
    /// The last run on it, where that ended badly.
    pub bad_end: Option<BadEnd>,
    /// The end or pause of a run that nobody has seen yet.
    pub unseen: Option<Seq>,
}

/// An input that waits, and what its run will need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueuedInput {
    /// The entry as the wire shows it.
    pub entry: QueueEntry,
    /// The rest.
    pub run: QueuedRun,
    /// The event that put it here.
    pub seq: Seq,
    /// Where it stands: above the place of whatever goes before it.
    pub place: u64,
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
    /// The calls that are being worked off. They and the open items have rows of their own.
    #[serde(skip)]
    pub batch: Option<Batch>,
    /// Its open items, with the event that started each.
    #[serde(skip)]
    pub open_items: BTreeMap<ItemId, (Seq, Item)>,
    /// What has been kept of the text of open items.
    #[serde(skip)]
    pub checkpoints: BTreeMap<ItemId, String>,
    /// Calls each tool has had, by flat name.
    #[serde(default)]
    pub calls_by_tool: BTreeMap<String, u64>,
    /// How often its model was told that its final answer does not fit the schema.
    #[serde(default)]
    pub repairs: u64,
    /// The tools its model has looked for, by flat name, the best ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<String>,
    /// What its calls have come to.
    #[serde(default)]
    pub repeats: Repeats,
    /// What people have refused in it.
    #[serde(default, skip_serializing_if = "Refusals::is_empty")]
    pub refusals: Refusals,
    /// What counts against its budgets.
    #[serde(default)]
    pub allowance: Allowance,
    /// Where its input stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<RunInput>,
    /// What was remarked since, the newest last.
    #[serde(default, skip_serializing_if = "Remarks::is_empty")]
    pub remarks: Remarks,
    /// The endpoint its submit named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_endpoint: Option<EndpointId>,
}

/// The calls of one answer of the model.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct BatchCall {
    /// As the model made it.
    pub call: AnsweredCall,
    /// Whether its result is stored.
    pub done: bool,
    /// What was decided about it.
    pub decision: Option<CallDecision>,
    /// How long its approval was open.
    pub approval_ms: Option<u64>,
    /// Stands for what a person was shown of it, where one was asked.
    pub shown: Option<String>,
    /// Whether the daemon has begun to make it itself.
    pub is_begun: bool,
}

/// The tools one client process has declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSet {
    /// Whether the process named itself, so that it can come back.
    pub lasting: bool,
    /// The tools.
    pub tools: Vec<Arc<ClientTool>>,
}

/// A run as it ended, and the events it had.
#[derive(Clone, Debug, PartialEq)]
pub struct EndedRun {
    /// The run.
    pub run: Run,
    /// Its first event.
    pub from_seq: Seq,
    /// The event that ended it.
    pub to_seq: Seq,
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
    /// Inputs that were put into a queue, changed in it or taken out of it, by the branch and their messages.
    pub queued: BTreeSet<(BranchId, MessageId)>,
    /// Runs that began or changed.
    pub runs: BTreeSet<RunId>,
    /// Items of runs that opened, closed, or had more of their text kept.
    pub items: BTreeSet<(RunId, ItemId)>,
    /// Runs whose batch began or is over.
    pub batches: BTreeSet<RunId>,
    /// Calls of batches that began, were decided or done, or whose batch is over.
    pub calls: BTreeSet<(RunId, CallId)>,
    /// Runs that ended, as they ended.
    pub ended: Vec<EndedRun>,
    /// Runs that were taken out of a queue without beginning.
    pub dropped: Vec<RunId>,
    /// Interactions that opened or changed.
    pub interactions: BTreeSet<InteractionId>,
    /// Interactions that were settled, as they ended, and the event that says so.
    pub settled: Vec<(Interaction, Seq)>,
    /// Tool sets.
    pub tool_sets: BTreeSet<ClientRef>,
    /// What the person has seen of what waits.
    pub attention: bool,
}

impl ThreadState {
    /// A thread that does not exist yet: its first event brings the header.
    #[must_use]
    pub fn new(thread: Thread) -> Self {
        Self {
            last_at: thread.created_at,
            thread,
            instructions: None,
            first_line: None,
            tools_revision: 0,
            branches: BTreeMap::new(),
            runs: BTreeMap::new(),
            interactions: BTreeMap::new(),
            tool_sets: BTreeMap::new(),
            attention: Vec::new(),
            touched: Touched::default(),
        }
    }

    /// The call of a batch under way.
    #[must_use]
    pub fn call(&self, run_id: &RunId, call_id: &CallId) -> Option<&BatchCall> {
        self.runs.get(run_id)?.batch.as_ref()?.calls.iter().find(|call| call.call.call_id == *call_id)
    }
}

impl Touched {
    /// A run is over, and with it everything of it that has rows of its own.
    pub(super) fn forget_parts(&mut self, run_id: &RunId, state: &RunState) {
        self.items.extend(state.open_items.keys().map(|item_id| (run_id.clone(), item_id.clone())));
        self.forget_batch(run_id, state.batch.as_ref());
    }

    /// A batch is over.
    pub(super) fn forget_batch(&mut self, run_id: &RunId, batch: Option<&Batch>) {
        let Some(batch) = batch else { return };
        self.batches.insert(run_id.clone());
        self.calls.extend(batch.calls.iter().map(|call| (run_id.clone(), call.call.call_id.clone())));
    }
}

impl BranchState {
    /// A branch on which nothing has happened.
    #[must_use]
    pub fn new(branch: Branch) -> Self {
        Self { branch, head: None, summary: None, queue: VecDeque::new(), bad_end: None, unseen: None }
    }

    /// The chain of the branch as it is read.
    #[must_use]
    pub fn line(&self) -> Line {
        Line { head: self.head.clone(), summary: self.summary.clone() }
    }
}

impl RunState {
    /// A run that begins now.
    #[must_use]
    pub fn new(run: Run, from_seq: Seq) -> Self {
        Self {
            run,
            from_seq,
            output_schema: None,
            batch: None,
            open_items: BTreeMap::new(),
            checkpoints: BTreeMap::new(),
            calls_by_tool: BTreeMap::new(),
            repairs: 0,
            pinned: Vec::new(),
            repeats: Repeats::default(),
            refusals: Refusals::default(),
            allowance: Allowance::default(),
            input: None,
            remarks: Remarks::default(),
            asked_endpoint: None,
        }
    }

    /// Whether it waits to ask its endpoint again, which nobody but the daemon ends.
    #[must_use]
    pub fn waits_for_endpoint(&self) -> bool {
        self.run.waiting_on.as_ref().is_some_and(|waiting| waiting.kind == WaitingKind::Endpoint)
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
            replaces: None,
        }
    }
}
