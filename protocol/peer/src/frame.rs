//! Cuts a stream into lines without ever holding more of it than one line may be long.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of a line that is too long is kept, to find its id in.
pub(crate) const HEAD_BYTES: usize = 4_096;
const READ_BYTES: usize = 8_192;
const KEPT_BYTES: usize = 65_536;

/// One line of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A line within the limit, without its line break, not empty.
    Line(Bytes),
    /// A line over the limit, after its end was reached: how it began and how long it was.
    TooLong { head: Vec<u8>, actual: u64 },
}

/// The lines of a stream. What stands after the last line break when the stream ends is dropped: it may be torn.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line break.
    searched: usize,
    max: usize,
    skipping: Option<Skipped>,
}

struct Skipped {
    head: Vec<u8>,
    bytes: u64,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, max: usize) -> Self {
        Self { reader, buffer: BytesMut::new(), searched: 0, max, skipping: None }
    }

    /// The next line that has been read already.
    pub(crate) fn take(&mut self) -> Option<Frame> {
        while let Some(found) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
            let length = self.searched + found;
            let mut line = self.buffer.split_to(length + 1);
            self.searched = 0;
            line.truncate(length);
            if let Some(skipped) = self.skipping.take() {
                return Some(Frame::TooLong { head: skipped.head, actual: skipped.bytes + length as u64 });
            }
            if length > self.max {
                return Some(Frame::TooLong { head: head_of(&line), actual: length as u64 });
            }
            if !line.trim_ascii().is_empty() {
                return Some(Frame::Line(line.freeze()));
            }
        }
        self.searched = self.buffer.len();
        self.skip_what_is_too_long();
        None
    }

    /// Reads more; false at the end of the stream.
    pub(crate) async fn fill(&mut self) -> io::Result<bool> {
        if self.buffer.is_empty() && self.buffer.capacity() > KEPT_BYTES {
            self.buffer = BytesMut::new();
        }
        self.buffer.reserve(self.buffer.len().clamp(READ_BYTES, 1 << 20));
        Ok(self.reader.read_buf(&mut self.buffer).await? > 0)
    }

    fn skip_what_is_too_long(&mut self) {
        if let Some(skipped) = &mut self.skipping {
            skipped.bytes += self.buffer.len() as u64;
        } else if self.buffer.len() > self.max {
            self.skipping = Some(Skipped { head: head_of(&self.buffer), bytes: self.buffer.len() as u64 });
        } else {
            return;
        }
        self.buffer.clear();
        self.searched = 0;
    }
}

fn head_of(line: &[u8]) -> Vec<u8> {
    line[..line.len().min(HEAD_BYTES)].to_vec()
}
