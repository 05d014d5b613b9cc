//! The command `conformance`: the kit for those who do not test in Rust.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use ropewalk_conformance::{
    BenchArgs, FloorArgs, ServeArgs, TortureArgs, bench,
    kit::{
        client::{ClientArgs, Fault, client, drive},
        daemon::{DaemonArgs, daemon},
    },
    serve, serve_floor, torture,
};

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
    /// Plays vectors against a daemon, anybody's: conformance daemon -- CMD ARGS…
    Daemon(DaemonArgs),
    /// Plays vectors against a client SDK, anybody's, through a driver: conformance client -- DRIVER ARGS…
    Client(ClientArgs),
    /// The driver of the Rust SDK, for `client`.
    DriverRust {
        /// Breaks a rule of the wire, to see that the kit notices.
        #[arg(long, value_enum)]
        fault: Option<Fault>,
    },
    /// Measures a daemon beside what the same work costs without it.
    ///
    /// Figures of a debug build mean nothing: build both with --release.
    Bench(BenchArgs),
    /// Kills a daemon under load, or cuts its power, again and again, and looks whether it keeps its promises.
    Torture(TortureArgs),
    /// The simplest server there is, for `bench` to measure.
    #[command(hide = true)]
    Floor(FloorArgs),
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(args) => serve(args).await,
        Command::Daemon(args) => return daemon(args).await,
        Command::Client(args) => return client(args).await,
        Command::DriverRust { fault } => drive(fault).await,
        // On a thread of the runtime, as the daemon's own work is: the main thread would add a hop to every wake-up.
        Command::Bench(args) => tokio::spawn(bench(args)).await.unwrap_or_else(|error| Err(error.into())),
        Command::Torture(args) => tortured(&args).await,
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

#[expect(clippy::print_stdout, reason = "the table is what the command is for")]
async fn tortured(args: &TortureArgs) -> std::io::Result<()> {
    let report = torture(args).await?;
    print!("{report}");
    match report.violations.len() {
        0 => Ok(()),
        broken => Err(std::io::Error::other(format!("{broken} promises were broken; the seed was {}", args.seed))),
    }
}

#[expect(clippy::print_stderr, reason = "a command says on stderr why it failed")]
fn complain(error: &std::io::Error) {
    eprintln!("conformance: {error}");
}
