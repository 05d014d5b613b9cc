//! A directory that becomes a link to the outside while it is used.

#![cfg(target_os = "linux")]

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

use ropewalk_protocol::Capability;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::bench::{Client, Ground, told};
use crate::files::{Told, reach::Reach};

/// Until both the directory and the link have been met this often.
const MEETINGS: u32 = 20;

/// Operations, at most and at least.
const MOST: u32 = 4_000;
const LEAST: u32 = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app_165_a_directory_that_is_swapped_for_a_link_never_leads_outside() {
    let ground = Ground::new();
    let place = ground.inside.join("place");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("secret.txt"), "mine").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swaps = Arc::new(AtomicU32::new(0));
    let link = ground.inside.join("link");
    symlink(&ground.outside, &link).unwrap();
    let swapper = thread::spawn({
        let (stop, swaps, place) = (stop.clone(), swaps.clone(), place.clone());
        move || {
            // At once, so that there is always one or the other.
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &place, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
                thread::yield_now();
            }
        }
    });
    let client = Client::of(&ground.all()).await;
    let (mut done, mut refused) = (0, 0);
    for number in 0..MOST {
        let read = client.call("read_file", json!({ "path": place.join("secret.txt") })).await;
        assert_ne!(super::bench::text(&read), "secret", "what is outside is never read");
        let name = if number % 2 == 0 { "secret.txt".to_owned() } else { format!("made/{number}.txt") };
        let wrote = client.call("write_file", json!({ "path": place.join(name), "content": "mine" })).await;
        if wrote.is_error == Some(true) {
            refused += 1
        } else {
            done += 1
        }
        if number >= LEAST && done >= MEETINGS && refused >= MEETINGS {
            break;
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    ground.assert_nothing_happened_outside();
    assert!(swaps.load(Ordering::Relaxed) > 0 && done > 0 && refused > 0, "{done} done, {refused} refused");
}

#[test]
fn app_165_what_is_swapped_between_the_look_and_the_use_never_leads_outside() {
    let ground = Ground::new();
    let (place, aside) = (ground.inside.join("place"), ground.inside.join("aside"));
    fs::create_dir(&place).unwrap();
    fs::write(place.join("secret.txt"), "mine").unwrap();
    let reach = Reach::new(&told(&ground.all()), |_| ());
    let both = [Capability::Read, Capability::Write];
    let found = |name: &str| reach.find(place.join(name).to_str().unwrap(), &both).unwrap();
    let (file, fresh, directory) = (found("secret.txt"), found("made/deep.txt"), found(""));
    for target in [ground.outside.as_path(), Path::new("../outside")] {
        fs::rename(&place, &aside).unwrap();
        symlink(target, &place).unwrap();
        file.file().unwrap_err();
        file.parent(true).unwrap_err();
        fresh.parent(true).unwrap_err();
        file.metadata().unwrap_err();
        directory.dir().unwrap_err();
        fs::remove_file(&place).unwrap();
        fs::rename(&aside, &place).unwrap();
    }
    ground.assert_nothing_happened_outside();
    file.file().unwrap();
}

#[test]
fn app_162_what_is_swapped_between_the_look_and_the_use_never_leads_to_where_the_daemon_lives() {
    let ground = Ground::new();
    let (place, aside, home) = (ground.inside.join("place"), ground.inside.join("aside"), ground.inside.join("home"));
    for directory in [&place, &home] {
        fs::create_dir(directory).unwrap();
        fs::write(directory.join("secret.txt"), "mine").unwrap();
    }
    let reach = Reach::new(&Told { grants: ground.all(), closed: vec![home.clone()] }, |_| ());
    let both = [Capability::Read, Capability::Write];
    let found = |name: &str| reach.find(place.join(name).to_str().unwrap(), &both).unwrap();
    let (file, directory) = (found("secret.txt"), found(""));
    fs::rename(&place, &aside).unwrap();
    symlink("home", &place).unwrap();
    file.file().unwrap_err();
    file.parent(false).unwrap_err();
    directory.dir().unwrap_err();
    fs::remove_file(&place).unwrap();
    fs::rename(&aside, &place).unwrap();
    file.file().unwrap();
}
