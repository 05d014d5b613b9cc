//! The binary: arguments and environment go in, an exit code comes out. Nothing else reads the environment or exits.

use std::{env, process::ExitCode};

use ropewalk_daemon::cli::{self, Environment};

fn main() -> ExitCode {
    cli::main(env::args_os(), Environment::new(|variable| env::var_os(variable)))
}
