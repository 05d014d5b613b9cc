//! `conformance bench`: what a daemon costs, each row beside its floor measured in the same run on the same machine.
//!
//! A floor is what the same work costs without Ropewalk: the same bytes over a bare socket to a process of its own
//! (`floor`), the same bytes appended and synced (`disk`). Floor and figure are measured in turns, so that a machine
//! that gets slower meanwhile slows both.

mod disk;
mod floor;
mod model;
mod report;
mod rows;
mod subject;
mod timing;
mod wire;

use std::{io, path::PathBuf};

use clap::Args;

pub use self::floor::{FloorArgs, serve_floor};
use self::{
    floor::Floor,
    report::{Report, Row},
    subject::Subject,
};

/// What `conformance bench` takes.
#[derive(Args, Clone, Debug)]
pub struct BenchArgs {
    /// The daemon's program, started on a home that is removed afterwards; `ropewalk` beside this program unless given
    #[arg(long, value_name = "PATH")]
    pub daemon: Option<PathBuf>,
    /// Measure the daemon that listens on this socket; what only a daemon of its own can show is left out
    #[arg(long, value_name = "PATH", conflicts_with = "daemon")]
    pub socket: Option<PathBuf>,
    /// Where homes and the files of the floors are made: a real disk, or syncing costs nothing. The temporary directory
    /// unless given
    #[arg(long, value_name = "DIRECTORY")]
    pub dir: Option<PathBuf>,
    /// Only the rows whose names contain this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What every row has at hand.
pub(crate) struct Bench {
    pub(crate) subject: Subject,
    pub(crate) floor: Floor,
    pub(crate) dir: PathBuf,
}

/// Measures, and prints each row as soon as it is known.
///
/// # Errors
/// When the daemon cannot be started or reached, refuses what it is asked, or a row takes far too long.
pub async fn bench(args: BenchArgs) -> io::Result<()> {
    let temporary = match &args.dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let dir = temporary.path().to_owned();
    let floor = Floor::start(&dir).await?;
    let subject = Subject::find(&args, &dir).await?;
    let mut report = Report::new(&args, &subject);
    let bench = Bench { subject, floor, dir };
    for measure in rows::ALL {
        if args.only.as_ref().is_some_and(|only| !measure.names.iter().any(|name| name.contains(only))) {
            continue;
        }
        for row in (measure.run)(&bench).await? {
            report.add(row);
        }
    }
    report.finish();
    bench.subject.stop().await
}

/// A row that is not there on this platform, or for a daemon that was not started here.
pub(crate) const fn absent() -> Vec<Row> {
    Vec::new()
}
