//! Threads whose logs are damaged: never unknown, never silently shorter, and readable up to the damage.

use std::{fs, os::unix::fs::FileExt as _, path::PathBuf};

use ropewalk_conformance::suite::Raw;
use serde_json::{Value, json};
use tokio::io::DuplexStream;

use super::*;

async fn client(daemon: &Arc<Daemon>) -> (Raw<DuplexStream>, Serving<Daemon>) {
    let serving = Serving::new(daemon.clone(), Arc::new(methods::table()));
    let (ours, theirs) = tokio::io::duplex(65_536);
    serving.connect(ours);
    (Raw::greeted(theirs, "bot", "in-A").await, serving)
}

/// A home whose daemon runs, with a thread in which these words were said, and the thread's id.
async fn with_a_thread(words: &[&str]) -> (tempfile::TempDir, Arc<Daemon>, String) {
    let home = tempfile::tempdir().unwrap();
    let daemon = open(home.path(), SecretChoice::File, crate::sessions::ChildSetup::default()).await.unwrap();
    let (mut bot, _serving) = client(&daemon).await;
    let started = bot.call("thread/start", json!({"endpointId": "scripted"})).await;
    let thread = started["thread"]["threadId"].as_str().unwrap().to_owned();
    for word in words {
        let input = json!([{"type": "text", "text": format!("say {word}")}]);
        bot.call("run/submit", json!({"threadId": thread, "input": input, "wait": true})).await;
    }
    daemon.store.flush().await.unwrap();
    (home, daemon, thread)
}

fn log_of(home: &Path, thread: &str) -> PathBuf {
    home.join(format!("logs/{}/{thread}.jsonl", &thread[thread.len() - 2..]))
}

/// The home in another place, as a start finds it after a kill.
fn image(home: &Path) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy(&entry.path(), &target)
            } else {
                drop(fs::copy(entry.path(), target))
            }
        }
    }
    let image = tempfile::tempdir().unwrap();
    copy(home, image.path());
    image
}

fn texts(page: &Value) -> String {
    page["items"].to_string()
}

#[tokio::test]
async fn k37_a_thread_whose_log_was_cut_to_nothing_is_damaged_and_not_unknown() {
    let (home, _daemon, thread) = with_a_thread(&["one"]).await;
    let mut home = image(home.path());
    fs::File::options().write(true).open(log_of(home.path(), &thread)).unwrap().set_len(0).unwrap();
    for start in ["the first", "the second"] {
        let daemon = open(home.path(), SecretChoice::File, crate::sessions::ChildSetup::default()).await.unwrap();
        let (mut bot, _serving) = client(&daemon).await;
        let about = json!({"threadId": thread});
        for method in ["thread/read", "thread/resume", "thread/messages", "item/list"] {
            let refused = bot.refused(method, about.clone()).await;
            assert_eq!(refused["data"]["reason"], "log_damaged", "{method} at {start} start: {refused}");
            assert_eq!(refused["data"]["kind"], "unavailable");
        }
        // It is found out beside the start.
        let names_it = |status: &Value| status["health"]["reason"].as_str().is_some_and(|why| why.contains(&thread));
        bot.eventually("daemon/status", json!({}), names_it).await;
        let unknown = bot.refused("thread/read", json!({"threadId": "0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11"})).await;
        assert_eq!(unknown["data"]["kind"], "notFound");
        daemon.stop(0);
        daemon.store.flush().await.unwrap();
        home = image(home.path());
    }
    let daemon = open(home.path(), SecretChoice::File, crate::sessions::ChildSetup::default()).await.unwrap();
    let (mut bot, _serving) = client(&daemon).await;
    let removed = bot.call("thread/delete", json!({"threadId": thread})).await;
    assert_eq!(removed["applied"], true, "{removed}");
    assert_eq!(bot.refused("thread/read", json!({"threadId": thread})).await["data"]["kind"], "notFound");
    assert!(!log_of(home.path(), &thread).exists());
}

#[tokio::test]
async fn k38_of_a_damaged_log_everything_before_the_damage_is_shown_and_then_the_damage() {
    let (home, daemon, thread) = with_a_thread(&["one", "two", "three"]).await;
    let log = log_of(home.path(), &thread);
    let bytes = fs::read(&log).unwrap();
    let place = bytes.windows(7).position(|window| window == b"say two").unwrap();
    let file = fs::File::options().write(true).open(&log).unwrap();
    file.write_all_at(&[bytes[place] ^ 1], place as u64).unwrap();

    let before = image(home.path());
    let (mut bot, _serving) = client(&daemon).await;
    shows_the_first_alone(&mut bot, &thread).await;
    shows_the_first_alone(&mut bot, &thread).await;
    let input = json!([{"type": "text", "text": "say four"}]);
    let refused = bot.refused("run/submit", json!({"threadId": thread, "input": input})).await;
    assert_eq!(refused["data"]["reason"], "log_damaged");
    daemon.store.flush().await.unwrap();

    // Known from the start on, or found by the check of a later one, it is the same.
    for home in [image(home.path()), before] {
        fs::remove_dir_all(home.path().join("index")).unwrap();
        let daemon = open(home.path(), SecretChoice::File, crate::sessions::ChildSetup::default()).await.unwrap();
        let (mut bot, _serving) = client(&daemon).await;
        shows_the_first_alone(&mut bot, &thread).await;
        daemon.stop(0);
    }
}

async fn shows_the_first_alone(bot: &mut Raw<DuplexStream>, thread: &str) {
    let about = json!({"threadId": thread});
    for method in ["item/list", "thread/messages"] {
        let page = bot.call(method, about.clone()).await;
        assert!(texts(&page).contains("one") && !texts(&page).contains("three"), "{method}: {page}");
    }
    let messages = bot.call("thread/messages", about.clone()).await;
    assert_eq!(messages["items"].as_array().unwrap().len(), 2, "{messages}");
    let mut after = 0;
    loop {
        let id = bot.request("thread/events", json!({"threadId": thread, "after": after})).await;
        let answer = bot.answer(id).await;
        match answer["result"]["nextAfter"].as_u64() {
            Some(next) => {
                assert!(next > after, "an end without a word: {answer}");
                after = next;
            }
            None => {
                assert_eq!(answer["error"]["data"]["reason"], "log_damaged", "{answer}");
                return;
            }
        }
    }
}
