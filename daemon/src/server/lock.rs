//! The lock of a home: one daemon a home, for as long as it lives.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Seek, Write},
    path::{Path, PathBuf},
};

use super::{
    Home, StartError, socket,
    watch::{self, Identity},
};

const FILE: &str = "lock";

/// The exclusive right to a home. The system takes it back when the process ends, however it ends.
#[derive(Debug)]
pub struct HomeLock {
    _file: File,
    path: PathBuf,
    identity: Option<Identity>,
}

impl HomeLock {
    /// Makes the directory of the home, readable by us alone, and takes its lock.
    ///
    /// # Errors
    /// [`StartError::HomeInUse`] when another process has it, which is named where it can be found out.
    pub async fn acquire(home: &Home) -> Result<Self, StartError> {
        make_directory(&home.directory)?;
        let path = home.directory.join(FILE);
        let mut file = open(&path).map_err(StartError::io("Opening the lock", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                // Who listens on the socket is the truth; the number in the file helps when nobody does yet.
                let pid = match socket::listener_of(&home.socket).await {
                    Some(pid) => Some(pid),
                    None => fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()),
                };
                return Err(StartError::HomeInUse { home: home.directory.clone(), pid });
            }
            Err(TryLockError::Error(cause)) => return Err(StartError::io("Locking", &path)(cause)),
        }
        write_pid(&mut file).map_err(StartError::io("Writing the lock", &path))?;
        let identity = watch::identity(&path);
        Ok(Self { _file: file, path, identity })
    }

    /// Whether the file is gone or another's: the lock keeps nobody away any more.
    pub(super) fn is_lost(&self) -> bool {
        watch::is_lost(&self.path, self.identity)
    }
}

/// Makes a directory and what is missing above it, readable by us alone.
pub(super) fn make_directory(path: &Path) -> Result<(), StartError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(StartError::io("Making the directory", path))
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}
