//! A thread as rows of the index: written with each commit, read when it wakes, worked out anew from its log.

mod projector;
mod runs;

use std::{collections::VecDeque, sync::Arc};

use ropewalk_protocol::{
    Branch, BranchId, ClientRef, Interaction, InteractionId, MessageId, Run, Seq, Thread, ThreadId, Timestamp,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    domain::{BadEnd, BranchState, ClientTool, Link, QueuedInput, Summary, ThreadState, ToolSet, Wanted},
    store::{Key, OperationRow, Record, RowChange, Rows, Scan, StoreError, keys},
};

pub use projector::ThreadProjector;

/// Rows of one kind a thread has at most; far above every limit, and a bound all the same.
const PARTS: usize = 100_000;

/// The row of a thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadRow {
    /// The header.
    pub thread: Thread,
    /// The thread's own instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The first line of its first input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_line: Option<String>,
    /// The revision of its tool set.
    pub tools_revision: u64,
    /// When its last event was.
    pub last_at: Timestamp,
}

impl ThreadRow {
    /// The header as lists show it: without a title it has the first line of its first input (ruling 20).
    #[must_use]
    pub fn listed(self) -> Thread {
        let title = self.thread.title.clone().or(self.first_line);
        Thread { title, ..self.thread }
    }
}

/// The row of a branch.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchRow {
    /// The branch as the wire shows it.
    pub branch: Branch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<Link>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
    /// The last run on it, where that ended badly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_end: Option<BadEnd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unseen: Option<Seq>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolSetRow {
    owner: ClientRef,
    lasting: bool,
    tools: Vec<Arc<ClientTool>>,
}

/// The row of a run, ended or not.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    /// The run as it was last written.
    pub run: Run,
    /// The first event of the run.
    pub from_seq: Seq,
    /// The event that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_seq: Option<Seq>,
}

/// Where an interaction is found.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InteractionHome {
    /// Its thread.
    pub thread_id: ThreadId,
    /// The event that settled it, once it is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_in: Option<Seq>,
}

/// The rows that follow from what a record has changed in a state, and from the operation it answers. Worked out record by
/// record, here and by [`ThreadProjector`], so that both come to the same.
///
/// # Errors
/// When something of ours cannot be written as JSON.
pub fn changed(state: &mut ThreadState, record: &Record) -> Result<Vec<RowChange>, StoreError> {
    let touched = std::mem::take(&mut state.touched);
    let id = state.thread.thread_id.clone();
    let mut rows = Vec::new();
    order(&mut rows, state, touched.ordered_before);
    if touched.thread {
        put(&mut rows, keys::thread(&id), &thread_row(state))?;
        // A thread stays in the project it began in.
        if record.n == 1 {
            rows.push(RowChange::Put(keys::in_project(&state.thread.project_id, &id), Vec::new()));
        }
    }
    for branch_id in &touched.branches {
        let key = keys::part("branch", &id, branch_id);
        let row = state.branches.get(branch_id).map(branch_row);
        put_or_delete(&mut rows, key, row.as_ref())?;
    }
    for (branch_id, message_id) in &touched.queued {
        queued_input(&mut rows, state, branch_id, message_id)?;
    }
    for owner in &touched.tool_sets {
        let key = keys::part("tools", &id, &format!("{}\u{1}{}", owner.client_name, owner.instance_id));
        let row = state.tool_sets.get(owner).map(|set| tool_set_row(owner, set));
        put_or_delete(&mut rows, key, row.as_ref())?;
    }
    runs::changed(&mut rows, state, &touched, record.n)?;
    interactions(&mut rows, state, &touched)?;
    attention(&mut rows, state, touched.attention)?;
    if let Some(operation) = &record.op {
        let changes = OperationRow::changes(record.at, operation, Some(&id));
        rows.extend(changes.map_err(|cause| StoreError::Read { what: "an operation".to_owned(), cause })?);
    }
    Ok(rows)
}

impl BranchRow {
    /// The last message of its chain.
    #[must_use]
    pub const fn head(&self) -> Option<&Link> {
        self.head.as_ref()
    }
}

