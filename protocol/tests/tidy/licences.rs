//! What we build on may be used by anybody who may use us. `cargo deny` knows more; this much needs no tool.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

use crate::tree::root;

/// Licences that ask for no more than their text. The same list stands in `deny.toml`.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// More packages than this are somebody's decision, not an accident.
const PACKAGES: usize = 420;

#[test]
fn every_dependency_has_a_permissive_licence_and_comes_from_the_registry() {
    let mut wrong = BTreeMap::new();
    for package in packages() {
        let name = format!("{} {}", package["name"], package["version"]);
        let licence = package["license"].as_str().unwrap_or_default();
        if !permitted(licence) {
            wrong.insert(name.clone(), format!("licence {licence:?}"));
        }
        let source = package["source"].as_str().unwrap_or("registry");
        if !source.starts_with("registry") && !source.starts_with("sparse") {
            wrong.insert(name, format!("source {source:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_number_of_dependencies_stays_in_bounds() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let count = lock.matches("[[package]]").count();
    assert!(count <= PACKAGES, "Cargo.lock has {count} packages; {PACKAGES} are the ceiling");
}

#[test]
fn the_list_of_licences_is_that_of_the_deny_configuration() {
    let deny = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let missing: Vec<_> = ALLOWED.iter().filter(|name| !deny.contains(&format!("\"{name}\""))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn licence_expressions_are_read_as_they_are_meant() {
    assert!(permitted("GPL-3.0 OR MIT"));
    assert!(permitted("(MIT OR GPL-3.0) AND Unicode-3.0"));
    assert!(permitted("Apache-2.0/MIT"));
    assert!(permitted("Apache-2.0 WITH LLVM-exception"));
    assert!(!permitted("MIT AND GPL-3.0"));
    assert!(!permitted(""));
}

/// The packages this machine would build, without the network.
fn packages() -> Vec<Value> {
    let host = Command::new("rustc").args(["--print", "host-tuple"]).output().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform"])
        .arg(String::from_utf8(host.stdout).unwrap().trim())
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Whether an SPDX expression can be met with allowed licences alone.
fn permitted(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    !rest.is_empty() && any(&mut rest) && rest.is_empty()
}

fn any(words: &mut &[&str]) -> bool {
    let mut met = all(words);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        met |= all(words);
    }
    met
}

fn all(words: &mut &[&str]) -> bool {
    let mut met = one(words);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        met &= one(words);
    }
    met
}

fn one(words: &mut &[&str]) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let met = any(words);
            *words = words.strip_prefix(&[")"]).unwrap_or(words);
            met
        }
        // An exception only ever permits more.
        [name, "WITH", _, rest @ ..] | [name, rest @ ..] => {
            *words = rest;
            ALLOWED.contains(name)
        }
        [] => false,
    }
}
