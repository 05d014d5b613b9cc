//! Programs a newcomer runs, as they stand in the repository.

use std::{
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use ropewalk_conformance::{ScriptedServer, ServerOptions};
use serde_json::json;
use tokio::process::Command;

use super::{PATIENCE, Place, client, program};

/// The example of the Rust SDK, which `cargo test` builds beside the tests.
pub(super) fn quickstart() -> PathBuf {
    let example = program().with_file_name("examples").join("sdk-quickstart");
    let remedy = "Cargo builds it with all targets: `cargo test -p ropewalk-daemon`, without `--test`.";
    assert!(example.exists(), "{} is not there. {remedy}", example.display());
    example
}

/// Runs a program to its end; nothing of the environment names a home or a socket but what was set.
async fn run(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await.expect("it ends within a minute");
    output.expect("it can be run")
}

pub(super) fn told(output: &Output) -> String {
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {said}{complained}", output.status);
    said.into_owned()
}

pub(super) fn without_places(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in ["ROPEWALK_HOME", "ROPEWALK_SOCKET", "ROPEWALK_BIN"] {
        command.env_remove(variable);
    }
    // A daemon that is started on demand must not touch the keyring of whoever runs the tests.
    command.env("ROPEWALK_SECRET_STORE", "file");
    command
}

#[tokio::test]
async fn a_client_of_40_lines_of_node_does_it_all_from_the_documentation() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/raw-client.mjs");
    let lines = std::fs::read_to_string(&script).unwrap().lines().count();
    assert!(lines <= 40, "it has {lines} lines");
    let node = std::process::Command::new("node").arg("--version").output();
    assert!(node.is_ok_and(|node| node.status.success()), "this test needs `node`, version 20 or newer, in PATH");
    let place = Place::new();
    let daemon = place.daemon().await;
    let output = run(without_places("node").arg(script).arg(&daemon.ready().socket)).await;
    assert_eq!(told(&output), "Approved: get_issue 7\nget_issue: #7 Login fails\n");
}

#[tokio::test]
async fn the_rust_quickstart_of_25_lines_runs_against_a_model_over_http() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk-rust/examples/quickstart.rs");
    let lines = std::fs::read_to_string(source).unwrap().lines().count();
    assert!(lines <= 25, "it has {lines} lines");
    let place = Place::new();
    let daemon = place.daemon().await;
    let model = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await.unwrap();
    let endpoint = json!({
        "name": "scripted over HTTP", "provider": "openaiCompatible", "baseUrl": model.base_url(), "model": "scripted",
        "isDefault": true,
    });
    let mut owner = client(&daemon, "owner", "in-O").await;
    owner.call("endpoint/set", endpoint).await;
    let output = run(without_places(quickstart()).env("ROPEWALK_HOME", place.home())).await;
    assert_eq!(told(&output), "get_issue: #7 Login fails on Tuesdays\n");
    let requests = model.requests();
    assert_eq!(requests.len(), 2, "one for the call, one for its result");
    assert!(requests.iter().all(|request| request.refused.is_none()));
    let runs = owner.call("run/list", json!({})).await;
    assert_eq!(runs["items"][0]["outcome"]["status"], "completed");
}

#[tokio::test]
async fn the_first_command_of_the_readme_shows_a_run_and_declines_where_nobody_can_be_asked() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    assert!(readme.contains("cargo run -- demo"));
    let place = Place::new();
    let output = run(without_places(program()).arg("demo").env("ROPEWALK_HOME", place.home())).await;
    let said = told(&output);
    for word in ["scripted", "ring_bell", "Nobody refused it", "What next"] {
        assert!(said.contains(word), "{word:?} is not in: {said}");
    }
    assert!(!said.contains('\x1b'), "colours are for terminals");
    assert!(!place.home().exists(), "it leaves nothing behind");
}

#[tokio::test]
async fn the_first_command_of_the_readme_rings_the_bell_when_told_to() {
    let output = run(without_places(program()).args(["demo", "--yes"])).await;
    let said = told(&output);
    assert!(said.contains("ring_bell") && !said.contains("Nobody refused it"), "{said}");
}
