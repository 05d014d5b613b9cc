//! What the store does with payloads that are out of line: keeping and reading them, and giving back their space when no
//! log needs them any more.

use std::{
    collections::HashSet,
    sync::{PoisonError, atomic::Ordering},
};

use ropewalk_protocol::BlobId;

use super::{ahead::View, live, log::lock, shared::Shared};
use crate::store::{
    BlobPart, Key, LogName, Pin, RowChange, Rows as _, Scan, StoreError, blobs::BlobTrouble, keys, keys_below,
};

impl Shared {
    /// Keeps a payload, as [`crate::store::Store::put_blob`] promises it.
    pub(super) fn put_blob(&self, bytes: &[u8]) -> Result<Pin, StoreError> {
        // What need not be stored takes no room from what must be.
        self.space.check()?;
        let kept = self.faults.blob().and_then(|()| self.blobs.put(bytes));
        kept.map_err(|error| StoreError::of_write("of payloads".to_owned(), &error))
    }

    /// Reads a part of a payload, as [`crate::store::Store::read_blob`] promises it.
    pub(super) fn read_blob(&self, id: &BlobId, offset: u64, limit: usize) -> Result<Option<BlobPart>, StoreError> {
        let failed = |cause| StoreError::Read { what: format!("the blob {id}"), cause };
        match self.blobs.read_part(id, offset, limit) {
            Ok(None) if self.is_needed(id) => Err(failed("its file is missing".to_owned())),
            Ok(part) => Ok(part),
            Err(BlobTrouble::Lost(cause) | BlobTrouble::Unreadable(cause)) => Err(failed(cause)),
        }
    }

    /// Forgets what a log needed that is gone, and removes what nobody else needs.
    ///
    /// # Errors
    /// As [`crate::store::Store::release_blobs`].
    pub(super) fn release_blobs(&self, log: &LogName) -> Result<(), StoreError> {
        self.catch_up();
        let blobs = self.blobs_of(log)?;
        self.forget_uses(log, &blobs)?;
        // Whatever was wrong with it, it needs nothing any more.
        lock(&self.damage).remove(log);
        self.sweep_now(blobs);
        Ok(())
    }

    /// Forgets that a log that was written anew needed other payloads than these, and returns those. Nothing is appended to
    /// it meanwhile.
    pub(super) fn forget_all_but(&self, log: &LogName, names: &HashSet<BlobId>) -> HashSet<BlobId> {
        let forgotten = self.blobs_of(log).and_then(|mut blobs| {
            blobs.retain(|blob| !names.contains(blob));
            self.forget_uses(log, &blobs).map(|()| blobs)
        });
        forgotten.unwrap_or_else(|error| {
            tracing::warn!(%error, "payloads that nothing needs stay until the next index is built");
            HashSet::new()
        })
    }

    /// Removes those of these payloads that nothing needs, and what an earlier sweep left.
    pub(super) fn sweep_now(&self, blobs: HashSet<BlobId>) {
        self.sweep(blobs);
        self.sweep_what_waited();
    }

    fn blobs_of(&self, log: &LogName) -> Result<HashSet<BlobId>, StoreError> {
        let needed = self.rows_below(keys::blobs_of(log))?;
        Ok(needed.iter().filter_map(|key| key.last_part().map(BlobId::from)).collect())
    }

    fn forget_uses(&self, log: &LogName, blobs: &HashSet<BlobId>) -> Result<(), StoreError> {
        let uses = blobs.iter().flat_map(|blob| [keys::blob_use(blob, log), keys::blob_of(log, blob)]);
        self.forget_rows(uses.map(RowChange::Delete).collect())
    }

    /// Does what a sweep left because something else was at the payloads.
    pub(super) fn sweep_what_waited(&self) {
        if self.sweep_waits.swap(false, Ordering::Relaxed) {
            self.sweep_all();
        }
    }

    /// Looks through all blobs: what a killed daemon was writing, or could not remove any more.
    pub(super) fn sweep_all(&self) {
        self.catch_up();
        self.remember_damage();
        if let Err(error) = self.forget_logs_that_are_gone() {
            tracing::warn!(%error, "what deleted logs needed could not be forgotten");
        }
        match self.blobs.all() {
            Ok(blobs) => self.sweep(blobs),
            Err(error) => tracing::warn!(%error, "payloads that nothing needs could not be looked for"),
        }
    }

