//! Keys of the index: one ordered space, a prefix a kind of row.

use ropewalk_protocol::Timestamp;

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
    use super::{Key, Timestamp};

    /// A thread's header and small state.
    #[must_use]
    pub fn thread(id: &str) -> Key {
        Key::of(&["thread", id])
    }

    /// All threads.
    #[must_use]
    pub fn threads() -> Key {
        Key::of(&["thread"])
    }

    /// Everything of one thread beside its header, of one kind: `branch`, `queue`, `tools`, `open`, `interaction`.
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

    /// Which thread an interaction, run or branch belongs to.
    #[must_use]
    pub fn home_of(id: &str) -> Key {
        Key::of(&["home", id])
    }

    /// An operation of the journal.
    #[must_use]
    pub fn operation(id: &str) -> Key {
        Key::of(&["operation", id])
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
