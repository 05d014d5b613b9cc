//! What happened in a seed: a digest of all of it, and its end in words for when it fails.

use std::collections::VecDeque;

/// How many lines of a trace are kept.
const KEPT: usize = 160;
/// How much of a line is kept.
const CHARACTERS: usize = 420;

/// What happened in a seed.
pub(crate) struct Trace {
    lines: VecDeque<String>,
    digest: u32,
    count: u64,
    /// Whether every line is printed as it happens.
    is_shown: bool,
}

impl Trace {
    /// Nothing has happened yet. `TRACE=1` prints what does.
    pub(crate) fn new() -> Self {
        let is_shown = std::env::var("TRACE").is_ok_and(|shown| shown == "1");
        Self { lines: VecDeque::new(), digest: 0, count: 0, is_shown }
    }

    /// Something happened, which happens again when the seed is repeated.
    pub(crate) fn note(&mut self, line: &str) {
        self.digest = crc32c::crc32c_append(self.digest, line.as_bytes());
        self.remark(line);
    }

    /// Something to read, which need not be the same when the seed is repeated.
    #[allow(clippy::print_stderr, reason = "that is what TRACE is for")]
    pub(crate) fn remark(&mut self, line: &str) {
        if self.is_shown {
            eprintln!("{line}");
        }
        self.count += 1;
        self.lines.push_back(line.chars().take(CHARACTERS).collect());
        if self.lines.len() > KEPT {
            self.lines.pop_front();
        }
    }

    /// The same for two runs in which the same happened.
    pub(crate) fn digest(&self) -> u32 {
        self.digest
    }

    /// The last lines.
    pub(crate) fn end(&self) -> String {
        let skipped = self.count - self.lines.len() as u64;
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        format!("({skipped} lines before)\n{}", lines.join("\n"))
    }
}
