//! What holds of a thread after every change.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ropewalk_protocol::{BranchId, CallId, Event, InteractionId, ItemBody, ItemId, Recovery, Role, RunId, RunStatus};

use super::bench::Kept;
use crate::domain::{ChainMessage, ChainReader, ThreadState};

/// Checks a thread that has just changed.
pub(super) fn state(state: &ThreadState, log: &[Kept]) {
    branches(state);
    runs(state);
    let reader = reader(log);
    for id in state.branches.keys() {
        history(&chain_by(&reader, state, id));
    }
    events(state, log);
}

/// The chain of a branch, oldest first, read from the log as the daemon reads it.
pub(super) fn chain(state: &ThreadState, log: &[Kept], branch: &BranchId) -> Vec<ChainMessage> {
    chain_by(&reader(log), state, branch)
}

fn reader(log: &[Kept]) -> ChainReader {
    let mut reader = ChainReader::default();
    for record in log {
        reader.record(record.n, record.events.iter().cloned(), record.facts.iter().cloned());
    }
    reader
}

fn chain_by(reader: &ChainReader, state: &ThreadState, branch: &BranchId) -> Vec<ChainMessage> {
    let Some(head) = &state.branches[branch].head else { return Vec::new() };
    let summary = state.branches[branch].summary.as_ref();
    let (found, rest) = reader.walk(&state.thread.thread_id, head, summary, usize::MAX);
    assert_eq!(rest.as_ref(), summary.map(|summary| &summary.covers), "the chain is read to its root");
    let depths: Vec<u64> = found.iter().map(|(link, _)| link.depth).collect();
    let first = summary.map_or(0, |summary| summary.covers.depth + 1);
    let all: Vec<u64> = (first..first + found.len() as u64).rev().collect();
    assert_eq!(depths, all, "a message knows how many come before it");
    let summary = summary.map(|summary| reader.summary(&state.thread.thread_id, summary).expect("its text is kept"));
    summary.into_iter().chain(found.into_iter().rev().map(|(_, message)| message)).collect()
}

/// What the strictest provider wants: every call has its result right after it, in order, and nothing is empty.
pub(crate) fn history<'a>(chain: impl IntoIterator<Item = &'a ChainMessage>) {
    let mut owed: Vec<CallId> = Vec::new();
    let mut parent = None;
    for ChainMessage { message, .. } in chain {
        assert_eq!(message.parent_message_id, parent, "a message follows the one before it");
        parent = Some(message.message_id.clone());
        if message.role == Role::Tool {
            assert!(!owed.is_empty(), "a result belongs to a call of the message before it");
            assert_eq!(message.call_id, Some(owed.remove(0)), "results come in the order of their calls");
            assert!(!message.content.is_empty() && message.is_error.is_some());
            continue;
        }
        assert_eq!(owed, Vec::<CallId>::new(), "every call has a result right after it");
        assert!(!message.content.is_empty() || !message.tool_calls.is_empty(), "no message is empty");
        owed = message.tool_calls.iter().map(|call| call.call_id.clone()).collect();
        assert!(message.role == Role::Assistant || owed.is_empty());
    }
    assert_eq!(owed, Vec::<CallId>::new(), "every call has a result");
}

fn branches(state: &ThreadState) {
    assert_eq!(state.thread.unread, state.branches.values().any(|branch| branch.unseen.is_some()));
    for (id, branch) in &state.branches {
        let shown = &branch.branch;
        assert_eq!(shown.queue.length, branch.queue.len() as u64);
        assert!(!shown.queue.held || shown.queue.length > 0, "a branch without waiting inputs is never held");
        assert!(!shown.queue.held || shown.active_run_id.is_none(), "nothing runs on a held branch");
        let idle = shown.active_run_id.is_none();
        assert!(!idle || shown.queue.held || shown.queue.length == 0, "what waits on an idle branch is held");
        for waiting in branch.queue.iter().filter(|waiting| !waiting.begins_a_run()) {
            assert_eq!(
                Some(&waiting.entry.run_id),
                shown.active_run_id.as_ref(),
                "a remark waits for the run under way"
            );
        }
        assert!(branch.bad_end.is_none() || idle, "a run that begins takes the place of a bad end");
        if let Some(end) = &branch.bad_end {
            assert!(
                end.run.state.is_terminal() && end.run.state != RunStatus::Completed && end.run.recovery.is_empty()
            );
            assert_eq!(end.recovery(shown).contains(&Recovery::Skip), shown.queue.held);
        }
        assert_eq!(shown.head_message_id, branch.head.as_ref().map(|head| head.message_id.clone()));
        if let Some(run) = &shown.active_run_id {
            assert_eq!(state.runs[run].run.branch_id, *id);
        }
    }
}

