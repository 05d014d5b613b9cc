//! The keeper of payloads out of line: a file each, named by its digest, written and synced before a record names it.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, ErrorKind, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, PoisonError},
};

use ropewalk_protocol::BlobId;
use sha2::{Digest as _, Sha256};

use super::log::lock;
use crate::store::{
    BlobPart, Pin,
    blobs::{BlobTrouble, Pins, blob_id, hex, is_blob_id},
    files,
};

/// How many payloads are known to be what they were, so that not every page of one reads the whole of it.
const CHECKED: usize = 1_024;

/// The one keeper of a daemon (ruling 42).
#[derive(Debug)]
pub(super) struct Keeper {
    root: PathBuf,
    pins: Arc<Pins>,
    /// Blobs that are being written or removed: one at a time is at each.
    busy: Mutex<HashSet<BlobId>>,
    idle: Condvar,
    checked: Mutex<HashSet<BlobId>>,
}

impl Keeper {
    /// A keeper of the blobs in `root`, which is there.
    pub(super) fn new(root: PathBuf) -> Self {
        let (busy, checked) = (Mutex::default(), Mutex::default());
        Self { root, pins: Arc::default(), busy, idle: Condvar::new(), checked }
    }

    /// Makes a payload durable. Another put of the same bytes is waited for, and what is there already is read and synced
    /// again, never only looked for: a power cut may have left anything under its name.
    pub(super) fn put(&self, bytes: &[u8]) -> io::Result<Pin> {
        let id = blob_id(bytes);
        let pin = self.pins.pin(&id, bytes.len() as u64);
        let _alone = self.alone(&id);
        let path = path_of(&self.root, &id).ok_or(ErrorKind::InvalidInput)?;
        let directory = path.parent().ok_or(ErrorKind::InvalidInput)?;
        if !directory.is_dir() {
            // Not with its parents: a home that is gone must not come back with a payload in it.
            match fs::create_dir(directory) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => files::private_dir(directory)?,
            }
            files::sync_dir(&self.root)?;
        }
        if is_there(&path, bytes)? {
            File::open(&path)?.sync_all()?;
            files::sync_dir(directory)?;
        } else {
            // After a failed sync nobody knows what of it lasts; the next put begins from nothing.
            files::replace(&path, bytes).inspect_err(|_| drop(fs::remove_file(&path)))?;
        }
        Ok(pin)
    }

    /// A part of a payload, as [`crate::store::Store::read_blob`] promises it. The whole of it is read once, to know that
    /// it is what was stored.
    pub(super) fn read_part(&self, id: &BlobId, offset: u64, limit: usize) -> Result<Option<BlobPart>, BlobTrouble> {
        let Some(path) = path_of(&self.root, id) else { return Ok(None) };
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&error)),
        };
        if !lock(&self.checked).contains(id) {
            if digest_of(&mut file).map_err(|error| unreadable(&error))? != *id.as_str() {
                return Err(damaged(id));
            }
            let mut checked = lock(&self.checked);
            if checked.len() >= CHECKED {
                checked.clear();
            }
            checked.insert(id.clone());
        }
        let read = || -> io::Result<BlobPart> {
            let total_bytes = file.metadata()?.len();
            file.seek(SeekFrom::Start(offset))?;
            let mut bytes = Vec::new();
            file.take(limit as u64).read_to_end(&mut bytes)?;
            Ok(BlobPart { bytes, total_bytes })
        };
        read().map(Some).map_err(|error| unreadable(&error))
    }

    /// The whole of a payload that a record names with this length.
    pub(super) fn read(&self, id: &BlobId, bytes: u64) -> Result<Vec<u8>, BlobTrouble> {
        read(&self.root, id, bytes)
    }

    /// Every blob there is a file of, whole or not.
    pub(super) fn all(&self) -> io::Result<HashSet<BlobId>> {
        let mut found = HashSet::new();
        for directory in fs::read_dir(&self.root)?.flatten().filter(|entry| entry.path().is_dir()) {
            for entry in fs::read_dir(directory.path())?.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let id = BlobId::from(name.strip_suffix(files::UNFINISHED).unwrap_or(&name));
                if is_blob_id(&id) {
                    found.insert(id);
                }
            }
        }
        Ok(found)
    }

    /// Removes a blob unless it is pinned or `is_needed` says that a log names it. Whether it is gone now.
    pub(super) fn remove(&self, id: &BlobId, is_needed: impl FnOnce() -> bool) -> io::Result<bool> {
        let Some(path) = path_of(&self.root, id) else { return Ok(false) };
        let _alone = self.alone(id);
        // In this order: whoever names it in a record unpins it only when the record can be seen.
        if self.pins.has(id) || is_needed() {
            return Ok(false);
        }
        lock(&self.checked).remove(id);
        let was_whole = files::remove_if_there(&path)?;
        let was_there = files::remove_if_there(&files::with_ending(&path, files::UNFINISHED))? || was_whole;
        if was_there {
            files::sync_dir(path.parent().unwrap_or(&self.root))?;
        }
        Ok(was_there)
    }

    /// Waits until nobody else is at a blob, and keeps others away until the guard is dropped.
    fn alone(&self, id: &BlobId) -> Alone<'_> {
        let busy = lock(&self.busy);
        // Its bound is the disk's: whoever is in there writes one file and leaves, also when it panics.
        let mut busy = self.idle.wait_while(busy, |busy| busy.contains(id)).unwrap_or_else(PoisonError::into_inner);
        busy.insert(id.clone());
        Alone { keeper: self, id: id.clone() }
    }
}

struct Alone<'a> {
    keeper: &'a Keeper,
    id: BlobId,
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        lock(&self.keeper.busy).remove(&self.id);
        self.keeper.idle.notify_all();
    }
}

/// The whole of a payload that a record names with this length.
pub(super) fn read(root: &Path, id: &BlobId, bytes: u64) -> Result<Vec<u8>, BlobTrouble> {
    let path = path_of(root, id).ok_or_else(|| damaged(id))?;
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(BlobTrouble::Lost(format!("the payload {id} is missing")));
        }
        Err(error) => return Err(unreadable(&error)),
    };
    // A file that has grown is not read to its end.
    if file.metadata().map_err(|error| unreadable(&error))?.len() != bytes {
        return Err(damaged(id));
    }
    let mut payload = Vec::new();
    file.read_to_end(&mut payload).map_err(|error| unreadable(&error))?;
    if blob_id(&payload) == *id { Ok(payload) } else { Err(damaged(id)) }
}

fn path_of(root: &Path, id: &BlobId) -> Option<PathBuf> {
    is_blob_id(id).then(|| root.join(&id[..2]).join(id.as_str()))
}

/// Whether a file holds exactly these bytes. One that cannot be opened or read does not: it is written anew.
fn is_there(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) if found.len() == bytes.len() as u64 => Ok(fs::read(path).is_ok_and(|found| found == bytes)),
        Ok(_) => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The digest of what a file holds, which a payload is named by.
pub(super) fn digest_of(file: &mut File) -> io::Result<String> {
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&digest.finalize())),
            read => digest.update(&buffer[..read]),
        }
    }
}

fn unreadable(error: &io::Error) -> BlobTrouble {
    BlobTrouble::Unreadable(error.to_string())
}

fn damaged(id: &BlobId) -> BlobTrouble {
    BlobTrouble::Lost(format!("the payload {id} is not what was stored"))
}
