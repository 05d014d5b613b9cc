//! The order in which home and socket are looked for, without touching the environment of the test process.

use std::path::{Path, PathBuf};

use super::{Places, clean_name};
use crate::Error;

fn socket(home: Option<&str>, socket: Option<&str>, runtime: Option<&str>, state: Option<&str>) -> String {
    let path = |text: Option<&str>| text.map(PathBuf::from);
    let places = Places::choose(path(home), path(socket), path(runtime), || path(state)).expect("one is known");
    places.socket.to_string_lossy().into_owned()
}

#[test]
fn the_socket_is_looked_for_in_the_order_of_the_contract() {
    assert_eq!(socket(Some("/h"), Some("/s"), Some("/r"), Some("/st")), "/s");
    assert_eq!(socket(Some("/h"), None, Some("/r"), Some("/st")), "/h/daemon.sock");
    assert_eq!(socket(None, None, Some("/r"), Some("/st")), "/r/ropewalk/daemon.sock");
    assert_eq!(socket(None, None, None, Some("/st")), "/st/daemon.sock");
}

#[test]
fn without_any_directory_the_error_names_the_variable() {
    let error = Places::choose(None, None, None, || None).expect_err("nothing is known");
    assert!(matches!(&error, Error::InvalidOption { option: "home", .. }), "{error}");
    assert!(error.to_string().contains("ROPEWALK_HOME"));
}

#[test]
fn a_socket_path_over_the_limit_is_refused_with_length_and_limit() {
    let long = Path::new("/tmp").join("x".repeat(120));
    let error = Places::find(None, Some(long)).expect_err("too long");
    let text = error.to_string();
    assert!(text.contains("125 bytes") && (text.contains("107") || text.contains("103")), "{text}");
}

#[test]
fn a_client_name_is_cut_to_what_the_wire_allows() {
    assert_eq!(clean_name("my bot (copy)"), "mybotcopy");
    assert_eq!(clean_name("日本"), "ropewalk-sdk");
    assert_eq!(clean_name(&"a".repeat(80)).len(), 64);
}
