//! Trouble with the disk, the home and the descriptors, made with the means of the system: what is said, what can still be
//! read, and that all goes on when the cause is gone.
//!
//! Mounts and injected errors need root, `unshare` and `strace`. A test that cannot have them says so where everybody
//! looks, and checks nothing of what it could not make; CI has them.

mod clock;
mod descriptors;
mod full;
mod gone;
mod injected;
mod read_only;

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use ropewalk_conformance::{DaemonOptions, DaemonProcess, can_cut_power, suite::Raw};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::UnixStream;

use super::{get_issue, program};
use crate::support::text;

/// Whether this test may do what root may, and all these programs are there. If not, that is said.
fn can(programs: &[&str]) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    let missing = programs.iter().find(|program| {
        let asked = Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status();
        !asked.is_ok_and(|status| status.success())
    });
    let why = match missing {
        None if is_root => return true,
        Some(program) => format!("{program} is missing; `.ci/run` installs it"),
        None => "this needs root".to_owned(),
    };
    not_checked(&why)
}

/// Whether this test may mount an image that it makes, where nobody else sees it. If not, that is said.
async fn can_mount() -> bool {
    match can_cut_power().await {
        Ok(()) => true,
        Err(why) => not_checked(&format!("no disk can be mounted here: {why}")),
    }
}

fn not_checked(why: &str) -> bool {
    // Past what catches the output of tests that pass: nobody is to believe that this was checked.
    let _ = std::io::stderr().write_all(format!("\n!!! NOT CHECKED: {why}.\n\n").as_bytes());
    assert!(std::env::var_os("CI").is_none(), "CI has what this needs");
    false
}

/// The daemon on an ext4 disk of its own of 64 MiB, behind a loop device. The image stays beside the home, so that the next one
/// has the same disk.
const EXT4_DISK: &str = r#"
exec unshare --mount --propagation private sh -c '
    set -e
    if ! test -e "$1.img"; then
        truncate -s 64M "$1.img"
        mkfs.ext4 -qF -m 0 "$1.img"
    fi
    mount -o loop,errors=remount-ro "$1.img" "$1"
    chmod 700 "$1"
    shift
    exec "$BINARY" "$@"
' sh "$HOME_DIR" "$@"
"#;

/// A home with its socket beside it, so that whatever happens to the home, the daemon can be talked to.
struct Troubled {
    directory: TempDir,
}

impl Troubled {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        for name in ["home", "sockets"] {
            fs::create_dir(directory.path().join(name)).unwrap();
            fs::set_permissions(directory.path().join(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
        Self { directory }
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// A daemon, started by these lines of shell. They get its command as their arguments.
    async fn daemon(&self, shell: &str) -> DaemonProcess {
        let script = self.directory.path().join("start");
        let lines = format!("#!/bin/sh\nset -e\nHOME_DIR='{}'\n{shell}\n", self.home().display());
        fs::write(&script, lines).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
        let options = DaemonOptions::new(&script, self.home())
            .argument("--socket")
            .argument(self.directory.path().join("sockets/s"))
            .variable("BINARY", program());
        DaemonProcess::start(&options).await.unwrap()
    }

    /// A daemon as anybody starts one.
    async fn plain(&self) -> DaemonProcess {
        self.daemon("exec \"$BINARY\" \"$@\"").await
    }
}

/// The home as the daemon sees it, whatever was mounted there for it alone.
fn seen_home(daemon: &DaemonProcess) -> PathBuf {
    Path::new(&format!("/proc/{}/root", daemon.pid())).join(daemon.home().strip_prefix("/").unwrap())
}

/// A thread whose one run waits for the result of a call, and that call.
async fn waiting_call(bot: &mut Raw<UnixStream>) -> (Value, Value, Value) {
    let thread = bot.call("thread/start", json!({"tools": [get_issue("allow")]})).await["thread"]["threadId"].clone();
    let input = text("call get_issue {\"id\":\"7\"}");
    let run = bot.call("run/submit", json!({"threadId": thread, "input": input})).await["runId"].clone();
    let call = bot.asked("tool/call").await;
    (thread, run, call)
}

fn told() -> Value {
    json!({"success": true, "contentItems": [{"type": "text", "text": "#7 Login fails"}]})
}

/// That new work is refused with `reason`, that nothing of it was done, and what is said.
async fn refused(bot: &mut Raw<UnixStream>, method: &str, params: Value, reason: &str) -> String {
    let refused = bot.refused(method, params).await;
    let data = &refused["data"];
    assert_eq!((&data["kind"], &data["reason"]), (&json!("unavailable"), &json!(reason)), "{method}: {refused}");
    assert_eq!(data["effect"], "none", "{method}: {refused}");
    refused["message"].as_str().unwrap().to_owned()
}

/// How many durable events of a thread can be read.
async fn readable(bot: &mut Raw<UnixStream>, thread: &Value) -> usize {
    let page = bot.call("thread/events", json!({"threadId": thread, "after": 0, "limit": 1_000})).await;
    page["events"].as_array().unwrap().len()
}

/// Waits until the daemon says that all is well.
async fn well(bot: &mut Raw<UnixStream>) {
    bot.eventually("daemon/status", json!({}), |status| status["health"]["state"] == "ok").await;
}
