//! Messages broken at random, from fixed seeds: each is answered or ignored, and the connection goes on.

use std::{collections::VecDeque, sync::Arc};

use serde_json::Value;

use super::{TestFeed, setting_of};
use crate::{Options, frame::HEAD_BYTES, holds};

const MESSAGES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1,2.5e3,"\ud83d\ude00",null,true],"b":{"c":"d"}}}"#,
    r#"{"jsonrpc":"2.0","method":"note","params":{"x":-1}}"#,
    r#"[{"jsonrpc":"2.0","id":"a","method":"null"},{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","method":"n"}]"#,
    r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"no","data":{"kind":"methodNotFound"}}}"#,
];

/// How often something is tried: mostly, and with `SLOW=1`.
fn tries(mostly: u64, long: u64) -> u64 {
    if std::env::var_os("SLOW").is_some() { long } else { mostly }
}

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
    for seed in 1..=tries(8, 400) {
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
    for _ in 0..tries(50_000, 5_000_000) {
        valid += u32::from(holds::of_a_line(&random.broken()));
    }
    assert!(valid > 1_000, "only {valid} of the broken messages were JSON");
}

/// Some lines, short, long, broken and blank, in pieces.
fn stream_of(random: &mut Random, max: usize) -> VecDeque<Vec<u8>> {
    let mut bytes = Vec::new();
    for _ in 0..random.below(12) {
        match random.below(5) {
            0 => bytes.extend(std::iter::repeat_n(b'x', max + random.below(3) * random.below(2 * HEAD_BYTES) - 1)),
            1 => bytes.extend_from_slice([b" \t\r".as_slice(), b"", b"\r\n \n"][random.below(3)]),
            _ => bytes.extend(random.broken()),
        }
        if random.below(8) > 0 {
            bytes.push(b'\n');
        }
    }
    let mut pieces = VecDeque::new();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let longest = [1, 7, 300, 9_000][random.below(4)];
        let (piece, behind) = rest.split_at(rest.len().min(1 + random.below(longest)));
        pieces.push_back(piece.to_vec());
        rest = behind;
    }
    pieces
}

#[test]
fn however_a_stream_is_cut_its_lines_are_the_same() {
    let mut random = Random(0xC07);
    for _ in 0..tries(3_000, 300_000) {
        let max = 100 + random.below(120);
        holds::of_a_stream(stream_of(&mut random, max), max);
    }
}
