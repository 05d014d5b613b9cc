//! `ropewalk keep`: between a daemon and the process of a server, started by the daemon and by nobody else.

use std::{ffi::OsString, process::ExitCode};

use clap::Args;

use super::{failure::Exit, out::Out};

/// Run a program until it ends or the input does, then end everything it started
#[derive(Args, Debug)]
pub struct KeepArgs {
    /// How many files the program may have open
    #[arg(long, value_name = "NUMBER")]
    descriptors: Option<u64>,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Keeps a program. It needs no runtime, and leaves with the program's exit code.
#[cfg(unix)]
pub fn run(args: &KeepArgs, out: &Out) -> ExitCode {
    let Some((program, arguments)) = args.command.split_first() else { return ExitCode::from(Exit::USAGE.0) };
    match crate::sessions::keep(program, arguments, args.descriptors) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            out.note(&format!("error: {} cannot be started: {error}", program.display()));
            ExitCode::from(Exit::FAILED.0)
        }
    }
}

/// Keeps a program.
#[cfg(not(unix))]
pub fn run(_: &KeepArgs, out: &Out) -> ExitCode {
    out.note("error: programs are kept on Unix only");
    ExitCode::from(Exit::FAILED.0)
}
