//! Where a backup goes: it has its name when it is whole, and none before.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use crate::store::{StoreError, files};

/// Where a backup goes. What was not published is removed.
pub(super) struct Target {
    path: PathBuf,
    /// The name the file has meanwhile, where the file system has no files without a name.
    partial: Option<PathBuf>,
}

impl Target {
    /// The file that is to be written, of which nothing is left when this process ends before it is published.
    ///
    /// # Errors
    /// `Refused` for a path that cannot be used, `File` when nothing can be made there.
    pub(super) fn begin(path: &Path, home: &Path) -> Result<(Self, File), StoreError> {
        let refused = |reason: &'static str, problem: &str| {
            Err(StoreError::Refused {
                reason,
                message: format!("The backup cannot go to {}: {problem}.", path.display()),
            })
        };
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return refused("not_a_file", "that names no file");
        };
        if !path.is_absolute() {
            return refused("not_absolute", "the path must be absolute, as the daemon has a directory of its own");
        }
        let Ok(inside) = directory.canonicalize() else {
            return refused("no_directory", "its directory is not there. Make it first");
        };
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        if inside.starts_with(&home) && !inside.starts_with(home.join("backup")) {
            return refused("inside_the_home", "that is inside the home it is a backup of");
        }
        if path.symlink_metadata().is_ok() {
            return refused("exists", "there is something of that name already, and it is not written over");
        }
        let name = name.to_string_lossy();
        remove_stale(directory, &name);
        if let Some(file) = nameless(directory) {
            return Ok((Self { path: path.to_owned(), partial: None }, file));
        }
        let partial = directory.join(partial_name(&name, std::process::id()));
        let file = files::private_new(&partial).map_err(|error| StoreError::file(path, &error))?;
        Ok((Self { path: path.to_owned(), partial: Some(partial) }, file))
    }

    /// Gives the file its name, if nothing has it by now.
    pub(super) fn publish(self, file: &File) -> io::Result<()> {
        match &self.partial {
            None => name(file, &self.path)?,
            Some(partial) => match fs::hard_link(partial, &self.path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
                Err(_) => fs::rename(partial, &self.path)?,
                Ok(()) => {}
            },
        }
        self.path.parent().map_or(Ok(()), files::sync_dir)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // After a rename there is nothing of that name.
        if let Some(partial) = &self.partial {
            let _ = fs::remove_file(partial);
        }
    }
}

/// The name of a file that a process is writing.
fn partial_name(name: &str, pid: u32) -> String {
    format!("{name}.{pid}.partial")
}

/// Removes what killed processes have left of this file: those of a build or a file system that gave it a name.
fn remove_stale(directory: &Path, name: &str) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let pid =
            found.to_str().and_then(|found| found.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".partial"));
        let Some(pid) = pid.and_then(|pid| pid.parse::<i32>().ok()).and_then(rustix::process::Pid::from_raw) else {
            continue;
        };
        let is_ours = pid == rustix::process::getpid();
        // Only one backup of a process runs at a time, so one of our own number is of a process that is gone.
        if is_ours || rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A file without a name, which is gone with whoever has it open; nothing where there is no such thing.
#[cfg(target_os = "linux")]
fn nameless(directory: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

/// Gives a file without a name its name.
#[cfg(target_os = "linux")]
fn name(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{AtFlags, CWD, linkat};
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn name(_: &File, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}
