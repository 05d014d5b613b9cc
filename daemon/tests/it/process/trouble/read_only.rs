//! A home whose disk can only be read, from some moment on and from the start.

use std::process::Command;

use ropewalk_conformance::{DaemonProcess, StartFailure};
use serde_json::{Value, json};

use super::{Troubled, can, readable, refused, waiting_call, well};
use crate::process::{Place, client, program};

/// The daemon where nobody else sees what is mounted.
const APART: &str = r#"exec unshare --mount --propagation private "$BINARY" "$@""#;

/// Does something to the mounts of a daemon.
fn mounts(daemon: &DaemonProcess, shell: &str) {
    let home = daemon.home().display().to_string();
    let done = Command::new("nsenter")
        .args(["--target", &daemon.pid().to_string(), "--mount", "sh", "-e", "-c", shell, "sh", &home])
        .status();
    assert!(done.unwrap().success(), "{shell}");
}

/// What `ropewalk doctor` finds where the daemon is.
fn doctor(daemon: &DaemonProcess) -> Value {
    let (pid, home, socket) = (daemon.pid().to_string(), daemon.home(), &daemon.ready().socket);
    let mut command = Command::new("nsenter");
    command.args(["--target", &pid, "--mount"]).arg(program()).args(["doctor", "--json", "--home"]).arg(home);
    let output = command.arg("--socket").arg(socket).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[tokio::test]
async fn a_home_that_can_only_be_read_takes_no_new_work_until_it_can_be_written_again() {
    if !can(&["unshare", "nsenter"]) {
        return;
    }
    let place = Troubled::new();
    let daemon = place.daemon(APART).await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let (thread, _, _) = waiting_call(&mut bot).await;
    mounts(&daemon, "mount --bind \"$1\" \"$1\"; mount -o remount,bind,ro \"$1\"");
    let said = refused(&mut bot, "thread/start", json!({}), "io_error").await;
    assert!(said.contains("can only be read"), "{said}");
    let status = bot.call("daemon/status", json!({})).await;
    assert!(status["health"]["reason"].as_str().unwrap().contains("can only be read"), "{status}");
    assert!(readable(&mut bot, &thread).await > 4);
    let found = doctor(&daemon);
    let disk = found["findings"].as_array().unwrap().iter().find(|finding| finding["check"] == "disk").unwrap();
    assert_eq!((&found["ok"], &disk["state"]), (&json!(false), &json!("problem")), "{found}");
    mounts(&daemon, "umount \"$1\"");
    bot.call("thread/start", json!({})).await;
    well(&mut bot).await;
}

#[tokio::test]
async fn a_daemon_on_a_home_that_can_only_be_read_does_not_start_and_says_why() {
    if !can(&["unshare"]) {
        return;
    }
    let place = Place::new();
    std::fs::create_dir(place.home()).unwrap();
    let script = place.directory.path().join("start");
    let lines = format!(
        "#!/bin/sh\nexec unshare --mount --propagation private sh -e -c 'mount -t tmpfs -o ro none \"$1\"; shift; exec {} \"$@\"' sh '{}' \"$@\"\n",
        program().display(),
        place.home().display()
    );
    std::fs::write(&script, lines).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let options = ropewalk_conformance::DaemonOptions::new(&script, place.home());
    match DaemonProcess::start(&options).await {
        Err(StartFailure::Refused(refusal)) => {
            let said = refusal.error.to_string();
            assert!(said.contains("Read-only") || said.contains("read-only"), "{said}");
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it has started"),
    }
}
