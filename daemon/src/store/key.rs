//! Keys of the index: one ordered space, a prefix a kind of row.

use ropewalk_protocol::{BlobId, Timestamp};

/// A key of the index. Keys compare as their bytes do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub Vec<u8>);

impl Key {
    /// A key of parts, each ended by a zero byte so that no part can run into the next.
    #[must_use]
    pub fn of(parts: &[&str]) -> Self {
        let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
        for part in parts {
            bytes.extend_from_slice(part.as_bytes());
            bytes.push(0);
        }
        Self(bytes)
    }

    /// The last part, as text.
    #[must_use]
    pub fn last_part(&self) -> Option<&str> {
        let body = self.0.strip_suffix(&[0])?;
        let start = body.iter().rposition(|byte| *byte == 0).map_or(0, |at| at + 1);
        std::str::from_utf8(&body[start..]).ok()
    }
}

/// The kinds of rows. One function a kind; nothing else makes keys.
pub mod keys {
    use super::{BlobId, Key, Timestamp};
    use crate::store::LogName;

    /// A thread's header and small state.
    #[must_use]
    pub fn thread(id: &str) -> Key {
        Key::of(&["thread", id])
    }

    /// That a thread lives in a project: the order in which messages are searched.
    #[must_use]
    pub fn in_project(project: &str, thread: &str) -> Key {
        Key::of(&["inProject", project, thread])
    }

    /// The threads of a project.
    #[must_use]
    pub fn threads_of(project: &str) -> Key {
        Key::of(&["inProject", project])
    }

    /// All threads, project by project.
    #[must_use]
    pub fn threads_by_project() -> Key {
        Key::of(&["inProject"])
    }

    /// The project and the thread of a key of [`in_project`]; nothing for any other key.
    #[must_use]
    pub fn parts_of_in_project(key: &Key) -> Option<(&str, &str)> {
        let mut parts = key.0.split(|byte| *byte == 0).map(|part| std::str::from_utf8(part).ok());
        let (kind, project, thread) = (parts.next()??, parts.next()??, parts.next()??);
        (kind == "inProject").then_some((project, thread))
    }

    /// All threads.
    #[must_use]
    pub fn threads() -> Key {
        Key::of(&["thread"])
    }

    /// Everything of one thread beside its header, of one kind: `branch`, `queue`, `tools`, `openRun`,
    /// `openItem`, `openBatch`, `openCall`, `interaction`.
    #[must_use]
    pub fn of_thread(kind: &str, thread: &str) -> Key {
        Key::of(&[kind, thread])
    }

    /// One part of a thread.
    #[must_use]
    pub fn part(kind: &str, thread: &str, id: &str) -> Key {
        Key::of(&[kind, thread, id])
    }

    /// Threads in the order of their last activity: (archived, time, id).
    #[must_use]
    pub fn by_activity(archived: bool, at: Timestamp, thread: &str) -> Key {
        Key::of(&[if archived { "archived" } else { "active" }, &format!("{:020}", at.as_millis()), thread])
    }

    /// A run, ended or not.
    #[must_use]
    pub fn run(id: &str) -> Key {
        Key::of(&["run", id])
    }

    /// A run that has not ended.
    #[must_use]
    pub fn open_run(thread: &str, id: &str) -> Key {
        Key::of(&["openRun", thread, id])
    }

    /// All runs that have not ended.
    #[must_use]
    pub fn open_runs() -> Key {
        Key::of(&["openRun"])
    }

    /// Which thread an interaction belongs to.
    #[must_use]
    pub fn home_of(id: &str) -> Key {
        Key::of(&["home", id])
    }

    /// That a row which is found by an id of its own belongs to a thread, so that it goes with it: `run`, `home` or
    /// `operation`. Whoever writes such a row writes this one beside it.
    #[must_use]
    pub fn owned(thread: &str, kind: &str, id: &str) -> Key {
        Key::of(&["owned", thread, kind, id])
    }

