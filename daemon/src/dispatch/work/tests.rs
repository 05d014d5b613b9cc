//! What is refused without room, and what is not.

use ropewalk_protocol::METHODS;

use super::*;

#[test]
fn what_begins_needs_room_and_what_ends_or_reads_does_not() {
    let begins = |name: &str| begins_work(METHODS.iter().find(|entry| entry.name == name).unwrap());
    for name in ["thread/start", "run/submit", "run/resume", "settings/update", "policy/set", "queue/update"] {
        assert!(begins(name), "{name}");
    }
    for name in [
        "thread/resume",
        "thread/read",
        "thread/events",
        "run/stop",
        "run/skip",
        "interaction/settle",
        "queue/clear",
        "grant/remove",
        "blob/read",
        "daemon/status",
        "daemon/shutdown",
    ] {
        assert!(!begins(name), "{name}");
    }
}
