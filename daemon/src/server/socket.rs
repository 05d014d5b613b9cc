//! The socket file: in a directory that is ours alone, never another daemon's, and removed only by whoever made it.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::Duration,
};

use interprocess::local_socket::{
    GenericFilePath, ListenerOptions, ToFsName,
    tokio::{Listener, Stream, prelude::*},
};

use super::{
    StartError,
    lock::make_directory,
    watch::{self, Identity, identity},
};

/// How long a listener may take to let us in before it counts as alive all the same.
const KNOCK: Duration = Duration::from_secs(2);

/// What the platform's address of a socket can hold, the byte at its end not counted.
const PATH_BYTES: usize = if cfg!(any(target_os = "linux", target_os = "android")) { 107 } else { 103 };

/// A socket file that is ours; removed when dropped, if it still is.
pub(super) struct SocketFile {
    path: PathBuf,
    identity: Option<Identity>,
}

impl SocketFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is gone or another's. A named pipe is no file and cannot be.
    pub(super) fn is_lost(&self) -> bool {
        cfg!(unix) && watch::is_lost(&self.path, self.identity)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            // Somebody else may have removed it a moment ago, which is as good.
            let _ = fs::remove_file(&self.path);
        }
    }
}

pub(super) fn check_length(path: &Path) -> Result<(), StartError> {
    let length = path.as_os_str().len();
    if cfg!(unix) && length > PATH_BYTES {
        return Err(StartError::SocketPathTooLong { path: path.to_owned(), length, limit: PATH_BYTES });
    }
    Ok(())
}

/// Listens on `path`. The caller holds the lock of the home, so a file nobody listens on is left over.
pub(super) async fn listen(path: &Path) -> Result<(Listener, SocketFile), StartError> {
    if let Some(directory) = path.parent() {
        make_directory(directory)?;
        check_private(directory)?;
    }
    remove_stale(path).await?;
    let listener = bind(path).map_err(StartError::io("Listening on the socket", path))?;
    Ok((listener, SocketFile { path: path.to_owned(), identity: identity(path) }))
}

/// The process that listens on `path`, if any does and the platform says which.
pub(super) async fn listener_of(path: &Path) -> Option<u32> {
    pid_of(&knock(path).await.ok()?)
}

fn pid_of(stream: &Stream) -> Option<u32> {
    let pid = stream.peer_creds().ok()?.pid()?;
    u32::try_from(pid).ok()
}

async fn knock(path: &Path) -> io::Result<Stream> {
    let name = path.to_fs_name::<GenericFilePath>()?;
    tokio::time::timeout(KNOCK, Stream::connect(name)).await.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

async fn remove_stale(path: &Path) -> Result<(), StartError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if is_socket(&metadata) => {}
        Ok(_) => return Err(StartError::NotASocket { path: path.to_owned() }),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(StartError::io("Looking at the socket", path)(error)),
    }
    let looked_at = identity(path);
    match knock(path).await {
        // Somebody has replaced it meanwhile, and listens on what is there now.
        Err(error) if error.kind() == ErrorKind::ConnectionRefused && identity(path) != looked_at => {
            Err(StartError::SocketInUse { socket: path.to_owned(), pid: None })
        }
        Ok(stream) => Err(StartError::SocketInUse { socket: path.to_owned(), pid: pid_of(&stream) }),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(StartError::io("Removing the left-over socket", path))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        // Whatever else it is, it may be a daemon that is too busy to let us in.
        Err(error) => Err(StartError::io("Finding out who listens on", path)(error)),
    }
}

/// Binds with the mode the file is born with. Where the platform has no such thing, the directory alone protects it.
fn bind(path: &Path) -> io::Result<Listener> {
    // Reclaiming goes by the name and could remove another's socket; `SocketFile` goes by the file.
    let options =
        || Ok::<_, io::Error>(ListenerOptions::new().name(path.to_fs_name::<GenericFilePath>()?).reclaim_name(false));
    #[cfg(unix)]
    {
        use interprocess::os::unix::local_socket::ListenerOptionsExt as _;
        match options()?.mode(0o600).create_tokio() {
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            bound => return bound,
        }
    }
    options()?.create_tokio()
}

#[cfg(unix)]
fn check_private(directory: &Path) -> Result<(), StartError> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::symlink_metadata(directory).map_err(StartError::io("Looking at the directory", directory))?;
    let mode = metadata.mode() & 0o777;
    let shown = directory.display();
    let (problem, remedy) = if metadata.is_symlink() {
        ("is a symbolic link".to_owned(), "Name the directory itself.".to_owned())
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        (format!("belongs to user {}", metadata.uid()), "Name a directory of your own with --socket.".to_owned())
    } else if mode != 0o700 {
        (
            format!("has mode {mode:04o} where it must be 0700"),
            format!("Run `chmod 700 {shown}`, or name another directory with --socket."),
        )
    } else {
        return Ok(());
    };
    Err(StartError::DirectoryNotPrivate { path: directory.to_owned(), problem, remedy })
}

#[cfg(not(unix))]
fn check_private(_: &Path) -> Result<(), StartError> {
    Ok(())
}

#[cfg(unix)]
fn is_socket(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_socket(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_socket(_: &fs::Metadata) -> bool {
    true
}
