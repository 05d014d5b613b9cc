//! JSON and schemas broken at random, from fixed seeds: whatever comes of them is an answer, soon, and the same each time.

mod holds;

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

/// Lines of the wire, as daemons and clients send them.
const LINES: &str = include_str!("../../../protocol/tests/fixtures/transcripts.jsonl");

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
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..tries(6_000, 600_000) {
        let line = lines[random.random_range(0..lines.len())];
        let text = if random.random_bool(0.1) { line.to_owned() } else { broken(&mut random, line) };
        *(if holds::of_a_text(&text) { &mut taken } else { &mut refused }) += 1;
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
    for _ in 0..tries(1_500, 100_000) {
        let mut schema = schemas().swap_remove(random.random_range(0..5));
        for _ in 0..=random.random_range(0..3) {
            changed(&mut random, &mut schema, &parts);
        }
        let mut values = values.clone();
        values.iter_mut().for_each(|value| changed(&mut random, value, &parts));
        match holds::of_a_schema(&schema, &values) {
            Some(fitting) => {
                made += 1;
                fit += fitting;
            }
            None => refused += 1,
        }
    }
    assert!(made > 100 && refused > 100 && fit > 100, "{made} made, {refused} refused, {fit} values fit");
}
