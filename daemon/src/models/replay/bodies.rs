//! Every body there is to replay: what other projects recorded, and what we wrote for what they did not.

use std::{fs, path::PathBuf};

use ropewalk_protocol::Provider;
use serde::Deserialize;
use serde_json::Value;

/// One answer's body and what has to come out of it.
pub(in crate::models) struct Case {
    pub(in crate::models) name: String,
    pub(in crate::models) body: String,
    pub(super) expected: Expected,
}

/// What has to come out of a body.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    pub(super) shape: Provider,
    /// The requirements it is about, where it is about one.
    #[serde(default)]
    pub(super) cases: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) reasoning: String,
    /// Name and arguments, byte for byte.
    #[serde(default)]
    pub(super) calls: Vec<(String, String)>,
    /// Tokens in and out; none where the provider does not count.
    #[serde(default)]
    pub(super) usage: Option<(u64, u64)>,
    /// `done`, `length`, or the kind of the failure, behind which some of the provider's words may stand.
    pub(super) end: String,
    /// What the provider wants back: each of these is somewhere in the parts kept for it.
    #[serde(default)]
    pub(super) keeps: Vec<String>,
}

/// The shapes, by the name of the file with our own bodies for it.
const OWN: &[&str] = &["chat", "anthropic", "responses", "gemini", "ollama"];

/// Every case of this shape.
pub(in crate::models) fn cases_of(shape: Provider) -> Vec<Case> {
    let cases = recorded().into_iter().chain(OWN.iter().flat_map(|file| own(file)));
    cases.filter(|case| case.expected.shape == shape).collect()
}

/// The cases that are about this requirement, whatever their shape.
pub(super) fn cases_about(requirement: &str) -> Vec<Case> {
    let cases = OWN.iter().flat_map(|file| own(file));
    cases.filter(|case| case.expected.cases.split(' ').any(|named| named == requirement)).collect()
}

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures", "streams"].iter().collect()
}

/// A file of the folder of streams.
pub(in crate::models) fn read(path: &str) -> String {
    let path = folder().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What others recorded, each exchange a case; all that is there has an expectation, and the other way round.
fn recorded() -> Vec<Case> {
    let mut expected: serde_json::Map<String, Value> = serde_json::from_str(&read("expected.json")).unwrap();
    let mut cases = Vec::new();
    for part in ["", "genai/"] {
        let names = fs::read_dir(folder().join(part)).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        for file in names.iter().filter(|name| !part.is_empty() || name.ends_with(".txt") || name.ends_with(".yaml")) {
            for (number, body) in bodies(file, &read(&format!("{part}{file}"))).into_iter().enumerate() {
                let name = format!("{file}#{number}");
                let expected = expected.remove(&name).unwrap_or_else(|| panic!("expected.json lacks {name}"));
                cases.push(Case { name, body, expected: serde_json::from_value(expected).unwrap() });
            }
        }
    }
    assert!(expected.is_empty(), "expected.json has what is not there: {:?}", expected.keys());
    cases
}

/// The bodies of a recording: of every exchange of a cassette, of the chunks of a text, or the file itself.
fn bodies(file: &str, content: &str) -> Vec<String> {
    if file.ends_with(".txt") {
        let chunks = content.lines().filter(|line| !line.trim().is_empty());
        let events = chunks.map(|chunk| format!("data: {chunk}\n\n")).collect::<String>();
        return vec![events + "data: [DONE]\n\n"];
    }
    if !file.ends_with(".yaml") {
        return vec![content.to_owned()];
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut bodies = Vec::new();
    let mut lines = content.lines().peekable();
    while let Some(line) = lines.next() {
        let key = line.trim_start();
        if let Some(quoted) = key.strip_prefix("body: ").filter(|text| text.starts_with('"')) {
            bodies.push(serde_json::from_str(quoted).unwrap());
        }
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

/// Our own bodies of one file, in the format that the README beside it describes.
fn own(file: &str) -> Vec<Case> {
    let content = read(&format!("own/{file}.txt"));
    let mut blocks = content.split("\n== ");
    let defaults = members(blocks.next().unwrap());
    blocks
        .map(|block| {
            let (head, lines) = block.split_once("\n--\n").unwrap_or_else(|| panic!("{file}: no body: {block}"));
            let (name, head) = head.split_once('\n').unwrap();
            let mut members: serde_json::Map<_, _> = defaults.clone().into_iter().chain(members(head)).collect();
            assert!(members.remove("why").is_some(), "{name} does not say why it is there");
            let framing = members.remove("framing").unwrap();
            let body = framed(framing.as_str().unwrap(), lines.trim_end_matches('\n'));
            let expected = serde_json::from_value(members.into()).unwrap_or_else(|error| panic!("{name}: {error}"));
            Case { name: name.to_owned(), body, expected }
        })
        .collect()
}

/// The members before a body: JSON where it begins like a text or a list of it, else words.
fn members(head: &str) -> serde_json::Map<String, Value> {
    let lines = head.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("no member: {line}"));
            let is_json = value.starts_with(['"', '[']);
            let value = if is_json { serde_json::from_str(value).unwrap() } else { Value::from(value) };
            (name.to_owned(), value)
        })
        .collect()
}

/// The bytes of a body whose events or lines are these.
fn framed(framing: &str, lines: &str) -> String {
    let event = |prefix: &str| {
        let event = |line: &str| match line {
            comment if comment.starts_with(':') => format!("{comment}\n\n"),
            data => format!("{prefix}{data}\n\n"),
        };
        lines.lines().map(event).collect::<String>()
    };
    let named = || {
        let name = |line: &str| Some(serde_json::from_str::<Value>(line).ok()?.get("type")?.as_str()?.to_owned());
        let event = |line: &str| match name(line) {
            Some(name) => format!("event: {name}\ndata: {line}\n\n"),
            None => format!("data: {line}\n\n"),
        };
        lines.lines().map(event).collect::<String>()
    };
    match framing {
        "events" => event("data: "),
        "tight" => event("data:"),
        "crlf" => event("data: ").replace('\n', "\r\n"),
        "cr" => event("data: ").replace('\n', "\r"),
        "unended" => event("data: ").trim_end().to_owned(),
        "named" => named(),
        "named-crlf" => named().replace('\n', "\r\n"),
        "raw" => format!("{lines}\n\n"),
        "lines" => format!("{lines}\n"),
        "lines-crlf" => format!("{lines}\n").replace('\n', "\r\n"),
        "lines-unended" => lines.to_owned(),
        other => panic!("no such framing: {other}"),
    }
}
