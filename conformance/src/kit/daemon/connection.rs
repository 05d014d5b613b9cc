//! One connection of a vector: lines out of bytes, what came and was not taken, and what was said for the report.

use std::io;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

use super::rules::{Broken, Rules};
use crate::kit::report::Transcript;

/// The newest lines of a connection that a report shows, and how much of each.
const SHOWN_LINES: usize = 40;
const SHOWN_CHARACTERS: usize = 600;
/// What a daemon may send beyond the longest line it may send, before reading it any further is pointless.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// One connection.
pub(super) struct Connection {
    /// `None` while it is written to elsewhere.
    pub(super) writer: Option<OwnedWriteHalf>,
    reader: OwnedReadHalf,
    buffer: Vec<u8>,
    scanned: usize,
    /// What came and was not taken, in order.
    pub(super) inbox: Vec<Value>,
    /// What holds throughout.
    pub(super) rules: Rules,
    /// Whether it is read.
    pub(super) is_paused: bool,
    /// Whether the daemon has closed it.
    pub(super) is_ended: bool,
    said: Vec<String>,
}

impl Connection {
    pub(super) fn new(stream: UnixStream, rules: Rules) -> Self {
        let (reader, writer) = stream.into_split();
        Self {
            writer: Some(writer),
            reader,
            buffer: Vec::new(),
            scanned: 0,
            inbox: Vec::new(),
            rules,
            is_paused: false,
            is_ended: false,
            said: Vec::new(),
        }
    }

    /// Whether a line may come.
    pub(super) const fn is_read(&self) -> bool {
        !self.is_paused && !self.is_ended
    }

    /// The next line, without its end; `None` when the daemon has closed the connection. Nothing is lost when the wait
    /// is given up.
    pub(super) async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(at) = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(self.scanned + at + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.pop();
                self.scanned = 0;
                return Ok(Some(line));
            }
            self.scanned = self.buffer.len();
            if self.scanned > MOST_BYTES {
                return Err(io::Error::other(format!("a line of more than {MOST_BYTES} bytes")));
            }
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return match self.buffer.is_empty() {
                    true => Ok(None),
                    false => Err(io::Error::other("the last line has no end")),
                };
            }
        }
    }

    /// What was read, or that there is no more: kept, and held against the rules.
    pub(super) fn take_in(&mut self, read: io::Result<Option<Vec<u8>>>) -> Result<(), Broken> {
        let line = match read {
            Ok(Some(line)) => line,
            Ok(None) => {
                self.note("# closed by the daemon");
                self.is_ended = true;
                return Ok(());
            }
            // A daemon that is killed may reset what it did not read.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                self.note("# reset by the daemon");
                self.is_ended = true;
                return Ok(());
            }
            Err(error) => {
                self.is_ended = true;
                return Err(Broken::new("line", "lines that end", error.to_string()));
            }
        };
        self.remember('←', &String::from_utf8_lossy(&line));
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let message = self.rules.read(&line)?;
        self.rules.came(&message)?;
        self.inbox.push(message);
        Ok(())
    }

    /// Writes bytes.
    pub(super) async fn write(writer: &mut OwnedWriteHalf, bytes: &[u8]) -> io::Result<()> {
        writer.write_all(bytes).await?;
        writer.flush().await
    }

    /// Remembers for the report what was sent.
    pub(super) fn sent(&mut self, text: &str) {
        self.remember('→', text);
    }

    /// Remembers for the report what was done to it.
    pub(super) fn note(&mut self, what: &str) {
        self.said.push(what.to_owned());
    }

    fn remember(&mut self, direction: char, text: &str) {
        let text = text.trim_end();
        let shown = match text.char_indices().nth(SHOWN_CHARACTERS) {
            Some((end, _)) => format!("{direction} {}… ({} bytes)", &text[..end], text.len()),
            None => format!("{direction} {text}"),
        };
        self.said.push(shown);
        // Twice as many are kept, so that old ones go in one piece.
        if self.said.len() > 2 * SHOWN_LINES {
            self.said.drain(..SHOWN_LINES);
        }
    }

    /// What was said, for the report.
    pub(super) fn transcript(&self, name: &str) -> Transcript {
        let from = self.said.len().saturating_sub(SHOWN_LINES);
        Transcript { connection: name.to_owned(), lines: self.said[from..].to_vec() }
    }
}
