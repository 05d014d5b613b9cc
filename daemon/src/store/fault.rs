//! Places where a test makes the store fail, the same on disk and in memory.

/// The next commit that comes to this place fails there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailPoint {
    /// A payload that goes out of line cannot be written; the commit fails and nothing of it is there.
    Blob,
    /// The append stops in the middle of its bytes; the commit fails and nothing of it is there.
    Append,
    /// As `Append`, and the thread that appends panics. On disk only.
    BreakDown,
    /// As `Append`, because the disk is full and there is no reserve.
    Full,
    /// The disk is full, and the reserve is enough for this: the commit stands.
    FullButForReserve,
    /// Every byte is written and the sync fails; the commit fails and nothing of it is there.
    Sync,
    /// As `Sync`, and cutting the log back fails too: the log takes nothing until that works.
    Cut,
    /// The records are durable and the index cannot be written: the commit stands.
    Index,
    /// The file of a log cannot be removed: everything before that has happened.
    Unlink,
    /// A log is being written anew: the new one is whole, and has not taken the place of the old one.
    BeforeRename,
    /// A log is being written anew: the new one is in the place of the old one, which is not durable yet.
    AfterRename,
    /// The commit never answers, and nothing of it survives a crash. In memory only.
    HangBeforeSync,
    /// The commit never answers, and its records survive a crash. In memory only.
    HangAfterSync,
}
