//! What a server says beside the protocol: its stderr, and lines on stdout that are no messages. Bounded, and shown to people
//! only; nothing of it reaches a model.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use crate::tools::veil::Secrets;

/// Bytes of stderr that are kept: the last ones.
pub const STDERR_BYTES: usize = 64 << 10;

/// Lines of junk that are kept, and bytes of each: the first ones, because a server that does it does it always.
const JUNK_LINES: usize = 8;
const JUNK_BYTES: usize = 200;

/// Bytes of the last line of stderr that a reason quotes.
const LAST_WORDS_BYTES: usize = 300;

/// What a server says beside the protocol. Cheap to clone; whoever has it sees what is said later, too.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    noted: Arc<Mutex<Noted>>,
    /// What is taken out of everything that is shown: a server may print what it was started with.
    secrets: Arc<Secrets>,
}

#[derive(Debug, Default)]
struct Noted {
    stderr: VecDeque<u8>,
    junk: Vec<String>,
    junk_lines: u64,
    stray_messages: u64,
    oversized_lines: u64,
}

/// What was noted, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// The end of its stderr, at most 64 KiB.
    pub stderr: String,
    /// The first lines on stdout that were no messages.
    pub junk: Vec<String>,
    /// How many such lines there were.
    pub junk_lines: u64,
    /// Answers nobody waited for, and notifications nobody knows.
    pub stray_messages: u64,
    /// Lines that were too long to be read.
    pub oversized_lines: u64,
}

impl Diagnostics {
    /// Nothing yet, of a server that was given these secrets.
    #[must_use]
    pub fn hiding(secrets: Secrets) -> Self {
        Self { secrets: Arc::new(secrets), ..Self::default() }
    }

    /// Keeps the end of what was written to stderr.
    pub fn stderr(&self, bytes: &[u8]) {
        self.note(|noted| {
            noted.stderr.extend(bytes);
            let over = noted.stderr.len().saturating_sub(STDERR_BYTES);
            noted.stderr.drain(..over);
        });
    }

    /// Counts a line on stdout that is no message.
    pub fn junk(&self, line: &[u8]) {
        self.note(|noted| {
            noted.junk_lines += 1;
            if noted.junk.len() < JUNK_LINES {
                let shown = self.secrets.scrubbed(&String::from_utf8_lossy(line));
                noted.junk.push(shown[..shown.floor_char_boundary(JUNK_BYTES)].trim().to_owned());
            }
        });
    }

    /// Counts a message that belongs to nothing.
    pub fn stray(&self) {
        self.note(|noted| noted.stray_messages += 1);
    }

    /// Counts a line that was too long.
    pub fn oversized(&self) {
        self.note(|noted| noted.oversized_lines += 1);
    }

    /// What was noted so far.
    #[must_use]
    pub fn remarks(&self) -> Remarks {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let stderr: Vec<u8> = noted.stderr.iter().copied().collect();
        Remarks {
            stderr: self.secrets.scrubbed(&String::from_utf8_lossy(&stderr)),
            junk: noted.junk.clone(),
            junk_lines: noted.junk_lines,
            stray_messages: noted.stray_messages,
            oversized_lines: noted.oversized_lines,
        }
    }

    /// The last line it wrote to stderr that says anything, for the reason of a failure.
    #[must_use]
    pub fn last_words(&self) -> Option<String> {
        let stderr = self.remarks().stderr;
        let line = stderr.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        let end = line.floor_char_boundary(LAST_WORDS_BYTES);
        Some(line[..end].to_owned())
    }

    fn note(&self, note: impl FnOnce(&mut Noted)) {
        note(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
