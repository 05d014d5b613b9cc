//! A daemon's socket from birth to end.

use std::{fs, os::unix::net::UnixListener};

use serde_json::{Value, json};

use super::{Caller, Server, mode, place, run, run_with};
use crate::{
    connection::tests::{data, in_time, kind},
    dispatch::Standing,
};

#[tokio::test]
async fn directory_socket_and_lock_are_ours_alone_from_birth() {
    let place = place();
    let bound = Server::bind(&place.home).await.unwrap();
    assert_eq!(mode(&place.home.directory), 0o700);
    assert_eq!(mode(bound.socket()), 0o600);
    assert_eq!(mode(&place.home.directory.join("lock")), 0o600);
}

#[tokio::test]
async fn who_connects_before_anybody_serves_waits_and_is_served() {
    let place = place();
    let bound = Server::bind(&place.home).await.unwrap();
    let mut early = Caller::connect(bound.socket()).await;
    early.send(1, "initialize", crate::connection::tests::hello()).await;
    let running = run(bound);
    assert_eq!(early.read().await.unwrap()["id"], 1);
    running.shutdown.cancel();
}

#[tokio::test]
async fn the_end_removes_the_socket_and_frees_the_home() {
    let place = place();
    for _ in 0..3 {
        let running = run(Server::bind(&place.home).await.unwrap());
        running.toy.wound_down.add_permits(1);
        let mut caller = Caller::initialized(&running.socket).await;
        running.shutdown.cancel();
        let lock = in_time(running.task).await.unwrap();
        assert!(!place.home.socket.exists());
        assert!(caller.read().await.is_none());
        assert!(Server::bind(&place.home).await.is_err(), "the lock outlives the socket");
        drop(lock);
    }
}

#[tokio::test]
async fn a_socket_file_that_was_removed_is_made_again() {
    let place = place();
    let running = run(Server::bind(&place.home).await.unwrap());
    let mut before = Caller::initialized(&running.socket).await;
    fs::remove_file(&running.socket).unwrap();
    in_time(async {
        while !running.socket.exists() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    Caller::initialized(&running.socket).await;
    assert_eq!(mode(&running.socket), 0o600);
    before.send(2, "daemon/status", Value::Null).await;
    assert_eq!(before.read().await.unwrap()["id"], 2, "who was connected stays so");
    running.shutdown.cancel();
}

#[tokio::test]
async fn a_daemon_whose_home_or_lock_is_gone_ends_so_that_another_can_begin() {
    for whole in [true, false] {
        let place = place();
        let running = run(Server::bind(&place.home).await.unwrap());
        running.toy.wound_down.add_permits(1);
        let mut caller = Caller::initialized(&running.socket).await;
        let home = &place.home.directory;
        if whole {
            fs::remove_dir_all(home).unwrap()
        } else {
            fs::remove_file(home.join("lock")).unwrap()
        }
        assert!(caller.read().await.is_none());
        drop(in_time(running.task).await.unwrap());
        drop(Server::bind(&place.home).await.unwrap());
    }
}

#[tokio::test]
async fn only_a_socket_file_that_is_its_own_is_removed() {
    let place = place();
    let bound = Server::bind(&place.home).await.unwrap();
    fs::remove_file(&place.home.socket).unwrap();
    let _other = UnixListener::bind(&place.home.socket).unwrap();
    drop(bound);
    assert!(place.home.socket.exists());
}

#[tokio::test]
async fn a_bound_home_that_is_given_up_leaves_nothing_behind() {
    let place = place();
    drop(Server::bind(&place.home).await.unwrap());
    assert!(!place.home.socket.exists());
    drop(Server::bind(&place.home).await.unwrap());
}

#[tokio::test]
async fn a_connection_too_many_is_told_so_over_the_socket() {
    let place = place();
    let running = run_with(Server::bind(&place.home).await.unwrap(), |serving| serving.limits.max_connections = 1);
    let mut first = Caller::initialized(&running.socket).await;
    let mut second = Caller::connect(&running.socket).await;
    let line = second.read().await.unwrap();
    assert_eq!((kind(&line), &line["id"]), ("overloaded", &Value::Null));
    assert!(second.read().await.is_none());
    first.send(2, "daemon/status", Value::Null).await;
    assert_eq!(first.read().await.unwrap()["id"], 2);
}

#[tokio::test]
async fn the_end_gives_requests_their_grace_and_answers_what_waits() {
    let place = place();
    let running = run(Server::bind(&place.home).await.unwrap());
    let mut caller = Caller::initialized(&running.socket).await;
    caller.send(2, "project/list", json!({})).await;
    caller.send(3, "run/wait", json!({"runId": "r"})).await;
    caller.send(4, "daemon/status", Value::Null).await;
    assert_eq!(caller.read().await.unwrap()["id"], 4);
    *running.toy.standing.lock().unwrap() = Standing::Stopping { grace_ms: 60_000 };
    running.shutdown.cancel();
    caller.send(5, "project/list", json!({})).await;
    assert_eq!(kind(&caller.read().await.unwrap()), "shuttingDown");
    running.toy.gate.add_permits(1);
    let answer = caller.read().await.unwrap();
    assert_eq!((kind(&answer), &answer["id"]), ("notFound", &json!(2)));
    running.toy.wound_down.add_permits(1);
    let answer = caller.read().await.unwrap();
    assert_eq!((kind(&answer), &answer["id"]), ("shuttingDown", &json!(3)));
    assert_eq!(data(&answer)["graceMs"], 60_000);
    assert!(caller.read().await.is_none());
    in_time(running.task).await.unwrap();
    assert_eq!(running.serving.connections.count(), 0);
}

#[tokio::test]
async fn the_end_does_not_wait_longer_than_the_grace() {
    let place = place();
    let running = run(Server::bind(&place.home).await.unwrap());
    let mut caller = Caller::initialized(&running.socket).await;
    caller.send(2, "project/list", json!({})).await;
    caller.send(3, "daemon/status", Value::Null).await;
    assert_eq!(caller.read().await.unwrap()["id"], 3);
    *running.toy.standing.lock().unwrap() = Standing::Stopping { grace_ms: 10 };
    // What runs is parked soon enough; the request under way is what does not end.
    running.toy.wound_down.add_permits(2);
    running.shutdown.cancel();
    in_time(running.task).await.unwrap();
    assert!(caller.read().await.is_none());
}
