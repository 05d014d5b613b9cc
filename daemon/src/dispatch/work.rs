//! Which methods begin something: those a home without room refuses.

use ropewalk_protocol::{Method as _, MethodEntry, ThreadResume};

#[cfg(test)]
mod tests;

/// The verbs that end, settle, remove or put aside. They give room back, or finish what was taken on.
const ENDING: [&str; 13] = [
    "archive",
    "backup",
    "clear",
    "delete",
    "markRead",
    "remove",
    "reorder",
    "seen",
    "settle",
    "shutdown",
    "skip",
    "stop",
    "unsubscribe",
];

/// Whether a request of this method is new work. A resume is so only with tools, and its handler sees to that.
pub(super) fn begins_work(entry: &MethodEntry) -> bool {
    let verb = entry.name.rsplit('/').next().unwrap_or(entry.name);
    entry.mutates && entry.name != ThreadResume::NAME && !ENDING.contains(&verb)
}
