//! The store seam: commit records to a log, read a range of it, read rows.
//!
//! Logs are the truth; rows are an index that can be rebuilt from them. [`DiskStore`] keeps plain logs with sled as
//! their index, [`MemoryStore`] is its twin for tests.

mod backup;
mod blobs;
mod disk;
mod error;
mod fault;
pub(crate) mod files;
mod header;
#[cfg(any(test, fuzzing))]
pub mod holds;
mod key;
mod late;
mod memory;
mod operation;
mod outline;
mod progress;
mod record;
mod rows;
#[cfg(test)]
mod tests;

use std::{fmt, path::Path, sync::Arc};

use futures::future::BoxFuture;
use ropewalk_protocol::{BlobId, CheckResult, Seq, ThreadId, Timestamp, TranscriptId};

pub use backup::BackupSize;
pub use blobs::Pin;
pub use disk::{DiskStore, Restored, refuse_unknown, restore};
pub use error::StoreError;
pub use fault::FailPoint;
pub use key::{Key, keys};
pub use late::LateStore;
pub use memory::MemoryStore;
pub use operation::{OperationRow, expired_before, expiry, next_to_expire};
pub use progress::Progress;
pub use record::{OperationRecord, Record};
pub use rows::keys_below;

/// The version of the log format this build writes.
pub const FORMAT_VERSION: u64 = header::LOG_VERSION;

/// Under this much room on its disk a home takes no new work (ruling 43).
pub const NEEDED_BYTES: u64 = 16 * 1024 * 1024;

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

    /// Its id; the daemon's log has none.
    fn id(&self) -> &str {
        match self {
            Self::Daemon => "",
            Self::Thread(id) => id,
            Self::Transcript(id) => id,
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

/// A part of a payload that is out of line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobPart {
    /// The bytes that were asked for.
    pub bytes: Vec<u8>,
    /// The length of the whole payload.
    pub total_bytes: u64,
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

/// Is shown a log in stretches, and says `true` when it has seen enough.
pub type Skimmer = Box<dyn FnMut(&[u8]) -> bool + Send>;

/// What a line has that says of strings that they are out of line. In a string it cannot stand: its quotes would be escaped.
pub const OUT_OF_LINE: &[u8] = b"\"blobs\":[{";

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

/// Says what of a log is still needed: it is shown every record in order, and is then asked about each in the same order.
pub trait Sieve: Send {
    /// Shows it a record.
    fn see(&mut self, record: &Record);

    /// What is still needed of the record that was shown as the `at`-th, from 0; `None` when nothing of it is.
    fn keep(&self, at: usize, record: &Record) -> Option<Record>;
}

/// How much of a log is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sifted {
    /// Bytes of the log.
    pub bytes: u64,
    /// Bytes that it would have, or has now, with nothing but what is needed.
    pub needed_bytes: u64,
}

impl Sifted {
    /// Bytes of the log that nothing needs. Written anew a log may be a few bytes longer than it was; then none are.
    #[must_use]
    pub const fn dead_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.needed_bytes)
    }
}

/// Works out the rows of a log's records, for logs that are ahead of the index.
pub trait Projector: Send + Sync + 'static {
    /// Begins with some records of a log that follow each other.
    fn begin(&self, log: &LogName) -> Box<dyn Projection>;

    /// Whether a log is one that the daemon's log says is deleted. What is left of such a log leads to no rows, and
    /// nobody misses it.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn is_removed(&self, _log: &LogName, _rows: &dyn Rows) -> Result<bool, StoreError> {
        Ok(false)
    }
}

/// The rows of some records of one log, from any of them on. It may keep what it has read from one record to the next; from
/// one stretch to another it must not, for others write to the log in between.
pub trait Projection {
    /// The rows that follow from the next record. `rows` reads the index as it is with every record before it applied.
    ///
    /// # Errors
    /// A sentence, when the record cannot be understood. No other record follows then.
    fn project(&mut self, record: &Record, rows: &dyn Rows) -> Result<Vec<RowChange>, String>;
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

