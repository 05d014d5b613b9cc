//! JSON and schemas broken at random, from fixed seeds: whatever comes of them is an answer, soon, and the same each time.

use std::time::{Duration, Instant};

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use ropewalk_daemon::tools::{Schema, json};
use ropewalk_protocol::limits::MAX_DEPTH;
use serde_json::{Value, json};

/// Lines of the wire, as daemons and clients send them.
const LINES: &str = include_str!("../../../protocol/tests/fixtures/transcripts.jsonl");

/// How long one schema or one value may keep anybody busy, in a build that is not optimised.
const SOON: Duration = Duration::from_secs(60);

/// Texts that break JSON where they are put.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\\ud800",
    "\\udc00",
    ",",
    ":",
    "1e999",
    "-0",
    "18446744073709551616",
    "1.0",
    "null",
    "\"id\":1,\"id\":2",
    "[[[[[[[[",
    "\u{0}",
    "\u{fffd}",
];

/// What schemas are made of.
const PARTS: &[&str] = &[
    "true",
    "{}",
    "{\"$ref\":\"#\"}",
    "{\"$ref\":\"#/$defs/a\"}",
    "{\"$ref\":\"http://127.0.0.1:1/x\"}",
    "{\"type\":\"string\"}",
    "{\"pattern\":\"(a+)+$\"}",
    "{\"pattern\":\"(?=a)\"}",
    "{\"enum\":[1,\"a\",null]}",
    "{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}",
    "{\"not\":{}}",
    "{\"minItems\":3}",
    "{\"multipleOf\":0.1}",
    "{\"format\":\"email\"}",
    "{\"uniqueItems\":true}",
    "-1",
    "\"a\"",
    "[]",
];

fn tries(mostly: u32, long: u32) -> u32 {
    if std::env::var_os("SLOW").is_some() { long } else { mostly }
}

fn broken(random: &mut StdRng, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=random.random_range(0..4) {
        let at = random.random_range(0..characters.len());
        match random.random_range(0..4) {
            0 => drop(characters.remove(at)),
            1 => {
                let piece = PIECES[random.random_range(0..PIECES.len())];
                characters.splice(at..at, piece.chars());
            }
            2 => characters.truncate(at + 1),
            _ => {
                let end = random.random_range(at..characters.len());
                let again = characters[at..end].to_vec();
                characters.splice(at..at, again);
            }
        }
        if characters.is_empty() {
            characters.push('0');
        }
    }
    characters.into_iter().collect()
}

#[test]
fn what_is_taken_of_broken_json_means_what_it_says_and_is_written_the_same_again() {
    let mut random = StdRng::seed_from_u64(9);
    let lines: Vec<&str> = LINES.lines().collect();
    let levels = usize::try_from(MAX_DEPTH).unwrap();
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..tries(6_000, 600_000) {
        let line = lines[random.random_range(0..lines.len())];
        let text = if random.random_bool(0.1) { line.to_owned() } else { broken(&mut random, line) };
        match json::parse(&text, levels) {
            Ok(value) => {
                taken += 1;
                assert_eq!(serde_json::from_str::<Value>(&text).ok().as_ref(), Some(&value), "{text}");
                assert_eq!(json::parse(&value.to_string(), levels).as_ref(), Ok(&value), "{text}");
                assert!(json::levels(&value) <= levels, "{text}");
            }
            Err(problem) => {
                refused += 1;
                assert!(!problem.to_string().trim().is_empty(), "{text}");
            }
        }
    }
    assert!(taken > 300 && refused > 3_000, "{taken} taken, {refused} refused");
}

/// Puts something else in the place of some part of a value.
fn changed(random: &mut StdRng, value: &mut Value, parts: &[Value]) {
    let deeper = random.random_bool(0.7);
    match value {
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let at = random.random_range(0..fields.len());
            let inner = fields.values_mut().nth(at).unwrap();
            changed(random, inner, parts);
        }
        Value::Array(members) if deeper && !members.is_empty() => {
            let at = random.random_range(0..members.len());
            changed(random, &mut members[at], parts);
        }
        other => *other = parts[random.random_range(0..parts.len())].clone(),
    }
}

fn schemas() -> Vec<Value> {
    vec![
        json!({"type": "object", "properties": {"id": {"type": "string", "pattern": "^[0-9]+$"}}, "required": ["id"]}),
        json!({"$defs": {"a": {"type": "object", "properties": {"next": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/a"}),
        json!({"type": "object", "properties": {"to": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]}}}),
        json!({"oneOf": [{"type": "integer", "minimum": 3}, {"type": "array", "prefixItems": [{"const": 1}], "items": false}]}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"b": {}}, "dependencies": {"a": ["b"]},
               "if": {"required": ["a"]}, "then": {"properties": {"a": {"maxLength": 2}}}, "additionalProperties": false}),
    ]
}

#[test]
fn a_broken_schema_is_refused_or_checks_soon_and_the_same_each_time() {
    let mut random = StdRng::seed_from_u64(9);
    let parts: Vec<Value> = PARTS.iter().map(|part| serde_json::from_str(part).unwrap()).collect();
    let values =
        [json!({"id": "7", "next": {"next": {}}}), json!([1, [1, [1]]]), json!({"to": [{"to": [{}]}], "a": "abc"})];
    let (mut made, mut refused, mut fit) = (0, 0, 0);
    for round in 0..tries(1_500, 100_000) {
        let mut schema = schemas().swap_remove(random.random_range(0..5));
        for _ in 0..=random.random_range(0..3) {
            changed(&mut random, &mut schema, &parts);
        }
        let began = Instant::now();
        let Ok(ready) = Schema::compile(&schema) else {
            refused += 1;
            continue;
        };
        made += 1;
        for value in &values {
            let mut value = value.clone();
            changed(&mut random, &mut value, &parts);
            let checked = ready.check(&value);
            assert_eq!(checked, ready.check(&value), "round {round}: {schema} on {value}");
            match checked {
                Ok(()) => fit += 1,
                Err(problems) => {
                    assert!((1..=5).contains(&problems.len()), "round {round}: {schema} on {value}: {problems:?}");
                    let is_path = |path: &str| path.is_empty() || path.starts_with('/');
                    assert!(problems.iter().all(|problem| is_path(&problem.path)), "round {round}: {problems:?}");
                }
            }
        }
        assert!(began.elapsed() < SOON, "round {round}: {schema} took {:?}", began.elapsed());
    }
    assert!(made > 100 && refused > 100 && fit > 100, "{made} made, {refused} refused, {fit} values fit");
}
