//! The order in which things are written, and what happens when the other end does not read.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::{TestFeed, in_time, setting, setting_of};
use crate::{NoFeed, Options};

#[tokio::test]
async fn the_control_lane_passes_the_feed() {
    let feed = Arc::new(TestFeed::default());
    let mut setting = setting_of(Options::default(), feed.clone());
    // Fills the pipe, so that the writer is stuck in the first of many chunks when the answer is queued.
    for _ in 0..20 {
        feed.put("e".repeat(65_535) + "\n");
    }
    setting.stranger.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"null\"}\n").await;
    let mut before = 0;
    while setting.stranger.line().await.starts_with('e') {
        before += 1;
    }
    assert!(before <= 3, "the answer came after {before} chunks");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_feed_yields_after_an_answer_was_queued_is_sent_after_it() {
    let feed = Arc::new(TestFeed::default());
    let mut setting = setting_of(Options::default(), feed.clone());
    for id in 0..500 {
        setting.stranger.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"keep\"}}\n")).await;
        let mut kept = setting.service.kept().await;
        let feed = feed.clone();
        kept.on_sent(move || feed.put("{\"event\":true}\n"));
        tokio::spawn(async move { kept.ok(&1) });
        assert_eq!(setting.stranger.read().await["id"], id);
        assert_eq!(setting.stranger.read().await, json!({"event": true}));
    }
}

struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn what_a_short_answer_holds_does_not_wait_for_the_longer_one_behind_it() {
    let feed = Arc::new(TestFeed::default());
    let mut setting = setting_of(Options::default(), feed.clone());
    setting.stranger.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"keep\"}\n").await;
    let mut short = setting.service.kept().await;
    setting.stranger.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"keep\"}\n").await;
    let long = setting.service.kept().await;
    let released = Arc::new(AtomicBool::new(false));
    short.hold(Guard(released.clone()));
    // More than half of the pipe, so that the short answer fits in behind it and the long one does not.
    feed.put("e".repeat(40_000) + "\n");
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    short.ok(&1);
    long.ok(&"x".repeat(50_000));
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(released.load(Ordering::SeqCst), "whoever reads the short answer may ask again");
    setting.stranger.line().await;
    assert_eq!(setting.stranger.read().await["id"], 1);
    assert_eq!(setting.stranger.read().await["id"], 2);
}

#[tokio::test]
async fn what_an_answer_holds_is_let_go_when_it_was_written_and_not_before() {
    let feed = Arc::new(TestFeed::default());
    let mut setting = setting_of(Options::default(), feed.clone());
    setting.stranger.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"keep\"}\n").await;
    let mut kept = setting.service.kept().await;
    let released = Arc::new(AtomicBool::new(false));
    kept.hold(Guard(released.clone()));
    kept.ok(&"x".repeat(1 << 18));
    setting.stranger.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"keep\"}\n").await;
    let second = setting.service.kept().await;
    assert!(!released.load(Ordering::SeqCst), "the pipe is full and the answer not out");
    setting.stranger.line().await;
    second.ok(&2);
    assert_eq!(setting.stranger.read().await["id"], 2);
    assert!(released.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_only_writes_is_not_read_any_further() {
    let options = Options { pause_reading_above_bytes: Some(10_000), ..Options::default() };
    let mut setting = setting_of(options, Arc::new(NoFeed));
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"long\",\"params\":{\"bytes\":1000}}\n";
    let mut sent = 0;
    while let Ok(written) =
        tokio::time::timeout(Duration::from_millis(200), setting.stranger.writer.write_all(line)).await
    {
        written.unwrap();
        sent += 1;
        assert!(sent < 10_000, "reading never stopped");
    }
    for _ in 0..sent {
        assert_eq!(setting.stranger.read().await["id"], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_cannot_keep_a_closed_connection_open() {
    let setting = setting();
    setting.peer.send_line("x".repeat(1 << 20).into()).unwrap();
    setting.peer.close();
    in_time(setting.peer.closed()).await;
}

#[tokio::test]
async fn a_line_sent_before_the_close_is_still_written() {
    let mut setting = setting();
    setting.peer.send_line("{\"last\":1}\n".into()).unwrap();
    setting.peer.close();
    assert_eq!(setting.stranger.read().await, json!({"last": 1}));
    assert!(setting.stranger.at_end().await);
}

#[tokio::test]
async fn k44_between_two_requests_of_one_piece_other_connections_have_their_turn() {
    let (mut busy, mut other) = (setting(), setting());
    let line = |id: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"keep\"}}\n");
    busy.stranger.send((0..60).map(line).collect::<String>()).await;
    other.stranger.send(line(0)).await;
    other.service.kept().await.ok(&1);
    let before = busy.service.kept.lock().unwrap().len();
    assert!(before < 8, "{before} requests of one connection came before the only one of another");
    assert_eq!(other.stranger.read().await["result"], 1);
    let all = |service: &super::Examples| (service.kept.lock().unwrap().len() == 60).then_some(());
    busy.service.until(all).await;
}
