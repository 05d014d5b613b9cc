//! Words that must not be in the tree: promises not kept, tests that do not run, names of one machine.

use crate::tree::{files, files_with, root};

#[test]
fn nothing_is_left_to_do_and_no_test_is_left_out() {
    // Put together here, or this file would be the one that is found.
    let forbidden =
        [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[ig", "nore"), concat!("dbg", "!(")];
    let mut found = Vec::new();
    for file in files_with(".rs") {
        for (number, line) in file.text.lines().enumerate() {
            if forbidden.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn names_of_tests_are_sentences() {
    let mut found = Vec::new();
    for file in files_with(".rs") {
        for line in file.text.lines().map(str::trim) {
            let name = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn ")).unwrap_or_default();
            if name.starts_with(concat!("test", "_")) {
                found.push(format!("{}: {line}", file.path));
            }
        }
    }
    assert!(found.is_empty(), "a test is named after what holds, not after being a test: {found:#?}");
}

#[test]
fn no_file_names_the_place_where_it_was_written() {
    let place = format!("{}/", root().display());
    let found: Vec<_> = files().into_iter().filter(|file| file.text.contains(&place)).map(|file| file.path).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn lock_files_name_no_host_packages_were_fetched_from() {
    for file in files() {
        if file.path.ends_with("package-lock.json") {
            assert!(!file.text.contains("\"resolved\""), "{}: set omit-lockfile-registry-resolved", file.path);
        }
        if file.path.ends_with("Cargo.lock") {
            let official = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
            let other = file.text.lines().find(|line| line.starts_with("source = ") && *line != official);
            assert_eq!(other, None, "{}", file.path);
        }
    }
}
