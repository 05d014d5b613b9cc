//! What the kernel's lock leaves of a thread.

#![cfg(target_os = "linux")]

use std::{fs, thread};

use super::bench::{Ground, told};
use crate::files::FileServer;

#[test]
fn app_162_a_thread_that_is_locked_in_can_reach_nothing_but_its_grants() {
    let ground = Ground::new();
    let server = FileServer::over(&told(&ground.all()), |_| ()).unwrap();
    let (inside, outside) = (ground.inside.clone(), ground.outside.join("secret.txt"));
    let locked = thread::spawn(move || {
        let wholly = server.confine().unwrap();
        let read = fs::read_to_string(inside.join("note.txt")).is_ok();
        (wholly, read, fs::read_to_string(&outside).is_err(), fs::write(&outside, "mine").is_err())
    });
    let (wholly, inside, no_read, no_write) = locked.join().unwrap();
    assert!(inside);
    assert!(!wholly || (no_read && no_write), "a lock that is there holds");
    // The kernel may have none; then opening beneath the grants is what holds, as all other tests show.
    ground.assert_nothing_happened_outside();
}
