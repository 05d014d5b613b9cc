//! The client's end of a connection, polled by hand: nothing happens on it but what the seed decides.

use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
};

use tokio::io::{AsyncRead as _, AsyncWrite as _, DuplexStream, ReadBuf};

/// The client's end of a connection.
pub(crate) struct Wire {
    stream: DuplexStream,
    unread: Vec<u8>,
    unsent: Vec<u8>,
    /// Whether the other end has closed it.
    pub(crate) is_closed: bool,
    /// Whether the last pump has moved anything.
    pub(crate) has_moved: bool,
    /// Whether nothing is read for now.
    pub(crate) is_slow: bool,
    /// Whether that was ever so: what it hears may be long over.
    pub(crate) was_slow: bool,
}

impl Wire {
    pub(crate) fn new(stream: DuplexStream) -> Self {
        Self {
            stream,
            unread: Vec::new(),
            unsent: Vec::new(),
            is_closed: false,
            has_moved: false,
            is_slow: false,
            was_slow: false,
        }
    }

    /// Sends bytes, as far as the pipe takes them; the rest goes with the next pump.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.unsent.extend_from_slice(bytes);
        self.flush();
    }

    /// Whether everything that was sent has been taken.
    pub(crate) fn has_sent(&self) -> bool {
        self.unsent.is_empty()
    }

    /// Writes and reads what can be now; the lines that are whole.
    pub(crate) fn pump(&mut self) -> Vec<String> {
        let before = (self.unsent.len(), self.unread.len(), self.is_closed);
        self.flush();
        if !self.is_slow {
            self.read();
        }
        self.has_moved = before != (self.unsent.len(), self.unread.len(), self.is_closed);
        let mut lines = Vec::new();
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            lines.push(String::from_utf8(line[..end].to_vec()).expect("every line is UTF-8"));
        }
        assert!(!self.is_closed || self.unread.is_empty(), "the daemon closed in the middle of a line");
        lines
    }

    fn flush(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        while !self.unsent.is_empty() && !self.is_closed {
            match Pin::new(&mut self.stream).poll_write(&mut context, &self.unsent) {
                Poll::Ready(Ok(taken)) if taken > 0 => drop(self.unsent.drain(..taken)),
                Poll::Ready(_) => {
                    // What the daemon has said before it closed is still read.
                    self.unsent.clear();
                }
                Poll::Pending => return,
            }
        }
    }

    fn read(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        let mut bytes = [0; 8_192];
        while !self.is_closed {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(&mut context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => self.unread.extend_from_slice(buffer.filled()),
                Poll::Ready(_) => self.is_closed = true,
                Poll::Pending => return,
            }
        }
    }
}
