//! Payloads out of line: what a blob is called, how long it must stay, and which rows say who needs it.
//!
//! A blob is a payload that stands once, under its digest, beside the logs. It is durable before the record that names
//! it (ruling 42), and goes when no log names it any more.

use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ropewalk_protocol::{BlobId, BlobRef};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{LogName, RowChange, keys};

/// Strings of a record from this many bytes on, as written in JSON, go out of line.
pub(super) const OUT_OF_LINE_BYTES: usize = 16 * 1024;

/// What a line says of one blob its record needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BlobName {
    /// Its digest, which is its name.
    pub(super) sha256: BlobId,
    /// Its length.
    pub(super) bytes: u64,
    /// The string of the record that it is; none when an event names the blob by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) place: Option<Place>,
}

/// Where in a record a string stood that is out of line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Place {
    /// Among the facts or the events.
    #[serde(rename = "in")]
    pub(super) list: List,
    /// Which of them, from 0.
    pub(super) nth: usize,
    /// The byte of its text, as it stands in the line, at which the mark begins that took the string's place.
    pub(super) at: usize,
    /// Whether the blob holds the string as JSON writes it, and not what it says: it was written in a way of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) escaped: bool,
}

/// The two lists of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum List {
    Facts,
    Events,
}

/// Why a payload is not to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlobTrouble {
    /// It is missing or not what was stored, and asking again changes nothing.
    Lost(String),
    /// It could not be read this time.
    Unreadable(String),
}

/// Reads a blob of that name and length as a whole.
pub(super) type ReadBlob<'a> = &'a dyn Fn(&BlobId, u64) -> Result<Vec<u8>, BlobTrouble>;

/// The name of a payload: its SHA-256 in lower-case hex.
pub(super) fn blob_id(bytes: &[u8]) -> BlobId {
    hex(&Sha256::digest(bytes)).into()
}

/// Bytes in lower-case hex.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whether a client's word can be the name of a blob.
pub(super) fn is_blob_id(id: &BlobId) -> bool {
    id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The rows that say that a log needs these blobs.
pub(super) fn reference_rows<'a>(log: &LogName, names: impl IntoIterator<Item = &'a BlobName>) -> Vec<RowChange> {
    let rows = |name: &BlobName| {
        [keys::blob_use(&name.sha256, log), keys::blob_of(log, &name.sha256)].map(|key| RowChange::Put(key, Vec::new()))
    };
    names.into_iter().flat_map(rows).collect()
}

/// A blob that is durable and stays at least as long as this lives: until the record that names it is committed or given
/// up (ruling 42).
#[derive(Debug)]
pub struct Pin {
    blob: BlobRef,
    pins: Arc<Pins>,
}

impl Pin {
    /// Which blob, as an item names it.
    #[must_use]
    pub const fn blob(&self) -> &BlobRef {
        &self.blob
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut pins = self.pins.lock();
        if let Some(count) = pins.get_mut(&self.blob.blob_id) {
            *count -= 1;
            if *count == 0 {
                pins.remove(&self.blob.blob_id);
            }
        }
    }
}

/// How often each blob is pinned.
#[derive(Debug, Default)]
pub(super) struct Pins(Mutex<HashMap<BlobId, usize>>);

impl Pins {
    /// Pins a blob of that name and length.
    pub(super) fn pin(self: &Arc<Self>, blob_id: &BlobId, total_bytes: u64) -> Pin {
        *self.lock().entry(blob_id.clone()).or_default() += 1;
        Pin { blob: BlobRef { blob_id: blob_id.clone(), total_bytes }, pins: Arc::clone(self) }
    }

    /// Whether anybody still needs a blob that no log may name yet.
    pub(super) fn has(&self, blob_id: &BlobId) -> bool {
        self.lock().contains_key(blob_id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<BlobId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
