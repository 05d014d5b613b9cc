//! Walking through a directory and what is below it, without following a link.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use cap_std::fs::Dir;

use super::{
    refusal::Refusal,
    tools::{Kind, Stop},
};

/// Entries that one walk looks at.
const ENTRIES: usize = 200_000;

/// Levels of directories that one walk goes down.
const LEVELS: usize = 64;

/// Something in a directory.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
}

/// What can go wrong on the way.
#[derive(Debug)]
pub enum Stopped {
    /// The operating system failed it.
    Io(io::Error),
    /// Another reason.
    Refused(Refusal),
}

impl Stopped {
    /// As the refusal of a tool that works on a path.
    pub fn at(self, path: &Path) -> Refusal {
        match self {
            Self::Io(error) => Refusal::io(path, error),
            Self::Refused(refusal) => refusal,
        }
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// What is in a directory, by name.
pub fn entries(dir: &Dir, stop: &Stop) -> Result<Vec<Entry>, Stopped> {
    let mut entries = Vec::new();
    for entry in dir.entries()? {
        stop.check()?;
        let entry = entry?;
        entries.push(Entry { name: entry.file_name(), kind: Kind::of(entry.file_type()?) });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All was seen.
    Whole,
    /// Whoever looks had enough, or there was more than one walk looks at.
    Early,
}

/// Shows every entry below a directory with the directory it is in and its path from the first one, in order, until `seen`
/// says that it is enough. `.git` is not gone into, nor what is not open. A directory that cannot be read is passed over, but
/// for the first.
pub fn walk(
    dir: Dir,
    stop: &Stop,
    is_open: impl Fn(&Dir, &Path) -> bool,
    mut seen: impl FnMut(&Dir, &Entry, &Path) -> Result<bool, Refusal>,
) -> Result<Ended, Stopped> {
    let first = entries(&dir, stop)?;
    let mut levels = vec![(dir, PathBuf::new(), first.into_iter())];
    let mut looked = 0;
    while let Some((dir, at, rest)) = levels.last_mut() {
        let Some(entry) = rest.next() else {
            levels.pop();
            continue;
        };
        stop.check()?;
        looked += 1;
        let path = at.join(&entry.name);
        if looked > ENTRIES || !seen(dir, &entry, &path)? {
            return Ok(Ended::Early);
        }
        if entry.kind != Kind::Directory || entry.name == ".git" || levels.len() >= LEVELS {
            continue;
        }
        let Some((dir, _, _)) = levels.last() else { break };
        if let Some(below) = dir.open_dir(&entry.name).ok().filter(|below| is_open(below, &path)) {
            match entries(&below, stop) {
                Ok(found) => levels.push((below, path, found.into_iter())),
                Err(Stopped::Io(_)) => {}
                Err(refused) => return Err(refused),
            }
        }
    }
    Ok(Ended::Whole)
}
