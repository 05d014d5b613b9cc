//! The start: the ready line, one daemon a home, whose files are whose.

use std::{os::unix::fs::PermissionsExt, path::Path};

use ropewalk_conformance::{DaemonProcess, Refusal, StartFailure};
use serde_json::json;

use super::{Place, client};

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

async fn refused(place: &Place) -> Refusal {
    match DaemonProcess::start(&place.options()).await {
        Err(StartFailure::Refused(refusal)) => refusal,
        other => panic!("it should say why it does not start: {other:?}"),
    }
}

#[tokio::test]
async fn the_ready_line_names_socket_pid_and_version() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let ready = daemon.ready();
    assert_eq!(ready.socket, place.home().join("daemon.sock"));
    assert!(super::is_alive(ready.pid));
    assert_eq!(ready.version, env!("CARGO_PKG_VERSION"));
    let mut client = client(&daemon, "bot", "in-A").await;
    let status = client.call("daemon/status", json!({})).await;
    assert_eq!(status["health"]["state"], "ok");
}

#[tokio::test]
async fn the_home_and_everything_in_it_belongs_to_its_user_alone() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let mut client = client(&daemon, "bot", "in-A").await;
    client.call("thread/start", json!({})).await;
    assert_eq!(mode(&place.home()), 0o700);
    assert_eq!(mode(&daemon.ready().socket), 0o600);
    let mut directories = vec![place.home()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            // sled makes the files of the index itself; the home keeps others away from them.
            let is_ours = !path.starts_with(place.home().join("index"));
            assert!(!is_ours || mode(&path) & 0o077 == 0, "{} has mode {:o}", path.display(), mode(&path));
            if path.is_dir() {
                directories.push(path);
            }
        }
    }
}

#[tokio::test]
async fn a_second_daemon_on_a_home_is_refused_by_name_and_the_first_is_not_disturbed() {
    let place = Place::new();
    let first = place.daemon().await;
    let mut client = client(&first, "bot", "in-A").await;
    let refusal = refused(&place).await;
    assert_ne!(refusal.status.code(), Some(0));
    let message = refusal.error["message"].as_str().unwrap();
    assert!(message.contains(&first.pid().to_string()), "{message}");
    assert!(message.contains(place.home().to_str().unwrap()), "{message}");
    assert_eq!(refusal.error["kind"], refusal.error["data"]["kind"]);
    client.call("thread/start", json!({})).await;
    assert!(first.ready().socket.exists());
    super::client(&first, "other", "in-B").await;
}

#[tokio::test]
async fn the_socket_of_a_killed_daemon_is_replaced() {
    let place = Place::new();
    let killed = place.daemon().await;
    let socket = killed.ready().socket.clone();
    killed.kill().await.unwrap();
    assert!(socket.exists(), "nobody was left to remove it");
    let daemon = place.daemon().await;
    client(&daemon, "bot", "in-A").await;
}

#[tokio::test]
async fn what_is_no_socket_is_never_removed() {
    let place = Place::new();
    std::fs::create_dir(place.home()).unwrap();
    std::fs::set_permissions(place.home(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let file = place.home().join("daemon.sock");
    std::fs::write(&file, "a letter").unwrap();
    let refusal = refused(&place).await;
    assert!(refusal.error["message"].as_str().unwrap().contains("daemon.sock"), "{}", refusal.error);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "a letter");
}
