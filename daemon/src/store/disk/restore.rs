//! Filling a fresh home from a backup: everything of it, or nothing.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use super::{
    backup::digest_in_name,
    home::Home,
    version::{self, RESTORING},
};
use crate::store::{
    StoreError,
    backup::{BACKUP_VERSION, BackupReader, Entry, LogKey, Unreadable},
    files,
    header::LOG_VERSION,
};

/// What was restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Logs: one a thread, and the daemon's.
    pub logs: u64,
    /// Payloads that are out of line.
    pub blobs: u64,
    /// Logs that were missing when the backup was made.
    pub missing: Vec<String>,
}

/// Reads a backup into a home that is empty, and whose lock the caller has. Blocks.
///
/// The backup is read twice: nothing is written before its last line has proved it whole. Until everything is synced, the
/// home says that it is half restored, and no daemon starts on it.
///
/// # Errors
/// `Refused` for a home that is not empty and a file that is no whole backup, `Version` for a newer one, `File` when
/// something cannot be written.
pub fn restore(backup: &Path, home: &Path) -> Result<Restored, StoreError> {
    refuse_full(home)?;
    let marker = Marker::set(home)?;
    let log_version = verify(backup)?;
    let restoring = home.join(RESTORING);
    clear(home)?;
    let inner = Home::lay_out(&restoring)?;
    let restored = Restoring { home: &inner, current: None, restored: Restored::default() }.fill(backup)?;
    version::note(home, log_version)?;
    let settle = || {
        for name in ["blobs", "logs"] {
            fs::rename(restoring.join(name), home.join(name))?;
        }
        files::sync_dir(home)?;
        fs::remove_dir_all(&restoring)?;
        files::sync_dir(home)
    };
    settle().map_err(|error: io::Error| StoreError::file(home, &error))?;
    drop(marker);
    Ok(restored)
}

/// The directory that makes a home one that is half restored. It is there before the backup is read, and goes last: a
/// restore that is killed at any moment leaves no home on which a daemon starts as on a fresh one.
struct Marker {
    path: PathBuf,
    /// Whether there was nothing before, so that a backup that is refused leaves nothing either.
    is_ours: bool,
}

impl Marker {
    fn set(home: &Path) -> Result<Self, StoreError> {
        let path = home.join(RESTORING);
        let is_ours = !path.exists();
        let made = files::private_dir(&path).and_then(|()| files::sync_dir(home));
        made.map_err(|error| StoreError::file(&path, &error))?;
        Ok(Self { path, is_ours })
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        // Only while it is empty: what was begun is not given up by an error.
        if self.is_ours && fs::remove_dir(&self.path).is_ok() {
            let _ = self.path.parent().map(files::sync_dir);
        }
    }
}

/// What may be in a home that is fresh, and what a restore that did not end has left.
const OF_NO_MATTER: [&str; 2] = ["lock", "daemon.sock"];
const OF_A_RESTORE: [&str; 4] = [RESTORING, "blobs", "logs", "format"];

fn refuse_full(home: &Path) -> Result<(), StoreError> {
    let is_half_restored = home.join(RESTORING).exists();
    let entries = match fs::read_dir(home) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(super::home::unreadable(home, &error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| super::home::unreadable(home, &error))?;
        let name = entry.file_name();
        let is_known = OF_NO_MATTER.iter().any(|known| name == *known)
            || is_half_restored && OF_A_RESTORE.iter().any(|known| name == *known);
        if !is_known {
            let message = format!(
                "{} is not empty (there is {}), and nothing is restored over what is there. Name another directory.",
                home.display(),
                name.display()
            );
            return Err(StoreError::Refused { reason: "not_empty", message });
        }
    }
    Ok(())
}

/// Removes what a restore that did not end has left, but for its marker: no daemon has ever started on it.
fn clear(home: &Path) -> Result<(), StoreError> {
    let restoring = home.join(RESTORING);
    let left = fs::read_dir(&restoring).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let left = left.map_err(|error| super::home::unreadable(&restoring, &error))?.into_iter().map(|entry| entry.path());
    let beside = OF_A_RESTORE.iter().filter(|name| **name != RESTORING).map(|name| home.join(name));
    for path in left.chain(beside) {
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(StoreError::file(&path, &error)),
            _ => {}
        }
    }
    Ok(())
}

