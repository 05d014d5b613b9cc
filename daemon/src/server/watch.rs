//! Notices while the daemon runs that its socket or its home is gone, so that it does not live on where nobody can reach it.

use std::{fs, io::ErrorKind, path::Path, time::Duration};

use super::{lock::HomeLock, socket::SocketFile};
use crate::clock::Clock;

/// How often it is looked whether all is where it was.
const LOOK_EVERY: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(5) };

/// Which file it is, whatever it is called.
pub(super) type Identity = (u64, u64);

/// What is not there any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The file of the socket: nobody can connect.
    Socket,
    /// The lock of the home, most likely with the home: another daemon may take its place.
    Home,
}

/// Resolves when something is missing.
pub(super) async fn until_missing(clock: &dyn Clock, socket: &SocketFile, lock: &HomeLock) -> Missing {
    loop {
        clock.sleep(LOOK_EVERY).await;
        if lock.is_lost() {
            return Missing::Home;
        }
        if socket.is_lost() {
            return Missing::Socket;
        }
    }
}

/// Whether what is at `path` is certainly not the file that was there. What cannot be looked at may still be there.
pub(super) fn is_lost(path: &Path, was: Option<Identity>) -> bool {
    match fs::symlink_metadata(path) {
        Ok(_) => was.is_some() && identity(path).is_some_and(|is| Some(is) != was),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Which file is at `path`, where the platform says so.
#[cfg(unix)]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Which file is at `path`, where the platform says so.
#[cfg(not(unix))]
pub(super) fn identity(_: &Path) -> Option<Identity> {
    None
}
