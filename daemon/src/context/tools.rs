//! Which definitions of tools a request has room for.

use std::collections::BTreeSet;

use ropewalk_protocol::SourceKind;

/// A tool that asks to be defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its model-facing name.
    pub flat_name: String,
    /// Its source.
    pub source: String,
    /// What kind of source.
    pub source_kind: SourceKind,
    /// Whether the model has looked for it in this run.
    pub is_pinned: bool,
    /// What its definition takes.
    pub tokens: u64,
}

/// The names of those that are left out so that the rest fits: by source, then name; tools of `files` and `app` last, and
/// what the model has looked for only after all others. Nothing while all of them fit, `search_tokens` is what the tool
/// takes that finds the others.
#[must_use]
pub fn left_out(mut candidates: Vec<Candidate>, budget: u64, search_tokens: u64) -> BTreeSet<String> {
    let mut total: u64 = candidates.iter().map(|candidate| candidate.tokens).sum();
    let mut left_out = BTreeSet::new();
    if total <= budget {
        return left_out;
    }
    total += search_tokens;
    candidates.sort_by(|a, b| order(a).cmp(&order(b)));
    for candidate in candidates {
        if total <= budget {
            break;
        }
        total -= candidate.tokens;
        left_out.insert(candidate.flat_name);
    }
    left_out
}

fn order(candidate: &Candidate) -> (bool, bool, &str, &str) {
    let is_ours = matches!(candidate.source_kind, SourceKind::Files | SourceKind::App);
    (candidate.is_pinned, is_ours, &candidate.source, &candidate.flat_name)
}
