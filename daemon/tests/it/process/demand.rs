//! Starting on demand: a program that only wants to connect.

use ropewalk::Ropewalk;
use serde_json::json;
use tokio::net::UnixStream;

use super::{
    Place, eventually, is_alive, program,
    programs::{quickstart, told, without_places},
    with_argument,
};
use crate::support::Raw;

#[tokio::test]
async fn two_programs_that_connect_at_once_start_one_daemon() {
    let place = Place::new();
    let start = || {
        let mut command = without_places(quickstart());
        command.env("ROPEWALK_HOME", place.home()).env("ROPEWALK_BIN", program());
        command.stdin(std::process::Stdio::null()).kill_on_drop(true);
        async move { tokio::time::timeout(super::PATIENCE, command.output()).await.unwrap().unwrap() }
    };
    let (one, other) = tokio::join!(start(), start());
    for output in [one, other] {
        assert_eq!(told(&output), "get_issue: #7 Login fails on Tuesdays\n");
    }
    let home = place.home().to_str().unwrap().to_owned();
    let daemons = with_argument(&home);
    assert_eq!(daemons.len(), 1, "it outlives those who started it, and is alone: {daemons:?}");

    let socket = UnixStream::connect(place.home().join("daemon.sock")).await.unwrap();
    let mut owner = Raw::greeted(socket, "owner", "in-O").await;
    let threads = owner.call("thread/list", json!({})).await;
    assert_eq!(threads["items"].as_array().unwrap().len(), 2, "both worked with it");
    owner.call("daemon/shutdown", json!({"graceMs": 1_000})).await;
    eventually("the end of the daemon", || async { !is_alive(daemons[0]) }).await;
}

#[tokio::test]
async fn a_program_that_may_not_start_a_daemon_is_told_that_none_runs() {
    let place = Place::new();
    let error = Ropewalk::connect().home(place.home()).start_on_demand(false).await.unwrap_err();
    let message = error.to_string();
    assert!(message.contains(place.home().to_str().unwrap()), "{message}");
    assert!(!place.home().exists(), "looking for a daemon leaves nothing behind");
}

#[tokio::test]
async fn the_sdk_finds_a_daemon_that_runs() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let client = Ropewalk::connect().home(place.home()).start_on_demand(false).await.unwrap();
    assert_eq!(client.daemon_info().pid, daemon.pid());
    client.close().await;
}
