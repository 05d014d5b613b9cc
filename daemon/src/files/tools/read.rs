//! `read_file`: lines of a text file.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
};

use cap_std::fs::File;
use ropewalk_protocol::Capability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CHARACTERS, Done, Stop,
    text::{WHOLE_BYTES, as_text},
};
use crate::files::{reach::Reach, refusal::Refusal};

/// What to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadFile {
    /// The file, by its absolute path.
    path: String,
    /// The first line to read; lines are counted from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    start_line: u64,
    /// The last line to read; all of the file when left out.
    #[serde(default)]
    #[schemars(range(min = 1))]
    end_line: Option<u64>,
    /// The first character of the first line to read, counted from 1: how an answer that ended within a line goes on.
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    start_character: u64,
}

fn first() -> u64 {
    1
}

/// What was read; the lines themselves are the text of the answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileRead {
    /// The file.
    path: String,
    /// The first line that was read.
    start_line: u64,
    /// How many lines were read.
    lines: u64,
    /// The next line to ask for, when the answer was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<u64>,
    /// The next character of that line to ask for, when the answer was cut within it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_character: Option<u64>,
    /// The size of the file.
    size_bytes: u64,
}

/// Reads lines, up to 262,144 characters.
pub fn run(reach: &Reach, args: &ReadFile, stop: &Stop) -> Result<Done, Refusal> {
    if args.start_line == 0 || args.start_character == 0 {
        return Err(Refusal::asked("lines and characters are counted from 1, not from 0"));
    }
    let spot = reach.find(&args.path, &[Capability::Read])?;
    let file = spot.file()?;
    let size_bytes = file.metadata().map_err(|error| Refusal::io(&spot.path, error))?.len();
    let read = lines(BufReader::new(file), args, &spot.path, stop)?;
    let done = FileRead {
        path: spot.path.display().to_string(),
        start_line: args.start_line,
        lines: read.lines,
        next_line: read.next_line,
        next_character: read.next_character,
        size_bytes,
    };
    Done::new(read.text, &done)
}

#[derive(Default)]
struct Taken {
    text: String,
    lines: u64,
    next_line: Option<u64>,
    next_character: Option<u64>,
}

fn lines(mut source: BufReader<File>, args: &ReadFile, path: &Path, stop: &Stop) -> Result<Taken, Refusal> {
    let mut read = Taken::default();
    let mut room = CHARACTERS;
    let mut number = 1;
    while args.end_line.is_none_or(|end| number <= end) {
        stop.check()?;
        let mut line = Vec::new();
        let taken =
            source.by_ref().take(WHOLE_BYTES).read_until(b'\n', &mut line).map_err(|error| Refusal::io(path, error))?;
        if taken == 0 {
            break;
        }
        if taken as u64 == WHOLE_BYTES && !line.ends_with(b"\n") {
            return Err(Refusal::asked(format!(
                "line {number} of \"{}\" is longer than {taken} bytes",
                path.display()
            )));
        }
        if number >= args.start_line {
            let skipped = if number == args.start_line { args.start_character - 1 } else { 0 };
            let line = behind(as_text(line, path)?, skipped);
            let characters = line.chars().count();
            if characters > room && read.lines > 0 {
                read.next_line = Some(number);
                read.text.push_str(&format!("[cut: the answer is full; ask again with startLine {number}]\n"));
                break;
            }
            read.lines += 1;
            if characters > room {
                read.text.extend(line.chars().take(room));
                let next = skipped + room as u64 + 1;
                read.next_line = Some(number);
                read.next_character = Some(next);
                read.text.push_str(&format!(
                    "\n[cut: line {number} has {} characters; ask again with startLine {number} and startCharacter {next}]\n",
                    skipped + characters as u64
                ));
                break;
            }
            room -= characters;
            read.text.push_str(&line);
        }
        number += 1;
    }
    if read.lines == 0 {
        read.text = nothing(args, number - 1);
    }
    Ok(read)
}

/// What a line has behind so many characters.
fn behind(line: String, skipped: u64) -> String {
    if skipped == 0 { line } else { line.chars().skip(usize::try_from(skipped).unwrap_or(usize::MAX)).collect() }
}

fn nothing(args: &ReadFile, lines: u64) -> String {
    match args.end_line {
        Some(end) if end < args.start_line => {
            format!("[no lines: endLine {end} is before startLine {}]", args.start_line)
        }
        _ if lines == 0 => "[the file is empty]".to_owned(),
        _ => format!("[no lines: the file has {lines}]"),
    }
}
