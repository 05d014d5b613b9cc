//! How far long work over the logs has come, for whoever asks meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often it is said in the log, in bytes.
const SAID_EVERY_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes that are done of those there are. Empty until work is known.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// So many bytes are to be gone through, beside those that were said before.
    pub fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many are done.
    pub fn pass(&self, bytes: u64) {
        let before = self.done.fetch_add(bytes, Ordering::Relaxed);
        if before / SAID_EVERY_BYTES < (before + bytes) / SAID_EVERY_BYTES {
            let total_bytes = self.total.load(Ordering::Relaxed);
            tracing::info!(done_bytes = before + bytes, total_bytes, "reading the logs");
        }
    }

    /// From 0 to 1; nothing while there is nothing to go through.
    #[must_use]
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        #[expect(clippy::cast_precision_loss, reason = "a share needs no more digits than a float has")]
        (total > 0).then(|| done as f64 / total as f64)
    }
}
