//! Finding things in the index without waking their thread.

use std::collections::BTreeMap;

use ropewalk_protocol::{InteractionId, RpcError, Run, RunId, RunStatus, Seq, ThreadId};

use super::{
    Shared,
    rows::{self, InteractionHome, RunRow},
    storage_error,
};
use crate::{
    domain::RunState,
    store::{Key, Scan, keys},
};

/// Rows looked at in one go.
const ROWS: usize = 10_000;

/// A run as it was last written, and the event it begins with.
///
/// # Errors
/// `notFound` for an unknown run.
pub fn run(shared: &Shared, run_id: &RunId) -> Result<(Run, Seq), RpcError> {
    let row = rows::get::<RunRow>(&*shared.store, &keys::run(run_id)).map_err(|error| storage_error(&error))?;
    let row = row.ok_or_else(|| RpcError::not_found("run", run_id))?;
    Ok((row.run, row.from_seq))
}

/// Where an interaction is found.
///
/// # Errors
/// `notFound` for an unknown interaction.
pub fn interaction_home(shared: &Shared, id: &InteractionId) -> Result<InteractionHome, RpcError> {
    let home = rows::get(&*shared.store, &keys::home_of(id)).map_err(|error| storage_error(&error))?;
    home.ok_or_else(|| RpcError::not_found("interaction", id))
}

/// The threads that have runs under way, or inputs that wait.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn threads_with_open_runs(shared: &Shared) -> Result<Vec<ThreadId>, RpcError> {
    let mut threads: Vec<ThreadId> = Vec::new();
    for prefix in [keys::open_runs(), Key::of(&["queue"])] {
        for (key, _) in scan(shared, prefix)? {
            if let Some(thread) = second_part(&key)
                && threads.last().is_none_or(|last| *last != thread)
            {
                threads.push(thread);
            }
        }
    }
    threads.sort();
    threads.dedup();
    Ok(threads)
}

/// Runs that have not ended by state, open interactions, threads.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn counts(shared: &Shared) -> Result<(BTreeMap<RunStatus, u64>, u64, u64), RpcError> {
    let mut runs = BTreeMap::new();
    for (key, bytes) in scan(shared, keys::open_runs())? {
        let state: RunState = rows::parse(&key, &bytes).map_err(|error| storage_error(&error))?;
        *runs.entry(state.run.state).or_default() += 1;
    }
    for (key, bytes) in scan(shared, Key::of(&["queue"]))? {
        let queue: Vec<crate::domain::QueuedInput> =
            rows::parse(&key, &bytes).map_err(|error| storage_error(&error))?;
        *runs.entry(RunStatus::Queued).or_default() += queue.len() as u64;
    }
    let interactions = scan(shared, Key::of(&["interaction"]))?.len() as u64;
    let threads = scan(shared, keys::threads())?.len() as u64;
    Ok((runs, interactions, threads))
}

/// Every row with a prefix.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn scan(shared: &Shared, prefix: Key) -> Result<Vec<(Key, Vec<u8>)>, RpcError> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let scan = Scan { prefix: prefix.clone(), after, reverse: false, limit: ROWS };
        let part = shared.store.scan(&scan).map_err(|error| storage_error(&error))?;
        let is_last = part.len() < ROWS;
        after = part.last().map(|(key, _)| key.clone());
        all.extend(part);
        if is_last {
            return Ok(all);
        }
    }
}

fn second_part(key: &Key) -> Option<ThreadId> {
    let part = key.0.split(|byte| *byte == 0).nth(1)?;
    std::str::from_utf8(part).ok().map(ThreadId::from)
}
