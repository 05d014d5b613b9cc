//! Which format version a home has, so that a newer one is refused before anything in it is touched.

use std::{fs, io::ErrorKind, path::Path};

use serde::{Deserialize, Serialize};

use super::{home::unreadable, walk::read_header};
use crate::store::{LogName, StoreError, files, header::LOG_VERSION};

/// The small file that says it, and what its first field holds.
const FILE: &str = "format";
const FORMAT: &str = "ropewalk-home";

/// Where a restore puts everything until it is complete.
pub(in crate::store) const RESTORING: &str = "restoring";

#[derive(Serialize, Deserialize)]
struct Format {
    format: String,
    version: u64,
}

/// Refuses a home of a newer version, and one whose restore did not end. Nothing is written.
///
/// # Errors
/// `Version` or `Unfinished`; `Read` when the home is there and cannot be looked at.
pub fn refuse_unknown(root: &Path) -> Result<(), StoreError> {
    if root.join(RESTORING).exists() {
        return Err(StoreError::Unfinished { home: root.display().to_string() });
    }
    if let Some(found) = read(root)?.filter(|found| *found > LOG_VERSION) {
        let what = format!("the home {}", root.display());
        return Err(StoreError::Version { what, found, known: LOG_VERSION });
    }
    // Homes of the first version do not say what they are, and a newer build may have been killed before it did.
    match fs::File::open(root.join("logs/daemon.jsonl")) {
        Ok(file) => read_header(&file, &LogName::Daemon).map(drop),
        Err(_) => Ok(()),
    }
}

/// Whether the home has a file that should say its version and says nothing that can be understood.
///
/// # Errors
/// When the home cannot be looked at.
pub(super) fn is_garbled(root: &Path) -> Result<bool, StoreError> {
    Ok(root.join(FILE).exists() && read(root)?.is_none())
}

/// Whether every log of the home was brought to this build's version, so that none has to be looked at for that.
///
/// # Errors
/// When the home cannot be looked at.
pub(super) fn is_current(root: &Path) -> Result<bool, StoreError> {
    Ok(read(root)? == Some(LOG_VERSION))
}

/// Writes down which version the logs of a home have.
///
/// # Errors
/// When it cannot be written.
pub(in crate::store) fn note(root: &Path, version: u64) -> Result<(), StoreError> {
    let said = serde_json::to_vec(&Format { format: FORMAT.to_owned(), version }).expect("a string and a number");
    let path = root.join(FILE);
    files::replace(&path, &said).map_err(|error| StoreError::file(&path, &error))
}

/// What the home says; nothing when it does not, or not in a way that can be understood: then its logs are asked.
fn read(root: &Path) -> Result<Option<u64>, StoreError> {
    let path = root.join(FILE);
    match fs::read(&path) {
        Ok(bytes) => {
            let said: Option<Format> = serde_json::from_slice(&bytes).ok();
            Ok(said.filter(|said| said.format == FORMAT).map(|said| said.version))
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(unreadable(&path, &error)),
    }
}
