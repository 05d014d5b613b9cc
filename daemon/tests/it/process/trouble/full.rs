//! A disk that is full: new work is refused in time, what is under way ends, and all is well when there is room again.

use std::{fs, io::Write as _, path::Path};

use serde_json::{Value, json};

use super::{EXT4_DISK, Troubled, can, can_mount, readable, refused, seen_home, told, waiting_call, well};
use crate::{
    process::{client, get_issue},
    support::text,
};

/// The daemon on a disk of its own, of 48 MiB.
const SMALL_DISK: &str = r#"
exec unshare --mount --propagation private sh -c '
    set -e
    mount -t tmpfs -o size=48m,mode=700 none "$1"
    shift
    exec "$BINARY" "$@"
' sh "$HOME_DIR" "$@"
"#;

/// Leaves so many bytes free. What a disk holds back for what it has not written yet is free when it has.
fn fill(home: &Path, leave: u64) {
    let mut filler = fs::OpenOptions::new().create(true).append(true).open(home.join("filler")).unwrap();
    let noise = vec![0xA5; 1 << 16];
    for _ in 0..3 {
        let found = rustix::fs::statvfs(home).unwrap();
        let mut left = (found.f_bavail * found.f_frsize).saturating_sub(leave);
        while left > 0 {
            let many = usize::try_from(left.min(1 << 16)).unwrap();
            match filler.write(&noise[..many]) {
                Ok(written) if written > 0 => left -= written as u64,
                _ => break,
            }
        }
        let _ = filler.sync_all();
    }
}

/// A result that needs more room than what is left of the last block of a log.
fn told_at_length() -> Value {
    json!({"success": true, "contentItems": [{"type": "text", "text": "#7 Login fails. ".repeat(600)}]})
}

#[tokio::test]
async fn a_full_disk_refuses_new_work_ends_what_is_under_way_and_takes_work_again_when_there_is_room() {
    if can(&["unshare"]) {
        fill_and_free(SMALL_DISK).await;
    }
}

/// This one has a journal of its own to find room for, and hands out blocks late.
#[tokio::test]
async fn a_full_ext4_disk_refuses_new_work_ends_what_is_under_way_and_takes_work_again_when_there_is_room() {
    if can_mount().await {
        fill_and_free(EXT4_DISK).await;
    }
}

async fn fill_and_free(disk: &str) {
    let place = Troubled::new();
    let daemon = place.daemon(disk).await;
    let home = seen_home(&daemon);
    let mut bot = client(&daemon, "bot", "in-A").await;
    let (first, second, third) =
        (waiting_call(&mut bot).await, waiting_call(&mut bot).await, waiting_call(&mut bot).await);

    // Under 16 MiB, and not full.
    fill(&home, 8 << 20);
    let said = refused(&mut bot, "thread/start", json!({}), "storage_full").await;
    assert!(said.contains("bytes free") && said.contains("Free some space"), "{said}");
    refused(&mut bot, "run/submit", json!({"threadId": first.0, "input": text("hi")}), "storage_full").await;
    refused(&mut bot, "settings/update", json!({"ownerGraceMs": 1_000}), "storage_full").await;
    let status = bot.call("daemon/status", json!({})).await;
    assert_eq!(status["health"]["state"], "degraded");
    assert!(status["health"]["reason"].as_str().unwrap().contains("bytes free"), "{status}");
    bot.reply(&first.2, told()).await;
    let ended = bot.event("runCompleted").await;
    assert_eq!((&ended["event"]["runId"], &ended["event"]["outcome"]["status"]), (&first.1, &json!("completed")));

    let declare = json!({"threadId": first.0, "tools": [get_issue("allow")]});
    refused(&mut bot, "thread/resume", declare, "storage_full").await;

    // Full to the last byte: the reserve is for this.
    fill(&home, 0);
    assert!(home.join("reserve").exists());
    bot.reply(&second.2, told_at_length()).await;
    let ended = bot.event("runCompleted").await;
    assert_eq!((&ended["event"]["runId"], &ended["event"]["outcome"]["status"]), (&second.1, &json!("completed")));
    assert!(!home.join("reserve").exists(), "it was needed");

    // And when that is full too, what cannot be written is not shown, and everything else can be read.
    fill(&home, 0);
    bot.reply(&third.2, told_at_length()).await;
    assert!(readable(&mut bot, &first.0).await > 8 && readable(&mut bot, &third.0).await > 4);
    assert_eq!(bot.call("thread/list", json!({})).await["items"].as_array().unwrap().len(), 3);
    refused(&mut bot, "thread/start", json!({}), "storage_full").await;

    fs::remove_file(home.join("filler")).unwrap();
    // Its result could not be kept, so that the call is offered again under its id.
    let again = bot.asked("tool/call").await;
    assert_eq!(again["params"]["interactionId"], third.2["params"]["interactionId"]);
    bot.reply(&again, told()).await;
    let wait = json!({"runId": third.1, "timeoutMs": 60_000});
    let ended = bot.call("run/wait", wait).await;
    assert_eq!(ended["timedOut"], false, "{ended}");
    let after = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
    bot.call("run/submit", json!({"threadId": after, "input": text("hi")})).await;
    bot.until("the end of a run", |line| line["params"]["event"]["outcome"]["text"] == "You said: hi").await;
    well(&mut bot).await;
    assert!(home.join("reserve").exists(), "it was made anew");
}
