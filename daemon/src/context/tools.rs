//! Which definitions of tools a request has room for.

use std::{cmp::Reverse, collections::BTreeSet};

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
    /// Whether it shows or changes the daemon's own data. There are many of these, and few threads need any.
    pub is_about_us: bool,
    /// Its place among those the model has looked for in this run, the best one first.
    pub pinned: Option<usize>,
    /// What its definition takes.
    pub tokens: u64,
}

/// The names of those that are left out so that the rest fits: those about the daemon's own data first; then by source, then
/// name; after them what the model has looked for, the best one last; and tools of `files` and the rest of `app` after all
/// others. None while all of them fit; `search_tokens` is what the tool takes that finds the others.
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

fn order(candidate: &Candidate) -> (Worth, Reverse<usize>, &str, &str) {
    let worth = match candidate.source_kind {
        SourceKind::App if candidate.is_about_us && candidate.pinned.is_none() => Worth::Rarely,
        SourceKind::App if candidate.is_about_us => Worth::Theirs,
        SourceKind::Files | SourceKind::App => Worth::Ours,
        SourceKind::Client | SourceKind::Mcp => Worth::Theirs,
    };
    let place = Reverse(candidate.pinned.unwrap_or(usize::MAX));
    (worth, place, &candidate.source, &candidate.flat_name)
}

/// How long a tool is kept.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// What few threads need.
    Rarely,
    /// What its client or its owner gave the thread.
    Theirs,
    /// What every thread may need.
    Ours,
}