    /// Everything that belongs to a thread and is found by an id of its own.
    #[must_use]
    pub fn owned_by(thread: &str) -> Key {
        Key::of(&["owned", thread])
    }

    /// A thread that was deleted and of which something may be left.
    #[must_use]
    pub fn tombstone(thread: &str) -> Key {
        Key::of(&["tombstone", thread])
    }

    /// All of them.
    #[must_use]
    pub fn tombstones() -> Key {
        Key::of(&["tombstone"])
    }

    /// An operation of the journal.
    #[must_use]
    pub fn operation(id: &str) -> Key {
        Key::of(&["operation", id])
    }

    /// That a log needs a blob, in the order of blobs.
    #[must_use]
    pub fn blob_use(blob: &BlobId, log: &LogName) -> Key {
        Key::of(&["blobUse", blob, log.kind(), log.id()])
    }

    /// Every log that needs a blob.
    #[must_use]
    pub fn blob_uses(blob: &BlobId) -> Key {
        Key::of(&["blobUse", blob])
    }

    /// That a log needs a blob, in the order of logs.
    #[must_use]
    pub fn blob_of(log: &LogName, blob: &BlobId) -> Key {
        Key::of(&["blobOf", log.kind(), log.id(), blob])
    }

    /// Every blob that a log needs.
    #[must_use]
    pub fn blobs_of(log: &LogName) -> Key {
        Key::of(&["blobOf", log.kind(), log.id()])
    }

    /// What all logs need.
    #[must_use]
    pub fn all_blobs_of_logs() -> Key {
        Key::of(&["blobOf"])
    }

    /// The log and the blob of a key of [`blob_of`].
    #[must_use]
    pub fn parts_of_blob_of(key: &Key) -> Option<(LogName, BlobId)> {
        let mut parts = key.0.split(|byte| *byte == 0).map(|part| std::str::from_utf8(part).ok());
        let (_, kind, id, blob) = (parts.next()??, parts.next()??, parts.next()??, parts.next()??);
        Some((log_named(kind, id)?, blob.into()))
    }

    /// The log of a key of [`blob_of`] or [`blob_use`]; nothing for any other key.
    #[must_use]
    pub fn log_in_need(key: &Key) -> Option<LogName> {
        let parts: Option<Vec<&str>> =
            key.0.split(|byte| *byte == 0).map(|part| std::str::from_utf8(part).ok()).collect();
        match *parts? {
            ["blobOf", kind, id, _, ""] | ["blobUse", _, kind, id, ""] => log_named(kind, id),
            _ => None,
        }
    }

    fn log_named(kind: &str, id: &str) -> Option<LogName> {
        match kind {
            "daemon" => Some(LogName::Daemon),
            "thread" => Some(LogName::Thread(id.into())),
            "transcript" => Some(LogName::Transcript(id.into())),
            _ => None,
        }
    }

    /// An operation in the order in which they were done, so that those that have expired come first. The row's value is
    /// the thread it belongs to; nothing for one of no thread.
    #[must_use]
    pub fn operation_at(at: Timestamp, id: &str) -> Key {
        Key::of(&["operationAt", &format!("{:020}", at.as_millis()), id])
    }

    /// All operations in the order in which they were done.
    #[must_use]
    pub fn operations_by_time() -> Key {
        Key::of(&["operationAt"])
    }

    /// The moment before which operations have expired.
    #[must_use]
    pub fn operations_expired() -> Key {
        Key::of(&["operationsExpired"])
    }

    /// A document of the catalogue: `project`, `policy`, `grant`, `endpoint`, `settings`.
    #[must_use]
    pub fn document(noun: &str, id: &str) -> Key {
        Key::of(&["document", noun, id])
    }

    /// All documents of one noun.
    #[must_use]
    pub fn documents(noun: &str) -> Key {
        Key::of(&["document", noun])
    }
}
