//! What the commands of the kit have in common: how a report is written, and what their exit codes mean. All as expected is 0.

use std::{fs, io, path::Path, process::ExitCode};

use clap::ValueEnum;

use super::{
    known::KnownFailing,
    report::Report,
    shell::{complain, print},
};

/// A vector failed that is not listed, or passed though it is.
const FAILED: u8 = 1;

/// The arguments, the vectors or the list of known failures cannot be used.
pub(super) const UNUSABLE: u8 = 2;

/// Interrupted before every vector had its turn, as shells count it.
const INTERRUPTED: u8 = 130;

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The exit code of a command; why there is no report is said on stderr.
pub(super) fn told(ended: Result<ExitCode, (u8, io::Error)>) -> ExitCode {
    ended.unwrap_or_else(|(code, error)| {
        complain(&error);
        ExitCode::from(code)
    })
}

/// Prints a report, and gives the exit code it comes to.
pub(super) fn ended(report: &Report, format: Format) -> ExitCode {
    match format {
        Format::Text => print(report.to_string().trim_end()),
        Format::Json => print(&report.to_json().to_string()),
    }
    match (report.is_interrupted, report.is_as_expected()) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::from(FAILED),
    }
}

/// The list of known failures in a file; the error names it.
pub(super) fn known<'a>(file: Option<&Path>, names: impl Iterator<Item = &'a str>) -> io::Result<KnownFailing> {
    let Some(file) = file else { return Ok(KnownFailing::default()) };
    let listed = fs::read_to_string(file).and_then(|text| KnownFailing::read(&text, names).map_err(io::Error::other));
    listed.map_err(|error| io::Error::other(format!("{}: {error}", file.display())))
}
