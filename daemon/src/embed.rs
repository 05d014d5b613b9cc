//! Placeholder until the daemon is put together: a daemon in this process, over a pipe in memory.

use std::path::PathBuf;

use ropewalk::{Connect, Ropewalk};
use ropewalk_protocol::RpcError;

/// Where an embedded daemon keeps its data.
#[derive(Clone, Debug)]
pub enum EmbedHome {
    /// Nowhere.
    Memory,
    /// In this directory.
    Directory(PathBuf),
}

/// How a daemon is embedded.
#[derive(Clone, Debug)]
pub struct EmbedConfig {
    /// Where it keeps its data.
    pub home: EmbedHome,
    /// Whether other programs reach it too.
    pub listen: bool,
}

/// A daemon that runs in this process.
pub struct Embedded {}

impl Embedded {
    /// A new connection to the daemon, as the SDK makes one.
    pub fn connect(&self) -> Connect {
        let (ours, _theirs) = tokio::io::duplex(65_536);
        Ropewalk::over(ours)
    }

    /// Stops the daemon.
    pub async fn stop(self, _grace_ms: u64) {}
}

/// Starts a daemon inside this program.
///
/// # Errors
/// When the home is in use.
pub async fn embed(_: EmbedConfig) -> Result<Embedded, RpcError> {
    Ok(Embedded {})
}
