//! A run under way as rows: a small one that is written with every change, and one for each of its open items and calls,
//! so that the record of one call does not write the other thousand of its message again.

use std::collections::BTreeMap;

use ropewalk_protocol::{CallDecision, CallId, Item, ItemId, MessageId, RunId, Seq, ThreadId};
use serde::{Deserialize, Serialize};

use super::{RunRow, own, parts, put, put_or_delete};
use crate::{
    domain::{AnsweredCall, Batch, BatchCall, EndedRun, ProviderParts, RunState, ThreadState, Touched},
    store::{Key, RowChange, Rows, StoreError, keys},
};

/// The kinds of the rows beside `openRun`.
const ITEM: &str = "openItem";
const BATCH: &str = "openBatch";
const CALL: &str = "openCall";

/// An item that is open.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemRow {
    run_id: RunId,
    started_in: Seq,
    item: Item,
    /// What has been kept of its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

/// The calls of one answer as the model made them: written once.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BatchRow {
    message_id: MessageId,
    items: Vec<ItemId>,
    from_seq: Seq,
    calls: Vec<AnsweredCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider_parts: Option<ProviderParts>,
}

/// How far a call has come.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallRow {
    run_id: RunId,
    call_id: CallId,
    done: bool,
    #[serde(default)]
    is_begun: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decision: Option<CallDecision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
}

/// The rows of everything that has changed of a thread's runs.
pub(super) fn changed(
    rows: &mut Vec<RowChange>,
    state: &ThreadState,
    touched: &Touched,
    n: Seq,
) -> Result<(), StoreError> {
    let id = &state.thread.thread_id;
    for run_id in &touched.dropped {
        rows.push(RowChange::Delete(keys::run(run_id)));
        rows.push(RowChange::Delete(keys::owned(id, "run", run_id)));
    }
    for run_id in &touched.runs {
        let Some(run) = state.runs.get(run_id) else { continue };
        // Its first record says whose it is; the many that follow need not say it again.
        if run.from_seq >= n {
            rows.push(own(id, "run", run_id));
        }
        put(rows, keys::open_run(id, run_id), run)?;
        put(rows, keys::run(run_id), &RunRow { run: run.run.clone(), from_seq: run.from_seq, to_seq: None })?;
    }
    for EndedRun { run, from_seq, to_seq } in &touched.ended {
        // One that begins and ends in the same record never was among those that are open.
        if *from_seq >= n {
            rows.push(own(id, "run", &run.run_id));
        }
        rows.push(RowChange::Delete(keys::open_run(id, &run.run_id)));
        put(rows, keys::run(&run.run_id), &RunRow { run: run.clone(), from_seq: *from_seq, to_seq: Some(*to_seq) })?;
    }
    for (run_id, item_id) in &touched.items {
        let row = state.runs.get(run_id).and_then(|run| item_row(run, item_id));
        put_or_delete(rows, part(ITEM, id, run_id, item_id), row.as_ref())?;
    }
    for run_id in &touched.batches {
        let row = state.runs.get(run_id).and_then(|run| run.batch.as_ref()).map(batch_row);
        put_or_delete(rows, keys::part(BATCH, id, run_id), row.as_ref())?;
    }
    for (run_id, call_id) in &touched.calls {
        let row = state.call(run_id, call_id).map(|call| call_row(run_id, call));
        put_or_delete(rows, part(CALL, id, run_id, call_id), row.as_ref())?;
    }
    Ok(())
}

/// Reads a thread's runs that have not ended.
pub(super) fn load(rows: &dyn Rows, id: &ThreadId) -> Result<BTreeMap<RunId, RunState>, StoreError> {
    let open = parts::<RunState>(rows, "openRun", id)?;
    let mut runs: BTreeMap<_, _> = open.into_iter().map(|(_, run)| (run.run.run_id.clone(), run)).collect();
    if runs.is_empty() {
        return Ok(runs);
    }
    for (_, row) in parts::<ItemRow>(rows, ITEM, id)? {
        let Some(run) = runs.get_mut(&row.run_id) else { continue };
        let item_id = row.item.item_id.clone();
        if let Some(kept) = row.kept {
            run.checkpoints.insert(item_id.clone(), kept);
        }
        run.open_items.insert(item_id, (row.started_in, row.item));
    }
    for (key, row) in parts::<BatchRow>(rows, BATCH, id)? {
        if let Some(run) = runs.get_mut(key.last_part().unwrap_or_default()) {
            run.batch = Some(batch_of(row));
        }
    }
    for (_, row) in parts::<CallRow>(rows, CALL, id)? {
        let batch = runs.get_mut(&row.run_id).and_then(|run| run.batch.as_mut());
        let calls = batch.into_iter().flat_map(|batch| &mut batch.calls);
        for call in calls.filter(|call| call.call.call_id == row.call_id).take(1) {
            call.done = row.done;
            call.is_begun = row.is_begun;
            call.decision.clone_from(&row.decision);
            call.approval_ms = row.approval_ms;
            call.shown.clone_from(&row.shown);
        }
    }
    Ok(runs)
}

fn part(kind: &str, thread: &ThreadId, run_id: &RunId, id: &str) -> Key {
    keys::part(kind, thread, &format!("{run_id}\u{1}{id}"))
}

fn item_row(run: &RunState, item_id: &ItemId) -> Option<ItemRow> {
    let (started_in, item) = run.open_items.get(item_id)?;
    let kept = run.checkpoints.get(item_id).cloned();
    Some(ItemRow { run_id: run.run.run_id.clone(), started_in: *started_in, item: item.clone(), kept })
}

fn batch_row(batch: &Batch) -> BatchRow {
    BatchRow {
        message_id: batch.message_id.clone(),
        items: batch.items.clone(),
        from_seq: batch.from_seq,
        calls: batch.calls.iter().map(|call| call.call.clone()).collect(),
        provider_parts: batch.provider_parts.clone(),
    }
}

fn batch_of(row: BatchRow) -> Batch {
    let open = |call| BatchCall { call, done: false, decision: None, approval_ms: None, shown: None, is_begun: false };
    Batch {
        message_id: row.message_id,
        items: row.items,
        from_seq: row.from_seq,
        calls: row.calls.into_iter().map(open).collect(),
        provider_parts: row.provider_parts,
    }
}

fn call_row(run_id: &RunId, call: &BatchCall) -> CallRow {
    CallRow {
        run_id: run_id.clone(),
        call_id: call.call.call_id.clone(),
        done: call.done,
        is_begun: call.is_begun,
        decision: call.decision.clone(),
        approval_ms: call.approval_ms,
        shown: call.shown.clone(),
    }
}