fn runs(state: &ThreadState) {
    for (id, run) in &state.runs {
        let branch = &state.branches[&run.run.branch_id].branch;
        assert_eq!(branch.active_run_id.as_ref(), Some(id), "a run under way is its branch's active one");
        assert!(!run.run.state.is_terminal() && run.run.state != RunStatus::Queued);
        assert_eq!(run.run.state == RunStatus::Waiting, run.run.waiting_on.is_some());
        assert_eq!(run.run.state == RunStatus::Paused, run.run.reason.is_some());
        let resumable = vec![Recovery::Resume; usize::from(run.run.state == RunStatus::Paused)];
        assert_eq!(run.run.recovery, resumable, "a run under way lists what would be accepted");
        let input = run.input.as_ref().expect("the input of a run under way is known");
        let link = input.link.as_ref().expect("the input of a run under way has joined");
        assert_eq!(link.message_id, run.run.message_id);
        assert!(run.checkpoints.keys().all(|item| run.open_items.contains_key(item)));
        for call in run.batch.iter().flat_map(|batch| &batch.calls) {
            assert_eq!(call.done, !run.open_items.contains_key(&call.call.item_id), "a call is done when its item is");
        }
        let batch = run.batch.as_ref();
        assert!(batch.is_none_or(|batch| batch.calls.iter().any(|call| !call.done)), "a batch that is done has joined");
    }
    for open in state.interactions.values() {
        assert!(
            state.call(&open.run_id, &open.call_id).is_some_and(|call| !call.done),
            "what is open has an open call"
        );
    }
}

/// The rules of 2.5, over the whole log.
fn events(state: &ThreadState, log: &[Kept]) {
    let mut seq = 0;
    let mut open_items: HashMap<ItemId, Option<RunId>> = HashMap::new();
    let mut closed: BTreeSet<ItemId> = BTreeSet::new();
    let mut open: BTreeMap<InteractionId, (RunId, CallId)> = BTreeMap::new();
    let mut settled: BTreeSet<InteractionId> = BTreeSet::new();
    let mut branches: BTreeMap<BranchId, bool> = BTreeMap::new();
    for record in log {
        assert_eq!(record.n, seq + 1);
        for event in &record.events {
            seq += 1;
            of_branch(event, &mut branches);
            match event.clone() {
                Event::ItemStarted { item } => assert!(open_items.insert(item.item_id, item.run_id).is_none()),
                Event::ItemCompleted { item } => {
                    open_items.remove(&item.item_id);
                    assert!(closed.insert(item.item_id), "an item completes once");
                    if let ItemBody::ToolCall(call) = &item.body {
                        let is_asked = open.values().any(|(_, open)| *open == call.call_id);
                        assert!(!is_asked, "a call's interactions are settled before its item completes");
                    }
                }
                Event::InteractionOpened { interaction } => {
                    let of = (interaction.run_id, interaction.call_id);
                    assert!(open.insert(interaction.interaction_id, of).is_none());
                }
                Event::InteractionSettled { interaction_id, .. } => {
                    assert!(open.remove(&interaction_id).is_some() && settled.insert(interaction_id), "settled once");
                }
                Event::RunCompleted { run_id, .. } => {
                    assert!(open_items.values().all(|run| *run != Some(run_id.clone())), "no item outlives its run");
                    assert!(open.values().all(|(run, _)| *run != run_id), "no interaction outlives its run");
                }
                _ => {}
            }
        }
    }
    assert_eq!(state.thread.seq, seq);
    let living = branches.iter().filter(|(_, is_there)| **is_there).map(|(id, _)| id);
    assert!(living.eq(state.branches.keys()));
    assert!(open.keys().eq(state.interactions.keys()));
    let mut known: Vec<&ItemId> = state.runs.values().flat_map(|run| run.open_items.keys()).collect();
    let mut told: Vec<&ItemId> = open_items.keys().collect();
    known.sort();
    told.sort();
    assert_eq!(known, told);
}

/// The first event of a branch is its own, and none comes after it was deleted. `branches` has those that were met, and
/// whether they are still there.
fn of_branch(event: &Event, branches: &mut BTreeMap<BranchId, bool>) {
    let id = match event {
        Event::BranchUpdated { branch } => {
            let is_first = !branches.contains_key(&branch.branch_id);
            let begins = branch.head_message_id == branch.root_message_id && branch.active_run_id.is_none();
            assert!(!is_first || begins, "a branch begins at the message it was forked from");
            assert!(*branches.entry(branch.branch_id.clone()).or_insert(true), "it was deleted");
            return;
        }
        Event::BranchDeleted { branch_id } => {
            assert_eq!(branches.insert(branch_id.clone(), false), Some(true), "deleted once");
            return;
        }
        Event::QueueChanged(change) => &change.branch_id,
        Event::RunStarted { run } | Event::RunState { run } => &run.branch_id,
        Event::RunCompleted { branch_id, .. } => branch_id,
        Event::ItemStarted { item } | Event::ItemCompleted { item } => &item.branch_id,
        _ => return,
    };
    assert_eq!(branches.get(id), Some(&true), "it is not there: {event:?}");
}
