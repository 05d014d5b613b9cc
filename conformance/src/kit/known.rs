//! The list of vectors that are known to fail, strict in both directions: what is listed and passes is an error as well.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::report::{Failure, Outcome};

/// Vectors that are known to fail, each with its reason.
///
/// One a line: the vector's name, a blank, and why it fails. Empty lines, and lines that begin with `#`, say nothing.
#[derive(Clone, Debug, Default)]
pub struct KnownFailing {
    reasons: BTreeMap<String, String>,
}

/// What is wrong with a list, a line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadList {
    /// Sentences that begin with the number of their line.
    pub problems: Vec<String>,
}

impl KnownFailing {
    /// Reads a list; `names` are the vectors there are.
    ///
    /// # Errors
    /// Names each line without a reason, each name that comes twice, and each that no vector has.
    pub fn read<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Result<Self, BadList> {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let mut list = Self::default();
        let mut problems = Vec::new();
        for (number, line) in text.lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, reason) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let mut wrong = |what: String| problems.push(format!("line {}: {what}", number + 1));
            if reason.is_empty() {
                wrong(format!("`{name}` has no reason; write it behind the name"));
            } else if !names.contains(name) {
                wrong(format!("there is no vector `{name}`; --list shows all"));
            } else if list.reasons.insert(name.to_owned(), reason.trim().to_owned()).is_some() {
                wrong(format!("`{name}` is listed twice"));
            }
        }
        if problems.is_empty() { Ok(list) } else { Err(BadList { problems }) }
    }

    /// Why this vector is known to fail.
    #[must_use]
    pub fn reason(&self, name: &str) -> Option<&str> {
        self.reasons.get(name).map(String::as_str)
    }

    /// What a vector that was played comes to, seen with this list.
    #[must_use]
    pub fn judge(&self, name: &str, played: Result<(), Failure>) -> Outcome {
        match (self.reason(name).map(str::to_owned), played) {
            (None, Ok(())) => Outcome::Passed,
            (None, Err(failure)) => Outcome::Failed { failure },
            (Some(reason), Err(failure)) => Outcome::Known { reason, failure },
            (Some(reason), Ok(())) => Outcome::PassedThoughKnown { reason },
        }
    }
}

impl fmt::Display for BadList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl std::error::Error for BadList {}
