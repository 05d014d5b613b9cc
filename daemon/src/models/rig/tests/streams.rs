//! Recorded streams, cut at random: the same answer whatever the cuts, and the right one.

use rand::{Rng, SeedableRng, rngs::StdRng};
use ropewalk_conformance::{RawReply, RawServer};
use ropewalk_protocol::RunErrorKind;
use serde_json::{Value, json};

use super::{LONG, chat_model, listen, request, user};
use crate::models::testing::Heard;

const SPLITS: usize = 20;

macro_rules! fixtures {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../tests/fixtures/streams/", $name)))),*]
    };
}

const EXPECTED: &str = include_str!("../../../../tests/fixtures/streams/expected.json");

#[tokio::test]
async fn every_recorded_stream_decodes_right_however_it_is_cut() {
    let files = fixtures![
        "alibaba-empty-id.txt",
        "copilot-first-chunk-empty-choices.yaml",
        "deepseek-tool-call.txt",
        "groq-error-event-no-done.yaml",
        "llamacpp-tool-call.yaml",
        "mistral-no-index.txt",
        "openrouter-comments-parallel.yaml",
    ];
    let expected: Value = serde_json::from_str(EXPECTED).unwrap();
    let mut random = StdRng::seed_from_u64(9);
    let mut exchanges = 0;
    for (file, content) in files {
        for (number, body) in bodies(file, content).into_iter().enumerate() {
            let name = format!("{file}#{number}");
            exchanges += 1;
            for split in 0..SPLITS {
                let offsets = offsets(&mut random, body.len(), split);
                let heard = play(RawReply::stream(body.clone()).split_at(&offsets)).await;
                check(&name, heard, &expected[&name], &offsets);
            }
        }
    }
    assert_eq!(exchanges, expected.as_object().unwrap().len());
}

async fn play(reply: RawReply) -> Heard {
    let server = RawServer::start([reply]).await.unwrap();
    listen(&*chat_model(&server.base_url(), LONG), request(vec![user("hi")], &["weather"])).await
}

fn check(name: &str, heard: Heard, expected: &Value, offsets: &[usize]) {
    assert_eq!(json!(heard.text), expected["text"], "{name} {offsets:?}");
    assert_eq!(json!(heard.reasoning), expected["reasoning"], "{name} {offsets:?}");
    if let Some(message) = expected.get("error") {
        let error = heard.error();
        assert_eq!(error.kind, RunErrorKind::BadResponse, "{name}: {error:?}");
        assert!(error.message.contains(message.as_str().unwrap()), "{name}: {error:?}");
        return;
    }
    let answer = heard.answer();
    let calls = answer.calls.iter().map(|call| json!([call.name, call.arguments])).collect::<Vec<_>>();
    assert_eq!(json!(calls), expected["calls"], "{name} {offsets:?}");
    let usage = json!([answer.usage.input_tokens, answer.usage.output_tokens]);
    assert_eq!((usage, answer.usage.estimated), (expected["usage"].clone(), false), "{name} {offsets:?}");
    assert_eq!(answer.provider_parts.is_some(), expected["reasoning"] != "", "{name}");
}

/// The first split is none, the second cuts everywhere where that is quick, the others cut at random.
fn offsets(random: &mut StdRng, length: usize, split: usize) -> Vec<usize> {
    match split {
        0 => Vec::new(),
        1 if length < 8_192 => (1..length).collect(),
        _ => {
            let cuts = random.random_range(1..60);
            let mut offsets = (0..cuts).map(|_| random.random_range(1..length)).collect::<Vec<_>>();
            offsets.sort_unstable();
            offsets.dedup();
            offsets
        }
    }
}

/// The bodies of a fixture: of every exchange of a cassette, or of the chunks of a text.
fn bodies(file: &str, content: &str) -> Vec<String> {
    if file.ends_with(".txt") {
        let chunks = content.lines().filter(|line| !line.trim().is_empty());
        let events = chunks.map(|chunk| format!("data: {chunk}\n\n")).collect::<String>();
        return vec![events + "data: [DONE]\n\n"];
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut bodies = Vec::new();
    let mut lines = content.lines().peekable();
    while let Some(line) = lines.next() {
        let key = line.trim_start();
        if !["body: |", "string: |"].iter().any(|block| key.starts_with(block)) {
            continue;
        }
        let mut body = String::new();
        while let Some(text) = lines.next_if(|text| text.trim().is_empty() || indent(text) > indent(line)) {
            body.push_str(text.trim_start());
            body.push('\n');
        }
        bodies.push(body + "\n");
    }
    bodies
}
