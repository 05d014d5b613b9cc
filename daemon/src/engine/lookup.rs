//! Finding things in the index without waking their thread.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use ropewalk_protocol::{
    InteractionId, ProjectId, RpcError, Run, RunId, RunStatus, Seq, ThreadId, ThreadSort, Timestamp,
};

use super::{
    Shared,
    rows::{self, InteractionHome, RunRow, ThreadRow},
    storage_error,
};
use crate::{
    domain::{QueuedInput, RunState},
    store::{Key, Scan, Store, keys},
    tools::ToolSpec,
};

/// Tool sets of other threads that are looked at when a rule of no thread is set.
const TOOL_SETS: usize = 1_000;
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

/// Runs that have not ended by state, and open interactions.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn counts(shared: &Shared) -> Result<(BTreeMap<RunStatus, u64>, u64), RpcError> {
    let mut runs = BTreeMap::new();
    for (key, bytes) in scan(shared, keys::open_runs())? {
        let state: RunState = rows::parse(&key, &bytes).map_err(|error| storage_error(&error))?;
        *runs.entry(state.run.state).or_default() += 1;
    }
    for (key, bytes) in scan(shared, Key::of(&["queue"]))? {
        let input: QueuedInput = rows::parse(&key, &bytes).map_err(|error| storage_error(&error))?;
        if input.begins_a_run() {
            *runs.entry(RunStatus::Queued).or_default() += 1;
        }
    }
    let interactions = scan(shared, Key::of(&["interaction"]))?.len() as u64;
    Ok((runs, interactions))
}

/// How many threads there are: a walk over their rows, for the start alone.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn thread_count(shared: &Shared) -> Result<u64, RpcError> {
    Ok(scan(shared, keys::threads())?.len() as u64)
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

/// Whether there is such a thread.
pub fn thread_exists(shared: &Shared, id: &ThreadId) -> bool {
    shared.store.get(&keys::thread(id)).is_ok_and(|row| row.is_some())
}

/// The tools one thread knows, or a bounded number of those any thread knows; the daemon's own first.
pub fn known_tools(shared: &Shared, thread: Option<&ThreadId>) -> Vec<Arc<ToolSpec>> {
    let prefix = thread.map_or_else(|| Key::of(&["tools"]), |id| keys::of_thread("tools", id));
    let scan = Scan { prefix, after: None, reverse: true, limit: TOOL_SETS };
    let silence_ms = shared.catalogue.snapshot().settings.tool_silence_ms;
    let mut tools = shared.app_tools.clone();
    for (key, bytes) in shared.store.scan(&scan).unwrap_or_default().into_iter().rev() {
        let Ok((owner, set)) = rows::tool_set(&key, &bytes) else { continue };
        tools.extend(set.tools.iter().map(|tool| Arc::new(ToolSpec::of_client(tool, &owner, silence_ms))));
    }
    tools
}

/// The time of the newest id in the index, so that new ones do not go behind it.
pub fn latest_id(store: &dyn Store) -> Option<Timestamp> {
    let newest = |prefix: Key| {
        let scan = Scan { prefix, after: None, reverse: true, limit: 1 };
        let rows = store.scan(&scan).ok()?;
        time_of_id(rows.first()?.0.last_part()?)
    };
    [keys::threads(), Key::of(&["run"]), Key::of(&["home"])].into_iter().filter_map(newest).max()
}

/// The time in an id of ours: the first 48 bits of a UUIDv7.
fn time_of_id(id: &str) -> Option<Timestamp> {
    let digits: String = id.chars().filter(|c| *c != '-').take(12).collect();
    i64::from_str_radix(&digits, 16).ok().map(Timestamp::from_millis)
}

/// Threads in the order of a list, newest first, beyond `after`: the key of each and its row.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn threads(
    shared: &Shared,
    sort: ThreadSort,
    archived: bool,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<(String, ThreadRow)>, RpcError> {
    let place = |key: &str| match key.split_once(' ') {
        Some((millis, id)) => {
            keys::by_activity(archived, Timestamp::from_millis(millis.parse().unwrap_or(0)), &ThreadId::from(id))
        }
        None => keys::thread(key),
    };
    let prefix = match sort {
        ThreadSort::Active => Key::of(&[if archived { "archived" } else { "active" }]),
        ThreadSort::Created => keys::threads(),
    };
    let scan = Scan { prefix, after: after.map(place), reverse: true, limit };
    let mut found = Vec::new();
    for (key, bytes) in shared.store.scan(&scan).map_err(|error| storage_error(&error))? {
        let id = ThreadId::from(key.last_part().unwrap_or_default());
        let row = match sort {
            ThreadSort::Created => Some(rows::parse::<ThreadRow>(&key, &bytes)),
            ThreadSort::Active => rows::get::<ThreadRow>(&*shared.store, &keys::thread(&id)).transpose(),
        };
        let Some(row) = row.transpose().map_err(|error| storage_error(&error))? else { continue };
        let name = match sort {
            ThreadSort::Created => id.to_string(),
            ThreadSort::Active => format!("{} {id}", row.thread.updated_at.as_millis()),
        };
        found.push((name, row));
    }
    Ok(found)
}

/// Runs, newest first, beyond `after`.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn runs(shared: &Shared, after: Option<&str>, limit: usize) -> Result<Vec<Run>, RpcError> {
    let scan = Scan { prefix: Key::of(&["run"]), after: after.map(keys::run), reverse: true, limit };
    let found = shared.store.scan(&scan).map_err(|error| storage_error(&error))?;
    let parse = |(key, bytes): (Key, Vec<u8>)| rows::parse::<RunRow>(&key, &bytes).map(|row| row.run);
    found.into_iter().map(parse).collect::<Result<_, _>>().map_err(|error| storage_error(&error))
}

/// The threads that have interactions open.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn threads_with_open_interactions(shared: &Shared) -> Result<Vec<ThreadId>, RpcError> {
    let mut threads: Vec<ThreadId> =
        scan(shared, Key::of(&["interaction"]))?.iter().filter_map(|(key, _)| second_part(key)).collect();
    threads.dedup();
    Ok(threads)
}

/// The projects of threads, each looked up once.
#[derive(Default)]
pub struct ThreadProjects(HashMap<ThreadId, Option<ProjectId>>);

impl ThreadProjects {
    /// The project of a thread.
    ///
    /// # Errors
    /// `unavailable`, when the index cannot be read.
    pub fn of(&mut self, shared: &Shared, thread: &ThreadId) -> Result<Option<ProjectId>, RpcError> {
        if let Some(known) = self.0.get(thread) {
            return Ok(known.clone());
        }
        let row: Option<ThreadRow> =
            rows::get(&*shared.store, &keys::thread(thread)).map_err(|error| storage_error(&error))?;
        let project = row.map(|row| row.thread.project_id);
        self.0.insert(thread.clone(), project.clone());
        Ok(project)
    }
}
