//! Reading a range of a log, from the sparse offsets straight to the file.

use std::{
    io::ErrorKind,
    sync::{Arc, PoisonError},
};

use ropewalk_protocol::Seq;

use super::{
    home::unreadable,
    live,
    log::{Health, Log},
    position::Position,
    shared::Shared,
    walk::{Lines, Next},
};
use crate::store::{Record, StoreError, record};

impl Shared {
    /// Records of a log as [`crate::store::Store::read`] promises them. At the end of what can be read of a damaged
    /// log stands the error, so that nobody takes the place for the log's end.
    pub(super) fn read(&self, log: &Log, from: Seq, max_bytes: usize) -> Result<Vec<Arc<Record>>, StoreError> {
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
        let (records, bad) = Range { log, position: &position, max_bytes }.read(start, from)?;
        if let Some(offset) = bad {
            self.note_damage(log, &log.mark_damaged(&position, offset));
        }
        match bad.or(damaged.then_some(position.offset)) {
            Some(offset) if records.is_empty() => Err(log.damaged(offset)),
            _ => Ok(records),
        }
    }
}

struct Range<'a> {
    log: &'a Log,
    position: &'a Position,
    max_bytes: usize,
}

impl Range<'_> {
    /// The records, and where the first bad one is if it was met.
    fn read(&self, start: u64, from: Seq) -> Result<(Vec<Arc<Record>>, Option<u64>), StoreError> {
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
        let mut bytes = 0;
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
                    Ok(line) if records.is_empty() && line.record.n < from && line.record.next_seq() <= from => {}
                    Ok(decoded) => {
                        bytes += line.len();
                        if bytes > self.max_bytes && !records.is_empty() {
                            break;
                        }
                        records.push(Arc::new(decoded.record));
                    }
                    // What was read before it is good; the next read begins here and gets the error.
                    Err(_) => return Ok((records, Some(at))),
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
