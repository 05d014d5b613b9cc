//! The first line of every log: what it is, in which version, and which log it is.

use rand::RngCore;
use serde::{Deserialize, Serialize};

use super::{LogName, StoreError, blobs::hex};

const FORMAT: &str = "ropewalk-log";

/// The version of logs this build writes, and the newest it reads. Logs of older ones are migrated before they are used.
///
/// 1: every record as a whole in its line. 2: long strings out of line, named by the line's `blobs`.
pub(super) const LOG_VERSION: u64 = 2;

/// The longest first line, in bytes.
pub(super) const MAX_HEADER_BYTES: usize = 512;

/// The first line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    format: String,
    pub(super) version: u64,
    kind: String,
    /// Random, and new whenever the log is rewritten, so that no index mistakes one file for another.
    pub(super) log_id: String,
}

impl Header {
    /// The header of a new log.
    pub(super) fn new(log: &LogName) -> Self {
        let mut random = [0_u8; 16];
        rand::rng().fill_bytes(&mut random);
        Self { format: FORMAT.to_owned(), version: LOG_VERSION, kind: log.kind().to_owned(), log_id: hex(&random) }
    }

    /// Appends the header as one line with its newline.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(&mut *out, self).expect("a header has only strings and numbers");
        out.push(b'\n');
    }

    /// Reads a first line, without its newline; `None` when it is no header of this log.
    ///
    /// # Errors
    /// When it is one of a version this build does not know.
    pub(super) fn decode(line: &[u8], log: &LogName) -> Result<Option<Self>, StoreError> {
        #[derive(Deserialize)]
        struct Version {
            format: String,
            version: u64,
        }
        match serde_json::from_slice::<Version>(line) {
            Ok(head) if head.format == FORMAT && head.version > LOG_VERSION => {
                Err(StoreError::Version { what: format!("the log {log}"), found: head.version, known: LOG_VERSION })
            }
            _ => Ok(serde_json::from_slice::<Self>(line)
                .ok()
                .filter(|header| header.format == FORMAT && header.version > 0 && header.kind == log.kind())),
        }
    }
}
