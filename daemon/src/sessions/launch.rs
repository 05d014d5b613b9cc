//! How a session is begun.

use std::{fmt, sync::Arc};

use tokio::io::DuplexStream;

use super::child::ChildCommand;
use crate::tools::veil::Secrets;

/// Everything there is to know to begin a session.
#[derive(Clone, Debug)]
pub struct Launch {
    /// By what the session is found: all who name it share it.
    pub key: String,
    /// What people call the server.
    pub name: String,
    /// What it is begun with, in short: a session that was begun with something else is not used any more.
    pub fingerprint: String,
    /// The version of the protocol that was negotiated before, where that is known.
    pub version: Option<String>,
    /// How long it may take to shake hands.
    pub start_timeout_ms: u64,
    /// What is begun.
    pub how: How,
}

impl Launch {
    /// What it is given that nobody is to see: the values of its own environment.
    pub fn secrets(&self) -> Secrets {
        match &self.how {
            How::Child(command) => Secrets::of(command.environment.values().cloned().collect()),
            How::InProcess(_) => Secrets::default(),
        }
    }
}

/// What is begun.
#[derive(Clone)]
pub enum How {
    /// A process that speaks over its stdin and stdout.
    Child(ChildCommand),
    /// A server in this process: makes one, and gives back our end of the pair (APP-8).
    InProcess(Arc<dyn Fn() -> DuplexStream + Send + Sync>),
}

impl fmt::Debug for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Child(command) => f.debug_tuple("Child").field(&command.command).finish(),
            Self::InProcess(_) => f.write_str("InProcess"),
        }
    }
}
