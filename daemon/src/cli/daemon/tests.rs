//! What is read from flags, and what systemd is told.

use super::*;

#[test]
fn an_idle_daemon_ends_after_a_second_at_the_earliest_or_never() {
    assert_eq!(idle_exit("never"), Ok(IdleExit(None)));
    assert_eq!(idle_exit("1000"), Ok(IdleExit(Some(1_000))));
    assert!(idle_exit("999").is_err());
    assert!(idle_exit("soon").is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn systemd_is_told_over_a_path_or_an_abstract_name() {
    use std::os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    };

    let heard = |socket: &UnixDatagram| {
        let mut state = [0; 64];
        let length = socket.recv(&mut state).unwrap();
        String::from_utf8(state[..length].to_vec()).unwrap()
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    notify(path.as_os_str(), "READY=1").unwrap();
    assert_eq!(heard(&socket), "READY=1");

    let name = format!("ropewalk-test-{}", std::process::id());
    let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    notify(OsStr::new(&format!("@{name}")), "STOPPING=1").unwrap();
    assert_eq!(heard(&socket), "STOPPING=1");
}

#[test]
fn no_filter_has_the_words_of_providers_logged() {
    for filter in
        ["info", "trace", "rig_core=trace", "ropewalk_daemon=debug,rig_core::providers=warn", "rig::completions=trace"]
    {
        let read = log_filter(filter).unwrap().to_string();
        let of_rig = read.split(',').filter(|directive| directive.contains("rig")).collect::<Vec<_>>();
        let mut of_rig = of_rig;
        of_rig.sort_unstable();
        assert_eq!(of_rig, ["rig=off", "rig_core=off"], "{filter}: {read}");
    }
    assert!(log_filter("=x=").is_err());
}
