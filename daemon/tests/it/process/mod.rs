//! The real binary, as a process of its own: what starting, ending and being killed leave behind.

mod app_grants;
mod conforming;
mod demand;
mod ending;
mod file_borders;
mod file_tools;
mod held_calls;
mod histories;
#[cfg(target_os = "linux")]
mod keyring;
mod killed;
mod open;
mod outliving;
mod owned_servers;
mod planted;
mod programs;
mod racing;
mod sleepers;
mod stalled;
mod starting;
mod stored;
mod torture;
#[cfg(target_os = "linux")]
mod trouble;

use std::{future::Future, path::PathBuf, time::Duration};

pub use owned_servers::write_server;

use ropewalk_conformance::{DaemonOptions, DaemonProcess, suite::Raw};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::UnixStream;

/// How long a test waits for anything before it says what it was waiting for.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test.
fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_ropewalk").into()
}

/// A directory for one test, with a home in it that is not there yet.
pub struct Place {
    pub directory: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    fn options(&self) -> DaemonOptions {
        DaemonOptions::new(program(), self.home())
    }

    /// A daemon on the home.
    pub async fn daemon(&self) -> DaemonProcess {
        DaemonProcess::start(&self.options()).await.unwrap()
    }
}

/// A client of a daemon, which shows approvals and answers questions.
async fn client(daemon: &DaemonProcess, name: &str, instance: &str) -> Raw<UnixStream> {
    Raw::greeted(daemon.connect().await.unwrap(), name, instance).await
}

/// `get_issue`, whose calls need an approval if `approval` says so.
fn get_issue(approval: &str) -> Value {
    let mut tool = crate::support::get_issue();
    tool["approval"] = json!(approval);
    tool
}

/// Looks again and again until something holds, for as long as a test is patient.
async fn eventually<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let looking = async {
        while !holds().await {
            tokio::task::yield_now().await;
            // Between two looks at a process there is nothing to wait on.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("waited for {what}"));
}

/// Whether there is a process with this number that has not ended.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next().map(str::to_owned));
    state.is_some_and(|state| state != "Z" && state != "X")
}

/// The processes that were started by this one and are still there.
fn children_of(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    children.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}

/// The processes whose command line has this argument.
pub(crate) fn with_argument(argument: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let named = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes()) && is_alive(*pid)
    };
    pids.filter(named).collect()
}
