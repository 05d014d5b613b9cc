//! Where the home and the socket are.

use std::path::PathBuf;

use crate::server::{Environment, Home, Places, StartError};

fn path(text: &str) -> Option<PathBuf> {
    Some(text.into())
}

fn resolve(places: &Places, environment: &Environment) -> (String, String) {
    let home = Home::resolve(places, environment).unwrap();
    (home.directory.display().to_string(), home.socket.display().to_string())
}

#[test]
#[cfg(not(target_os = "macos"))]
fn the_command_line_comes_before_the_environment_and_that_before_the_platform() {
    let mut environment = Environment { home: path("/h"), ..Environment::default() };
    let nothing = Places::default();
    let pair = |home: &str, socket: &str| (home.to_owned(), socket.to_owned());
    assert_eq!(
        resolve(&nothing, &environment),
        pair("/h/.local/state/ropewalk", "/h/.local/state/ropewalk/daemon.sock")
    );
    environment.xdg_state_home = path("/state");
    assert_eq!(resolve(&nothing, &environment), pair("/state/ropewalk", "/state/ropewalk/daemon.sock"));
    environment.xdg_runtime_dir = path("/run/7");
    assert_eq!(resolve(&nothing, &environment), pair("/state/ropewalk", "/run/7/ropewalk/daemon.sock"));
    // An explicit home has its socket in itself, so that two homes have two sockets.
    environment.ropewalk_home = path("/env");
    assert_eq!(resolve(&nothing, &environment), pair("/env", "/env/daemon.sock"));
    let mut places = Places { home: path("/flag"), socket: None };
    assert_eq!(resolve(&places, &environment), pair("/flag", "/flag/daemon.sock"));
    environment.ropewalk_socket = path("/env.sock");
    assert_eq!(resolve(&places, &environment), pair("/flag", "/env.sock"));
    places.socket = path("/flag.sock");
    assert_eq!(resolve(&places, &environment), pair("/flag", "/flag.sock"));
}

#[test]
fn empty_and_relative_values_of_the_environment_count_as_absent() {
    let environment = Environment {
        ropewalk_home: path("/env"),
        ropewalk_socket: path(""),
        xdg_runtime_dir: path("relative"),
        ..Environment::default()
    };
    assert_eq!(resolve(&Places { home: path(""), socket: None }, &environment).1, "/env/daemon.sock");
}

#[test]
fn a_relative_path_is_made_absolute() {
    let places = Places { home: path("here"), socket: None };
    let home = Home::resolve(&places, &Environment::default()).unwrap();
    assert!(home.directory.is_absolute() && home.socket.is_absolute());
}

#[test]
fn without_any_directory_there_is_no_home() {
    let error = Home::resolve(&Places::default(), &Environment::default()).unwrap_err();
    assert!(matches!(error, StartError::NoHome) && error.to_string().contains("--home"), "{error}");
}
