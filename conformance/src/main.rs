//! The command `conformance`: the kit for those who do not test in Rust.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use ropewalk_conformance::{ServeArgs, serve};

/// Stands opposite Ropewalk in tests.
#[derive(Parser)]
#[command(name = "conformance", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves the scripted model as OpenAI-compatible chat completions, until it is interrupted.
    Serve(ServeArgs),
}

#[tokio::main]
async fn main() -> ExitCode {
    let Cli { command: Command::Serve(args) } = Cli::parse();
    match serve(args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "a command says on stderr why it failed")]
fn complain(error: &std::io::Error) {
    eprintln!("conformance: {error}");
}
