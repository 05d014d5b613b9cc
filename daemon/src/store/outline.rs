//! Taking long strings out of a record before it becomes a line, and putting them back when it is read.
//!
//! In the line a mark stands where the string was, `"blob:DIGEST"`, and the line's own list says at which byte. Only the
//! list decides: a string of a user that looks like a mark is that string.

use std::borrow::Cow;

use ropewalk_protocol::BlobId;
use serde_json::value::RawValue;

use super::{
    Record,
    blobs::{BlobName, BlobTrouble, List, OUT_OF_LINE_BYTES, Place, ReadBlob, blob_id},
};

#[cfg(test)]
mod tests;

/// A record as it goes into a line, beside what goes out of line first.
#[derive(Debug)]
pub(super) struct Outlined<'a> {
    pub(super) record: Cow<'a, Record>,
    /// Every blob the record needs, those its events name by themselves included.
    pub(super) names: Vec<BlobName>,
    /// The payloads, each of which must be durable before the line.
    pub(super) payloads: Vec<Vec<u8>>,
}

impl<'a> Outlined<'a> {
    /// The record with every long string taken out.
    pub(super) fn new(record: &'a Record) -> Self {
        let named = record.blobs.iter();
        let names = named.map(|blob| BlobName { sha256: blob.blob_id.clone(), bytes: blob.total_bytes, place: None });
        let mut outlined = Self { record: Cow::Borrowed(record), names: names.collect(), payloads: Vec::new() };
        for (list, texts) in [(List::Facts, &record.facts), (List::Events, &record.events)] {
            for (nth, text) in texts.iter().enumerate().filter(|(_, text)| text.get().len() >= OUT_OF_LINE_BYTES) {
                if let Some(short) = outlined.shorten(list, nth, text.get()) {
                    let record = outlined.record.to_mut();
                    match list {
                        List::Facts => record.facts[nth] = short,
                        List::Events => record.events[nth] = short,
                    }
                }
            }
        }
        outlined
    }

    fn shorten(&mut self, list: List, nth: usize, text: &str) -> Option<Box<RawValue>> {
        let mut short = String::new();
        let mut from = 0;
        while let Some((start, end)) = next_long_string(text, from) {
            short.push_str(&text[from..start]);
            let (payload, escaped) = payload(&text[start..end]);
            let sha256 = blob_id(&payload);
            let place = Some(Place { list, nth, at: short.len(), escaped });
            short.push_str(&mark(&sha256));
            self.names.push(BlobName { sha256, bytes: payload.len() as u64, place });
            self.payloads.push(payload);
            from = end;
        }
        if from == 0 {
            return None;
        }
        short.push_str(&text[from..]);
        Some(RawValue::from_string(short).expect("JSON stays JSON when a string in it becomes another"))
    }
}

/// Where the next long string with its quotes begins and ends.
fn next_long_string(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        let start = at + bytes[at..].iter().position(|byte| *byte == b'"')?;
        at = start + 1;
        loop {
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        at += 1;
        if at - start >= OUT_OF_LINE_BYTES + 2 {
            return Some((start, at));
        }
    }
}

/// What is stored of a string: what it says, so that the file can be read as it is; as JSON writes it, where another
/// writer would write it otherwise and its bytes would be lost.
fn payload(literal: &str) -> (Vec<u8>, bool) {
    let inside = &literal[1..literal.len() - 1];
    if !inside.contains('\\') {
        return (inside.as_bytes().to_vec(), false);
    }
    match serde_json::from_str::<String>(literal) {
        Ok(says) if written(&says) == literal => (says.into_bytes(), false),
        _ => (inside.as_bytes().to_vec(), true),
    }
}

fn written(text: &str) -> String {
    serde_json::to_string(text).expect("a string can always be written")
}

fn mark(blob: &BlobId) -> String {
    format!("\"blob:{blob}\"")
}

/// How many bytes a record is longer than its line once its strings are back.
pub(super) fn outlined_bytes(names: &[BlobName]) -> usize {
    let strings = names.iter().filter(|name| name.place.is_some());
    strings.map(|name| usize::try_from(name.bytes).unwrap_or(usize::MAX)).fold(0, usize::saturating_add)
}

/// Puts every string back into a record that was read from a line with `names`.
///
/// # Errors
/// When a blob is not to be had, or the line names one where none stood.
pub(super) fn put_back(mut record: Record, names: &[BlobName], read: ReadBlob<'_>) -> Result<Record, BlobTrouble> {
    let mut placed: Vec<(&Place, &BlobName)> =
        names.iter().filter_map(|name| name.place.as_ref().map(|place| (place, name))).collect();
    placed.sort_unstable_by_key(|(place, _)| *place);
    for of_one in placed.chunk_by(|(one, _), (other, _)| (one.list, one.nth) == (other.list, other.nth)) {
        let (place, _) = of_one[0];
        let texts = match place.list {
            List::Facts => &mut record.facts,
            List::Events => &mut record.events,
        };
        let text = texts.get_mut(place.nth).ok_or_else(misplaced)?;
        *text = fill(text.get(), of_one, read)?;
    }
    Ok(record)
}

fn fill(text: &str, placed: &[(&Place, &BlobName)], read: ReadBlob<'_>) -> Result<Box<RawValue>, BlobTrouble> {
    let mut whole = String::new();
    let mut from = 0;
    for (place, name) in placed {
        let mark = mark(&name.sha256);
        let end = place.at + mark.len();
        if place.at < from || text.get(place.at..end) != Some(mark.as_str()) {
            return Err(misplaced());
        }
        whole.push_str(&text[from..place.at]);
        let says = String::from_utf8(read(&name.sha256, name.bytes)?).map_err(|_| misplaced())?;
        if place.escaped {
            whole.extend(["\"", &says, "\""]);
        } else {
            whole.push_str(&written(&says));
        }
        from = end;
    }
    whole.push_str(&text[from..]);
    RawValue::from_string(whole).map_err(|_| misplaced())
}

fn misplaced() -> BlobTrouble {
    BlobTrouble::Lost("it names a payload where none stood".to_owned())
}