/// Reads the row of a tool set.
///
/// # Errors
/// When the row is not understood.
pub fn tool_set(key: &Key, bytes: &[u8]) -> Result<(ClientRef, ToolSet), StoreError> {
    let row: ToolSetRow = parse(key, bytes)?;
    Ok((row.owner, ToolSet { lasting: row.lasting, tools: row.tools }))
}

/// Reads a thread from its rows.
///
/// # Errors
/// When the index cannot be read or a row is not understood.
pub fn load(rows: &dyn Rows, id: &ThreadId) -> Result<Option<ThreadState>, StoreError> {
    let Some(row) = get::<ThreadRow>(rows, &keys::thread(id))? else { return Ok(None) };
    let mut state = ThreadState::new(row.thread);
    state.instructions = row.instructions;
    state.first_line = row.first_line;
    state.tools_revision = row.tools_revision;
    state.last_at = row.last_at;
    for (key, row) in parts::<BranchRow>(rows, "branch", id)? {
        let branch_id = BranchId::from(key.last_part().unwrap_or_default());
        let BranchRow { branch, head, summary, bad_end, unseen } = row;
        let branch = BranchState { branch, head, summary, queue: VecDeque::new(), bad_end, unseen };
        state.branches.insert(branch_id, branch);
    }
    for (key, input) in parts::<QueuedInput>(rows, "queue", id)? {
        let branch_id = key.last_part().and_then(|part| part.split('\u{1}').next()).unwrap_or_default();
        if let Some(branch) = state.branches.get_mut(&BranchId::from(branch_id)) {
            branch.queue.push_back(input);
        }
    }
    for branch in state.branches.values_mut() {
        branch.queue.make_contiguous().sort_by_key(|input| input.place);
    }
    for (_, row) in parts::<ToolSetRow>(rows, "tools", id)? {
        state.tool_sets.insert(row.owner, ToolSet { lasting: row.lasting, tools: row.tools });
    }
    state.runs = runs::load(rows, id)?;
    for (_, interaction) in parts::<Interaction>(rows, "interaction", id)? {
        state.interactions.insert(interaction.interaction_id.clone(), interaction);
    }
    state.attention = parts::<Wanted>(rows, "attention", id)?.into_iter().map(|(_, wanted)| wanted).collect();
    Ok(Some(state))
}

/// What waits for the person has rows of its own, so that all of it is found without waking a thread.
fn attention(rows: &mut Vec<RowChange>, state: &mut ThreadState, was_seen: bool) -> Result<(), StoreError> {
    let wanted = state.what_is_wanted();
    let id = &state.thread.thread_id;
    let key = |wanted: &Wanted| keys::part("attention", id, &wanted.attention.attention_id);
    for over in state.attention.iter().filter(|known| !wanted.iter().any(|still| key(still) == key(known))) {
        rows.push(RowChange::Delete(key(over)));
    }
    let had = if was_seen { &[][..] } else { &state.attention };
    for new in wanted.iter().filter(|new| !had.contains(new)) {
        put(rows, key(new), new)?;
    }
    state.attention = wanted;
    Ok(())
}

/// One row, read as what it is.
///
/// # Errors
/// When the index cannot be read or the row is not understood.
pub fn get<T: DeserializeOwned>(rows: &dyn Rows, key: &Key) -> Result<Option<T>, StoreError> {
    rows.get(key)?.map(|bytes| parse(key, &bytes)).transpose()
}

/// Reads the bytes of a row as what it is.
///
/// # Errors
/// When they are not understood.
pub fn parse<T: DeserializeOwned>(key: &Key, bytes: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| StoreError::Read {
        what: format!("the row {}", String::from_utf8_lossy(&key.0).replace('\0', "/")),
        cause: error.to_string(),
    })
}

fn parts<T: DeserializeOwned>(rows: &dyn Rows, kind: &str, id: &ThreadId) -> Result<Vec<(Key, T)>, StoreError> {
    let scan = Scan { prefix: keys::of_thread(kind, id), after: None, reverse: false, limit: PARTS };
    let found = rows.scan(&scan)?;
    found.into_iter().map(|(key, bytes)| parse(&key, &bytes).map(|row| (key, row))).collect()
}

