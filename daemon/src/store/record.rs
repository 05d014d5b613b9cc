//! One record of a log: everything one commit says about its thread, and the line it is written as.

use ropewalk_protocol::{BlobRef, OperationId, Seq, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    blobs::{BlobName, BlobTrouble, ReadBlob},
    outline::{Outlined, outlined_bytes, put_back},
};

#[cfg(test)]
mod tests;

/// One line of a log, without what the store itself adds (`durable`, `sum`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The sequence number of its first event; of the next event to come, when it has none.
    pub n: Seq,
    /// When.
    pub at: Timestamp,
    /// The blobs its events name. Each is pinned until the record is committed or given up. Of the strings that the
    /// store itself keeps out of line nobody outside of it knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobRef>,
    /// The operation this record answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<OperationRecord>,
    /// What rows need and no event says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Box<RawValue>>,
    /// The wire's events, byte for byte: `event` of `thread/event`, the k-th with the sequence number `n + k`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Box<RawValue>>,
}

impl Record {
    /// The sequence number of the event after this record.
    #[must_use]
    pub fn next_seq(&self) -> Seq {
        self.n + self.events.len() as Seq
    }
}

/// An operation as the journal keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationRecord {
    /// Its id.
    pub id: OperationId,
    /// A keyed digest of method and parameters.
    pub digest: String,
    /// The method.
    pub method: String,
    /// The answer as it was given, `replayed: false`.
    pub answer: Box<RawValue>,
}

/// The longest line that is written or read, in bytes. Payloads from 16 KiB are out of line, so only a fault makes one.
pub(super) const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// What every whole line ends with: `,"sum":"xxxxxxxx"}`.
const SUM_START: &[u8] = b",\"sum\":\"";
const SUM_END: &[u8] = b"\"}";
const SUM_BYTES: usize = SUM_START.len() + 8 + SUM_END.len();

/// A line that was read and whose sum is right.
#[derive(Debug)]
pub(super) struct Line {
    /// The record with marks where strings are out of line; see [`Line::whole`].
    record: Record,
    /// The blobs it needs.
    pub(super) names: Vec<BlobName>,
    /// The length of the log that was synced when the line was written.
    pub(super) durable: u64,
    pub(super) sum: u32,
}

impl Line {
    /// The sequence number of its first event, or of the next to come.
    pub(super) const fn n(&self) -> Seq {
        self.record.n
    }

    /// The sequence number of the event after it.
    pub(super) fn next_seq(&self) -> Seq {
        self.record.next_seq()
    }

    /// How many bytes the whole record takes beyond those of its line.
    pub(super) fn outlined_bytes(&self) -> usize {
        outlined_bytes(&self.names)
    }

    /// The record as it was committed, byte for byte.
    ///
    /// # Errors
    /// When a string of it that is out of line is not to be had.
    pub(super) fn whole(self, read: ReadBlob<'_>) -> Result<Record, BlobTrouble> {
        put_back(self.record, &self.names, read)
    }
}

/// Appends a record as one line with its newline to `out`, and returns its sum.
///
/// Raw values are copied as they are; only a newline between their tokens, which would break the line, becomes a space.
pub(super) fn encode(outlined: &Outlined<'_>, durable: u64, out: &mut Vec<u8>) -> u32 {
    #[derive(Serialize)]
    struct Body<'a> {
        n: Seq,
        at: Timestamp,
        durable: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        op: Option<&'a OperationRecord>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        blobs: &'a [BlobName],
        facts: &'a [Box<RawValue>],
        events: &'a [Box<RawValue>],
    }
    let Record { n, at, op, facts, events, blobs: _ } = &*outlined.record;
    let start = out.len();
    let body = Body { n: *n, at: *at, durable, op: op.as_ref(), blobs: &outlined.names, facts, events };
    serde_json::to_writer(&mut *out, &body).expect("a record has only string keys and a Vec takes every write");
    out.pop();
    for byte in &mut out[start..] {
        if *byte == b'\n' {
            *byte = b' ';
        }
    }
    let sum = crc32c::crc32c(&out[start..]);
    out.extend_from_slice(SUM_START);
    out.extend_from_slice(sum_text(sum).as_bytes());
    out.extend_from_slice(SUM_END);
    out.push(b'\n');
    sum
}

/// Reads one line, without its newline.
///
/// # Errors
/// What is wrong with it, as a sentence's end.
pub(super) fn decode(line: &[u8]) -> Result<Line, String> {
    #[derive(Deserialize)]
    struct Body {
        n: Seq,
        at: Timestamp,
        durable: u64,
        op: Option<OperationRecord>,
        #[serde(default)]
        blobs: Vec<BlobName>,
        #[serde(default)]
        facts: Vec<Box<RawValue>>,
        #[serde(default)]
        events: Vec<Box<RawValue>>,
    }
    let sum = checked_sum(line).ok_or("its sum is wrong")?;
    let body: Body = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let Body { n, at, durable, op, blobs: names, facts, events } = body;
    let named = names.iter().filter(|name| name.place.is_none());
    let blobs = named.map(|name| BlobRef { blob_id: name.sha256.clone(), total_bytes: name.bytes }).collect();
    Ok(Line { record: Record { n, at, blobs, op, facts, events }, names, durable, sum })
}

/// The sum a line ends with, whether or not it is right.
pub(super) fn written_sum(line: &[u8]) -> Option<u32> {
    let tail = line.get(line.len().checked_sub(SUM_BYTES)?..)?;
    let digits = std::str::from_utf8(tail.strip_prefix(SUM_START)?.strip_suffix(SUM_END)?).ok()?;
    let sum = u32::from_str_radix(digits, 16).ok()?;
    // A sum is written in one way only: a changed line that says the same number otherwise is a changed line.
    (sum_text(sum) == digits).then_some(sum)
}

/// A sum as it is written.
fn sum_text(sum: u32) -> String {
    format!("{sum:08x}")
}

/// The sum of a line, if it is the sum of what stands before it.
fn checked_sum(line: &[u8]) -> Option<u32> {
    let sum = written_sum(line)?;
    (crc32c::crc32c(&line[..line.len() - SUM_BYTES]) == sum).then_some(sum)
}

/// The first sequence number of a line without reading the rest of it.
pub(super) fn peek_seq(line: &[u8]) -> Option<Seq> {
    let digits = line.strip_prefix(b"{\"n\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

/// The number of bytes at the end of a file that hold the last line's sum and its newline.
pub(super) const SUM_TAIL_BYTES: usize = SUM_BYTES + 1;
