//! Messages broken at random, from fixed seeds: each is answered or ignored, and the connection goes on.

use std::sync::Arc;

use serde_json::Value;

use super::{TestFeed, setting_of};
use crate::{Options, scan, sniff};

const MESSAGES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1,2.5e3,"\ud83d\ude00",null,true],"b":{"c":"d"}}}"#,
    r#"{"jsonrpc":"2.0","method":"note","params":{"x":-1}}"#,
    r#"[{"jsonrpc":"2.0","id":"a","method":"null"},{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","method":"n"}]"#,
    r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"no","data":{"kind":"methodNotFound"}}}"#,
];

/// A generator that is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn broken(&mut self) -> Vec<u8> {
        const PIECES: &[&[u8]] = &[
            b"{", b"}", b"[", b"]", b"\"", b"\\", b"\\u", b"\\ud800", b",", b":", b"1e999", b"\xff", b"0", b"null",
            b"\"id\":",
        ];
        let mut line = MESSAGES[self.below(MESSAGES.len())].as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(line.len());
            match self.below(4) {
                0 => line.truncate(at + 1),
                1 => drop(line.remove(at)),
                2 => drop(line.splice(at..at, PIECES[self.below(PIECES.len())].iter().copied())),
                _ => {
                    let other = self.below(line.len());
                    line.swap(at, other);
                }
            }
            if line.is_empty() {
                line.push(b'{');
            }
        }
        line
    }
}

#[tokio::test]
async fn broken_messages_never_end_the_connection() {
    for seed in 1..=8_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let options = Options { max_message_bytes: 120, max_depth: 4, max_batch: 2, ..Options::default() };
        let mut setting = setting_of(options, Arc::new(TestFeed::default()));
        for _ in 0..500 {
            let mut line = random.broken();
            line.push(b'\n');
            setting.stranger.send(&line).await;
            setting.stranger.send("{\"jsonrpc\":\"2.0\",\"id\":\"fence\",\"method\":\"null\"}\n").await;
            let mut answers = 0;
            loop {
                let answer: Value = setting.stranger.read().await;
                if answer["id"] == "fence" && answer["result"].is_null() && answer["error"].is_null() {
                    break;
                }
                answers += 1;
            }
            assert!(answers <= 1, "seed {seed}: {answers} answers to {}", String::from_utf8_lossy(&line));
        }
    }
}

#[test]
fn the_scan_agrees_with_serde_on_what_a_string_and_a_number_may_be() {
    let mut random = Random(0x5EED);
    let mut valid = 0;
    for _ in 0..50_000 {
        let line = random.broken();
        sniff::sniff(&line);
        let Ok(text) = std::str::from_utf8(&line) else { continue };
        if serde_json::from_str::<&serde_json::value::RawValue>(text).is_err() {
            continue;
        }
        valid += 1;
        // What serde cannot make a value of has a flaw or is deep; the scan knows more flaws than serde.
        if serde_json::from_str::<Value>(text).is_err() {
            assert!(scan::flaw(text).is_some(), "{text}");
        }
    }
    assert!(valid > 1_000, "only {valid} of the broken messages were JSON");
}
