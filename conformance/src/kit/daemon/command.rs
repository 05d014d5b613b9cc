//! The command `conformance daemon`.

use std::{ffi::OsString, io, path::PathBuf, process::ExitCode, time::Duration};

use clap::Args;

use super::{
    broken::Fault,
    runner::{Playing, play},
    subject::{StartCommand, Subject},
};
use crate::kit::{
    command::{Format, UNUSABLE, ended, known, told},
    selection::Selection,
    shell::{interrupted, print},
    vector::{Vectors, daemon_vectors},
};

/// What `conformance daemon` takes.
#[derive(Args, Clone, Debug)]
pub struct DaemonArgs {
    /// The command that starts a daemon, and its arguments. `{home}` and `{socket}` in them are replaced; the environment
    /// has them as `ROPEWALK_HOME` and `ROPEWALK_SOCKET`.
    #[arg(last = true, required_unless_present_any = ["socket", "list"], conflicts_with = "socket", value_name = "CMD")]
    pub command: Vec<OsString>,
    /// The socket of a daemon that is under way. Vectors that need a daemon of their own are not run.
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
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
    /// How many vectors are played at the same time.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
    /// How many milliseconds a vector waits for any one message.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    pub patience_ms: u64,
    /// Says which vectors there are and why, and plays none.
    #[arg(long)]
    pub list: bool,
    /// Breaks a rule between the daemon and the kit, to see that the kit notices.
    #[arg(long, value_enum, hide = true)]
    pub fault: Option<Fault>,
}

/// There is no daemon to try.
const NO_DAEMON: u8 = 3;

/// Plays the vectors and prints the report on stdout.
///
/// Exits with 0 when all is as expected, 1 when a vector failed that is not listed or passed though it is, 2 when
/// arguments, vectors or the list cannot be used, 3 when there is no daemon, and 130 when it was interrupted.
pub async fn daemon(args: DaemonArgs) -> ExitCode {
    told(run(args).await)
}

async fn run(args: DaemonArgs) -> Result<ExitCode, (u8, io::Error)> {
    let unusable = |error| (UNUSABLE, error);
    let vectors = match &args.vectors {
        Some(folder) => Vectors::of_folder(folder),
        None => daemon_vectors().map_err(io::Error::other),
    };
    let vectors = vectors.map_err(unusable)?.vectors;
    let only = Selection::new(args.only.clone());
    if !vectors.iter().any(|vector| only.takes(&vector.topic, &vector.name)) {
        return Err(unusable(io::Error::other("there is no such vector; --list without --only shows all")));
    }
    if args.list {
        for vector in vectors.iter().filter(|vector| only.takes(&vector.topic, &vector.name)) {
            print(&format!("{}/{}\n    {}", vector.topic, vector.name, vector.why));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let names = vectors.iter().map(|vector| vector.name.as_str());
    let known = known(args.known_failing.as_deref(), names).map_err(unusable)?;
    let playing = Playing {
        subject: subject(&args),
        only,
        known,
        jobs: args.jobs.into(),
        patience: Duration::from_millis(args.patience_ms),
    };
    let report = play(&vectors, &playing, interrupted()).await.map_err(|error| (NO_DAEMON, error))?;
    Ok(ended(&report, args.report))
}

fn subject(args: &DaemonArgs) -> Subject {
    let command = args.command.split_first().map(|(program, arguments)| StartCommand {
        program: program.clone(),
        arguments: arguments.to_vec(),
        fault: args.fault,
    });
    let socket = args.socket.clone().unwrap_or_default();
    command.map_or_else(|| Subject::Socket(socket), Subject::Command)
}
