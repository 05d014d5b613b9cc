//! The line a record is written as.

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use ropewalk_protocol::Timestamp;
use serde_json::value::RawValue;

use super::*;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).expect("the test's JSON")
}

fn sample() -> Record {
    Record {
        n: 7,
        at: Timestamp::from_millis(1_796_040_000_250),
        blobs: Vec::new(),
        op: Some(OperationRecord {
            id: "op-1".into(),
            digest: "ab".to_owned(),
            method: "run/submit".to_owned(),
            answer: raw(r#"{"seq": 8}"#),
        }),
        facts: vec![raw(r#"{"parent":null}"#)],
        events: vec![raw(r#"{"type":"a", "x" : 1.50}"#), raw(r#""\u00e9""#)],
    }
}

/// The record of a line that needs no blob.
fn whole(line: Line) -> Record {
    line.whole(&|_, _| Err(BlobTrouble::Lost("there is none".to_owned()))).unwrap()
}

fn line_of(record: &Record) -> Vec<u8> {
    let mut line = Vec::new();
    encode(&Outlined::new(record), 4096, &mut line);
    assert_eq!(line.pop(), Some(b'\n'));
    line
}

#[test]
fn a_line_is_written_as_the_format_says() {
    let expected = concat!(
        r#"{"n":7,"at":"2026-11-30T12:00:00.25Z","durable":4096,"#,
        r#""op":{"id":"op-1","digest":"ab","method":"run/submit","answer":{"seq": 8}},"#,
        r#""facts":[{"parent":null}],"events":[{"type":"a", "x" : 1.50},"\u00e9"],"sum":"SUM"}"#,
    );
    let sum = crc32c::crc32c(expected.split(r#","sum""#).next().unwrap().as_bytes());
    let expected = expected.replace("SUM", &format!("{sum:08x}"));
    assert_eq!(String::from_utf8(line_of(&sample())).unwrap(), expected);
    assert!(expected.ends_with(r#","sum":"81b01e77"}"#), "{expected}");
}

#[test]
fn a_line_reads_back_as_what_was_written_byte_for_byte() {
    let line = decode(&line_of(&sample())).unwrap();
    assert_eq!(line.durable, 4096);
    assert_eq!(line.next_seq(), 9);
    let record = whole(line);
    assert_eq!(record.events[0].get(), r#"{"type":"a", "x" : 1.50}"#);
    assert_eq!(record.op.as_ref().unwrap().answer.get(), r#"{"seq": 8}"#);
    assert_eq!(line_of(&record), line_of(&sample()));
}

#[test]
fn a_newline_between_tokens_does_not_break_the_line() {
    let record = Record { events: vec![raw("{\n\"a\":\r\n1}")], ..sample() };
    let line = line_of(&record);
    assert!(!line.contains(&b'\n'));
    assert_eq!(whole(decode(&line).unwrap()).events[0].get(), "{ \"a\":\r 1}");
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    let line = line_of(&sample());
    for at in 0..line.len() {
        let mut bad = line.clone();
        bad[at] ^= 4;
        assert!(decode(&bad).is_err(), "byte {at}");
    }
    for end in 0..line.len() {
        assert!(decode(&line[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn a_sum_in_other_digits_is_another_sum() {
    let line = String::from_utf8(line_of(&sample())).unwrap();
    let shouted = line.replace("81b01e77", "81B01e77");
    assert!(decode(shouted.as_bytes()).is_err() && shouted != line);
    for written in ["+1b01e77", "81b01e7 ", " 81b01e7"] {
        assert_eq!(written_sum(line.replace("81b01e77", written).as_bytes()), None, "{written}");
    }
}

#[test]
fn the_first_number_is_seen_without_reading_the_rest() {
    assert_eq!(peek_seq(&line_of(&sample())), Some(7));
    assert_eq!(peek_seq(b"{\"n\":12"), None);
    assert_eq!(peek_seq(b"noise"), None);
}

#[test]
fn a_line_says_which_blobs_its_record_needs() {
    let long = "x".repeat(20_000);
    let named = BlobRef { blob_id: "ab".into(), total_bytes: 7 };
    let record = Record { blobs: vec![named.clone()], events: vec![raw(&format!("{{\"t\":\"{long}\"}}"))], ..sample() };
    let digest = crate::store::blobs::blob_id(long.as_bytes());
    let line = line_of(&record);
    let text = String::from_utf8(line.clone()).unwrap();
    let names = format!(
        r#""blobs":[{{"sha256":"ab","bytes":7}},{{"sha256":"{digest}","bytes":20000,"place":{{"in":"events","nth":0,"at":5}}}}],"#
    );
    assert!(text.contains(&names), "{text}");
    assert!(text.contains(&format!(r#""events":[{{"t":"blob:{digest}"}}]"#)), "{text}");
    let whole = decode(&line).unwrap().whole(&|_, _| Ok(long.clone().into_bytes())).unwrap();
    assert_eq!(whole.blobs, [named]);
    assert_eq!(whole.events[0].get(), record.events[0].get());
}

#[test]
fn a_line_that_was_changed_anywhere_is_never_read_as_another_record() {
    let mut random = StdRng::seed_from_u64(9);
    let rounds = if std::env::var_os("SLOW").is_some() { 5_000_000 } else { 50_000 };
    let line = line_of(&sample());
    for round in 0..rounds {
        let mut changed = line.clone();
        for _ in 0..=random.random_range(0..3) {
            let at = random.random_range(0..changed.len());
            match random.random_range(0..5) {
                0 => changed.truncate(at + 1),
                1 => drop(changed.remove(at)),
                2 => changed.insert(at, random.random()),
                3 => changed[at] = random.random(),
                _ => {
                    let other = random.random_range(0..changed.len());
                    changed.swap(at, other);
                }
            }
            if changed.is_empty() {
                changed.push(b'{');
            }
        }
        let is_read = crate::store::holds::of_a_line(&changed);
        assert!(changed == line || !is_read, "round {round}: {}", String::from_utf8_lossy(&changed));
    }
}
