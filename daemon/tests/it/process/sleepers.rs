//! Clients that do not read while everything is told to them: what they cost, and that they miss nothing.

use ropewalk_conformance::suite::Raw;
use ropewalk_protocol::limits::OUTBOX_BYTES;
use serde_json::{Value, json};
use tokio::net::UnixStream;

use super::{Place, client};

/// Clients that sleep.
const SLEEPERS: u64 = 50;
/// Events that all of them are to get, about 400 bytes each.
const EVENTS: usize = 6_000;
/// Requests that are under way at once.
const AT_ONCE: usize = 50;
/// What the daemon may grow by for other reasons: the hot end of a thread, the index, its allocator.
const SLACK_BYTES: u64 = 24 << 20;

#[tokio::test]
async fn rule_4_clients_that_sleep_cost_their_outbox_and_catch_up_without_a_gap() {
    let place = Place::new();
    let daemon = place.daemon().await;
    let mut bot = client(&daemon, "bot", "in-A").await;
    let thread = bot.start(&[]).await;
    let mut sleepers = Vec::new();
    for number in 0..SLEEPERS {
        let mut sleeper = client(&daemon, "sleeper", &format!("in-{number}")).await;
        sleeper.call("thread/resume", json!({"threadId": thread, "after": 0})).await;
        sleepers.push(sleeper);
    }
    rename(&mut bot, &thread, EVENTS / 10).await;
    let before = daemon.usage().unwrap().resident_bytes;
    rename(&mut bot, &thread, EVENTS).await;
    let grown = daemon.usage().unwrap().resident_bytes.saturating_sub(before);
    let bound = SLEEPERS * OUTBOX_BYTES + SLACK_BYTES;
    println!("{SLEEPERS} sleeping clients: {} KiB grown, {} KiB are the bound", grown / 1_024, bound / 1_024);
    assert!(grown <= bound, "{grown} bytes were kept for clients that do not read");

    let log = bot.log(&thread).await;
    let told: u64 = log.iter().map(|event| event.to_string().len() as u64).sum();
    assert!(told * SLEEPERS > 2 * bound, "had all of it been kept, it would show");
    for sleeper in sleepers.iter_mut().step_by(10) {
        sleeper.until("the last event", |line| line["params"]["seq"] == log.len()).await;
        let seqs: Vec<u64> = sleeper.kept.iter().filter_map(|line| line["params"]["seq"].as_u64()).collect();
        assert_eq!(seqs, (1..log.len() as u64).collect::<Vec<_>>(), "each once, in order");
    }
}

/// Makes so many durable events.
async fn rename(bot: &mut Raw<UnixStream>, thread: &Value, count: usize) {
    for first in (0..count).step_by(AT_ONCE) {
        let mut ids = Vec::new();
        for n in first..count.min(first + AT_ONCE) {
            let title = format!("title {n} {}", "x".repeat(100));
            ids.push(bot.request("thread/update", json!({"threadId": thread, "title": title})).await);
        }
        for id in ids {
            assert!(bot.answer(id).await.get("result").is_some());
        }
        bot.kept.clear();
    }
}
