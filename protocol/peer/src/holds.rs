//! What holds of every line and of every stream, whatever is in it. The tests try it with fixed seeds, and the fuzzers of
//! `conformance/fuzz` with whatever takes a new path.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use futures::FutureExt as _;
use serde_json::{Value, value::RawValue};
use tokio::io::{AsyncRead, ReadBuf};

use crate::{
    frame::{Frame, HEAD_BYTES, Lines},
    scan, sniff,
};

/// That the scan of a line agrees with serde on what a string and a number may be: what serde cannot make a value of has a
/// flaw. Returns whether the line is JSON.
///
/// # Panics
/// When it does not hold.
pub fn of_a_line(line: &[u8]) -> bool {
    sniff::sniff(line);
    let Ok(text) = std::str::from_utf8(line) else { return false };
    if serde_json::from_str::<&RawValue>(text).is_err() {
        return false;
    }
    // The scan knows more flaws than serde.
    if serde_json::from_str::<Value>(text).is_err() {
        assert!(scan::flaw(text).is_some(), "{text}");
    }
    true
}

/// That a stream has the same lines, however it is cut: those that end within it and are not blank, each whole or as too long
/// for `max` bytes.
///
/// # Panics
/// When it does not hold.
pub fn of_a_stream(pieces: VecDeque<Vec<u8>>, max: usize) {
    let bytes = pieces.iter().flatten().copied().collect::<Vec<_>>();
    let mut expected: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    // What stands behind the last line break may be torn.
    expected.pop();
    expected.retain(|line| line.len() > max || !line.trim_ascii().is_empty());
    let (mut lines, mut found) = (Lines::new(Pieces(pieces), max), Vec::new());
    loop {
        found.extend(std::iter::from_fn(|| lines.take()));
        if !lines.fill().now_or_never().expect("nothing is waited for").expect("nothing fails") {
            break;
        }
    }
    assert_eq!(found.len(), expected.len());
    for (frame, line) in found.iter().zip(expected) {
        match frame {
            Frame::Line(found) => assert_eq!(found, line),
            Frame::TooLong { head, actual } => {
                assert!(line.len() > max && *actual == line.len() as u64);
                assert!(!head.is_empty() && head.len() <= HEAD_BYTES && line.starts_with(head));
            }
        }
    }
}

/// A stream that comes in these pieces.
struct Pieces(VecDeque<Vec<u8>>);

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Some(mut piece) = self.0.pop_front() {
            let rest = piece.split_off(piece.len().min(buffer.remaining()));
            buffer.put_slice(&piece);
            if !rest.is_empty() {
                self.0.push_front(rest);
            }
        }
        Poll::Ready(Ok(()))
    }
}
