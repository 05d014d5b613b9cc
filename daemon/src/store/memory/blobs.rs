//! Payloads of the store in memory: kept, read, lost and swept as those on disk are.

use std::{collections::HashSet, sync::Arc};

use ropewalk_protocol::BlobId;

use super::State;
use crate::store::{
    BlobPart, FailPoint, Key, LogName, Pin, RowChange, Scan, StoreError,
    blobs::{BlobTrouble, Pins, blob_id},
    keys,
    rows::scan_map,
};

impl State {
    /// Keeps a payload.
    pub(super) fn put_blob(&mut self, bytes: Vec<u8>, pins: &Arc<Pins>) -> Result<Pin, StoreError> {
        if self.take_failure(&[FailPoint::Blob]).is_some() {
            let (log, cause) = ("of payloads".to_owned(), "input/output error".to_owned());
            return Err(StoreError::Write { log, cause, full: false });
        }
        let id = blob_id(&bytes);
        let pin = pins.pin(&id, bytes.len() as u64);
        self.blobs.entry(id).or_insert_with(|| bytes.into());
        Ok(pin)
    }

    /// The whole of a payload that a record names.
    pub(super) fn blob(&self, id: &BlobId) -> Result<Vec<u8>, BlobTrouble> {
        let lost = || BlobTrouble::Lost(format!("the payload {id} is missing"));
        self.blobs.get(id).map(|bytes| bytes.to_vec()).ok_or_else(lost)
    }

    /// A part of a payload.
    pub(super) fn read_blob(&self, id: &BlobId, offset: u64, limit: usize) -> Result<Option<BlobPart>, StoreError> {
        match self.blobs.get(id) {
            Some(whole) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(whole.len());
                let to = from.saturating_add(limit).min(whole.len());
                Ok(Some(BlobPart { bytes: whole[from..to].to_vec(), total_bytes: whole.len() as u64 }))
            }
            None if self.is_needed(id) => {
                Err(StoreError::Read { what: format!("the blob {id}"), cause: "its file is missing".to_owned() })
            }
            None => Ok(None),
        }
    }

    /// Forgets what a log needed that is gone, and removes what nobody else needs.
    pub(super) fn release_blobs(&mut self, log: &LogName, pins: &Pins) {
        self.release_all_but(log, &HashSet::new(), pins);
    }

    /// Forgets that a log needed other payloads than these, and removes those that nobody else needs.
    pub(super) fn release_all_but(&mut self, log: &LogName, names: &HashSet<BlobId>, pins: &Pins) {
        let needed = self.keys_below(keys::blobs_of(log));
        let blobs = needed.iter().filter_map(|key| key.last_part().map(BlobId::from));
        let blobs: Vec<BlobId> = blobs.filter(|blob| !names.contains(blob)).collect();
        let forgotten = blobs.iter().flat_map(|blob| [keys::blob_use(blob, log), keys::blob_of(log, blob)]);
        self.apply(forgotten.map(RowChange::Delete).collect());
        self.sweep(blobs, pins);
    }

    /// Forgets what deleted logs needed, which a killed daemon had not come to.
    pub(super) fn forget_logs_that_are_gone(&mut self) {
        let mut void = Vec::new();
        for key in self.keys_below(keys::all_blobs_of_logs()) {
            let Some((log, blob)) = keys::parts_of_blob_of(&key).filter(|(log, _)| !self.logs.contains_key(log)) else {
                continue;
            };
            void.extend([RowChange::Delete(keys::blob_use(&blob, &log)), RowChange::Delete(key)]);
        }
        self.apply(void);
    }

    /// Removes those blobs that nothing needs, unless nobody can say of any that nothing does.
    pub(super) fn sweep(&mut self, blobs: Vec<BlobId>, pins: &Pins) {
        if self.degraded.is_some() || self.logs.values().any(|log| log.damaged.is_some()) {
            return;
        }
        for blob in blobs {
            if !pins.has(&blob) && !self.is_needed(&blob) {
                self.blobs.remove(&blob);
            }
        }
    }

    fn is_needed(&self, blob: &BlobId) -> bool {
        !self.keys_below(keys::blob_uses(blob)).is_empty()
    }

    fn keys_below(&self, prefix: Key) -> Vec<Key> {
        let scan = Scan { prefix, after: None, reverse: false, limit: usize::MAX };
        scan_map(&self.rows, &scan, |key, _| key.clone())
    }
}
