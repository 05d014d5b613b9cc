//! A log of the store in memory: its records as lines, and what of them nothing has applied yet.

use std::sync::Arc;

use ropewalk_protocol::Seq;

use crate::store::{LogName, StoreError, header::Header, record::peek_seq};

/// A log in memory.
#[derive(Clone)]
pub(super) struct MemoryLog {
    /// Every record as the line it would be on disk.
    pub(super) lines: Vec<Arc<[u8]>>,
    /// The number of the next event.
    pub(super) next_seq: Seq,
    /// How long it would be on disk.
    pub(super) bytes: u64,
    /// How many lines the rows contain.
    pub(super) applied: usize,
    /// Why the log has to be cut before it takes anything.
    pub(super) uncut: Option<StoreError>,
    /// The line and the byte from which nothing can be read.
    pub(super) damaged: Option<(usize, u64)>,
}

impl MemoryLog {
    /// A log without records.
    pub(super) fn new(name: &LogName) -> Self {
        let mut header = Vec::new();
        Header::new(name).encode(&mut header);
        Self { lines: Vec::new(), next_seq: 1, bytes: header.len() as u64, applied: 0, uncut: None, damaged: None }
    }

    /// The first line that holds `seq`, counting a line without events as holding the one after it.
    pub(super) fn first_holding(&self, seq: Seq) -> usize {
        let first_from = self.lines.partition_point(|line| peek_seq(line).unwrap_or(0) < seq);
        let before = first_from.checked_sub(1).filter(|at| {
            let next = self.lines.get(at + 1).and_then(|line| peek_seq(line)).unwrap_or(self.next_seq);
            next > seq
        });
        before.unwrap_or(first_from)
    }

    /// The first line that the rows do not contain, and which it is.
    pub(super) fn first_missing(&self) -> Option<(usize, Arc<[u8]>)> {
        let end = self.damaged.map_or(self.lines.len(), |(line, _)| line);
        (self.applied < end).then(|| (self.applied, Arc::clone(&self.lines[self.applied])))
    }

    /// The byte at which a line begins.
    pub(super) fn offset_of(&self, at: usize) -> u64 {
        self.bytes - self.lines[at..].iter().map(|line| line.len() as u64 + 1).sum::<u64>()
    }
}
