//! How a command ends: the exit codes, and what is said when it did not work.

use ropewalk::Error;
use ropewalk_protocol::{ErrorDetail, OutcomeStatus, RpcError};
use serde_json::json;

use super::out::{Out, Style};
use crate::server::StartError;

/// An exit code. `--help` of `run` and `docs/cli.md` list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit(pub(crate) u8);

impl Exit {
    /// It worked; a run completed.
    pub(crate) const DONE: Self = Self(0);
    /// It did not work; a run failed or was interrupted.
    pub(crate) const FAILED: Self = Self(1);
    /// The command line was wrong.
    pub(crate) const USAGE: Self = Self(2);
    /// The run was stopped.
    pub(crate) const STOPPED: Self = Self(3);
    /// The daemon cannot be reached.
    pub(crate) const UNREACHABLE: Self = Self(4);
    /// The run is paused until somebody resumes it.
    pub(crate) const PAUSED: Self = Self(5);
    /// A second Ctrl-C left while the run went on.
    pub(crate) const LEFT: Self = Self(130);

    /// The code for the end of a run.
    pub(crate) const fn of_run(status: OutcomeStatus) -> Self {
        match status {
            OutcomeStatus::Completed => Self::DONE,
            OutcomeStatus::Failed | OutcomeStatus::Interrupted => Self::FAILED,
            OutcomeStatus::Stopped => Self::STOPPED,
        }
    }
}

/// Why a command did not work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// What was asked for is sensible, and not possible now.
    #[error("{0}")]
    Failed(String),
    /// The person pressed Ctrl-C.
    #[error("Interrupted.")]
    Interrupted,
    /// The daemon said no, or cannot be reached.
    #[error(transparent)]
    Client(#[from] Error),
    /// The home and the socket that are meant cannot be found out.
    #[error(transparent)]
    Places(#[from] StartError),
    /// A daemon cannot be run in this process.
    #[error(transparent)]
    Embed(#[from] RpcError),
}

impl Failure {
    /// The exit code that belongs to it.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::USAGE,
            Self::Interrupted => Exit::LEFT,
            Self::Client(
                Error::Connect { .. }
                | Error::NotRunning { .. }
                | Error::StartFailed { .. }
                | Error::Disconnected
                | Error::ReconnectFailed { .. }
                | Error::Timeout { .. },
            ) => Exit::UNREACHABLE,
            Self::Failed(_) | Self::Client(_) | Self::Places(_) | Self::Embed(_) => Exit::FAILED,
        }
    }

    /// Says it on stderr: a sentence for a person, or the error as the wire has it.
    pub(crate) fn say(&self, out: &Out, as_json: bool) {
        match self {
            Self::Client(Error::Rpc(error)) if as_json => out.note(&json!({ "error": error }).to_string()),
            _ if as_json => out.note(&json!({ "error": { "message": self.to_string() } }).to_string()),
            _ => {
                out.note(&format!(
                    "{} {}",
                    out.paint_note(Style::Red, "error:"),
                    super::text::printable(&self.to_string())
                ));
                self.problems().iter().for_each(|problem| out.note(&format!("  {problem}")));
            }
        }
    }

    /// Where in the parameters the problems are, when there are several; which command lists what was not found.
    fn problems(&self) -> Vec<String> {
        match self {
            Self::Client(Error::Rpc(error)) => problems(error),
            _ => Vec::new(),
        }
    }
}

fn problems(error: &RpcError) -> Vec<String> {
    match &error.data.detail {
        ErrorDetail::InvalidParams { problems, .. } => {
            problems.iter().map(|problem| format!("{}: {}", problem.path, problem.reason)).collect()
        }
        ErrorDetail::NotFound { noun, .. } => lister(noun).map(str::to_owned).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The command that lists the things of which one was not found.
fn lister(noun: &str) -> Option<&'static str> {
    Some(match noun {
        "thread" => "`ropewalk threads` lists them.",
        "branch" => "`ropewalk branches THREAD` lists those of a thread.",
        "run" => "`ropewalk branches THREAD` names the runs under way in a thread.",
        "interaction" => "`ropewalk pending` lists what waits.",
        "endpoint" => "`ropewalk endpoint list` lists them.",
        "project" => "`ropewalk project` lists them.",
        "policy" => "`ropewalk policy list` lists them.",
        _ => return None,
    })
}
