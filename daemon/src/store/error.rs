//! Why the store could not do something: what the wire calls it, and what a person can do about it.

use std::{io, path::Path};

use super::NEEDED_BYTES;

/// Why the store could not do something.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// An append or its sync failed; nothing of the commit is there.
    #[error("the log {log} could not be written: {cause}")]
    Write {
        /// Which log.
        log: String,
        /// What the system said.
        cause: String,
        /// Whether the disk is full.
        full: bool,
    },
    /// There is too little room for new work; what is under way is still written.
    #[error("the disk of {home} has only {free_bytes} bytes free, and new work is taken from {NEEDED_BYTES} on")]
    NoRoom {
        /// The home.
        home: String,
        /// How much there is.
        free_bytes: u64,
    },
    /// The disk of the home cannot be written to.
    #[error("{home} is on a disk that can only be read")]
    ReadOnly {
        /// The home.
        home: String,
    },
    /// The home was removed while it was in use.
    #[error("the home {home} is gone")]
    HomeGone {
        /// The home.
        home: String,
    },
    /// A file could not be read.
    #[error("{what} could not be read: {cause}")]
    Read {
        /// What was read.
        what: String,
        /// What the system said.
        cause: String,
    },
    /// A log is damaged at a place that was acknowledged; it can be read up to there and takes no new records.
    #[error("the log {log} is damaged at byte {offset}")]
    Damaged {
        /// Which log.
        log: String,
        /// Where.
        offset: u64,
    },
    /// A log or home of a version this build does not know.
    #[error("{what} has format version {found}, and this build knows up to {known}")]
    Version {
        /// What was opened.
        what: String,
        /// Its version.
        found: u64,
        /// Ours.
        known: u64,
    },
    /// Another process holds the home.
    #[error("the home {home} is in use{}", holder.map(|pid| format!(" by process {pid}")).unwrap_or_default())]
    InUse {
        /// The home.
        home: String,
        /// The holder's pid.
        holder: Option<u32>,
    },
    /// A restore of the home was begun and did not end.
    #[error("the home {home} is half restored")]
    Unfinished {
        /// The home.
        home: String,
    },
    /// A file that is no log could not be written.
    #[error("{path} could not be written: {cause}")]
    File {
        /// Which file.
        path: String,
        /// What the system said.
        cause: String,
        /// Whether the disk is full.
        full: bool,
    },
    /// A file that a person named cannot be used for what it was named for.
    #[error("{message}")]
    Refused {
        /// Why, in one word.
        reason: &'static str,
        /// Why, and what to do, as sentences.
        message: String,
    },
    /// The store is not open yet.
    #[error("the store is being opened")]
    Starting {
        /// How far that has come, from 0 to 1.
        progress: Option<f64>,
    },
    /// The store was closed for good: its daemon has stopped.
    #[error("the store is closed")]
    Closed,
    /// A backup or a check is under way, and there is one of them at a time.
    #[error("a backup or a check is under way")]
    Busy,
    /// What was asked for is about files, and there are none.
    #[error("this daemon keeps everything in memory")]
    InMemory,
}

impl StoreError {
    /// A file could not be written.
    pub(super) fn file(path: &Path, error: &io::Error) -> Self {
        let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        Self::File { path: path.display().to_string(), cause: error.to_string(), full }
    }

    /// The reason of the wire's `unavailable`.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Write { full: true, .. } | Self::File { full: true, .. } | Self::NoRoom { .. } => "storage_full",
            Self::Write { .. } | Self::File { .. } | Self::ReadOnly { .. } | Self::Read { .. } => "io_error",
            Self::HomeGone { .. } => "home_gone",
            Self::Damaged { .. } => "log_damaged",
            Self::Version { .. } => "store_version",
            Self::InUse { .. } => "home_in_use",
            Self::Unfinished { .. } => "half_restored",
            Self::InMemory => "in_memory",
            Self::Starting { .. } => "starting",
            Self::Closed => "stopped",
            Self::Refused { .. } | Self::Busy => "busy",
        }
    }

    /// What a person can do about it, as a sentence with a space before it; nothing where that is plain or unknown.
    #[must_use]
    pub const fn next_step(&self) -> &'static str {
        match self {
            Self::Write { full: true, .. } | Self::File { full: true, .. } | Self::NoRoom { .. } => {
                " Free some space and try again."
            }
            Self::Version { .. } => " A newer Ropewalk wrote it: use that one, or name another home.",
            Self::Unfinished { .. } => " Run `ropewalk restore` again with the same backup.",
            Self::ReadOnly { .. } => " Have it mounted so that it can be written to, and try again.",
            Self::HomeGone { .. } => " This daemon ends; the next one makes a new home.",
            Self::Damaged { .. } => " `ropewalk doctor --check` names the place.",
            _ => "",
        }
    }

    /// Whether the same request may do better later without a person having done something to this home.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        !matches!(
            self,
            Self::Damaged { .. }
                | Self::Version { .. }
                | Self::HomeGone { .. }
                | Self::Unfinished { .. }
                | Self::InMemory
                | Self::Starting { .. }
        )
    }

    /// What the system said when something was written.
    pub(super) fn of_write(log: String, error: &io::Error) -> Self {
        let full = matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        Self::Write { log, cause: error.to_string(), full }
    }
}
