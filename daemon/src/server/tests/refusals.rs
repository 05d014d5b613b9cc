//! What is refused, by name, and left as it was.

use std::{fs, os::unix::net::UnixListener, path::PathBuf};

use ropewalk_protocol::RpcError;
use serde_json::Value;

use super::{Caller, Home, Server, StartError, mode, place, refused, run};
use crate::server::{failed_line, ready_line};

#[tokio::test]
async fn a_second_daemon_is_refused_naming_the_first_which_goes_on() {
    let place = place();
    let first = run(Server::bind(&place.home).await.unwrap());
    let mut caller = Caller::initialized(&first.socket).await;
    let error = refused(&place.home).await;
    assert!(matches!(error, StartError::HomeInUse { pid: Some(pid), .. } if pid == std::process::id()), "{error}");
    assert!(error.to_string().contains(&std::process::id().to_string()));
    caller.send(2, "daemon/status", Value::Null).await;
    assert_eq!(caller.read().await.unwrap()["id"], 2);
    Caller::initialized(&first.socket).await;
}

#[tokio::test]
async fn the_lock_names_its_holder_before_anybody_listens() {
    let place = place();
    let lock = super::HomeLock::acquire(&place.home).await.unwrap();
    let error = refused(&place.home).await;
    assert!(matches!(error, StartError::HomeInUse { pid: Some(pid), .. } if pid == std::process::id()), "{error}");
    drop(lock);
    // A number that is left over means nothing.
    fs::write(place.home.directory.join("lock"), "1\n").unwrap();
    Server::bind(&place.home).await.unwrap();
}

#[tokio::test]
async fn a_socket_somebody_listens_on_is_never_taken() {
    let place = place();
    let first = run(Server::bind(&place.home).await.unwrap());
    let error = refused(&place.rival()).await;
    assert!(matches!(error, StartError::SocketInUse { pid: Some(pid), .. } if pid == std::process::id()), "{error}");
    Caller::initialized(&first.socket).await;
}

#[tokio::test]
async fn a_socket_nobody_listens_on_is_replaced() {
    let place = place();
    place.make_directory(0o700);
    drop(UnixListener::bind(&place.home.socket).unwrap());
    assert!(place.home.socket.exists());
    let running = run(Server::bind(&place.home).await.unwrap());
    Caller::initialized(&running.socket).await;
}

#[tokio::test]
async fn what_is_no_socket_is_left_alone() {
    let place = place();
    place.make_directory(0o700);
    fs::write(&place.home.socket, "precious").unwrap();
    let error = refused(&place.home).await;
    assert!(matches!(error, StartError::NotASocket { .. }), "{error}");
    assert_eq!(fs::read_to_string(&place.home.socket).unwrap(), "precious");
}

#[tokio::test]
async fn a_directory_that_others_may_enter_is_refused_with_the_remedy() {
    for wrong in [0o755, 0o701, 0o750, 0o777] {
        let place = place();
        place.make_directory(wrong);
        let error = refused(&place.home).await;
        assert!(matches!(error, StartError::DirectoryNotPrivate { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("{wrong:04o}")) && text.contains("chmod 700"), "{text}");
        assert_eq!(mode(&place.home.directory), wrong, "nobody changes what the owner set");
    }
}

#[tokio::test]
async fn a_directory_that_is_a_symbolic_link_is_refused() {
    let place = place();
    let real = place.home.directory.with_file_name("real");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &place.home.directory).unwrap();
    let error = refused(&place.home).await;
    assert!(error.to_string().contains("symbolic link"), "{error}");
}

#[tokio::test]
async fn a_path_may_be_as_long_as_the_platform_takes_and_no_byte_longer() {
    let place = place();
    let limit = if cfg!(target_os = "linux") { 107 } else { 103 };
    let base = place.home.directory.as_os_str().len() + 1;
    let of_length = |length: usize| -> PathBuf { place.home.directory.join("s".repeat(length - base)) };
    let long = Home { socket: of_length(limit), ..place.home.clone() };
    drop(Server::bind(&long).await.unwrap());
    let too_long = Home { socket: of_length(limit + 1), ..place.home.clone() };
    let error = refused(&too_long).await;
    let text = error.to_string();
    assert!(text.contains(&limit.to_string()) && text.contains(&(limit + 1).to_string()) && text.contains("--socket"));
}

#[tokio::test]
async fn the_line_for_whoever_started_the_daemon_is_one_line_of_json() {
    let place = place();
    let ready: Value = serde_json::from_str(&ready_line(&place.home.socket, "1.2.3")).unwrap();
    assert_eq!(
        (&ready["ready"], &ready["version"], &ready["pid"]),
        (&true.into(), &"1.2.3".into(), &std::process::id().into())
    );
    assert_eq!(ready["socket"], place.home.socket.display().to_string());
    let error = StartError::HomeInUse { home: place.home.directory.clone(), pid: Some(7) };
    let failed: Value = serde_json::from_str(&failed_line(&RpcError::from(&error))).unwrap();
    assert_eq!((&failed["ready"], &failed["error"]["kind"]), (&false.into(), &"unavailable".into()));
    assert_eq!(failed["error"]["data"]["reason"], "home_in_use");
    assert!(failed["error"]["message"].as_str().unwrap().contains('7'));
}
