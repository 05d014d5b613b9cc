//! `grep_files`: lines of files that have a text.

use std::path::Path;

use cap_std::fs::File;
use ropewalk_protocol::Capability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Done, Kind, Room, Stop, find::glob, text, text::on_a_line};
use crate::{
    files::{
        reach::{Reach, open_file},
        refusal::Refusal,
        walk::Ended,
    },
    search::{Dialect, Matcher, around},
};

/// Bytes of a file that is searched; a larger one is passed over, and counted.
const FILE_BYTES: u64 = 8 << 20;

/// Bytes that one search reads.
const ALL_BYTES: u64 = 256 << 20;

/// Characters of a line that are shown.
const LINE_CHARACTERS: usize = 400;

/// Where and what to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GrepFiles {
    /// The file to search, or the directory to search below, by its absolute path. Links are not followed, and `.git` is
    /// not gone into.
    path: String,
    /// The text to look for within one line.
    #[schemars(length(min = 1))]
    pattern: String,
    /// Whether the pattern is a regular expression, matched in linear time: without lookaround and backreferences.
    #[serde(default)]
    is_regex: bool,
    /// Whether letters match whatever their case.
    #[serde(default)]
    ignore_case: bool,
    /// Only files whose names fit this pattern, as in find_files.
    #[serde(default)]
    glob: Option<String>,
    /// How many lines to answer at most.
    #[serde(default = "most")]
    #[schemars(range(min = 1, max = MOST))]
    max_matches: usize,
}

/// More are not answered, whatever is asked.
const MOST: usize = 2_000;

fn most() -> usize {
    200
}

/// What was found.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grepped {
    /// The lines, by file.
    matches: Vec<Line>,
    /// How many files were searched.
    files_searched: u64,
    /// How many were not: binary, not UTF-8, too large or not readable.
    files_skipped: u64,
    /// Whether there may be more than was answered.
    truncated: bool,
}

/// A line that has the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct Line {
    /// Its file.
    path: String,
    /// Its number, counted from 1.
    line: u64,
    /// What it says, up to 400 characters around the text.
    text: String,
}

impl Line {
    /// How long it is in the answer.
    fn characters(&self) -> usize {
        self.as_told().chars().count()
    }

    fn as_told(&self) -> String {
        format!("{}:{}:{}\n", on_a_line(&self.path), self.line, self.text)
    }
}

/// Searches.
pub fn run(reach: &Reach, args: &GrepFiles, stop: &Stop) -> Result<Done, Refusal> {
    let dialect = Dialect { ignore_case: args.ignore_case, is_regex: args.is_regex };
    let matcher = Matcher::new(&args.pattern, dialect).map_err(Refusal::asked)?;
    let only = args.glob.as_deref().map(glob).transpose()?;
    let spot = reach.find(&args.path, &[Capability::Read])?;
    let most = args.max_matches.min(MOST);
    let mut search = Search { matcher, most, room: Room::default(), bytes: 0, found: Grepped::default(), stop };
    if spot.metadata()?.is_dir() {
        let ended = spot.walk(stop, |dir, entry, path| {
            if entry.kind != Kind::File || only.as_ref().is_some_and(|only| !only.is_match(path)) {
                return Ok(true);
            }
            search.file(open_file(dir, &entry.name).ok(), &spot.path.join(path))
        })?;
        search.found.truncated |= ended == Ended::Early;
    } else {
        let file = spot.file()?;
        search.file(Some(file), &spot.path)?;
    }
    let text = told(&search.found);
    Done::new(text, &search.found)
}

struct Search<'a> {
    matcher: Matcher,
    most: usize,
    room: Room,
    bytes: u64,
    found: Grepped,
    stop: &'a Stop,
}

impl Search<'_> {
    /// Searches one file; whether the search goes on.
    fn file(&mut self, file: Option<File>, path: &Path) -> Result<bool, Refusal> {
        // What was a file when the directory was read may be a pipe by now.
        let regular = file.filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()));
        let read = match regular.map(|file| text::bytes(file, FILE_BYTES, path, self.stop)) {
            Some(Err(Refusal::Cancelled)) => return Err(Refusal::Cancelled),
            Some(Ok(Some(bytes))) => {
                self.bytes += bytes.len() as u64;
                text::as_text(bytes, path).ok()
            }
            _ => None,
        };
        let Some(content) = read else {
            self.found.files_skipped += 1;
            return Ok(true);
        };
        self.found.files_searched += 1;
        for (number, line) in (1..).zip(content.lines()) {
            let Some(at) = self.matcher.find(line) else { continue };
            let found =
                Line { path: path.display().to_string(), line: number, text: around(line, at.start, LINE_CHARACTERS) };
            if self.found.matches.len() >= self.most || !self.room.take(found.characters()) {
                self.found.truncated = true;
                return Ok(false);
            }
            self.found.matches.push(found);
        }
        self.found.truncated |= self.bytes >= ALL_BYTES;
        Ok(!self.found.truncated)
    }
}

fn told(found: &Grepped) -> String {
    let mut text = String::new();
    for line in &found.matches {
        text.push_str(&line.as_told());
    }
    if found.matches.is_empty() {
        text.push_str(&format!("[no line has it, in {} files]", found.files_searched));
    }
    if found.files_skipped > 0 {
        text.push_str(&format!("[{} files were not searched: binary, not UTF-8 or too large]\n", found.files_skipped));
    }
    if found.truncated {
        text.push_str("[cut: there may be more; search below a deeper directory or for something narrower]");
    }
    text
}
