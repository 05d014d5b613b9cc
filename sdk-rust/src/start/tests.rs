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
