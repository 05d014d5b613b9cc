//! What becomes of the one line a started daemon prints.

use std::path::Path;

use super::read_ready_line;

#[test]
fn a_ready_daemon_names_its_socket() {
    let line = r#"{"ready":true,"socket":"/run/d.sock","pid":7,"version":"0.1.0"}"#;
    assert_eq!(read_ready_line(line).as_deref(), Ok(Path::new("/run/d.sock")));
}

#[test]
fn a_daemon_that_failed_to_start_says_why() {
    let line = r#"{"ready":false,"error":{"kind":"unavailable","message":"Daemon 4242 has this home.","data":{}}}"#;
    assert_eq!(read_ready_line(line), Err("Daemon 4242 has this home.".to_owned()));
}

#[test]
fn anything_else_is_told_apart_from_silence() {
    assert!(read_ready_line("").is_err_and(|reason| reason.contains("ended before")));
    assert!(read_ready_line("hello\n").is_err_and(|reason| reason.contains("no ready line")));
}

#[cfg(unix)]
mod programs {
    use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

    use crate::{Error, environment::Places, start::start_daemon};

    /// A program that is a shell script, removed at the end of the test.
    struct Script(PathBuf);

    impl Script {
        fn new(name: &str, text: &str) -> Self {
            let path = std::env::temp_dir().join(format!("ropewalk-sdk-{}-{name}", std::process::id()));
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the script is written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("the script is made executable");
            Self(path)
        }
    }

    impl Drop for Script {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn places() -> Places {
        Places { home: Some("/h".into()), socket: "/h/d.sock".into() }
    }

    const DEADLINE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn the_first_program_there_is_is_started_with_socket_home_and_idle_exit() {
        let script = Script::new("ready", r#"echo "{\"ready\":true,\"socket\":\"$*\"}""#);
        let programs = vec!["/nowhere/ropewalk".into(), script.0.clone()];
        let socket = start_daemon(programs, &places(), DEADLINE).await.expect("it is ready");
        assert_eq!(socket.to_str(), Some("daemon --socket /h/d.sock --idle-exit-ms 900000 --home /h"));
    }

    #[tokio::test]
    async fn a_failed_start_names_everything_that_was_tried() {
        let programs = vec!["/nowhere/ropewalk".into(), "/elsewhere/ropewalk".into()];
        let error = start_daemon(programs, &places(), DEADLINE).await.expect_err("there is none");
        assert!(matches!(&error, Error::StartFailed { tried, .. } if tried.len() == 2));
        let text = error.to_string();
        assert!(text.contains("/nowhere/ropewalk, /elsewhere/ropewalk") && text.contains("ROPEWALK_BIN"), "{text}");
    }

    #[tokio::test]
    async fn k05_a_daemon_that_never_gets_ready_is_waited_for_until_the_deadline() {
        let script = Script::new("mute", "exec sleep 3");
        let waited = start_daemon(vec![script.0.clone()], &places(), Duration::from_millis(50)).await;
        let error = waited.expect_err("it says nothing");
        assert!(error.to_string().contains("not ready within 50 ms"), "{error}");
    }
}
