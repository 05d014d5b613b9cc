//! A home that is removed under its daemon: it is said, the daemon ends, and nothing of the home comes back.

use std::fs;

use serde_json::json;

use super::{Troubled, refused};
use crate::{process::client, support::text};

#[tokio::test]
async fn k33_a_home_deleted_under_its_daemon_is_said_and_the_daemon_ends() {
    let place = Troubled::new();
    let mut daemon = place.plain().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let thread = bot.call("thread/start", json!({})).await["thread"]["threadId"].clone();
    fs::remove_dir_all(place.home()).unwrap();
    let said = refused(&mut bot, "run/submit", json!({"threadId": thread, "input": text("hi")}), "home_gone").await;
    assert!(said.contains("is gone"), "{said}");
    let status = daemon.ended().await.unwrap();
    assert_eq!(status.code(), Some(0), "{}", daemon.log());
    assert!(!place.home().exists(), "nothing of it comes back");
    // Whoever needs one starts anew, in a home of its own.
    let daemon = place.plain().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    assert!(bot.call("thread/list", json!({})).await["items"].as_array().unwrap().is_empty());
}
