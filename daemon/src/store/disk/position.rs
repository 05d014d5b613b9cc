//! How far a log is known: what the index keeps of every log, and the writer keeps of the logs in use.

use ropewalk_protocol::Seq;

/// A place between two records of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// The log's own random id.
    pub(super) log_id: String,
    /// The bytes before this place.
    pub(super) offset: u64,
    /// The sequence number of the next event.
    pub(super) next_seq: Seq,
    /// The sum of the record before this place; 0 when there is none.
    pub(super) sum: u32,
    /// Where the last sparse offset points.
    pub(super) marked: u64,
    /// The length that was once acknowledged. Beyond `offset` only for a log that is damaged there.
    pub(super) acknowledged: u64,
}

/// One sparse offset about every so many bytes of a log.
pub(super) const MARK_EVERY_BYTES: u64 = 64 * 1024;

impl Position {
    /// Where the first record goes.
    pub(super) const fn after_header(log_id: String, offset: u64) -> Self {
        Self { log_id, offset, next_seq: 1, sum: 0, marked: 0, acknowledged: offset }
    }

    /// Whether acknowledged records cannot be read.
    pub(super) const fn is_damaged(&self) -> bool {
        self.acknowledged > self.offset
    }

    /// Moves over a record of `bytes` bytes; returns whether the record deserves a sparse offset.
    pub(super) fn pass(&mut self, bytes: u64, next_seq: Seq, sum: u32) -> bool {
        let start = self.offset;
        self.offset += bytes;
        self.acknowledged = self.acknowledged.max(self.offset);
        self.next_seq = next_seq;
        self.sum = sum;
        let mark = start - self.marked >= MARK_EVERY_BYTES;
        if mark {
            self.marked = start;
        }
        mark
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(36 + self.log_id.len());
        for number in [self.acknowledged, self.offset, self.next_seq, self.marked] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&self.sum.to_be_bytes());
        bytes.extend_from_slice(self.log_id.as_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.split_at_checked(32)?;
        let (sum, log_id) = rest.split_first_chunk::<4>()?;
        let mut numbers = numbers.chunks_exact(8).map(|chunk| u64::from_be_bytes(chunk.try_into().unwrap_or_default()));
        Some(Self {
            acknowledged: numbers.next()?,
            offset: numbers.next()?,
            next_seq: numbers.next()?,
            marked: numbers.next()?,
            sum: u32::from_be_bytes(*sum),
            log_id: String::from_utf8(log_id.to_vec()).ok()?,
        })
    }
}
