//! Keeping what is stored: a backup that is one new file, and a check that finds nothing where all is well.

use serde_json::{Value, json};

use super::{Fresh, text};

scenarios! { $ keeping
    wire:
        k38_a_backup_is_a_new_file_that_counts_its_lines_and_bytes
        k38_a_check_finds_nothing_where_all_is_well;
    clock:;
}

/// What a daemon without a disk answers to either.
fn is_in_memory(refused: &Value) -> bool {
    refused["error"]["data"]["reason"] == "in_memory"
}

pub(super) async fn k38_a_backup_is_a_new_file_that_counts_its_lines_and_bytes(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
    bot.call("run/submit", json!({"threadId": thread, "input": text("hello"), "wait": true})).await;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("backup.jsonl");
    let id = bot.request("daemon/backup", json!({"path": path})).await;
    let answer = bot.answer(id).await;
    if is_in_memory(&answer) {
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap();
    let counted = json!({"lines": written.lines().count(), "bytes": written.len()});
    assert_eq!(answer["result"], counted);
    let refused = bot.refused("daemon/backup", json!({"path": path})).await;
    assert_eq!((&refused["data"]["path"], &refused["data"]["reason"]), (&json!("/path"), &json!("exists")), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
}

pub(super) async fn k38_a_check_finds_nothing_where_all_is_well(subject: Fresh) {
    let mut bot = subject.bot().await;
    let thread = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
    for _ in 0..3 {
        let script = "think first\nsay something\nthen say more";
        bot.call("run/submit", json!({"threadId": thread, "input": text(script), "wait": true})).await;
        bot.call("project/create", json!({"name": "one more"})).await;
        let id = bot.request("daemon/check", json!({})).await;
        let answer = bot.answer(id).await;
        assert!(is_in_memory(&answer) || answer["result"] == json!({"differences": []}), "{answer}");
    }
}
