//! Showing a log as it lies there: as fast as its bytes come, for whoever only wants to know whether it can have something.

use std::{
    fs::File,
    io::{self, ErrorKind, Read as _},
};

use super::{
    home::unreadable,
    log::{Health, Log},
    shared::Shared,
};
use crate::store::{Skimmer, StoreError, record::MAX_LINE_BYTES};

/// Bytes that are read at once.
const STRETCH_BYTES: usize = 256 * 1024;

impl Shared {
    /// Shows a log as [`crate::store::Store::skim`] promises it. Nothing is said of a log that is damaged.
    pub(super) fn skim(&self, log: &Log, seen: Skimmer) -> Result<bool, StoreError> {
        let end = match self.health(log)? {
            Health::Unread | Health::Empty | Health::Uncut(None, _) => return Ok(true),
            Health::Good(position) | Health::Uncut(Some(position), _) => position.offset,
            Health::Damaged(_) => return Ok(false),
        };
        match File::open(log.path()).and_then(|file| show(file, end, seen)) {
            // It was removed meanwhile: there is nothing of it to be found.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            shown => shown.map_err(|error| unreadable(log.path(), &error)),
        }
    }
}

/// Shows the first `end` bytes of a file; whether all of them were shown.
fn show(mut file: File, end: u64, mut seen: Skimmer) -> io::Result<bool> {
    let mut left = usize::try_from(end).unwrap_or(usize::MAX);
    let mut stretch = Vec::with_capacity(STRETCH_BYTES.min(left));
    while left > 0 {
        let kept = stretch.len();
        let more = STRETCH_BYTES.min(left);
        stretch.resize(kept + more, 0);
        let (_, free) = stretch.split_at_mut(kept);
        let read = file.read(free)?;
        stretch.truncate(kept + read);
        if read == 0 || stretch.len() > MAX_LINE_BYTES {
            return Ok(false);
        }
        left -= read;
        let Some(last) = stretch.iter().rposition(|byte| *byte == b'\n') else { continue };
        let (lines, _) = stretch.split_at(last + 1);
        if seen(lines) {
            return Ok(false);
        }
        stretch.drain(..=last);
    }
    // Every record ends with a line break; what has none is no record.
    Ok(stretch.is_empty() || !seen(&stretch))
}

#[cfg(test)]
mod tests;
