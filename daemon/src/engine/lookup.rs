//! Finding things in the index without waking their thread.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    sync::Arc,
};

use ropewalk_protocol::{
    Attention, BranchId, InteractionId, ProjectId, RpcError, Run, RunId, RunStatus, ThreadId, ThreadSort, Timestamp,
};

use super::{
    Shared,
    rows::{self, BranchRow, InteractionHome, RunRow, ThreadRow},
    storage_error,
};
use crate::{
    domain::{QueuedInput, RunState, Wanted, thread_of},
    store::{Key, Scan, Store, keys},
    tools::ToolSpec,
};

/// Tool sets of other threads that are looked at when a rule of no thread is set.
const TOOL_SETS: usize = 1_000;
/// Projects whose servers are looked at then.
const PROJECTS: usize = 100;
/// Rows looked at in one go.
const ROWS: usize = 10_000;

/// A run as it was last written, with what can be done about it now.
///
/// # Errors
/// `notFound` for an unknown run.
pub fn run(shared: &Shared, run_id: &RunId) -> Result<Run, RpcError> {
    Recoveries::default().shown(shared, run_row(shared, run_id)?.run)
}

/// The row of a run: also where its events are.
///
/// # Errors
/// `notFound` for an unknown run.
pub fn run_row(shared: &Shared, run_id: &RunId) -> Result<RunRow, RpcError> {
    let row = rows::get::<RunRow>(&*shared.store, &keys::run(run_id)).map_err(|error| storage_error(&error))?;
    row.ok_or_else(|| RpcError::not_found("run", run_id))
}

/// What can be done about runs that have ended badly, with each branch looked up once: it is the branch's to say.
#[derive(Default)]
struct Recoveries(HashMap<(ThreadId, BranchId), Option<BranchRow>>);

impl Recoveries {
    fn shown(&mut self, shared: &Shared, run: Run) -> Result<Run, RpcError> {
        if !run.state.is_terminal() || run.state == RunStatus::Completed {
            return Ok(run);
        }
        let branch = match self.0.entry((run.thread_id.clone(), run.branch_id.clone())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let key = keys::part("branch", &run.thread_id, &run.branch_id);
                place.insert(rows::get(&*shared.store, &key).map_err(|error| storage_error(&error))?)
            }
        };
        let recovery = branch.as_ref().and_then(|branch| {
            let end = branch.bad_end.as_ref().filter(|end| end.run.run_id == run.run_id)?;
            Some(end.recovery(&branch.branch))
        });
        Ok(Run { recovery: recovery.unwrap_or_default(), ..run })
    }
}

/// Whether a thread has runs that have not ended.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn has_open_runs(shared: &Shared, thread: &ThreadId) -> Result<bool, RpcError> {
    let scan = Scan { prefix: keys::of_thread("openRun", thread), after: None, reverse: false, limit: 1 };
    Ok(!shared.store.scan(&scan).map_err(|error| storage_error(&error))?.is_empty())
}

/// Whether a thread has runs under way, or inputs that wait.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn has_work(shared: &Shared, thread: &ThreadId) -> Result<bool, RpcError> {
    let scan = Scan { prefix: keys::of_thread("queue", thread), after: None, reverse: false, limit: 1 };
    let waits = !shared.store.scan(&scan).map_err(|error| storage_error(&error))?.is_empty();
    Ok(waits || has_open_runs(shared, thread)?)
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

/// What waits for the person and was not seen, behind the one with this id; at most so many.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn attention(shared: &Shared, after: Option<&str>, limit: usize) -> Result<Vec<Attention>, RpcError> {
    let mut found = Vec::new();
    let mut after = after.map(|id| keys::part("attention", &thread_of(&id.to_owned().into()), id));
    loop {
        let scan = Scan { prefix: Key::of(&["attention"]), after, reverse: false, limit };
        let rows = shared.store.scan(&scan).map_err(|error| storage_error(&error))?;
        let is_last = rows.len() < limit;
        after = rows.last().map(|(key, _)| key.clone());
        for (key, bytes) in rows {
            let wanted: Wanted = rows::parse(&key, &bytes).map_err(|error| storage_error(&error))?;
            found.extend((!wanted.seen).then_some(wanted.attention));
        }
        if is_last || found.len() >= limit {
            found.truncate(limit);
            return Ok(found);
        }
    }
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

/// The threads that live in a project.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn threads_of_project(shared: &Shared, project: &ProjectId) -> Result<Vec<ThreadId>, RpcError> {
    let mut found = Vec::new();
    for (key, bytes) in scan(shared, keys::threads())? {
        let row: ThreadRow = rows::parse(&key, &bytes).map_err(|error| storage_error(&error))?;
        if row.thread.project_id == *project {
            found.push(row.thread.thread_id);
        }
    }
    Ok(found)
}

/// The rows of the threads of a project, newest first and beyond `after`; no others are read.
///
/// # Errors
/// `unavailable`, when the index cannot be read.
pub fn threads_in(
    shared: &Shared,
    project: &ProjectId,
    after: Option<&ThreadId>,
    limit: usize,
) -> Result<Vec<ThreadRow>, RpcError> {
    let after = after.map(|id| keys::in_project(project, id));
    let scan = Scan { prefix: keys::threads_of(project), after, reverse: true, limit };
    let found = shared.store.scan(&scan).map_err(|error| storage_error(&error))?;
    let ids = found.iter().filter_map(|(key, _)| key.last_part());
    let row = |id| rows::get::<ThreadRow>(&*shared.store, &keys::thread(id)).map_err(|error| storage_error(&error));
    ids.filter_map(|id| row(id).transpose()).collect()
}

/// Whether there is such a thread.
pub fn thread_exists(shared: &Shared, id: &ThreadId) -> bool {
    shared.store.get(&keys::thread(id)).is_ok_and(|row| row.is_some())
}

/// A thread that is named is one there is.
///
/// # Errors
/// `notFound` for any other, `unavailable`, when the index cannot be read.
pub fn known_thread(shared: &Shared, id: &ThreadId) -> Result<(), RpcError> {
    let row = shared.store.get(&keys::thread(id)).map_err(|error| storage_error(&error))?;
    row.map(drop).ok_or_else(|| RpcError::not_found("thread", id))
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
    tools.extend(server_tools(shared, thread));
    tools
}

/// The tools of servers that one thread, or any project, has now.
fn server_tools(shared: &Shared, thread: Option<&ThreadId>) -> Vec<Arc<ToolSpec>> {
    let Some(servers) = shared.servers.get() else { return Vec::new() };
    let of_thread = thread.map(|id| ThreadProjects::default().of(shared, id).ok().flatten());
    let projects: Vec<ProjectId> = match of_thread {
        Some(project) => project.into_iter().collect(),
        None => shared.catalogue.snapshot().projects.keys().take(PROJECTS).cloned().collect(),
    };
    projects.iter().flat_map(|project| servers.tools(project)).map(|tool| tool.spec).collect()
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
pub fn time_of_id(id: &str) -> Option<Timestamp> {
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
    let mut recoveries = Recoveries::default();
    let mut shown = |(key, bytes): (Key, Vec<u8>)| {
        let row = rows::parse::<RunRow>(&key, &bytes).map_err(|error| storage_error(&error))?;
        recoveries.shown(shared, row.run)
    };
    found.into_iter().map(&mut shown).collect()
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
