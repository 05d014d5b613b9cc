//! The one dialect in which text is looked for: literal unless a regular expression is asked for, in linear time always.

use std::ops::Range;

use regex::{Regex, RegexBuilder, bytes};

/// Bytes a compiled expression may take.
const COMPILED_BYTES: usize = 1 << 20;

/// How a pattern is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// Letters match whatever their case.
    pub ignore_case: bool,
    /// The pattern is a regular expression.
    pub is_regex: bool,
}

/// Looks for a pattern.
#[derive(Clone, Debug)]
pub struct Matcher(Regex);

impl Matcher {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it is empty, no regular expression, or one that cannot be matched in linear time; the text says so to whoever
    /// wrote the pattern.
    pub fn new(pattern: &str, dialect: Dialect) -> Result<Self, String> {
        if pattern.is_empty() {
            return Err("the pattern is empty".to_owned());
        }
        let source = if dialect.is_regex { pattern.to_owned() } else { regex::escape(pattern) };
        RegexBuilder::new(&source)
            .case_insensitive(dialect.ignore_case)
            .size_limit(COMPILED_BYTES)
            .dfa_size_limit(COMPILED_BYTES)
            .build()
            .map(Self)
            .map_err(|error| explain(&error))
    }

    /// How often the pattern is in a text, without overlaps.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.0.find_iter(text).count()
    }

    /// Whether a text has the pattern.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Where the pattern is first in a text, in bytes.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        self.0.find(text).map(|found| found.range())
    }
}

/// Finds a literal pattern in text as our JSON writes it, without reading the JSON. What it does not find is not there; what
/// it finds may be in some other string.
///
/// # Errors
/// As [`Matcher::new`].
pub fn in_json(pattern: &str, ignore_case: bool) -> Result<bytes::Regex, String> {
    let written = serde_json::to_string(pattern).map_err(|error| error.to_string())?;
    let inner = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&written);
    bytes::RegexBuilder::new(&regex::escape(inner))
        .case_insensitive(ignore_case)
        .size_limit(COMPILED_BYTES)
        .dfa_size_limit(COMPILED_BYTES)
        .build()
        .map_err(|error| explain(&error))
}

fn explain(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("the regular expression is too large: compiled it may take {limit} bytes")
        }
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default().trim();
            let reason = last.strip_prefix("error: ").unwrap_or(last);
            if reason.contains("look-around") || reason.contains("backreference") {
                format!(
                    "the regular expression cannot be used: {reason}; every pattern is matched in linear time, so leave it \
                     out and check the lines found instead"
                )
            } else {
                format!("the regular expression cannot be used: {reason}")
            }
        }
    }
}
