//! The command `conformance`: the kit for those who do not test in Rust.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use ropewalk_conformance::{BenchArgs, FloorArgs, ServeArgs, bench, serve, serve_floor};

/// Stands opposite Ropewalk in tests.
#[derive(Parser)]
#[command(name = "conformance", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves the scripted model in the shapes of OpenAI (chat completions, responses) and Anthropic, until it is
    /// interrupted.
    Serve(ServeArgs),
    /// Measures a daemon beside what the same work costs without it.
    ///
    /// Figures of a debug build mean nothing: build both with --release.
    Bench(BenchArgs),
    /// The simplest server there is, for `bench` to measure.
    #[command(hide = true)]
    Floor(FloorArgs),
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(args) => serve(args).await,
        // On a thread of the runtime, as the daemon's own work is: the main thread would add a hop to every wake-up.
        Command::Bench(args) => tokio::spawn(bench(args)).await.unwrap_or_else(|error| Err(error.into())),
        Command::Floor(args) => serve_floor(args).await,
    };
    match done {
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
