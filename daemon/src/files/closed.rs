//! What no grant opens: the directories the daemon itself lives in, with its data and its secrets.

#[cfg(unix)]
pub use std::os::fd::AsFd as Opened;
use std::path::{Path, PathBuf};

use super::resolve::resolve;

/// Something that is open; where it is cannot be told here.
#[cfg(not(unix))]
pub trait Opened {}

#[cfg(not(unix))]
impl<T> Opened for T {}

/// Directories that are closed, with all that is in them.
#[derive(Debug, Default)]
pub struct Closed(Vec<PathBuf>);

impl Closed {
    /// These, wherever their paths lead.
    pub fn new(paths: &[PathBuf]) -> Self {
        Self(paths.iter().map(|path| resolve(path).unwrap_or_else(|_| path.clone())).collect())
    }

    /// Whether a path without links leads into one of them.
    pub fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|closed| path.starts_with(closed))
    }

    /// Whether something that is open is in one of them, however it was come to. Where the system does not say where it is,
    /// the path it was opened by has to do.
    pub fn is(&self, opened: &impl Opened) -> bool {
        !self.0.is_empty() && place_of(opened).is_some_and(|place| self.has(&place))
    }
}

#[cfg(target_os = "linux")]
fn place_of(opened: &impl Opened) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    std::fs::read_link(format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd())).ok()
}

#[cfg(not(target_os = "linux"))]
fn place_of(_: &impl Opened) -> Option<PathBuf> {
    None
}
