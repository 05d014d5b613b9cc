//! Any JSON comes back byte for byte, whatever its strings look like.

use std::{cell::RefCell, collections::HashMap};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use ropewalk_protocol::Timestamp;

use super::*;
use crate::store::record::{decode, encode};

fn record(facts: Vec<String>, events: Vec<String>) -> Record {
    let raw = |texts: Vec<String>| texts.into_iter().map(|text| RawValue::from_string(text).unwrap()).collect();
    let at = Timestamp::from_millis(1_796_040_000_000);
    Record { n: 1, at, blobs: Vec::new(), op: None, facts: raw(facts), events: raw(events) }
}

/// Writes a record as a line and reads it back; the line's length, and what comes back or is lost.
fn there_and_back(record: &Record, blobs: &HashMap<BlobId, Vec<u8>>) -> (usize, Result<Record, BlobTrouble>) {
    let outlined = Outlined::new(record);
    let blobs = RefCell::new(blobs.clone());
    for payload in &outlined.payloads {
        blobs.borrow_mut().entry(blob_id(payload)).or_insert_with(|| payload.clone());
    }
    let mut line = Vec::new();
    encode(&outlined, 0, &mut line);
    assert_eq!(line.pop(), Some(b'\n'));
    let read = |id: &BlobId, _| blobs.borrow().get(id).cloned().ok_or_else(|| BlobTrouble::Lost("gone".to_owned()));
    (line.len(), decode(&line).unwrap().whole(&read))
}

fn texts(record: &Record) -> Vec<&str> {
    record.facts.iter().chain(&record.events).map(|text| text.get()).collect()
}

/// A string as some writer would write it: sometimes long, sometimes escaped in a way that is not ours.
fn literal(random: &mut StdRng) -> String {
    let says = match random.random_range(0..8) {
        0 => "x".repeat(random.random_range(OUT_OF_LINE_BYTES - 3..OUT_OF_LINE_BYTES + 3)),
        1 => "ü\n\"\\".repeat(random.random_range(3_000..6_000)),
        2 => "🧵".repeat(random.random_range(4_000..4_200)),
        3 => format!("blob:{}", blob_id(b"of a user")),
        4 => "\u{0}\u{1f}\u{7f}\u{2028}".to_owned(),
        _ => "short".to_owned(),
    };
    let ours = serde_json::to_string(&says).unwrap();
    match random.random_range(0..4) {
        0 => ours.replace('x', "\\u0078"),
        1 => ours.replace('ü', "\\u00FC").replace("\\n", "\\u000a").replace('/', "\\/"),
        _ => ours,
    }
}

fn json(random: &mut StdRng, depth: u32) -> String {
    let space = ["", " ", "  ", "\t"][random.random_range(0..4)];
    match random.random_range(0..if depth == 0 { 3 } else { 6 }) {
        0 => "-1.50e+3".to_owned(),
        1 | 2 => literal(random),
        3 => format!("[{space}{}{space},{}]", json(random, depth - 1), json(random, depth - 1)),
        _ => format!("{{{space}{}:{space}{}{space}}}", literal(random), json(random, depth - 1)),
    }
}

#[test]
fn any_record_comes_back_byte_for_byte() {
    let (mut lifted, mut random) = (0, StdRng::seed_from_u64(3));
    for _ in 0..200 {
        let facts = (0..random.random_range(0..3)).map(|_| json(&mut random, 3)).collect();
        let events = (0..random.random_range(0..3)).map(|_| json(&mut random, 4)).collect();
        let record = record(facts, events);
        lifted += Outlined::new(&record).payloads.len();
        let (_, back) = there_and_back(&record, &HashMap::new());
        assert_eq!(texts(&back.unwrap()), texts(&record));
    }
    assert!(lifted > 150, "only {lifted} strings went out of line");
}

#[test]
fn a_long_string_leaves_a_short_line_and_stands_once() {
    let long = "y".repeat(1_000_000);
    let record = record(vec![format!("\"{long}\"")], vec![format!("{{\"a\":\"{long}\",\"b\":[\"{long}\"]}}")]);
    let outlined = Outlined::new(&record);
    assert_eq!(outlined.names.iter().map(|name| &name.sha256).collect::<std::collections::HashSet<_>>().len(), 1);
    assert_eq!(outlined.payloads[0], long.as_bytes(), "the file is the text as a person reads it");
    let (line, back) = there_and_back(&record, &HashMap::new());
    assert!(line < 1_000, "{line} bytes");
    assert_eq!(texts(&back.unwrap()), texts(&record));
}

#[test]
fn a_string_of_a_user_that_looks_like_a_mark_stays_that_string() {
    let long = "z".repeat(OUT_OF_LINE_BYTES);
    let looks = mark(&blob_id(long.as_bytes()));
    let record = record(Vec::new(), vec![format!("[{looks},\"{long}\",{looks}]"), looks]);
    let (_, back) = there_and_back(&record, &HashMap::new());
    assert_eq!(texts(&back.unwrap()), texts(&record));
}

#[test]
fn a_payload_that_is_not_there_is_never_an_empty_string() {
    let record = record(Vec::new(), vec![format!("\"{}\"", "w".repeat(OUT_OF_LINE_BYTES))]);
    let outlined = Outlined::new(&record);
    let lost = |_: &BlobId, _| Err(BlobTrouble::Lost("gone".to_owned()));
    let back = put_back(outlined.record.clone().into_owned(), &outlined.names, &lost);
    assert!(matches!(back, Err(BlobTrouble::Lost(_))), "{back:?}");
}

#[test]
fn a_list_that_does_not_fit_its_line_is_refused() {
    let record = record(Vec::new(), vec![format!("[1,\"{}\"]", "v".repeat(OUT_OF_LINE_BYTES))]);
    let outlined = Outlined::new(&record);
    let read = |_: &BlobId, _| Ok(outlined.payloads[0].clone());
    type Change = fn(&mut Place);
    let changes: [Change; 4] = [
        |place| place.at += 1,
        |place| place.at = usize::MAX / 2,
        |place| place.nth = 1,
        |place| place.list = List::Facts,
    ];
    for change in changes {
        let mut names = outlined.names.clone();
        change(names[0].place.as_mut().unwrap());
        assert!(put_back(outlined.record.clone().into_owned(), &names, &read).is_err());
    }
    let twice = [outlined.names.clone(), outlined.names.clone()].concat();
    assert!(put_back(outlined.record.into_owned(), &twice, &read).is_err());
}