fn put<T: Serialize + ?Sized>(rows: &mut Vec<RowChange>, key: Key, value: &T) -> Result<(), StoreError> {
    let bytes = serde_json::to_vec(value)
        .map_err(|error| StoreError::Read { what: "a row".to_owned(), cause: error.to_string() })?;
    rows.push(RowChange::Put(key, bytes));
    Ok(())
}

fn put_or_delete<T: Serialize>(rows: &mut Vec<RowChange>, key: Key, value: Option<&T>) -> Result<(), StoreError> {
    match value {
        Some(value) => put(rows, key, value),
        None => {
            rows.push(RowChange::Delete(key));
            Ok(())
        }
    }
}

fn order(rows: &mut Vec<RowChange>, state: &ThreadState, before: Option<(bool, Timestamp)>) {
    let Some((archived, at)) = before else { return };
    let thread = &state.thread;
    let old = keys::by_activity(archived, at, &thread.thread_id);
    let new = keys::by_activity(thread.archived, thread.updated_at, &thread.thread_id);
    if old != new {
        rows.push(RowChange::Delete(old));
    }
    rows.push(RowChange::Put(new, Vec::new()));
}

fn thread_row(state: &ThreadState) -> ThreadRow {
    ThreadRow {
        thread: state.thread.clone(),
        instructions: state.instructions.clone(),
        first_line: state.first_line.clone(),
        tools_revision: state.tools_revision,
        last_at: state.last_at,
    }
}

fn branch_row(state: &BranchState) -> BranchRow {
    BranchRow {
        branch: state.branch.clone(),
        head: state.head.clone(),
        summary: state.summary.clone(),
        bad_end: state.bad_end.clone(),
        unseen: state.unseen,
    }
}

fn tool_set_row(owner: &ClientRef, set: &ToolSet) -> ToolSetRow {
    ToolSetRow { owner: owner.clone(), lasting: set.lasting, tools: set.tools.clone() }
}

/// A row beside one that is found by an id of its own, so that it goes with its thread.
fn own(thread: &ThreadId, kind: &str, id: &str) -> RowChange {
    RowChange::Put(keys::owned(thread, kind, id), Vec::new())
}

/// An input that waits has a row of its own, or a long queue would be written anew with every change of it; and so has
/// its run where it begins one, so that it can be read and waited for by its id.
fn queued_input(
    rows: &mut Vec<RowChange>,
    state: &ThreadState,
    branch_id: &BranchId,
    message_id: &MessageId,
) -> Result<(), StoreError> {
    let queue = state.branches.get(branch_id).map(|branch| &branch.queue);
    let input = queue.and_then(|queue| queue.iter().rev().find(|input| input.entry.message_id == *message_id));
    let key = keys::part("queue", &state.thread.thread_id, &format!("{branch_id}\u{1}{message_id}"));
    put_or_delete(rows, key, input)?;
    let Some(input) = input.filter(|input| input.begins_a_run()) else { return Ok(()) };
    let run = crate::domain::queued_run(&state.thread, branch_id, input);
    rows.push(own(&state.thread.thread_id, "run", &input.entry.run_id));
    put(rows, keys::run(&input.entry.run_id), &RunRow { run, from_seq: input.seq, to_seq: None })
}

fn interactions(
    rows: &mut Vec<RowChange>,
    state: &ThreadState,
    touched: &crate::domain::Touched,
) -> Result<(), StoreError> {
    let id = &state.thread.thread_id;
    let home = |settled_in| InteractionHome { thread_id: id.clone(), settled_in };
    let row = |id: &ThreadId, interaction: &InteractionId| keys::part("interaction", id, interaction);
    for interaction_id in &touched.interactions {
        let Some(interaction) = state.interactions.get(interaction_id) else { continue };
        put(rows, row(id, interaction_id), interaction)?;
        rows.push(own(id, "home", interaction_id));
        put(rows, keys::home_of(interaction_id), &home(None))?;
    }
    for (settled, seq) in &touched.settled {
        rows.push(RowChange::Delete(row(id, &settled.interaction_id)));
        // One that is opened and settled in the same record never was among those that are open.
        rows.push(own(id, "home", &settled.interaction_id));
        put(rows, keys::home_of(&settled.interaction_id), &home(Some(*seq)))?;
    }
    Ok(())
}
