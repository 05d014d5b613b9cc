//! What was said on each connection and to the driver, the newest lines of it, for whoever reads why a vector failed.

use std::collections::VecDeque;

use super::super::super::report::Transcript;

/// Lines that are kept of each.
const KEPT_LINES: usize = 60;
/// Characters that are kept of a line.
const KEPT_CHARACTERS: usize = 400;

/// All that was said.
#[derive(Debug, Default)]
pub(super) struct Transcripts {
    driver: VecDeque<String>,
    connections: Vec<VecDeque<String>>,
}

impl Transcripts {
    /// Something was said to (`→`) or by (`←`) the driver.
    pub(super) fn driver(&mut self, sign: &str, line: &str) {
        put(&mut self.driver, sign, line);
    }

    /// Something was said over a connection, or happened to it (`#`).
    pub(super) fn connection(&mut self, number: usize, sign: &str, line: &str) {
        while self.connections.len() < number {
            self.connections.push(VecDeque::new());
        }
        if let Some(lines) = number.checked_sub(1).and_then(|at| self.connections.get_mut(at)) {
            put(lines, sign, line);
        }
    }

    /// All of it, with what the driver wrote to stderr.
    pub(super) fn whole(self, complaints: &str) -> Vec<Transcript> {
        let driver = Transcript { connection: "driver".to_owned(), lines: self.driver.into() };
        let connections = self.connections.into_iter().enumerate();
        let connections =
            connections.map(|(at, lines)| Transcript { connection: (at + 1).to_string(), lines: lines.into() });
        let mut whole: Vec<_> = std::iter::once(driver).chain(connections).collect();
        if !complaints.trim().is_empty() {
            let lines = complaints.lines().map(str::to_owned).collect();
            whole.push(Transcript { connection: "stderr of the driver".to_owned(), lines });
        }
        whole
    }
}

fn put(lines: &mut VecDeque<String>, sign: &str, line: &str) {
    let line = line.trim_end();
    let cut = line.char_indices().nth(KEPT_CHARACTERS);
    let line = cut.map_or_else(|| line.to_owned(), |(end, _)| format!("{}… ({} bytes)", &line[..end], line.len()));
    lines.push_back(format!("{sign} {line}"));
    if lines.len() > KEPT_LINES {
        lines.pop_front();
    }
}
