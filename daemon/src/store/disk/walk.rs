//! Reading a log from a place to its end, and judging what cannot be read.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom},
    os::unix::fs::FileExt as _,
    path::Path,
};

use ropewalk_protocol::Seq;

use super::position::Position;
use crate::store::{
    LogName, StoreError,
    header::{Header, MAX_HEADER_BYTES},
    record::{self, Line, MAX_LINE_BYTES},
};

/// What is to be read of one log.
#[derive(Debug)]
pub(super) struct Stretch<'a> {
    pub(super) log: &'a LogName,
    pub(super) path: &'a Path,
    /// Where to begin; the log's start without one.
    pub(super) from: Option<&'a Position>,
    /// What an index said of this log: a witness of what was once acknowledged.
    pub(super) known: Option<&'a Position>,
    /// Bytes beyond this are not there.
    pub(super) len: u64,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Walked {
    /// The place after the last good record; its offset is 0 when not even the first line can be read.
    pub(super) position: Position,
    /// How many good records there were.
    pub(super) records: u64,
    pub(super) end: End,
}

/// What follows the last good record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing.
    Whole,
    /// Bytes that nobody was told are there.
    Unacknowledged,
    /// Records that were acknowledged and cannot be read; `position.acknowledged` lies beyond `position.offset`.
    Damaged(String),
}

/// A good record on its way by.
pub(super) struct Passed<'a> {
    pub(super) line: Line,
    /// The place after it.
    pub(super) position: &'a Position,
    /// The sparse offset it deserves.
    pub(super) mark: Option<(Seq, u64)>,
}

/// Why a visitor wants to see no more.
#[derive(Debug)]
pub(super) enum Stop {
    /// The record cannot be understood.
    Record(String),
    /// The index cannot be read or written.
    Index(String),
}

/// Why a walk came to no judgement.
#[derive(Debug)]
pub(super) enum Failed {
    Index(String),
    Store(StoreError),
}

