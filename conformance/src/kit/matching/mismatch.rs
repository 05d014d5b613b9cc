//! Why a pattern did not match: where, what was expected there, and what came.

use std::fmt;

use serde_json::Value;

/// More of a value than this says no more to a reader.
const SHOWN_CHARACTERS: usize = 300;

/// The first place at which a pattern does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The place in what came, as a JSON Pointer; empty for all of it.
    pub path: String,
    /// What the pattern wants there.
    pub expected: String,
    /// What is there.
    pub came: String,
}

impl Mismatch {
    pub(super) fn new(path: &str, wanted: &Value, came: Option<&Value>) -> Self {
        Self::said(path, &shown(wanted), came)
    }

    pub(super) fn said(path: &str, expected: &str, came: Option<&Value>) -> Self {
        let came = came.map_or_else(|| "nothing".to_owned(), shown);
        Self { path: path.to_owned(), expected: expected.to_owned(), came }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, expected, came } = self;
        let place = if path.is_empty() { "the whole" } else { path };
        write!(f, "at {place}: expected {expected}, came {came}")
    }
}

impl std::error::Error for Mismatch {}

/// A value as text, its beginning where it is long.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}
