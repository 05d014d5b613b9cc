//! The command `conformance daemon` as a shell sees it: its exit codes, its output, and that it leaves no process.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::{fs, path::Path, process::Stdio, time::Duration};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::AsyncReadExt,
    net::UnixListener,
    process::{Child, Command},
    time::timeout,
};

/// How long anything may take before a test says what it was waiting for.
const PATIENCE: Duration = Duration::from_secs(60);

fn conformance(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.arg("daemon").args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs it to its end: its exit code, what it printed and what it complained about.
async fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = timeout(PATIENCE, conformance(arguments).output()).await.unwrap().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[tokio::test]
async fn the_list_says_of_each_vector_why_it_exists_and_needs_no_daemon() {
    let (code, listed, _) = run(&["--list", "--only", "framing"]).await;
    assert_eq!(code, 0);
    assert!(listed.contains("framing/a_line_that_is_no_json_gets_a_parse_error_and_the_connection_goes_on\n    2.2: "));
    assert!(!listed.contains("runs/"));
}

#[tokio::test]
async fn what_cannot_be_used_ends_with_2_and_says_what_it_is() {
    let folder = TempDir::new().unwrap();
    let list = folder.path().join("known");
    fs::write(&list, "no_such_vector because\n").unwrap();
    let (code, _, said) = run(&["--known-failing", list.to_str().unwrap(), "--", "true"]).await;
    assert_eq!(code, 2);
    assert!(said.contains("line 1: there is no vector `no_such_vector`"), "{said}");
    fs::write(folder.path().join("mine.jsonl"), "{\"name\":\"mine\",\"why\":\"x\",\"steps\":[{\"cal\":\"x\"}]}\n")
        .unwrap();
    let (code, _, said) = run(&["--vectors", folder.path().to_str().unwrap(), "--", "true"]).await;
    assert_eq!(code, 2);
    assert!(said.contains("mine/mine, step 1: no verb is known here"), "{said}");
    assert_eq!(run(&[]).await.0, 2, "there is nothing to try");
}

#[tokio::test]
async fn a_daemon_that_does_not_start_ends_with_3_and_what_it_logged() {
    let (code, printed, said) = run(&["--", "sh", "-c", "echo 'no such disk' >&2"]).await;
    assert_eq!((code, &*printed), (3, ""));
    assert!(said.contains("the daemon did not start") && said.contains("no such disk"), "{said}");
    let refusal = r#"echo '{"ready":false,"error":{"kind":"unavailable","message":"Not today."}}'"#;
    let (code, _, said) = run(&["--", "sh", "-c", refusal]).await;
    assert_eq!(code, 3);
    assert!(said.contains("Not today."), "{said}");
    assert_eq!(run(&["--socket", "/no/such/socket"]).await.0, 3);
}

/// A vector of a folder, with a daemon that is nothing but a socket: an answer that never comes is a failure.
#[tokio::test]
async fn a_failure_ends_with_1_and_the_report_says_where() {
    let folder = TempDir::new().unwrap();
    let socket = folder.path().join("silent.sock");
    let _listener = UnixListener::bind(&socket).unwrap();
    let vector = r#"{"name":"mine","why":"Somebody has to answer.","steps":[{"open":true},{"call":"daemon/status"}]}"#;
    fs::write(folder.path().join("mine.jsonl"), vector).unwrap();
    let vectors = folder.path().to_str().unwrap();
    let arguments = ["--vectors", vectors, "--patience-ms", "1", "--socket", socket.to_str().unwrap()];
    let (code, printed, _) = run(&[&arguments[..], &["--report", "json"]].concat()).await;
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &report["counts"]["failed"]), (1, &Value::from(1)));
    let failure = &report["vectors"][0]["failure"];
    assert_eq!((&failure["step"], &failure["expected"]), (&Value::from("2"), &Value::from("the answer to request 1")));
    assert!(failure["transcripts"][0]["lines"][0].as_str().unwrap().starts_with("→ {"), "{failure}");

    fs::write(folder.path().join("known"), "mine nobody listens yet\n").unwrap();
    let known = folder.path().join("known");
    let (code, printed, _) = run(&[&arguments[..], &["--known-failing", known.to_str().unwrap()]].concat()).await;
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("known   mine/mine: nobody listens yet") && printed.contains("1 known to fail"));
}

/// Interrupted while it waits for a daemon that says that it is ready and never answers.
#[tokio::test]
async fn an_interrupt_ends_with_130_a_report_and_no_process_left() {
    let folder = TempDir::new().unwrap();
    let socket = folder.path().join("silent.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let ready = format!(r#"{{"ready":true,"socket":"{}","pid":1,"version":"0"}}"#, socket.display());
    let pids = folder.path().join("pids");
    // A child of the command, as a script that starts a daemon has one.
    let script = format!("sleep 1000 & echo $$ $! > {}; echo '{ready}'; wait", pids.display());
    let mut kit = conformance(&["--only", "ids", "--report", "json", "--", "sh", "-c", &script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The second connection is that of a vector; the first one only looks whether anybody listens.
    let mut connections = Vec::new();
    for _ in 0..2 {
        connections.push(timeout(PATIENCE, listener.accept()).await.unwrap().unwrap());
    }
    interrupt(&kit);
    let mut printed = String::new();
    let mut stdout = kit.stdout.take().unwrap();
    timeout(PATIENCE, stdout.read_to_string(&mut printed)).await.unwrap().unwrap();
    let status = timeout(PATIENCE, kit.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(130), "{printed}");
    let report: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(report["interrupted"], true);
    assert_eq!(report["vectors"][0]["outcome"], "notRun");
    for pid in fs::read_to_string(pids).unwrap().split_whitespace() {
        assert!(gone(pid).await, "process {pid} is left");
    }
}

fn interrupt(kit: &Child) {
    let pid = rustix::process::Pid::from_raw(kit.id().unwrap().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
}

/// Whether a process is gone, or has ended and nobody has asked how.
async fn gone(pid: &str) -> bool {
    let stat = format!("/proc/{pid}/stat");
    let ended = async {
        while Path::new(&stat).exists() {
            let state = fs::read_to_string(&stat).unwrap_or_default();
            if state.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X'])) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, ended).await.is_ok()
}
