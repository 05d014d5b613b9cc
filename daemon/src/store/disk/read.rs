//! Reading a range of a log, from the sparse offsets straight to the file.

use std::{
    io::ErrorKind,
    path::Path,
    sync::{Arc, PoisonError},
};

use ropewalk_protocol::Seq;

use super::{
    blobs,
    home::unreadable,
    live,
    log::{Health, Log, lock},
    position::Position,
    shared::Shared,
    walk::{Lines, Next},
};
use crate::store::{LogName, Record, StoreError, blobs::BlobTrouble, record};

impl Shared {
    /// Records of a log as [`crate::store::Store::read`] promises them. At the end of what can be read of a damaged
    /// log stands the error, so that nobody takes the place for the log's end.
    pub(super) fn read(&self, log: &Log, from: Seq, max_bytes: usize) -> Result<Vec<Arc<Record>>, StoreError> {
        // Only the daemon's log is ever written anew, and must not be while it is read.
        let _steady = (log.name == LogName::Daemon).then(|| lock(&log.file));
        let (position, damaged) = match self.health(log)? {
            Health::Unread | Health::Empty | Health::Uncut(None, _) => return Ok(Vec::new()),
            Health::Good(position) | Health::Uncut(Some(position), _) => (position, false),
            Health::Damaged(position) => (position, true),
        };
        let start = {
            let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
            index.offset_before(&log.name, from).map_err(live::unwritable)?
        };
        // An index that is about to be rebuilt may name a place beyond what is left of a damaged log.
        let start = if start < position.offset { start } else { 0 };
        let range = Range { log, position: &position, max_bytes, blobs: &self.home.blobs() };
        let (records, bad) = range.read(start, from)?;
        if let Some((offset, why)) = &bad {
            tracing::error!(log = %log.name, offset, %why, "a record cannot be read");
            self.note_damage(log, &log.mark_damaged(&position, *offset), why);
        }
        match bad.map(|(offset, _)| offset).or(damaged.then_some(position.offset)) {
            Some(offset) if records.is_empty() => Err(log.damaged(offset)),
            _ => Ok(records),
        }
    }
}

struct Range<'a> {
    log: &'a Log,
    position: &'a Position,
    max_bytes: usize,
    blobs: &'a Path,
}

/// The first record that cannot be read: where it is, and why.
type Bad = (u64, String);

impl Range<'_> {
    /// The records, and the first bad one if it was met.
    fn read(&self, start: u64, from: Seq) -> Result<(Vec<Arc<Record>>, Option<Bad>), StoreError> {
        let mut lines = match Lines::open(self.log.path(), start, self.position.offset) {
            Ok(lines) => lines,
            Err(error) if error.kind() == ErrorKind::NotFound && self.position.offset == 0 => {
                return Ok((Vec::new(), None));
            }
            Err(error) => return Err(unreadable(self.log.path(), &error)),
        };
        let mut line = Vec::new();
        if start == 0 {
            self.next(&mut lines, &mut line)?;
        }
        let mut records = Vec::new();
        let mut bytes = 0_usize;
        let mut ahead = Vec::new();
        let mut at = lines.offset;
        let mut more = self.next(&mut lines, &mut line)?;
        while more {
            let after = lines.offset;
            let has_next = self.next(&mut lines, &mut ahead)?;
            // A record is over when the next begins no later than what is looked for; most are passed over unread.
            let over = records.is_empty()
                && record::peek_seq(&line).is_some_and(|n| n < from)
                && has_next
                && record::peek_seq(&ahead).is_some_and(|next| next <= from);
            if !over {
                match record::decode(&line) {
                    Ok(line) if records.is_empty() && line.n() < from && line.next_seq() <= from => {}
                    Ok(decoded) => {
                        bytes = bytes.saturating_add(line.len()).saturating_add(decoded.outlined_bytes());
                        if bytes > self.max_bytes && !records.is_empty() {
                            break;
                        }
                        match decoded.whole(&|id, bytes| blobs::read(self.blobs, id, bytes)) {
                            Ok(record) => records.push(Arc::new(record)),
                            Err(BlobTrouble::Lost(why)) => return Ok((records, Some((at, why)))),
                            Err(BlobTrouble::Unreadable(_)) if !records.is_empty() => break,
                            Err(BlobTrouble::Unreadable(cause)) => {
                                let what = self.log.path().display().to_string();
                                return Err(StoreError::Read { what, cause });
                            }
                        }
                    }
                    // What was read before it is good; the next read begins here and gets the error.
                    Err(why) => return Ok((records, Some((at, why)))),
                }
            }
            std::mem::swap(&mut line, &mut ahead);
            at = after;
            more = has_next;
        }
        Ok((records, None))
    }

    fn next(&self, lines: &mut Lines, line: &mut Vec<u8>) -> Result<bool, StoreError> {
        match lines.next(line) {
            Ok(Next::Line | Next::Torn) => Ok(true),
            Ok(Next::End) => Ok(false),
            Err(error) => Err(unreadable(self.log.path(), &error)),
        }
    }
}
