//! The room on the home's disk: whether new work may begin, and the reserve for what must be written all the same
//! (ruling 43).

use std::{
    fs, io,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use super::log::lock;
use crate::store::{NEEDED_BYTES, StoreError, files};

/// How much is kept for the last results, settlements and ends.
pub(super) const RESERVE_BYTES: u64 = 1 << 20;

/// What can be said of the disk of a home.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) free_bytes: u64,
    pub(super) is_read_only: bool,
}

/// The disk of one home.
#[derive(Debug)]
pub(super) struct Space {
    home: PathBuf,
    /// What a test says in place of the disk.
    told: Mutex<Option<Room>>,
    /// Held while the reserve is made or given up.
    reserving: Mutex<()>,
    /// Whether there is no reserve.
    is_spent: AtomicBool,
    /// Whether the disk refused a write as one that can only be read, which not every system says of it when it is asked.
    is_refusing: AtomicBool,
}

impl Space {
    /// The disk of a home that is there; makes the reserve if there is room for it.
    pub(super) fn of(home: &Path) -> Self {
        let (told, reserving) = (Mutex::default(), Mutex::default());
        let space = Self {
            home: home.to_owned(),
            told,
            reserving,
            is_spent: AtomicBool::new(true),
            is_refusing: AtomicBool::new(false),
        };
        space.make_reserve();
        space
    }

    /// Has the disk be as a test wants it, or as it is again.
    #[cfg(test)]
    pub(super) fn tell(&self, room: Option<Room>) {
        *lock(&self.told) = room;
    }

    /// Whether new work may begin. Asks the system each time: that takes some microseconds, and the sync that follows many
    /// times that.
    ///
    /// # Errors
    /// `HomeGone`, `ReadOnly` or `NoRoom`. A disk that does not say how it is, is not in the way.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let home = || self.home.display().to_string();
        match self.look() {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(StoreError::HomeGone { home: home() }),
            Ok(room) if room.is_read_only || self.still_refuses() => Err(StoreError::ReadOnly { home: home() }),
            Ok(Room { free_bytes, .. }) if free_bytes < NEEDED_BYTES => {
                Err(StoreError::NoRoom { home: home(), free_bytes })
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// What is behind a failed write, if it is more than the write.
    pub(super) fn explain(&self, error: StoreError) -> StoreError {
        let is_gone = || matches!(fs::symlink_metadata(&self.home), Err(error) if error.kind() == ErrorKind::NotFound);
        match error {
            StoreError::Write { .. } if is_gone() => StoreError::HomeGone { home: self.home.display().to_string() },
            StoreError::Write { full: false, .. } if self.refuses() => {
                StoreError::ReadOnly { home: self.home.display().to_string() }
            }
            other => other,
        }
    }

    /// Whether the disk refused a write, and still does.
    fn still_refuses(&self) -> bool {
        self.is_refusing.load(Ordering::Relaxed) && self.refuses()
    }

    /// Whether the disk refuses a file as one that can only be read. An ext4 disk that has met an error does, and is mounted to
    /// be written to as far as anybody is told.
    fn refuses(&self) -> bool {
        let made = tempfile::tempfile_in(&self.home);
        let refuses = made.is_err_and(|error| error.kind() == ErrorKind::ReadOnlyFilesystem);
        self.is_refusing.store(refuses, Ordering::Relaxed);
        refuses
    }

    /// How many bytes are free. A disk that does not say has enough.
    pub(super) fn free_bytes(&self) -> u64 {
        self.look().map_or(u64::MAX, |room| room.free_bytes)
    }

    /// Gives the reserve up, so that what has failed can be written once more. Whether there was one.
    pub(super) fn spend_reserve(&self) -> bool {
        let _alone = lock(&self.reserving);
        self.is_spent.store(true, Ordering::Relaxed);
        let given = fs::remove_file(self.reserve()).and_then(|()| files::sync_dir(&self.home));
        match given {
            Ok(()) => {
                tracing::warn!("the disk is full; what is under way ends on the reserve");
                true
            }
            Err(_) => false,
        }
    }

    /// Whether the reserve is gone and may be made anew.
    pub(super) fn wants_reserve(&self) -> bool {
        let has_room = || self.look().is_ok_and(|room| room.free_bytes >= NEEDED_BYTES + RESERVE_BYTES);
        self.is_spent.load(Ordering::Relaxed) && has_room()
    }

    /// Makes the reserve, if it is not there and there is room for it and for new work.
    pub(super) fn make_reserve(&self) {
        if !self.wants_reserve() {
            return;
        }
        let path = self.reserve();
        let is_there = fs::metadata(&path).is_ok_and(|found| found.len() == RESERVE_BYTES);
        match if is_there { Ok(()) } else { self.write_reserve(&path) } {
            Ok(()) => self.is_spent.store(false, Ordering::Relaxed),
            Err(error) => tracing::warn!(%error, "no reserve could be made for a disk that is full"),
        }
    }

    fn write_reserve(&self, path: &Path) -> io::Result<()> {
        let _alone = lock(&self.reserving);
        files::remove_if_there(path)?;
        let mut file = files::private_new(path)?;
        // Noise, because a disk that compresses keeps no room for zeros.
        let mut noise = vec![0; RESERVE_BYTES as usize];
        rand::RngCore::fill_bytes(&mut rand::rng(), &mut noise);
        file.write_all(&noise).and_then(|()| file.sync_all()).inspect_err(|_| drop(fs::remove_file(path)))?;
        files::sync_dir(&self.home)
    }

    fn reserve(&self) -> PathBuf {
        self.home.join("reserve")
    }

    fn look(&self) -> io::Result<Room> {
        if let Some(room) = *lock(&self.told) {
            return Ok(room);
        }
        let found = rustix::fs::statvfs(&self.home)?;
        Ok(Room {
            free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            is_read_only: found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        })
    }
}
