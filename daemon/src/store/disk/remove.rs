//! Removing a log: the index forgets it, its file goes, and neither comes back after a power cut.

use std::{
    fs,
    io::{self, ErrorKind},
    path::Path,
    sync::{Arc, PoisonError, atomic::Ordering},
};

use super::{
    live,
    log::{Log, lock},
    shared::Shared,
};
use crate::store::{LogName, StoreError, files};

impl Shared {
    /// Removes a log as [`crate::store::Store::remove`] promises it.
    pub(super) fn remove(&self, log: &Arc<Log>) -> Result<(), StoreError> {
        let was_open = {
            let mut file = lock(&log.file);
            log.forget();
            file.take().is_some()
        };
        if was_open {
            self.note_open(log, false);
        }
        // First, and down on the disk: an index that knew a log without a file would take it for lost.
        self.forget_in_index(&log.name)?;
        let freed = self.faults.unlink().and_then(|()| unlink(log.path())).map_err(|error| log.failed(&error))?;
        self.log_bytes.fetch_sub(freed, Ordering::Relaxed);
        lock(&self.logs).remove(&log.name);
        Ok(())
    }

    fn forget_in_index(&self, log: &LogName) -> Result<(), StoreError> {
        // Its last rows and its place are on their way, and would come after this.
        self.catch_up();
        let _alone = lock(&self.catching_up);
        if let Some(degraded) = &*lock(&self.degraded) {
            return Err(live::unwritable(degraded.cause.clone()));
        }
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        index.forget(log).and_then(|()| index.flush()).map_err(live::unwritable)
    }
}

/// Removes a file, and makes that last. Returns the bytes that it had.
fn unlink(path: &Path) -> io::Result<u64> {
    let bytes = match fs::metadata(path).and_then(|metadata| fs::remove_file(path).map(|()| metadata.len())) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    match path.parent().filter(|directory| directory.is_dir()) {
        Some(directory) => files::sync_dir(directory)?,
        None => return Ok(bytes),
    }
    Ok(bytes)
}
