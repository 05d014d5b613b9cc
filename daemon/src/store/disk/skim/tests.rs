//! A log in stretches of whole lines, however long they are.

use std::{
    fs::{self, File},
    sync::{Arc, Mutex},
};

use super::{STRETCH_BYTES, show};

/// The stretches of a file with this content, and whether all was shown. The look ends with the stretch that has `enough`.
fn shown(content: &str, enough: &'static str) -> (Vec<String>, bool) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    fs::write(&path, content).unwrap();
    let stretches = Arc::new(Mutex::new(Vec::new()));
    let kept = stretches.clone();
    let seen = Box::new(move |stretch: &[u8]| {
        kept.lock().unwrap().push(String::from_utf8(stretch.to_vec()).unwrap());
        !enough.is_empty() && stretch.windows(enough.len()).any(|window| window == enough.as_bytes())
    });
    let all = show(File::open(&path).unwrap(), content.len() as u64, seen).unwrap();
    let stretches = stretches.lock().unwrap().clone();
    (stretches, all)
}

#[test]
fn every_byte_is_shown_once_and_no_line_is_torn() {
    let line = format!("{}\n", "x".repeat(1_000));
    let long = format!("{}\n", "y".repeat(3 * STRETCH_BYTES));
    for content in ["a\nb\n".to_owned(), line.repeat(700), format!("{line}{long}{line}"), String::new()] {
        let (stretches, all) = shown(&content, "");
        assert!(all);
        assert_eq!(stretches.concat(), content);
        assert!(stretches.iter().all(|stretch| stretch.ends_with('\n')));
    }
}

#[test]
fn a_look_that_has_seen_enough_ends_and_did_not_see_all() {
    let content = format!("{}needle\n{}", "x\n".repeat(STRETCH_BYTES), "x\n".repeat(STRETCH_BYTES));
    let (stretches, all) = shown(&content, "needle");
    assert!(!all && stretches.concat().len() < content.len());
}
