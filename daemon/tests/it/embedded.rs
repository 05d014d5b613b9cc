//! A daemon inside a program that is stopped: it ends, however short its grace, loses nothing, and leaves its home free.

use std::{path::Path, time::Duration};

use futures::FutureExt as _;
use ropewalk_conformance::suite::{Raw, Stream};
use ropewalk_daemon::{EmbedConfig, EmbedHome, Embedded, SecretChoice, embed, embed_with_binary};
use serde_json::{Value, json};

/// How long a stop may take on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(120);

fn config(home: &Path, listen: bool) -> EmbedConfig {
    EmbedConfig { home: EmbedHome::Directory(home.to_owned()), listen, secret_store: SecretChoice::File }
}

async fn greeted(daemon: &Embedded) -> Raw {
    let pipe: Stream = Box::new(daemon.pipe());
    Raw::greeted(pipe, "bot", "in-A").await
}

/// A daemon on a home that is free, and a client of it.
async fn over(home: &Path) -> (Embedded, Raw) {
    let daemon = embed(config(home, false)).await.expect("nobody holds the home");
    let bot = greeted(&daemon).await;
    (daemon, bot)
}

/// A daemon on a home that somebody is still about to let go of.
async fn over_in_the_end(home: &Path) -> Embedded {
    let opened = async {
        loop {
            match embed(config(home, false)).await {
                Ok(daemon) => return daemon,
                Err(error) => {
                    let data = serde_json::to_value(&error.data).unwrap();
                    assert_eq!(data["reason"], "home_in_use", "the home cannot be opened: {error}");
                    tokio::task::yield_now().await;
                }
            }
        }
    };
    tokio::time::timeout(PATIENCE, opened).await.expect("the home is let go of")
}

async fn stopped(daemon: &Embedded) {
    tokio::time::timeout(PATIENCE, daemon.stop(0)).await.expect("it ends soon after its grace");
}

/// Every record in the logs below a directory.
fn records(directory: &Path) -> Vec<Value> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(records(&path));
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.extend(text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()));
        }
    }
    found
}

fn is_pause(event: &Value, run: &Value) -> bool {
    let paused = event["run"]["state"] == "paused" && event["run"]["reason"] == "shutdown";
    event["type"] == "runState" && event["run"]["runId"] == *run && paused
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_without_grace_ends_soon_and_parks_all_that_runs() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    let (daemon, mut bot) = over(&home).await;
    let mut runs = Vec::new();
    for _ in 0..12 {
        let thread = bot.start(&[]).await;
        runs.push(bot.submit(&thread, "sleep 600000").await);
    }
    // Somebody waits, and nobody reads: neither keeps the daemon from ending.
    bot.request("run/wait", json!({"runId": runs[0], "timeoutMs": 600_000})).await;
    stopped(&daemon).await;
    let records = records(&home);
    let events: Vec<&Value> = records.iter().filter_map(|record| record["events"].as_array()).flatten().collect();
    for run in &runs {
        let pauses = events.iter().filter(|event| is_pause(event, run)).count();
        assert_eq!(pauses, 1, "run {run} was parked before the stop was over");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_is_embedded_again_at_once_ten_times_whoever_still_has_clients_and_daemons() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    let mut kept = Vec::new();
    for round in 0..10 {
        let (daemon, mut bot) = over(&home).await;
        let client = daemon.connect().await.unwrap();
        let thread = bot.start(&[]).await;
        let run = bot.submit(&thread, "sleep 600000").await;
        bot.call("thread/resume", json!({"threadId": thread})).await;
        bot.request("run/wait", json!({"runId": run, "timeoutMs": 600_000})).await;
        stopped(&daemon).await;
        let refused = client.threads().start().await.map(|_| ()).expect_err("its daemon is gone");
        assert!(matches!(refused, ropewalk::Error::Disconnected), "round {round}: {refused}");
        let late = daemon.connect().await.map(|_| ()).expect_err("nobody connects to a daemon that has stopped");
        assert!(matches!(late, ropewalk::Error::Disconnected), "round {round}: {late}");
        let inside = daemon.daemon().clone();
        kept.push((daemon, inside, client, bot));
    }
    let (last, mut bot) = over(&home).await;
    let threads = bot.call("thread/list", json!({})).await;
    assert_eq!(threads["items"].as_array().map(Vec::len), Some(10), "every round found what the others left");
    stopped(&last).await;
    drop(kept);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_with_a_socket_is_embedded_again_at_once() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    for _ in 0..3 {
        let daemon = embed(config(&home, true)).await.expect("nobody holds the home");
        let mut bot = greeted(&daemon).await;
        let thread = bot.start(&[]).await;
        bot.submit(&thread, "sleep 600000").await;
        stopped(&daemon).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_stops_a_daemon_that_stops_or_has_stopped_waits_for_the_same_end() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    let (daemon, _bot) = over(&home).await;
    tokio::join!(stopped(&daemon), stopped(&daemon));
    let (again, mut bot) = over(&home).await;
    stopped(&daemon).await;
    bot.call("daemon/shutdown", json!({"graceMs": 0, "operationId": "o-1"})).await;
    stopped(&again).await;
    drop(over(&home).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_is_dropped_parks_what_runs_and_lets_go_of_its_home() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    let (daemon, mut bot) = over(&home).await;
    let thread = bot.start(&[]).await;
    let run = bot.submit(&thread, "sleep 600000").await;
    drop(daemon);
    let next = over_in_the_end(&home).await;
    let found = records(&home);
    let mut events = found.iter().filter_map(|record| record["events"].as_array()).flatten();
    assert!(events.any(|event| is_pause(event, &run)), "it was parked before the home was free");
    stopped(&next).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_nobody_waits_for_lets_go_of_its_home() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    for listen in [false, true] {
        drop(embed(config(&home, listen)).now_or_never());
        let next = over_in_the_end(&home).await;
        stopped(&next).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_our_binary_a_project_has_file_tools_and_never_in_the_home_of_the_daemon() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path().canonicalize().unwrap();
    std::fs::write(at.join("note.txt"), "knots hold").unwrap();
    let (home, note) = (at.join("home"), at.join("note.txt"));
    let config = config(&home, false);
    let daemon = embed_with_binary(config, env!("CARGO_BIN_EXE_ropewalk").into()).await.expect("nobody holds the home");
    let mut bot = greeted(&daemon).await;
    let thread = bot.start(&[]).await;
    let project = bot.project_of(&thread).await;
    bot.call("grant/add", json!({"projectId": project, "path": at, "capabilities": ["read"]})).await;
    bot.call("policy/set", json!({"level": "global", "source": "files", "decision": "allow"})).await;
    for (path, state, says) in [(note, "completed", "knots hold"), (home.join("lock"), "failed", "no grant opens it")] {
        bot.run(&thread, &format!("call mcp_files__read_file {}", json!({"path": path}))).await;
        let call = bot.calls(&thread).await.pop().unwrap();
        assert_eq!(call["state"], state, "{call}");
        assert!(call.to_string().contains(says), "{call}");
    }
    stopped(&daemon).await;
}

#[tokio::test]
async fn a_binary_that_is_not_there_is_said_to_be_and_nothing_is_made() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    for binary in ["/nowhere/ropewalk", "ropewalk"] {
        let refused = embed_with_binary(config(&home, false), binary.into()).await.map(|_| ()).expect_err("no binary");
        assert!(refused.message.contains(binary), "{refused}");
    }
    assert!(!home.exists(), "what cannot be started makes no home");
}
