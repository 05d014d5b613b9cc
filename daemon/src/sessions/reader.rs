//! Reads lines of bounded length: that one is too long is said as soon as it is, and both its ends are kept to say whose answer
//! it was.

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes of each end of a line that is too long.
const ENDS: usize = 4 << 10;

/// Bytes read at once.
const READ: usize = 64 << 10;

/// A buffer that has grown beyond this for one line is given back.
const KEPT: usize = 1 << 20;

/// One line.
pub enum Line<'a> {
    /// A whole line, without its end.
    Whole(&'a [u8]),
    /// A line that has become too long, and goes on; its end comes as [`Line::Oversized`], if it comes.
    TooLong {
        /// How it began.
        head: &'a [u8],
    },
    /// A line that was skipped.
    Oversized {
        /// How it began.
        head: &'a [u8],
        /// How it ended.
        tail: &'a [u8],
    },
    /// There is nothing more.
    End,
}

/// Reads lines.
pub struct LineReader<R> {
    read: R,
    limit: usize,
    /// What was read; `start..` is not handed out yet.
    buffer: Vec<u8>,
    start: usize,
    /// How far it was looked through for the end of a line.
    searched: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Whether the line that is being read is too long, which was said.
    is_skipping: bool,
    has_ended: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// A reader of lines of at most `limit` bytes.
    pub fn new(read: R, limit: usize) -> Self {
        Self {
            read,
            limit,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            head: Vec::new(),
            tail: Vec::new(),
            is_skipping: false,
            has_ended: false,
        }
    }

    /// The next line. What follows the last end of line is a line as well.
    pub async fn next(&mut self) -> Line<'_> {
        loop {
            if let Some(at) = memchr(&self.buffer[self.searched..]) {
                let end = self.searched + at;
                let start = std::mem::replace(&mut self.start, end + 1);
                self.searched = self.start;
                let was_said = std::mem::take(&mut self.is_skipping);
                if was_said || end - start > self.limit {
                    return self.skipped(start, end, was_said);
                }
                return Line::Whole(&self.buffer[start..end]);
            }
            self.searched = self.buffer.len();
            if self.buffer.len() - self.start > self.limit {
                let is_new = !self.is_skipping;
                self.skip();
                if is_new {
                    return Line::TooLong { head: &self.head };
                }
            }
            if self.has_ended || !self.fill().await {
                self.has_ended = true;
                let (start, end) = (self.start, self.buffer.len());
                (self.start, self.searched) = (end, end);
                return match (std::mem::take(&mut self.is_skipping), start == end) {
                    (true, _) => self.skipped(start, end, true),
                    (false, true) => Line::End,
                    (false, false) => Line::Whole(&self.buffer[start..end]),
                };
            }
        }
    }

    async fn fill(&mut self) -> bool {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        if self.buffer.is_empty() && self.buffer.capacity() > KEPT {
            self.buffer = Vec::new();
        }
        self.buffer.reserve(READ);
        // An error of a pipe is its end.
        self.read.read_buf(&mut self.buffer).await.is_ok_and(|bytes| bytes > 0)
    }

    /// Drops what there is of a line that is too long, but for its ends.
    fn skip(&mut self) {
        let line = &self.buffer[self.start..];
        if !std::mem::replace(&mut self.is_skipping, true) {
            self.head = line[..line.len().min(ENDS)].to_vec();
        }
        self.tail = line[line.len().saturating_sub(ENDS)..].to_vec();
        self.start = self.buffer.len();
        self.searched = self.start;
    }

    fn skipped(&mut self, start: usize, end: usize, goes_on: bool) -> Line<'_> {
        let line = &self.buffer[start..end];
        if !goes_on {
            self.head = line[..line.len().min(ENDS)].to_vec();
            self.tail.clear();
        }
        self.tail.extend_from_slice(&line[line.len().saturating_sub(ENDS)..]);
        Line::Oversized { head: &self.head, tail: &self.tail }
    }
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}
