//! A home whose disk can only be read, from some moment on and from the start.

use std::{fs, process::Command};

use ropewalk_conformance::{DaemonProcess, StartFailure};
use serde_json::{Value, json};

use super::{EXT4_DISK, Troubled, can, can_mount, not_checked, readable, refused, seen_home, told, waiting_call, well};
use crate::{
    process::{Place, client, eventually, program},
    support::text,
};

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

/// Where an ext4 disk of a daemon takes an error that it has not, and after which it can only be read.
fn trigger(daemon: &DaemonProcess) -> String {
    let mounts = fs::read_to_string(format!("/proc/{}/mounts", daemon.pid())).unwrap();
    let home = daemon.home().display().to_string();
    let mount = mounts.lines().find(|line| line.split(' ').nth(1) == Some(&home)).unwrap();
    let device = mount.split(' ').next().unwrap().rsplit('/').next().unwrap();
    format!("/sys/fs/ext4/{device}/trigger_fs_error")
}

/// No other way makes a disk with open files one that can only be read: the system refuses to remount it. And there is no way
/// back for it but to be unmounted and mended, so the daemon ends in between.
#[tokio::test]
async fn an_ext4_disk_that_an_error_makes_read_only_under_its_daemon_can_be_read_and_has_all_that_was_acknowledged() {
    if !can_mount().await {
        return;
    }
    let place = Troubled::new();
    let daemon = place.daemon(EXT4_DISK).await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let (thread, _, call) = waiting_call(&mut bot).await;
    let idle = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
    let before = readable(&mut bot, &thread).await;
    let trigger = trigger(&daemon);
    if let Err(error) = fs::write(&trigger, "1") {
        not_checked(&format!("{trigger}: {error}"));
        return;
    }
    let attempt = fs::write(seen_home(&daemon).join("attempt"), "").unwrap_err();
    assert_eq!(attempt.kind(), std::io::ErrorKind::ReadOnlyFilesystem, "{attempt}");

    let submit = json!({"threadId": idle, "input": text("hi"), "operationId": "again"});
    let said = refused(&mut bot, "run/submit", submit.clone(), "io_error").await;
    assert!(said.contains("can only be read") && said.contains("Have it mounted"), "{said}");
    refused(&mut bot, "thread/start", json!({}), "io_error").await;
    refused(&mut bot, "settings/update", json!({"ownerGraceMs": 1_234}), "io_error").await;
    bot.reply(&call, told()).await;
    let status = bot.call("daemon/status", json!({})).await;
    assert_eq!(status["health"]["state"], "degraded", "{status}");
    assert_eq!(readable(&mut bot, &thread).await, before, "nothing that is not durable is shown");
    assert_eq!(bot.call("thread/list", json!({})).await["items"].as_array().unwrap().len(), 2);
    daemon.kill().await.unwrap();

    // The last process in its namespace takes the mount along, and the loop device with it, some time after it has gone.
    let image = place.home().with_extension("img");
    let is_let_go = || async { Command::new("losetup").arg("-j").arg(&image).output().unwrap().stdout.is_empty() };
    eventually("the image is unmounted", is_let_go).await;
    let mended = Command::new("e2fsck").arg("-fy").arg(&image).output().unwrap();
    assert!(mended.status.code() < Some(4), "{mended:?}");
    let daemon = place.daemon(EXT4_DISK).await;
    let mut bot = client(&daemon, "bot", "in-B").await;
    assert!(readable(&mut bot, &thread).await >= before);
    let settings = bot.call("settings/read", json!({})).await;
    assert_ne!(settings["settings"]["ownerGraceMs"], 1_234, "what was refused has not happened");
    let submitted = bot.call("run/submit", submit).await;
    assert_eq!(submitted["replayed"], false);
    let ended = bot.call("run/wait", json!({"runId": submitted["runId"]})).await;
    assert_eq!(ended["run"]["outcome"]["text"], "You said: hi", "{ended}");
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
