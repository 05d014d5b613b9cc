//! `find_files`: files below a directory by the pattern of their names.

use globset::{GlobBuilder, GlobMatcher};
use ropewalk_protocol::Capability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Done, Kind, Room, Stop, text::on_a_line};
use crate::files::{reach::Reach, refusal::Refusal, walk::Ended};

/// Where and what to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindFiles {
    /// The directory to look below, by its absolute path. Links are not followed, and `.git` is not gone into.
    path: String,
    /// The pattern: `*.rs` for names at any depth, `src/**/*.rs` for paths from the directory on.
    pattern: String,
    /// How many files to answer at most.
    #[serde(default = "most")]
    #[schemars(range(min = 1, max = MOST))]
    max_results: usize,
}

/// More are not answered, whatever is asked.
const MOST: usize = 10_000;

fn most() -> usize {
    500
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilesFound {
    /// The files, by their absolute paths, in order.
    paths: Vec<String>,
    /// Whether there may be more than was answered.
    truncated: bool,
}

/// Looks for files.
pub fn run(reach: &Reach, args: &FindFiles, stop: &Stop) -> Result<Done, Refusal> {
    let glob = glob(&args.pattern)?;
    let spot = reach.find(&args.path, &[Capability::Read])?;
    let mut paths = Vec::new();
    let (mut full, mut room) = (false, Room::default());
    let mut text = String::new();
    let ended = spot.walk(stop, |_, entry, path| {
        if entry.kind == Kind::File && glob.is_match(path) {
            let found = spot.path.join(path).display().to_string();
            let told = on_a_line(&found);
            full = paths.len() >= args.max_results.min(MOST) || !room.take(told.chars().count() + 1);
            if !full {
                text.push_str(if paths.is_empty() { "" } else { "\n" });
                text.push_str(&told);
                paths.push(found);
            }
        }
        Ok(!full)
    })?;
    let truncated = ended == Ended::Early;
    if paths.is_empty() {
        text.push_str("[no file has such a name]");
    }
    if truncated {
        text.push_str("\n[cut: there may be more; look below a deeper directory or with a narrower pattern]");
    }
    Done::new(text, &FilesFound { paths, truncated })
}

/// Reads a pattern; one without a slash is for names, wherever they are.
pub fn glob(pattern: &str) -> Result<GlobMatcher, Refusal> {
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    GlobBuilder::new(&anywhere)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| Refusal::asked(format!("the pattern \"{pattern}\" cannot be used: {}", error.kind())))
}
