//! Errors of single calls of the system: a sync that fails, a write without room.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use ropewalk_conformance::DaemonProcess;
use serde_json::json;

use super::{Troubled, can, readable, refused, told, waiting_call, well};
use crate::{process::client, support::text};

/// Has every call of a kind fail in a daemon, until it is dropped.
struct Injected(Child);

impl Injected {
    fn into(daemon: &DaemonProcess, calls: &str, error: &str) -> Self {
        let pid = daemon.pid().to_string();
        let inject = format!("inject={calls}:error={error}");
        let mut child = Command::new("strace")
            .args(["-f", "-p", &pid, "-e", &format!("trace={calls}"), "-e", &inject])
            .stderr(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("attached") {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "strace has attached");
        }
        // What it says further on must go somewhere.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Self(child)
    }
}

impl Drop for Injected {
    fn drop(&mut self) {
        // Told to end it lets go of the daemon; killed it would let it stand still.
        if let Some(pid) = rustix::process::Pid::from_raw(self.0.id().cast_signed()) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_sync_that_fails_fails_its_request_keeps_reading_possible_and_loses_nothing_that_was_acknowledged() {
    trouble("fdatasync,fsync", "EIO", "io_error").await;
}

#[tokio::test]
async fn a_write_without_room_fails_its_request_keeps_reading_possible_and_loses_nothing_that_was_acknowledged() {
    trouble("pwrite64", "ENOSPC", "storage_full").await;
}

/// What open files meet when the system makes their disk one that can only be read, and then takes it back.
#[tokio::test]
async fn a_disk_that_can_only_be_read_for_a_while_fails_requests_keeps_reading_possible_and_is_written_again_after_it()
{
    trouble(
        "pwrite64,ftruncate,fdatasync,fsync,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat",
        "EROFS",
        "io_error",
    )
    .await;
}

async fn trouble(calls: &str, error: &str, reason: &str) {
    if !can(&["strace"]) {
        return;
    }
    let place = Troubled::new();
    let daemon = place.plain().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let (thread, run, call) = waiting_call(&mut bot).await;
    let idle = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
    let before = readable(&mut bot, &thread).await;

    let injected = Injected::into(&daemon, calls, error);
    let submit = json!({"threadId": idle, "input": text("lost"), "operationId": "again"});
    refused(&mut bot, "run/submit", submit.clone(), reason).await;
    refused(&mut bot, "settings/update", json!({"ownerGraceMs": 1_234}), reason).await;
    refused(&mut bot, "thread/start", json!({}), reason).await;
    bot.reply(&call, told()).await;
    assert_eq!(readable(&mut bot, &thread).await, before, "nothing that is not durable is shown");
    assert_eq!(bot.call("thread/list", json!({})).await["items"].as_array().unwrap().len(), 2);
    drop(injected);

    // The same operation is done now, and was not done before.
    let submitted = bot.call("run/submit", submit).await;
    assert_eq!(submitted["replayed"], false);
    let ended = bot.call("run/wait", json!({"runId": submitted["runId"]})).await;
    assert_eq!(ended["run"]["outcome"]["text"], "You said: lost", "{ended}");
    // Its result could not be kept, so that the call is offered again under its id; a client knows what it has done.
    let again = bot.asked("tool/call").await;
    assert_eq!(again["params"]["interactionId"], call["params"]["interactionId"]);
    assert_eq!(again["params"]["attempt"], 2);
    bot.reply(&again, told()).await;
    let ended = bot.call("run/wait", json!({"runId": run, "timeoutMs": 60_000})).await;
    assert_eq!(ended["run"]["outcome"]["text"], "get_issue: #7 Login fails", "{ended}");
    well(&mut bot).await;
    let (idle_events, events) = (readable(&mut bot, &idle).await, readable(&mut bot, &thread).await);
    daemon.kill().await.unwrap();

    let daemon = place.plain().await;
    let mut bot = client(&daemon, "bot", "in-B").await;
    assert_eq!((readable(&mut bot, &idle).await, readable(&mut bot, &thread).await), (idle_events, events));
    let settings = bot.call("settings/read", json!({})).await;
    assert_ne!(settings["settings"]["ownerGraceMs"], 1_234, "what was refused has not happened");
    well(&mut bot).await;
}