/// Reads records until the first that is not good (ruling 38).
///
/// # Errors
/// When the log has a version this build does not know, or the visitor's index fails. A file that cannot be read is
/// damage, not an error: one bad log must not keep the others from starting.
pub(super) fn walk(
    stretch: &Stretch<'_>,
    visit: &mut dyn FnMut(Passed<'_>) -> Result<(), Stop>,
) -> Result<Walked, Failed> {
    let mut walk = Walk { position: start_of(stretch), records: 0, durable: 0 };
    let end = match Lines::open(stretch.path, walk.position.offset, stretch.len) {
        Ok(mut lines) => walk.run(stretch, &mut lines, visit)?,
        Err(error) => Bad::Unreadable(error.to_string()),
    };
    if let Some(known) = stretch.known {
        let same = walk.position.offset == 0 || known.log_id == walk.position.log_id;
        walk.durable = walk.durable.max(if same { known.acknowledged } else { 0 });
    }
    let Walk { mut position, records, durable } = walk;
    let end = match end {
        Bad::Nothing => End::Whole,
        Bad::Bytes(_) if durable <= position.offset => End::Unacknowledged,
        Bad::Bytes(why) => {
            position.acknowledged = durable;
            End::Damaged(why)
        }
        // Nothing may be cut away from a file that could not be read to its end.
        Bad::Unreadable(why) => {
            position.acknowledged = durable.max(stretch.len).max(position.offset + 1);
            End::Damaged(why)
        }
    };
    Ok(Walked { position, records, end })
}

struct Walk {
    position: Position,
    records: u64,
    /// The greatest length that a line after the bad place says was synced.
    durable: u64,
}

/// What stopped the walk.
enum Bad {
    Nothing,
    Bytes(String),
    Unreadable(String),
}

fn start_of(stretch: &Stretch<'_>) -> Position {
    let mut position = stretch.from.cloned().unwrap_or_else(|| Position::after_header(String::new(), 0));
    position.acknowledged = position.offset;
    position
}

impl Walk {
    fn run(
        &mut self,
        stretch: &Stretch<'_>,
        lines: &mut Lines,
        visit: &mut dyn FnMut(Passed<'_>) -> Result<(), Stop>,
    ) -> Result<Bad, Failed> {
        let mut line = Vec::new();
        if self.position.offset == 0 {
            match lines.next(&mut line) {
                Ok(Next::Line) => match Header::decode(&line, stretch.log).map_err(Failed::Store)? {
                    Some(header) => self.position = Position::after_header(header.log_id, lines.offset),
                    None => return Ok(self.look_beyond(lines, "its first line is not that of a log".to_owned())),
                },
                Ok(Next::Torn) => return Ok(Bad::Bytes("its first line is torn".to_owned())),
                Ok(Next::End) => return Ok(Bad::Bytes("it is empty".to_owned())),
                Err(error) => return Ok(Bad::Unreadable(error.to_string())),
            }
        }
        loop {
            match lines.next(&mut line) {
                Ok(Next::Line) => {}
                Ok(Next::Torn) => return Ok(Bad::Bytes("its last line is torn".to_owned())),
                Ok(Next::End) => return Ok(Bad::Nothing),
                Err(error) => return Ok(Bad::Unreadable(error.to_string())),
            }
            if let Some(why) = self.pass(&line, lines.offset, visit)? {
                return Ok(match why {
                    Bad::Bytes(why) => self.look_beyond(lines, why),
                    other => other,
                });
            }
        }
    }

    /// Takes one line; returns what is wrong with it.
    fn pass(
        &mut self,
        line: &[u8],
        offset: u64,
        visit: &mut dyn FnMut(Passed<'_>) -> Result<(), Stop>,
    ) -> Result<Option<Bad>, Failed> {
        let line = match record::decode(line) {
            Ok(line) if line.n() == self.position.next_seq => line,
            Ok(line) => {
                let (n, expected) = (line.n(), self.position.next_seq);
                // A good line out of turn is a witness like any later one.
                self.durable = self.durable.max(line.durable);
                return Ok(Some(Bad::Bytes(format!("a record has the number {n} where {expected} belongs"))));
            }
            Err(why) => return Ok(Some(Bad::Bytes(format!("a record cannot be read: {why}")))),
        };
        let start = self.position.offset;
        let mut after = self.position.clone();
        let mark = after.pass(offset - start, line.next_seq(), line.sum).then_some((line.n(), start));
        match visit(Passed { line, position: &after, mark }) {
            Ok(()) => {}
            Err(Stop::Index(cause)) => return Err(Failed::Index(cause)),
            Err(Stop::Record(why)) => {
                return Ok(Some(Bad::Unreadable(format!("a record cannot be understood: {why}"))));
            }
        }
        self.position = after;
        self.records += 1;
        Ok(None)
    }

    /// Looks for good lines after a bad one that say the bad place was synced before them.
    fn look_beyond(&mut self, lines: &mut Lines, why: String) -> Bad {
        let mut line = Vec::new();
        loop {
            match lines.next(&mut line) {
                Ok(Next::Line) => {
                    let durable = record::decode(&line).map_or(0, |line| line.durable);
                    self.durable = self.durable.max(durable);
                }
                Ok(Next::Torn | Next::End) => return Bad::Bytes(why),
                Err(error) => return Bad::Unreadable(format!("{why}; and then: {error}")),
            }
        }
    }
}

/// Whether a file is the log of `position` up to there: the same log id, and the same sum before that place.
///
/// # Errors
/// When the log has a version this build does not know.
pub(super) fn fits(file: &File, log: &LogName, position: &Position) -> Result<bool, StoreError> {
    let Some((header, start)) = read_header(file, log)? else { return Ok(false) };
    let same = header.log_id == position.log_id;
    if !same || position.offset <= start {
        return Ok(same && position.offset == start);
    }
    let mut tail = [0; record::SUM_TAIL_BYTES];
    let start = position.offset.saturating_sub(record::SUM_TAIL_BYTES as u64);
    let whole = file.read_exact_at(&mut tail, start).is_ok() && tail.ends_with(b"\n");
    Ok(whole && record::written_sum(&tail[..tail.len() - 1]) == Some(position.sum))
}

/// The first line of a log and where its records begin; `None` when it has no such line.
///
/// # Errors
/// When the log has a version this build does not know.
pub(super) fn read_header(file: &File, log: &LogName) -> Result<Option<(Header, u64)>, StoreError> {
    let mut head = [0; MAX_HEADER_BYTES];
    let Ok(read) = read_up_to(file, &mut head, 0) else { return Ok(None) };
    let Some(end) = head[..read].iter().position(|byte| *byte == b'\n') else { return Ok(None) };
    Ok(Header::decode(&head[..end], log)?.map(|header| (header, end as u64 + 1)))
}

fn read_up_to(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match file.read_at(&mut buffer[read..], offset + read as u64)? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}

/// The lines of a file between two places.
pub(super) struct Lines {
    reader: io::Take<BufReader<File>>,
    /// The place after the last line that was returned.
    pub(super) offset: u64,
}

/// What [`Lines::next`] found.
pub(super) enum Next {
    /// A line with its newline, which is not in the buffer.
    Line,
    /// Bytes without a newline at the end.
    Torn,
    End,
}

impl Lines {
    /// The lines from `offset` to `end`.
    pub(super) fn open(path: &Path, offset: u64, end: u64) -> io::Result<Self> {
        Self::of(File::open(path)?, offset, end)
    }

    /// The lines of an open file from `offset` to `end`.
    pub(super) fn of(mut file: File, offset: u64, end: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(offset))?;
        let reader = BufReader::with_capacity(64 * 1024, file).take(end.saturating_sub(offset));
        Ok(Self { reader, offset })
    }

    /// Reads the next line into `line`. A line that is far too long comes in pieces, none of which is a good one.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<Next> {
        line.clear();
        let read = self.reader.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', line)?;
        self.offset += read as u64;
        if read == 0 {
            return Ok(Next::End);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read <= MAX_LINE_BYTES {
            return Ok(Next::Torn);
        }
        Ok(Next::Line)
    }
}
