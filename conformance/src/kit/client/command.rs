//! The command `conformance client`.

use std::{io, path::PathBuf, process::ExitCode, time::Duration};

use clap::Args;

use super::{
    library::Library,
    trial::{Trial, try_driver},
};
use crate::kit::{
    command::{Format, UNUSABLE, ended, known, told},
    selection::Selection,
    shell::{interrupted, print},
};

/// What `conformance client` takes.
#[derive(Args, Clone, Debug)]
pub struct ClientArgs {
    /// The driver: a small program around the SDK that is tried, and its arguments. `conformance/DRIVERS.md` says how to
    /// write one.
    #[arg(last = true, required_unless_present = "list", value_name = "DRIVER")]
    pub driver: Vec<String>,
    /// Only vectors whose topic, name or TOPIC/NAME this glob takes; may be given more than once.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// Vectors that are known to fail, a line each: the name, a blank, and why.
    #[arg(long, value_name = "FILE")]
    pub known_failing: Option<PathBuf>,
    /// Vectors of this folder in the place of the kit's own.
    #[arg(long, value_name = "DIR")]
    pub vectors: Option<PathBuf>,
    /// How the report is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub report: Format,
    /// How many vectors are played at the same time, each with a driver of its own.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
    /// How many milliseconds a vector waits for any one thing.
    #[arg(long, default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    pub patience_ms: u64,
    /// Says which vectors there are and why, and plays none.
    #[arg(long)]
    pub list: bool,
}

/// The driver cannot be started.
const NO_DRIVER: u8 = 3;

/// Plays the vectors and prints the report on stdout.
///
/// Exits with 0 when all is as expected, 1 when a vector failed that is not listed or passed though it is, 2 when
/// arguments, vectors or the list cannot be used, 3 when there is no such driver, and 130 when it was interrupted.
pub async fn client(args: ClientArgs) -> ExitCode {
    told(run(args).await)
}

async fn run(args: ClientArgs) -> Result<ExitCode, (u8, io::Error)> {
    let library = match &args.vectors {
        Some(folder) => Library::of_folder(folder),
        None => Library::built_in(),
    };
    let library = library.map_err(|problem| (UNUSABLE, io::Error::other(problem)))?;
    let only = Selection::new(args.only);
    if !library.vectors.iter().any(|vector| only.takes(&vector.topic, &vector.name)) {
        return Err((UNUSABLE, io::Error::other("there is no such vector; --list without --only shows all")));
    }
    if args.list {
        for vector in library.vectors.iter().filter(|vector| only.takes(&vector.topic, &vector.name)) {
            print(&format!("{}/{} ({})\n    {}", vector.topic, vector.name, vector.covers.join(", "), vector.why));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let names = library.vectors.iter().map(|vector| vector.name.as_str());
    let known = known(args.known_failing.as_deref(), names).map_err(|error| (UNUSABLE, error))?;
    let patience = Duration::from_millis(args.patience_ms);
    let trial = Trial { driver: args.driver, only, known, jobs: args.jobs.into(), patience };
    startable(&trial.driver).await.map_err(|error| (NO_DRIVER, error))?;
    let report = try_driver(&library, &trial, interrupted()).await;
    Ok(ended(&report, args.report))
}

/// Whether the driver can be started at all, which would otherwise be the failure of every vector.
async fn startable(driver: &[String]) -> io::Result<()> {
    let (program, arguments) = driver.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
    let started = command.stderr(std::process::Stdio::null()).kill_on_drop(true).spawn();
    let mut child = started.map_err(|error| io::Error::other(format!("{program} cannot be started: {error}")))?;
    child.kill().await
}
