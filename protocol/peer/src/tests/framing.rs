//! Lines: where they end, how long they may be, and what is none.

use serde_json::json;

use super::{kind, setting, setting_of};
use crate::{NoFeed, Options};
use std::sync::Arc;

fn padded(bytes: usize) -> String {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"null"}"#;
    format!("{request}{}", " ".repeat(bytes - request.len()))
}

#[tokio::test]
async fn empty_lines_and_carriage_returns_are_ignored() {
    let mut setting = setting();
    setting.stranger.send("\n\r\n  \n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"null\"}\r\n\n").await;
    assert_eq!(setting.stranger.line().await, r#"{"jsonrpc":"2.0","id":7,"result":null}"#);
    setting.stranger.nothing_more().await;
}

#[tokio::test]
async fn a_message_may_come_byte_by_byte() {
    let mut setting = setting();
    for byte in "{\"jsonrpc\":\"2.0\",\"id\":\"ü\",\"method\":\"echo\",\"params\":{\"a\":\"é\"}}\n".bytes() {
        setting.stranger.send([byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(setting.stranger.read().await, json!({"jsonrpc": "2.0", "id": "ü", "result": {"a": "é"}}));
}

#[tokio::test]
async fn many_messages_may_come_in_one_piece() {
    let mut setting = setting();
    let all: String = (0..100).map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"null\"}}\n")).collect();
    setting.stranger.send(all).await;
    for id in 0..100 {
        assert_eq!(setting.stranger.read().await["id"], id);
    }
}

#[tokio::test]
async fn ten_thousand_lines_of_garbage_are_each_answered_and_the_connection_goes_on() {
    let mut setting = setting();
    let garbage = ["}{", "nul", "\"", "{\"a\":}", "[1,", "\u{0}", "GET / HTTP/1.1"];
    for round in 0..10_000 {
        let line = garbage[round % garbage.len()];
        let answer = setting.stranger.ask(line).await;
        assert_eq!((kind(&answer), &answer["id"]), ("parse", &json!(null)), "{line}");
    }
    setting.stranger.nothing_more().await;
}

#[tokio::test]
async fn bytes_that_are_no_utf8_are_a_parse_error_that_says_where() {
    let mut setting = setting();
    setting.stranger.send(b"{\"a\":\"\xff\"}\n").await;
    let answer = setting.stranger.read().await;
    assert_eq!((kind(&answer), &answer["error"]["data"]["position"]), ("parse", &json!(6)));
    setting.stranger.nothing_more().await;
}

#[tokio::test]
async fn a_line_may_be_as_long_as_the_limit_and_no_byte_longer() {
    let options = Options { max_message_bytes: 1_000, ..Options::default() };
    let mut setting = setting_of(options, Arc::new(NoFeed));
    assert_eq!(setting.stranger.ask(&padded(1_000)).await["result"], json!(null));
    let answer = setting.stranger.ask(&padded(1_001)).await;
    assert_eq!(kind(&answer), "tooLarge");
    let data = &answer["error"]["data"];
    assert_eq!((&data["limit"], &data["actual"], &data["what"]), (&json!(1_000), &json!(1_001), &json!("message")));
    assert_eq!(answer["id"], 1);
    setting.stranger.nothing_more().await;
}

#[tokio::test]
async fn a_huge_line_is_skipped_to_its_end_with_its_length_counted() {
    let options = Options { max_message_bytes: 10_000, ..Options::default() };
    let mut setting = setting_of(options, Arc::new(NoFeed));
    let head = r#"{"jsonrpc":"2.0","method":"echo","params":{"a":""#;
    setting.stranger.send(head).await;
    for _ in 0..1_000 {
        setting.stranger.send([b'x'; 10_000]).await;
    }
    setting.stranger.send("\"},\"id\":3}\n").await;
    let answer = setting.stranger.read().await;
    assert_eq!((kind(&answer), &answer["id"]), ("tooLarge", &json!(null)), "its id stood too far back");
    assert_eq!(answer["error"]["data"]["actual"], head.len() + 10_000_000 + "\"},\"id\":3}".len());
    setting.stranger.nothing_more().await;
}

#[tokio::test]
async fn half_a_line_at_the_end_of_the_stream_is_dropped() {
    let mut setting = setting();
    setting
        .stranger
        .send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"null\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"torn\"}")
        .await;
    tokio::io::AsyncWriteExt::shutdown(&mut setting.stranger.writer).await.unwrap();
    assert_eq!(setting.stranger.read().await["id"], 1, "what was answered before the end is still written");
    assert!(setting.stranger.at_end().await);
    setting.peer.closed().await;
    assert!(setting.service.notified.lock().unwrap().is_empty());
    assert_eq!(*setting.service.closed.lock().unwrap(), 1);
}
