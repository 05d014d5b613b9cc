//! Tool ids: short names of a server's tools, one to one, that stay once they were given.

use std::collections::{BTreeMap, BTreeSet};

use crate::tools::digest::digest;

/// Characters of a tool id.
pub const MAX_TOOL_ID_CHARACTERS: usize = 32;

/// Digits of the digest of a name that tell it from another with the same words.
const MARK_CHARACTERS: usize = 6;

/// The id of a tool whose name has no ASCII letter or digit.
const FALLBACK: &str = "tool";

/// The ids of these tools. Those that were given before stay; the others are given in the order of their names, so the same
/// set always gets the same ids.
#[must_use]
pub fn tool_ids<'a>(
    given: &BTreeMap<String, String>,
    names: impl IntoIterator<Item = &'a str>,
) -> BTreeMap<String, String> {
    let mut taken: BTreeSet<String> = given.values().cloned().collect();
    let mut ids = BTreeMap::new();
    for name in names.into_iter().collect::<BTreeSet<_>>() {
        let id = given.get(name).cloned().unwrap_or_else(|| free_id(name, &taken));
        taken.insert(id.clone());
        ids.insert(name.to_owned(), id);
    }
    ids
}

/// The words of the name, and where these are taken a mark made of the whole name.
fn free_id(name: &str, taken: &BTreeSet<String>) -> String {
    let bare = camel_case(name);
    let marked = |attempt: u64| {
        let mark = digest(&(name, attempt));
        let kept = bare.len().min(MAX_TOOL_ID_CHARACTERS - MARK_CHARACTERS);
        format!("{}{}", &bare[..kept], &mark[..MARK_CHARACTERS])
    };
    let candidates = std::iter::once(bare.clone()).chain((0..).map(marked));
    candidates.into_iter().find(|candidate| !taken.contains(candidate)).unwrap_or_default()
}

/// `list_issues`, `list-issues`, `list.issues` and `List Issues` are `listIssues`.
fn camel_case(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = String::new();
    for word in words {
        let shouted = word.len() > 1 && !word.bytes().any(|letter| letter.is_ascii_lowercase());
        let word = if shouted { word.to_ascii_lowercase() } else { word.to_owned() };
        let (first, rest) = word.split_at(1);
        id.push_str(&if id.is_empty() { first.to_ascii_lowercase() } else { first.to_ascii_uppercase() });
        id.push_str(rest);
    }
    if !id.starts_with(|first: char| first.is_ascii_alphabetic()) {
        id = if id.is_empty() { FALLBACK.to_owned() } else { format!("{FALLBACK}{id}") };
    }
    id.truncate(MAX_TOOL_ID_CHARACTERS);
    id
}
