//! Programs of the SDK, and the command line, whose daemon is killed and started again under them.

use std::process::Stdio;

use ropewalk::{Connect, Ropewalk, RunEvent, protocol::RunWaitParams};
use serde_json::json;
use tokio::{io::AsyncReadExt as _, net::UnixStream};

use super::{PATIENCE, Place, eventually, is_alive, program, programs::without_places, with_argument};
use crate::{
    reconnecting::play::{Phase, play_held},
    support::Raw,
};

/// A program that starts no daemon itself.
fn connect(place: &Place) -> Connect {
    Ropewalk::connect().name("bot").home(place.home()).socket(place.home().join("daemon.sock")).start_on_demand(false)
}

#[tokio::test]
async fn dyn_20_whoever_is_at_it_when_the_daemon_is_killed_goes_on_with_the_next_one() {
    for phase in Phase::ALL {
        let place = Place::new();
        let daemon = place.daemon().await;
        let mut next = None;
        let killing = async {
            daemon.kill().await.unwrap();
            next = Some(place.daemon().await);
        };
        play_held(connect(&place), phase, killing, &format!("{phase:?}, killed")).await;
        assert!(next.is_some());
    }
}

#[tokio::test]
async fn dyn_20_a_run_that_streams_when_the_daemon_is_killed_twice_is_followed_to_its_end() {
    let place = Place::new();
    let mut daemon = place.daemon().await;
    let client = connect(&place).await.unwrap();
    let thread = client.threads().start().await.unwrap();
    let mut run = thread.run("say begun\nsleep 300\nsay and ended").submit().await.unwrap();
    let runs = client.runs();
    let params = RunWaitParams { run_id: run.id().clone(), until: None, timeout_ms: Some(60_000) };
    let waiting = tokio::spawn(async move { runs.wait(params).await });
    let following = async {
        let mut kills = 0;
        while let Some(event) = run.next().await {
            match event.unwrap() {
                RunEvent::Text { .. } if kills < 2 => {
                    kills += 1;
                    daemon.kill().await.unwrap();
                    daemon = place.daemon().await;
                }
                RunEvent::Completed(result) => return (kills, result, daemon),
                _ => {}
            }
        }
        panic!("it has no end");
    };
    let (kills, result, _daemon) = tokio::time::timeout(PATIENCE, following).await.unwrap();
    assert_eq!(kills, 2);
    assert!(result.is_completed() && result.text().contains("and ended"), "{result:?}");
    let waited = tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap().unwrap();
    assert_eq!(waited.run.outcome, Some(result.outcome));
    client.close().await;
}

#[tokio::test]
async fn ropewalk_run_survives_a_daemon_that_is_killed_and_starts_the_next_one() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let mut command = without_places(program());
    command.args(["run", "call nothing\nthen say begun\nsleep 500\nsay and ended"]);
    command.env("ROPEWALK_HOME", place.home()).env("ROPEWALK_BIN", program()).kill_on_drop(true);
    let mut running = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Only who has shown something follows the run, and notices that its daemon is gone. Into a pipe the answer comes last.
    let (mut stderr, mut noted) = (running.stderr.take().unwrap(), Vec::new());
    while !String::from_utf8_lossy(&noted).contains("✗ nothing") {
        let read = tokio::time::timeout(PATIENCE, stderr.read_buf(&mut noted)).await.unwrap().unwrap();
        assert!(read > 0, "it ended too soon: {}", String::from_utf8_lossy(&noted));
    }
    daemon.kill().await.unwrap();
    tokio::time::timeout(PATIENCE, stderr.read_to_end(&mut noted)).await.unwrap().unwrap();
    let output = tokio::time::timeout(PATIENCE, running.wait_with_output()).await.unwrap().unwrap();
    let (said, noted) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&noted));
    assert!(output.status.success(), "{}: {said}{noted}", output.status);
    assert!(said.contains("and ended"), "{said}");
    for words in ["The connection to the daemon was lost", "Connected to the daemon again."] {
        assert_eq!(noted.matches(words).count(), 1, "{noted}");
    }
    let daemons = with_argument(place.home().to_str().unwrap());
    assert_eq!(daemons.len(), 1, "the one that was started on demand");
    let socket = UnixStream::connect(place.home().join("daemon.sock")).await.unwrap();
    Raw::greeted(socket, "owner", "in-O").await.call("daemon/shutdown", json!({"graceMs": 1_000})).await;
    eventually("the end of the daemon", || async { !is_alive(daemons[0]) }).await;
}