    fn sweep(&self, blobs: HashSet<BlobId>) {
        // A backup has copied logs whose payloads it has yet to copy.
        let Ok(_alone) = self.sweeping.try_lock() else {
            self.sweep_waits.store(true, Ordering::Relaxed);
            return;
        };
        if !blobs.is_empty() {
            self.remember_damage();
        }
        for blob in blobs {
            // Asked before each: from the moment in which the index cannot be trusted nothing may go.
            if let Some(why) = self.needs_all_blobs() {
                tracing::info!(why, "payloads that nothing needs stay for now");
                return;
            }
            match self.blobs.remove(&blob, || self.is_needed(&blob)) {
                Ok(true) => tracing::debug!(%blob, "a payload that nothing needs was removed"),
                Ok(false) => {}
                Err(error) => tracing::warn!(%blob, %error, "a payload that nothing needs could not be removed"),
            }
        }
    }

    /// Why nobody can say of any blob that nothing needs it.
    fn needs_all_blobs(&self) -> Option<&'static str> {
        if self.closing.load(Ordering::Relaxed) {
            return Some("the store is being closed, and the next start looks again");
        }
        let is_behind = lock(&self.degraded).is_some() || self.holds_back.load(Ordering::Relaxed);
        if is_behind || !self.walk.is_over() {
            return Some("the index is behind the logs");
        }
        // Beyond the damage it may name any of them.
        (!lock(&self.damage).is_empty()).then_some("a log is damaged")
    }

    /// Has the daemon's health say which logs the index knows to be damaged.
    fn remember_damage(&self) {
        let positions = self.index.read().unwrap_or_else(PoisonError::into_inner).positions();
        let mut damage = lock(&self.damage);
        for (log, position) in positions.into_iter().flatten().filter(|(_, position)| position.is_damaged()) {
            let said = match position.offset {
                0 => format!("the log {log} is missing, or its first line cannot be read"),
                offset => format!("the log {log} is damaged at byte {offset}"),
            };
            damage.entry(log).or_insert(said);
        }
    }

    /// Which logs cannot be read to their end, as a sentence's beginning.
    pub(super) fn said_of_damage(&self) -> Option<String> {
        let damage = lock(&self.damage);
        let first = damage.values().next()?;
        Some(match damage.len() - 1 {
            0 => first.clone(),
            others => format!("{first}; and {others} more"),
        })
    }

    fn is_needed(&self, blob: &BlobId) -> bool {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        let view = View { ahead: &self.ahead, index: &index };
        let scan = Scan { prefix: keys::blob_uses(blob), after: None, reverse: false, limit: 1 };
        view.scan(&scan).map_or(true, |uses| !uses.is_empty())
    }

    fn rows_below(&self, prefix: Key) -> Result<Vec<Key>, StoreError> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        keys_below(&*index, prefix)
    }

    fn forget_rows(&self, changes: Vec<RowChange>) -> Result<(), StoreError> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        index.apply(changes.iter(), [].into_iter()).map_err(live::unwritable)
    }

    /// A daemon that was killed between the end of a log and the end of its payloads has left rows that say nothing.
    fn forget_logs_that_are_gone(&self) -> Result<(), StoreError> {
        // Nothing is put into the index meanwhile: a log and its blobs come there together.
        let _alone = lock(&self.catching_up);
        let known: HashSet<LogName> = {
            let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
            index.positions().map_err(live::unwritable)?.into_keys().collect()
        };
        let mut void = Vec::new();
        for key in self.rows_below(keys::all_blobs_of_logs())? {
            let Some((log, blob)) = keys::parts_of_blob_of(&key).filter(|(log, _)| !known.contains(log)) else {
                continue;
            };
            void.extend([RowChange::Delete(keys::blob_use(&blob, &log)), RowChange::Delete(key)]);
        }
        if void.is_empty() { Ok(()) } else { self.forget_rows(void) }
    }
}
