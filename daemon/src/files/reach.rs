//! From a path that a model gave to something that is open beneath a grant.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use ropewalk_protocol::Capability;

use super::{
    closed::{Closed, Opened},
    grants::{Granted, Told, open_all},
    refusal::Refusal,
    resolve::resolve,
    tools::Stop,
    walk::{Ended, Entry, walk},
};

/// All the server can reach.
#[derive(Debug)]
pub struct Reach {
    granted: Vec<Granted>,
    closed: Closed,
    writing: Mutex<()>,
}

/// A place in a grant that may be used as was asked. It need not exist.
#[derive(Debug)]
pub struct Spot<'a> {
    /// Where it is, without links.
    pub path: PathBuf,
    grant: &'a Granted,
    closed: &'a Closed,
    within: PathBuf,
}

impl Reach {
    /// Opens what is granted; see [`open_all`].
    pub fn new(told: &Told, note: impl FnMut(&str)) -> Self {
        let granted = open_all(&told.grants, note);
        Self { granted, closed: Closed::new(&told.closed), writing: Mutex::new(()) }
    }

    /// Whether anything is granted.
    pub fn is_empty(&self) -> bool {
        self.granted.is_empty()
    }

    /// The directories with what may be done in each, for the lock of the kernel.
    pub fn granted(&self) -> impl Iterator<Item = (&Dir, &[Capability])> {
        self.granted.iter().map(|granted| (&granted.dir, &*granted.capabilities))
    }

    /// Whoever changes files is alone in doing so: two edits of one file do not undo each other.
    pub fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the grant of a path: followed to where it leads, the grants around it must have all these capabilities.
    ///
    /// # Errors
    /// When the path is relative, leads outside, or the grants around it do not have them. What lies outside is refused
    /// with the same words whether it exists or not.
    pub fn find(&self, given: &str, capabilities: &[Capability]) -> Result<Spot<'_>, Refusal> {
        let named = Path::new(given);
        if !named.is_absolute() {
            return Err(Refusal::Relative(given.to_owned()));
        }
        if self.granted.is_empty() {
            return Err(Refusal::NoGrants);
        }
        let path = match resolve(named) {
            Ok(path) => path,
            Err(error) if !self.around(named).is_empty() => return Err(Refusal::io(named, error)),
            Err(_) => return Err(self.outside(given)),
        };
        let mut around = self.around(&path).into_iter();
        let lacks =
            |needed: &&Capability| !self.around(&path).iter().any(|(grant, _)| grant.capabilities.contains(needed));
        if let Some(capability) = capabilities.iter().find(lacks).copied().filter(|_| !around.as_slice().is_empty()) {
            return Err(Refusal::Capability { path: given.to_owned(), capability });
        }
        // The innermost: whatever lies beneath it has all that was found.
        match around.next() {
            Some(_) if self.closed.has(&path) => Err(Refusal::Closed(given.to_owned())),
            Some((grant, within)) => Ok(Spot { within, grant, closed: &self.closed, path }),
            None => Err(self.outside(given)),
        }
    }

    fn around(&self, path: &Path) -> Vec<(&Granted, PathBuf)> {
        let within = |grant: &Granted| path.strip_prefix(&grant.path).ok().map(Path::to_owned);
        self.granted.iter().filter_map(|grant| Some((grant, within(grant)?))).collect()
    }

    fn outside(&self, given: &str) -> Refusal {
        let granted: Vec<_> = self.granted.iter().map(|grant| grant.path.display().to_string()).collect();
        Refusal::Outside { path: given.to_owned(), granted: granted.join(", ") }
    }
}

impl Spot<'_> {
    /// What is there.
    pub fn metadata(&self) -> Result<Metadata, Refusal> {
        if self.is_root() { self.grant.dir.dir_metadata() } else { self.grant.dir.symlink_metadata(&self.within) }
            .map_err(|error| Refusal::io(&self.path, error))
    }

    /// Opens it as a directory.
    pub fn dir(&self) -> Result<Dir, Refusal> {
        let opened = if self.is_root() { self.grant.dir.try_clone() } else { self.grant.dir.open_dir(&self.within) };
        let opened = opened.map_err(|error| Refusal::io(&self.path, error))?;
        self.is_open(opened)
    }

    /// Walks through it, if it is a directory; see [`walk`].
    pub fn walk(
        &self,
        stop: &Stop,
        seen: impl FnMut(&Dir, &Entry, &Path) -> Result<bool, Refusal>,
    ) -> Result<Ended, Refusal> {
        let is_open = |dir: &Dir, within: &Path| !self.closed.has(&self.path.join(within)) && !self.closed.is(dir);
        walk(self.dir()?, stop, is_open, seen).map_err(|stopped| stopped.at(&self.path))
    }

    /// Opens it as a regular file, for reading; anything else is refused and never waited for.
    pub fn file(&self) -> Result<File, Refusal> {
        let refused = |metadata: &Metadata| Refusal::Kind {
            path: self.path.display().to_string(),
            is: kind(metadata),
            wanted: "a file",
        };
        // Looked at before it is opened as well: opening a device can do something.
        let before = self.metadata()?;
        if !before.is_file() {
            return Err(refused(&before));
        }
        let file =
            open_file(&self.grant.dir, self.within.as_os_str()).map_err(|error| Refusal::io(&self.path, error))?;
        let metadata = file.metadata().map_err(|error| Refusal::io(&self.path, error))?;
        if metadata.is_file() { self.is_open(file) } else { Err(refused(&metadata)) }
    }

    /// Its parent directory, opened, and its name there. With `make`, directories that are missing are made.
    pub fn parent(&self, make: bool) -> Result<(Dir, OsString), Refusal> {
        let failed = |error: io::Error| Refusal::io(&self.path, error);
        let (Some(name), Some(parent)) = (self.within.file_name(), self.within.parent()) else {
            return Err(Refusal::Kind { path: self.path.display().to_string(), is: "a directory", wanted: "a file" });
        };
        if parent.as_os_str().is_empty() {
            return Ok((self.grant.dir.try_clone().map_err(failed)?, name.to_owned()));
        }
        if make {
            self.grant.dir.create_dir_all(parent).map_err(failed)?;
        }
        let parent = self.grant.dir.open_dir(parent).map_err(failed)?;
        Ok((self.is_open(parent)?, name.to_owned()))
    }

    /// What was opened, unless it turned out to be closed: what was found may have become a link since.
    fn is_open<T: Opened>(&self, opened: T) -> Result<T, Refusal> {
        if self.closed.is(&opened) { Err(Refusal::Closed(self.path.display().to_string())) } else { Ok(opened) }
    }

    fn is_root(&self) -> bool {
        self.within.as_os_str().is_empty()
    }
}

/// Opens a file of a directory for reading, without waiting for whoever would write to a pipe.
pub fn open_file(dir: &Dir, name: &OsStr) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    dir.open_with(name, &options)
}

/// What people call what is there.
pub fn kind(metadata: &Metadata) -> &'static str {
    if metadata.is_file() {
        "a file"
    } else if metadata.is_dir() {
        "a directory"
    } else if metadata.is_symlink() {
        "a link"
    } else {
        "a special file"
    }
}
