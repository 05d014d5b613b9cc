//! Why a file tool did not do what it was asked, in words a model can act on.

use std::{io, path::Path};

use ropewalk_protocol::Capability;

/// Why a call of a file tool fails. Its text is what the model is told.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The path does not begin at the root.
    #[error("the path \"{0}\" is relative: give an absolute path")]
    Relative(String),
    /// Nothing was granted at all.
    #[error("no directory is granted to this project: a person has to grant one before files can be used")]
    NoGrants,
    /// The path, followed to where it leads, is in no grant.
    #[error("\"{path}\" leads to a place outside of the granted directories, which are: {granted}")]
    Outside {
        /// The path as it was given.
        path: String,
        /// The granted directories.
        granted: String,
    },
    /// It is where the daemon itself lives.
    #[error("\"{0}\" is in the daemon's own home, which has its data and its secrets: no grant opens it")]
    Closed(String),
    /// It is in a grant that does not allow this.
    #[error("\"{path}\" is in a directory that is granted without the capability to {}", word(*.capability))]
    Capability {
        /// The path as it was given.
        path: String,
        /// What is missing.
        capability: Capability,
    },
    /// Something else than the tool can work on.
    #[error("\"{path}\" is {is}, not {wanted}")]
    Kind {
        /// The path as it was given.
        path: String,
        /// What it is.
        is: &'static str,
        /// What it would have to be.
        wanted: &'static str,
    },
    /// The operating system failed it.
    #[error("\"{path}\" {}", reason(.source))]
    Io {
        /// The path as it was given.
        path: String,
        /// The error.
        source: io::Error,
    },
    /// What was asked for cannot be done.
    #[error("{0}")]
    Asked(String),
    /// The call was taken back.
    #[error("the call was cancelled")]
    Cancelled,
}

impl Refusal {
    /// An error of the operating system about a path.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.display().to_string(), source }
    }

    /// What was asked for cannot be done.
    pub fn asked(why: impl Into<String>) -> Self {
        Self::Asked(why.into())
    }
}

/// The word of a capability.
pub fn word(capability: Capability) -> &'static str {
    match capability {
        Capability::Read => "read",
        Capability::Write => "write",
        Capability::Execute => "execute",
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "cannot be opened: permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "has a part that is not a directory".to_owned(),
        _ => format!("cannot be used: {error}"),
    }
}
