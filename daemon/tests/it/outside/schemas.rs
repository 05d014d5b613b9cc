//! The JSON Schema suite (`conformance/suites/json-schema`) through the check of arguments, drafts 2020-12 and 7, with what
//! is optional.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use ropewalk_daemon::tools::Schema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::assert_told;

/// The drafts we are tried with; `$schema` is written into what names none and is not of the newest.
const DRAFTS: [(&str, Option<&str>); 2] =
    [("draft2020-12", None), ("draft7", Some("http://json-schema.org/draft-07/schema#"))];

/// Files, or folders of files, whose formats are not checked. In draft 2020-12 a format says something of a value and asserts
/// nothing unless a metaschema demands it; names and addresses beyond ASCII would need tables of their own.
const UNCHECKED_FORMATS: [&str; 3] = [
    "draft2020-12/optional/format/",
    "draft7/optional/format/idn-email.json",
    "draft7/optional/format/idn-hostname.json",
];

const FOLDERS: [&str; 3] = ["", "optional/", "optional/format/"];

#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Value,
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    description: String,
    data: Value,
    valid: bool,
}

/// Every group of the suite, with the name of its file.
fn groups() -> Vec<(String, Group)> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/suites/json-schema");
    let mut groups = Vec::new();
    for (draft, schema) in DRAFTS {
        for folder in FOLDERS.map(|folder| format!("{draft}/{folder}")) {
            let entries = fs::read_dir(suite.join(&folder)).unwrap().map(|entry| entry.unwrap().file_name());
            for name in entries.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".json")) {
                let file = format!("{folder}{name}");
                let text = fs::read_to_string(suite.join(&file)).unwrap();
                for mut group in serde_json::from_str::<Vec<Group>>(&text).unwrap() {
                    if let (Some(draft), Value::Object(keywords)) = (schema, &mut group.schema) {
                        keywords.entry("$schema").or_insert_with(|| json!(draft));
                    }
                    groups.push((file.clone(), group));
                }
            }
        }
    }
    groups
}

/// Whether the formats of this file are not checked: every text fits them.
fn is_unchecked(file: &str) -> bool {
    UNCHECKED_FORMATS.iter().any(|unchecked| file.starts_with(unchecked))
}

/// The groups that are listed as refused, a file and a description each; reasons stand above them.
fn listed() -> BTreeSet<(String, String)> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/outside/refused-schemas.txt");
    let text = fs::read_to_string(list).unwrap();
    let groups = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    groups.map(|line| line.split_once(": ").map(|(file, group)| (file.into(), group.into())).unwrap()).collect()
}

#[test]
fn every_case_of_the_json_schema_suite_ends_as_it_says_or_is_listed() {
    let mut wrong = Vec::new();
    let mut refused: BTreeMap<(String, String), String> = BTreeMap::new();
    let (mut cases, mut held, mut left_out, mut unchecked) = (0, 0, 0, 0);
    for (file, Group { description, schema, tests }) in groups() {
        let ready = match Schema::compile(&schema) {
            Ok(ready) => ready,
            Err(problem) => {
                left_out += tests.len();
                cases += tests.len();
                refused.insert((file, description), problem.to_string());
                continue;
            }
        };
        for Case { description: case, data, valid } in tests {
            cases += 1;
            let fits = ready.check(&data).is_ok();
            if is_unchecked(&file) && fits && !valid {
                unchecked += 1;
            } else if fits == valid && (fits || !is_unchecked(&file)) {
                held += 1;
            } else {
                wrong.push(format!("{file}: {description}: {case}: should be {valid}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let listed = listed();
    let unlisted: Vec<_> = refused.keys().filter(|group| !listed.contains(group)).collect();
    let outdated: Vec<_> = listed.iter().filter(|group| !refused.contains_key(group)).collect();
    assert!(unlisted.is_empty() && outdated.is_empty(), "not listed: {unlisted:#?}; not refused: {outdated:#?}");
    for (group, reason) in &refused {
        assert!(reason.contains("nothing is fetched"), "{group:?}: {reason}");
    }
    assert_told(&format!("the check of arguments | {cases} |"));
    assert_told(&format!("{} groups with {left_out} cases are refused", refused.len()));
    assert_told(&format!("{held} cases end as the suite says"));
    assert_told(&format!("{unchecked} cases are of formats that are not checked"));
}
