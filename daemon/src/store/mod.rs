//! The store seam: commit records to a log, read a range of it, read rows.
//!
//! Logs are the truth; rows are an index that can be rebuilt from them. [`DiskStore`] keeps plain logs with sled as
//! their index, [`MemoryStore`] is its twin for tests.

mod disk;
mod fault;
pub(crate) mod files;
mod header;
mod key;
mod memory;
mod operation;
mod record;
mod rows;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use ropewalk_protocol::{Seq, ThreadId, TranscriptId};

pub use disk::DiskStore;
pub use fault::FailPoint;
pub use key::{Key, keys};
pub use memory::MemoryStore;
pub use operation::OperationRow;
pub use record::{OperationRecord, Record};

/// The version of the log format this build writes.
pub const FORMAT_VERSION: u64 = header::LOG_VERSION;

/// Which log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogName {
    /// What belongs to no thread.
    Daemon,
    /// A thread.
    Thread(ThreadId),
    /// The transcript of a subtask.
    Transcript(TranscriptId),
}

impl LogName {
    /// The word for its kind in the log's first line.
    const fn kind(&self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Thread(_) => "thread",
            Self::Transcript(_) => "transcript",
        }
    }
}

impl fmt::Display for LogName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Daemon => f.write_str("of the daemon"),
            Self::Thread(id) => write!(f, "of thread {id}"),
            Self::Transcript(id) => write!(f, "of transcript {id}"),
        }
    }
}

/// A change of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// Write a row.
    Put(Key, Vec<u8>),
    /// Remove a row.
    Delete(Key),
}

/// What goes into one log together: durable as a whole or not at all.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The log; made by its first commit.
    pub log: LogName,
    /// The records in order; `n` of each follows from the one before.
    pub records: Vec<Record>,
    /// The rows that follow from them.
    pub rows: Vec<RowChange>,
}

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
}

/// How much there is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreSizes {
    /// Bytes of logs.
    pub log_bytes: u64,
    /// Bytes of payloads out of line.
    pub blob_bytes: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// Bytes of logs that nothing needs any more.
    pub dead_bytes: u64,
}

/// A range of rows with one prefix.
#[derive(Clone, Debug)]
pub struct Scan {
    /// Only keys that begin with this.
    pub prefix: Key,
    /// Only keys beyond this one, in the direction of the scan.
    pub after: Option<Key>,
    /// From the last key to the first.
    pub reverse: bool,
    /// How many rows at most.
    pub limit: usize,
}

/// Works out the rows of a log's records, for logs that are ahead of the index.
///
/// `rows` reads the index as it is with every record before this one applied.
pub trait Projector: Send + Sync + 'static {
    /// The rows that follow from `record`.
    ///
    /// # Errors
    /// A sentence, when the record cannot be understood.
    fn project(&self, log: &LogName, record: &Record, rows: &dyn Rows) -> Result<Vec<RowChange>, String>;
}

/// Reading the index.
pub trait Rows: Send + Sync {
    /// One row.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError>;

    /// Rows in key order.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError>;
}

/// Where everything lasts.
pub trait Store: Rows + 'static {
    /// Appends and syncs the records. When it resolves with `Ok`, the records survive a power cut and every reader sees
    /// the rows; with an error, nothing of the commit is there. Commits to one log are made in the order of their
    /// calls; their caller waits for one before the next.
    fn commit(&self, commit: Commit) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Records of a log in order, beginning with the one that holds event `from` (a record without events counts as
    /// holding the event after it), until `max_bytes` are read (the first record always included). Empty at the end;
    /// at the end of what can be read of a damaged log, `Damaged`.
    fn read(
        &self,
        log: &LogName,
        from: Seq,
        max_bytes: usize,
    ) -> BoxFuture<'static, Result<Vec<Arc<Record>>, StoreError>>;

    /// How much there is on disk.
    fn sizes(&self) -> StoreSizes;

    /// What is wrong although everything works, such as an index that could not be written.
    fn degraded(&self) -> Option<String>;

    /// Writes everything down that is only a matter of speed (the index), before a clean exit.
    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>>;
}
