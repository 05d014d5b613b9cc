//! What of the daemon's log is still needed, and having it written anew when most of it is not.

use std::{
    collections::{HashMap, HashSet},
    sync::{PoisonError, atomic::Ordering},
};

use ropewalk_protocol::{ThreadId, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Catalogue, Refusal};
use crate::store::{LogName, Record, Sieve, Sifted, StoreError};

/// How much must be dead before the log is written anew, in bytes; less is not worth it.
const WORTH_BYTES: u64 = 65_536;

impl Catalogue {
    /// Bytes of the daemon's log that nothing needs any more; what cannot be found out counts as none.
    pub async fn dead_bytes(&self) -> u64 {
        let commits = self.commits.load(Ordering::Acquire);
        let measured = *self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, dead)) = measured.filter(|(at, _)| *at == commits) {
            return dead;
        }
        match self.measure().await {
            Ok(sifted) => {
                let dead = sifted.dead_bytes();
                *self.measured.lock().unwrap_or_else(PoisonError::into_inner) = Some((commits, dead));
                dead
            }
            Err(error) => {
                tracing::debug!(%error, "what is dead of the daemon's log is not known");
                0
            }
        }
    }

    /// Has the daemon's log written anew when most of it is dead, and that is worth it. Whether it was.
    ///
    /// # Errors
    /// When the log cannot be read to its end or the new one not be written; nothing is lost.
    pub async fn tidy(&self) -> Result<bool, Refusal> {
        let sifted = self.measure().await?;
        let dead = sifted.dead_bytes();
        if dead < WORTH_BYTES || dead <= sifted.needed_bytes {
            return Ok(false);
        }
        self.rewrite().await?;
        Ok(true)
    }

    /// Has the daemon's log written anew, however little of it is dead.
    ///
    /// # Errors
    /// As [`Self::tidy`].
    pub async fn rewrite(&self) -> Result<Sifted, Refusal> {
        let rewritten = self.store.rewrite(&LogName::Daemon, Box::new(DaemonSieve::default())).await;
        // What was measured before is of another log, whether or not all of this worked.
        self.commits.fetch_add(1, Ordering::AcqRel);
        Ok(rewritten?)
    }

    async fn measure(&self) -> Result<Sifted, StoreError> {
        self.store.sift(&LogName::Daemon, Box::new(DaemonSieve::default())).await
    }
}

/// Keeps of the daemon's log the last word about each document, tombstones of threads of which something may be left,
/// operations that have not expired, and whatever it does not know.
#[derive(Default)]
struct DaemonSieve {
    seen: usize,
    /// Where each document is written the last time: its record, and the fact in it.
    documents: HashMap<(String, String), (usize, usize)>,
    gone: HashSet<ThreadId>,
    /// The last word about how long operations are kept, and where it stands.
    expired: Option<(Timestamp, (usize, usize))>,
}

/// A fact, as far as it matters whether it is needed.
#[derive(Deserialize)]
#[serde(tag = "fact", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Said {
    Document { noun: String, id: String },
    Removed { noun: String, id: String },
    Tombstone { thread_id: ThreadId },
    Gone { thread_id: ThreadId },
    Outlived { at: Timestamp },
    OperationsExpired { before: Timestamp },
}

impl Sieve for DaemonSieve {
    fn see(&mut self, record: &Record) {
        for (index, fact) in record.facts.iter().enumerate() {
            let place = (self.seen, index);
            match read(fact) {
                Some(Said::Document { noun, id } | Said::Removed { noun, id }) => {
                    self.documents.insert((noun, id), place);
                }
                Some(Said::Gone { thread_id }) => drop(self.gone.insert(thread_id)),
                Some(Said::OperationsExpired { before }) => self.expired = Some((before, place)),
                Some(Said::Tombstone { .. } | Said::Outlived { .. }) | None => {}
            }
        }
        self.seen += 1;
    }

    fn keep(&self, at: usize, record: &Record) -> Option<Record> {
        let is_needed = |index: usize, fact: &RawValue| match read(fact) {
            Some(Said::Document { noun, id }) => self.documents.get(&(noun, id)) == Some(&(at, index)),
            // Every earlier word about the document falls with it.
            Some(Said::Removed { .. } | Said::Gone { .. }) => false,
            Some(Said::Tombstone { thread_id }) => !self.gone.contains(&thread_id),
            Some(Said::Outlived { at }) => self.expired.is_none_or(|(before, _)| at >= before),
            Some(Said::OperationsExpired { .. }) => self.expired.is_some_and(|(_, place)| place == (at, index)),
            None => true,
        };
        let facts = record.facts.iter().enumerate().filter(|(index, fact)| is_needed(*index, fact));
        let facts: Vec<_> = facts.map(|(_, fact)| fact.clone()).collect();
        let is_kept = self.expired.is_none_or(|(before, _)| record.at >= before);
        let op = record.op.clone().filter(|_| is_kept);
        let is_empty = facts.is_empty() && op.is_none() && record.events.is_empty();
        (!is_empty).then(|| Record { facts, op, ..record.clone() })
    }
}

/// `None` for a fact of others, which is kept.
fn read(fact: &RawValue) -> Option<Said> {
    serde_json::from_str(fact.get()).ok()
}