    /// Shows a log as it lies there, in stretches of whole lines, until `seen` has seen enough: `true` from it ends the
    /// look. Resolves with whether all of the log was shown; whoever gets `false` without having asked for an end knows
    /// nothing about the log. A string that is out of line is not shown, but its line has [`OUT_OF_LINE`].
    fn skim(&self, _log: &LogName, _seen: Skimmer) -> BoxFuture<'static, Result<bool, StoreError>> {
        Box::pin(std::future::ready(Ok(false)))
    }

    /// Resolves when a log's rows follow from all of its records, or those of all logs do. At once, but for a store that
    /// is still reading at the start: a log that is waited for here is read next. Until then nothing is to be done with
    /// the log, and nothing of it is committed or read.
    ///
    /// # Errors
    /// Why the log cannot be read; `Starting`, when the store is closed before it is.
    fn compared(&self, _log: Option<&LogName>) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Whether logs are still being read at the start.
    fn is_comparing(&self) -> bool {
        false
    }

    /// What is wrong with a log of which acknowledged records cannot be read, by what the index knows; nothing for one
    /// that is well, or not there.
    fn damage(&self, _log: &LogName) -> Option<StoreError> {
        None
    }

    /// Keeps a payload out of line, once however often it is put. When it resolves with `Ok`, the payload is durable,
    /// and it stays until the pin is dropped and no record names it. Text is kept as it is, so that a person can read it.
    ///
    /// # Errors
    /// When it cannot be written, or there is no room for what need not be stored.
    fn put_blob(&self, bytes: Vec<u8>) -> BoxFuture<'static, Result<Pin, StoreError>>;

    /// A part of a payload and the length of the whole: at most `limit` bytes from byte `offset` on, fewer only at the
    /// end. `None` when nobody knows such a payload.
    ///
    /// # Errors
    /// `Read`, when a payload that a record names is missing, damaged or cannot be read.
    fn read_blob(
        &self,
        blob: &BlobId,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'static, Result<Option<BlobPart>, StoreError>>;

    /// Forgets which payloads a log needed that is gone for good, and removes those that no other log needs. To be called
    /// once the log's file is removed and the record that says so is durable (rulings 41 and 42). Called again, it does
    /// nothing.
    ///
    /// # Errors
    /// When the index cannot be read or written; the next start tries again.
    fn release_blobs(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Removes a log for good. When it resolves with `Ok`, neither its file nor its place in the index comes back after
    /// a power cut, and what it took is free; a log that is not there is no error. Rows are not its business: the record
    /// that decided on the removal has taken them away, and [`Projector::is_removed`] knows of it. Whoever removes a log
    /// has no commit to it under way and makes none afterwards.
    ///
    /// # Errors
    /// When something of the log may be left. To be repeated, at the latest after the next start.
    fn remove(&self, log: &LogName) -> BoxFuture<'static, Result<(), StoreError>>;

    /// How much of a log its sieve would keep.
    ///
    /// # Errors
    /// When the log cannot be read to its end.
    fn sift(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>>;

    /// Writes a log anew with what its sieve keeps of it, for a log whose records have no events. Commits to it wait
    /// meanwhile. After a crash it is the old log or the new one, whole; rows are as they were.
    ///
    /// # Errors
    /// When the log cannot be read to its end or the new one not be written. The log is the old one then, or the new
    /// one: nothing is lost.
    fn rewrite(&self, log: &LogName, sieve: Box<dyn Sieve>) -> BoxFuture<'static, Result<Sifted, StoreError>>;

    /// How much there is on disk.
    fn sizes(&self) -> StoreSizes;

    /// Whether new work may begin: asked before anything is started, submitted, declared or set. Results, settlements and
    /// ends are committed whatever this says (ruling 43).
    ///
    /// # Errors
    /// `NoRoom`, `ReadOnly` or `HomeGone`; `Read`, when the index has fallen too far behind.
    fn room(&self) -> Result<(), StoreError>;

    /// What is wrong although everything works, such as an index that could not be written.
    fn degraded(&self) -> Option<String>;

    /// Writes everything that is acknowledged at one moment into a new file of that absolute path, while work goes on.
    /// The file is there whole and synced or not at all. Secrets are not part of the store, and so not of its backup.
    ///
    /// # Errors
    /// `Refused` for a path that cannot be used, `File` when it cannot be written, `Busy` beside another one, `InMemory`
    /// when nothing is on disk.
    fn backup(&self, _path: &Path, _at: Timestamp) -> BoxFuture<'static, Result<BackupSize, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::InMemory)))
    }

    /// Holds the index against what follows from the logs, row by row, and reads every log and every payload, while work
    /// goes on.
    ///
    /// # Errors
    /// As [`Store::backup`], and `Read` when no second index can be built.
    fn check(&self) -> BoxFuture<'static, Result<CheckResult, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::InMemory)))
    }

    /// Writes everything down that is only a matter of speed (the index), before a clean exit.
    fn flush(&self) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Lets go of all that the store holds beyond memory, whoever still has the store: what it was given is finished, and
    /// whatever is asked of it from then on is refused as `Closed`. When it resolves, the same home can be opened again. A
    /// store that holds nothing beyond memory goes on as before.
    fn close(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}
