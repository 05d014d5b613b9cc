//! Servers as processes of their own, kept by the real binary: bad ones beside a good one, and what is left of any of them.

mod keeping;
mod scripted;
mod ten;
mod transports;

use std::{collections::BTreeMap, env, fs, path::PathBuf, sync::Arc, time::Duration};

use ropewalk_daemon::{
    clock::SystemClock,
    sessions::{ChildCommand, ChildSetup, How, Launch, Outgoing, Sessions},
};
use serde_json::Map;
use tempfile::TempDir;

/// How long a test waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sessions whose processes are kept by the real binary, and a place for the files of servers.
struct World {
    sessions: Sessions,
    place: TempDir,
}

impl World {
    fn new() -> Self {
        let sessions = Sessions::new(Arc::new(SystemClock), Arc::new(|_| ()));
        sessions.start_children_with(setup());
        Self { sessions, place: TempDir::new().unwrap() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.file(name)).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }

    /// How a scripted server is begun. Its files are named after it.
    fn scripted(&self, role: &str) -> Launch {
        let file = |what: &str| self.file(&format!("{role}.{what}")).to_str().unwrap().to_owned();
        let environment = [
            (scripted::ROLE, role.to_owned()),
            (scripted::STARTS, file("starts")),
            (scripted::ENDS, file("ends")),
            (scripted::LEDGER, file("ledger")),
        ];
        let command = env::current_exe().unwrap().to_str().unwrap().to_owned();
        let arguments = ["--exact", scripted::TEST, "--nocapture"].map(ToOwned::to_owned).to_vec();
        launch(role, ChildCommand { arguments, environment: owned(environment), ..program(&command) })
    }
}

/// The real binary keeps every process.
fn setup() -> ChildSetup {
    let environment = vec![("PATH".into(), env::var_os("PATH").unwrap())];
    ChildSetup { keeper: Some(env!("CARGO_BIN_EXE_ropewalk").into()), environment, descriptors: Some(1_024) }
}

fn owned<const N: usize>(variables: [(&str, String); N]) -> BTreeMap<String, String> {
    variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn program(command: &str) -> ChildCommand {
    ChildCommand { command: command.to_owned(), ..ChildCommand::default() }
}

fn launch(key: &str, command: ChildCommand) -> Launch {
    Launch {
        key: key.to_owned(),
        name: key.to_owned(),
        fingerprint: "1".to_owned(),
        version: Some("2025-11-25".to_owned()),
        start_timeout_ms: 20_000,
        how: How::Child(command),
    }
}

fn echo() -> Outgoing {
    Outgoing {
        tool: "echo".to_owned(),
        arguments: Map::new(),
        call_id: "call".to_owned(),
        silence_ms: 60_000,
        ceiling_ms: 60_000,
    }
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("this does not take so long")
}

/// Looks again and again until something holds.
async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let looking = async {
        while !holds() {
            // Between two looks at a process there is nothing to wait on.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("it never came that {what}"));
}

/// Whether a process runs; one that is dead and not reaped does not.
fn runs(pid: &str) -> bool {
    let Some(id) = pid.trim().parse().ok().and_then(rustix::process::Pid::from_raw) else { return false };
    let is_dead = fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z')));
    rustix::process::test_kill_process(id).is_ok() && !is_dead
}
