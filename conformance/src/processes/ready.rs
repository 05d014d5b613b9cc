//! The one line a daemon prints: that it is ready, or why it is not.

use std::{path::PathBuf, process::ExitStatus};

use serde::Deserialize;
use serde_json::Value;

/// A daemon that is ready.
#[derive(Clone, Debug, Deserialize)]
pub struct Ready {
    /// Where it listens.
    pub socket: PathBuf,
    /// The number of its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
}

/// A daemon that refused to start.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// `{kind, message, data}`, as it printed it.
    pub error: Value,
    /// How its process ended.
    pub status: ExitStatus,
}

pub(crate) enum NotReady {
    Refused(Value),
    Unreadable(String),
}

pub(crate) fn parse(line: &str) -> Result<Ready, NotReady> {
    let unreadable = || NotReady::Unreadable(format!("the daemon printed no ready line but {line:?}"));
    if !line.ends_with('\n') {
        return Err(unreadable());
    }
    let mut said: Value = serde_json::from_str(line).map_err(|_| unreadable())?;
    match said["ready"].as_bool() {
        Some(true) => serde_json::from_value(said).map_err(|_| unreadable()),
        Some(false) => Err(NotReady::Refused(said["error"].take())),
        None => Err(unreadable()),
    }
}
