//! Where everything lies under the home, and which file is which log.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use ropewalk_protocol::Timestamp;

use crate::store::{LogName, StoreError, files};

/// The paths under one home.
#[derive(Clone, Debug)]
pub(super) struct Home {
    root: PathBuf,
}

/// A log that was found, and its length.
#[derive(Clone, Debug)]
pub(super) struct FoundLog {
    pub(super) log: LogName,
    pub(super) len: u64,
}

const TRANSCRIPT_ENDING: &str = ".transcript.jsonl";
const THREAD_ENDING: &str = ".jsonl";

impl Home {
    /// Makes the directories that are missing.
    pub(super) fn lay_out(root: &Path) -> Result<Self, StoreError> {
        let home = Self { root: root.to_owned() };
        for directory in [root.to_owned(), home.logs(), home.blobs(), home.indexes(), home.lost()] {
            files::private_dir(&directory).map_err(|error| unreadable(&directory, &error))?;
        }
        files::sync_dir(root).map_err(|error| unreadable(root, &error))?;
        Ok(home)
    }

    /// As [`Home::lay_out`], for a start: a file where the index belongs is moved to `lost/`, as an index that is none.
    /// With what there is to say about that.
    pub(super) fn lay_out_anew(root: &Path, now: Timestamp) -> Result<(Self, Vec<String>), StoreError> {
        let home = Self { root: root.to_owned() };
        let indexes = home.indexes();
        let mut notices = Vec::new();
        if fs::symlink_metadata(&indexes).is_ok() && !indexes.is_dir() {
            let moved = files::private_dir(&home.lost()).and_then(|()| home.move_to_lost(&indexes, now));
            let kept = moved.map_err(|error| unreadable(&indexes, &error))?;
            let shown = indexes.display();
            notices
                .push(format!("{shown} is no directory; it is moved to {}, and the index built anew", kept.display()));
        }
        Ok((Self::lay_out(root)?, notices))
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where files are kept as they were before a migration.
    pub(super) fn backup(&self) -> PathBuf {
        self.root.join("backup")
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    pub(super) fn blobs(&self) -> PathBuf {
        self.root.join("blobs")
    }

    pub(super) fn indexes(&self) -> PathBuf {
        self.root.join("index")
    }

    fn lost(&self) -> PathBuf {
        self.root.join("lost")
    }

    /// A name in `lost/` that is not taken, beginning with `name` and the time.
    pub(super) fn lost_path(&self, name: &str, now: Timestamp) -> PathBuf {
        let stem = format!("{}-{name}", now.as_millis());
        (0..)
            .map(|count| self.lost().join(if count == 0 { stem.clone() } else { format!("{stem}-{count}") }))
            .find(|path| !path.exists())
            .expect("a range without end has a name that is free")
    }

    /// The file of a log.
    ///
    /// # Errors
    /// When the id could leave its directory.
    pub(super) fn log_path(&self, log: &LogName) -> Result<PathBuf, StoreError> {
        let (id, ending) = match log {
            LogName::Daemon => return Ok(self.logs().join("daemon.jsonl")),
            LogName::Thread(id) => (id.as_str(), THREAD_ENDING),
            LogName::Transcript(id) => (id.as_str(), TRANSCRIPT_ENDING),
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if id.is_empty() || id.len() > 128 || !id.bytes().all(plain) {
            return Err(StoreError::Read {
                what: format!("the log {log}"),
                cause: "its id cannot be the name of a file".to_owned(),
            });
        }
        Ok(self.logs().join(shard(id)).join(format!("{id}{ending}")))
    }

    /// All logs, the daemon's first.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub(super) fn find_logs(&self) -> Result<Vec<FoundLog>, StoreError> {
        let mut found = Vec::new();
        let logs = self.logs();
        let failed = |error: io::Error| unreadable(&logs, &error);
        for entry in fs::read_dir(&logs).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if entry.file_name() == "daemon.jsonl" {
                let len = entry.metadata().map_err(failed)?.len();
                found.insert(0, FoundLog { log: LogName::Daemon, len });
            } else if path.is_dir() {
                for entry in fs::read_dir(&path).map_err(failed)? {
                    let entry = entry.map_err(failed)?;
                    let Some(log) = entry.file_name().to_str().and_then(log_of) else { continue };
                    found.push(FoundLog { log, len: entry.metadata().map_err(failed)?.len() });
                }
            }
        }
        Ok(found)
    }

    /// Moves a file or directory to `lost/` and makes that last.
    pub(super) fn move_to_lost(&self, path: &Path, now: Timestamp) -> io::Result<PathBuf> {
        let name = path.file_name().map_or_else(|| "unnamed".into(), |name| name.to_string_lossy().into_owned());
        let target = self.lost_path(&name, now);
        fs::rename(path, &target)?;
        files::sync_dir(&self.lost())?;
        if let Some(parent) = path.parent() {
            files::sync_dir(parent)?;
        }
        Ok(target)
    }

    /// Writes bytes to a new file in `lost/` and makes them last.
    pub(super) fn keep_in_lost(&self, name: &str, bytes: &mut dyn io::Read, now: Timestamp) -> io::Result<PathBuf> {
        let target = self.lost_path(name, now);
        let mut file = files::private_new(&target)?;
        io::copy(bytes, &mut file)?;
        file.sync_all()?;
        files::sync_dir(&self.lost())?;
        Ok(target)
    }
}

/// A path below the home as a person reads it in a message.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Read { what: path.display().to_string(), cause: error.to_string() }
}

/// The directory of an id: its last two hex digits.
fn shard(id: &str) -> String {
    let digits: String = id.chars().rev().filter(char::is_ascii_hexdigit).take(2).collect();
    format!("{:0>2}", digits.chars().rev().collect::<String>().to_ascii_lowercase())
}

/// Which log a file holds, by its name.
fn log_of(name: &str) -> Option<LogName> {
    let transcript = name.strip_suffix(TRANSCRIPT_ENDING).map(|id| LogName::Transcript(id.into()));
    transcript.or_else(|| Some(LogName::Thread(name.strip_suffix(THREAD_ENDING)?.into())))
}