/// Reads a backup to its end, and gives the version of the logs in it.
fn verify(backup: &Path) -> Result<u64, StoreError> {
    let mut reader = open(backup)?;
    let (version, log_version) = (reader.head.version, reader.head.log_version);
    for (what, found, known) in [("", version, BACKUP_VERSION), ("the logs in ", log_version, LOG_VERSION)] {
        if found > known {
            let what = format!("{what}the backup {}", backup.display());
            return Err(StoreError::Version { what, found, known });
        }
    }
    loop {
        if let Entry::End(_) = reader.next().map_err(|why| unusable(backup, &why))? {
            return Ok(log_version.max(1));
        }
    }
}

fn open(backup: &Path) -> Result<BackupReader<File>, StoreError> {
    let file = File::open(backup).map_err(|error| unusable(backup, &error.into()))?;
    BackupReader::new(file).map_err(|why| unusable(backup, &why))
}

fn unusable(backup: &Path, why: &Unreadable) -> StoreError {
    let message = format!("{} cannot be restored: {why}. Nothing was written; take another backup.", backup.display());
    StoreError::Refused { reason: "not_a_backup", message }
}

/// A home that is being filled.
struct Restoring<'a> {
    home: &'a Home,
    current: Option<(BufWriter<File>, PathBuf)>,
    restored: Restored,
}

impl Restoring<'_> {
    fn fill(mut self, backup: &Path) -> Result<Restored, StoreError> {
        let mut reader = open(backup)?;
        loop {
            match reader.next().map_err(|why| unusable(backup, &why))? {
                Entry::Log(key) => {
                    let path = self.log_path(&key, backup)?;
                    self.begin(path)?;
                    self.restored.logs += 1;
                }
                Entry::Blob(digest) => {
                    let path = self.home.blobs().join(digest.get(..2).unwrap_or_default()).join(&digest);
                    digest_in_name(&path).ok_or_else(|| odd(backup, &digest))?;
                    self.begin(path)?;
                    self.restored.blobs += 1;
                }
                Entry::Missing(key) => {
                    let log = key.name().ok_or_else(|| odd(backup, "a log without a name"))?;
                    self.restored.missing.push(format!("the log {log}"));
                }
                Entry::End(_) => {
                    self.end()?;
                    return Ok(self.restored);
                }
                entry => {
                    let content = BackupReader::<File>::content(&entry);
                    let (Some(content), Some((out, path))) = (content, &mut self.current) else {
                        return Err(odd(backup, "a line that belongs to nothing"));
                    };
                    out.write_all(&content).map_err(|error| StoreError::file(path, &error))?;
                }
            }
        }
    }

    fn log_path(&self, key: &LogKey, backup: &Path) -> Result<PathBuf, StoreError> {
        let log = key.name().ok_or_else(|| odd(backup, "a log without a name"))?;
        self.home.log_path(&log)
    }

    fn begin(&mut self, path: PathBuf) -> Result<(), StoreError> {
        self.end()?;
        let made = path.parent().map_or(Ok(()), files::private_dir).and_then(|()| files::private_new(&path));
        let file = made.map_err(|error| StoreError::file(&path, &error))?;
        self.current = Some((BufWriter::new(file), path));
        Ok(())
    }

    /// Has the file that was written last survive a power cut.
    fn end(&mut self) -> Result<(), StoreError> {
        let Some((out, path)) = self.current.take() else { return Ok(()) };
        let directory = path.parent().unwrap_or(&path);
        let synced = out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(|file| file.sync_all())
            .and_then(|()| directory.ancestors().take(2).try_for_each(files::sync_dir));
        synced.map_err(|error| StoreError::file(&path, &error))
    }
}

fn odd(backup: &Path, what: &str) -> StoreError {
    let message = format!("{} cannot be restored: there is {what} in it.", backup.display());
    StoreError::Refused { reason: "not_a_backup", message }
}
