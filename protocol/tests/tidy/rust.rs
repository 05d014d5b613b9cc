//! The shape of Rust files: a first sentence, a size one can read, and no file that is forgotten.

use crate::tree::{File, files_with};

#[test]
fn every_file_opens_with_a_sentence_that_says_why_it_exists() {
    let silent: Vec<_> = files_with(".rs")
        .into_iter()
        .filter(|file| {
            let head: Vec<_> = file.text.lines().map_while(|line| line.strip_prefix("//!")).collect();
            !head.join(" ").contains(['.', ':'])
        })
        .map(|file| file.path)
        .collect();
    assert!(silent.is_empty(), "these files do not open with a `//!` sentence: {silent:#?}");
}

#[test]
fn files_are_short_enough_to_be_read() {
    let mut sizes: Vec<_> = written_by_hand().map(|file| (file.lines(), file.path)).collect();
    sizes.sort();
    let at = |share: usize| sizes[(sizes.len() - 1) * share / 100].0;
    assert!(at(50) <= 150, "the median file has {} lines; 150 are the budget", at(50));
    let longest: Vec<_> = sizes.iter().rev().take(sizes.len() / 20 + 1).collect();
    assert!(at(95) <= 350, "more than one file in twenty is over 350 lines: {longest:#?}");
    let huge: Vec<_> = sizes.iter().filter(|(lines, _)| *lines > 500).collect();
    assert!(huge.is_empty(), "split these: {huge:#?}");
}

#[test]
fn every_test_file_belongs_to_a_test_binary() {
    let files = files_with(".rs");
    for file in files.iter().filter(|file| file.path.contains("/tests/")) {
        let (folder, name) = file.path.rsplit_once('/').unwrap();
        let module = name.trim_end_matches(".rs");
        if matches!(module, "main" | "mod") || folder.ends_with("/tests") || folder.contains("/fixtures") {
            continue;
        }
        let declaration = format!("mod {module};");
        let declared = files.iter().any(|other| {
            let parent = other.path == format!("{folder}.rs") || other.path.rsplit_once('/').unwrap().0 == folder;
            parent && other.text.lines().any(|line| line.trim_start_matches("pub(crate) ").trim_start() == declaration)
        });
        assert!(declared, "no file says `{declaration}` for {}", file.path);
    }
}

fn written_by_hand() -> impl Iterator<Item = File> {
    files_with(".rs").into_iter().filter(|file| !file.is_test())
}
