//! Processes as the system shows them: their children, whether they stand still, whether they are gone.

use std::{fs, io, time::Duration};

use tokio::time::{Instant, sleep};

/// Between two looks at a process there is nothing to wait on.
const LOOKS_AGAIN: Duration = Duration::from_millis(2);

/// The processes that were started by this one and are still there.
pub(super) fn children_of(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    children.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}

/// Waits until every thread of a process has been stopped by a signal.
pub(super) async fn stands_still(pid: u32, within: Duration) -> io::Result<()> {
    let deadline = Instant::now() + within;
    while !is_stopped(pid)? {
        if Instant::now() > deadline {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("process {pid} does not stand still")));
        }
        sleep(LOOKS_AGAIN).await;
    }
    Ok(())
}

/// Whether a process is gone by then; one that has ended and was not waited for is.
pub(crate) async fn gone(pid: u32, within: Duration) -> bool {
    let deadline = Instant::now() + within;
    while state(&format!("/proc/{pid}/stat")).is_some_and(|state| !matches!(state, 'Z' | 'X')) {
        if Instant::now() > deadline {
            return false;
        }
        sleep(LOOKS_AGAIN).await;
    }
    true
}

fn is_stopped(pid: u32) -> io::Result<bool> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))?.flatten();
    Ok(tasks.filter_map(|task| state(&format!("{}/stat", task.path().display()))).all(|state| state == 'T'))
}

/// The letter of a task's state; `None` when there is no such task.
fn state(stat: &str) -> Option<char> {
    let stat = fs::read_to_string(stat).ok()?;
    // The name of the program is in parentheses and may hold anything.
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}
