//! The fail points of a store on disk; only tests set one.

use std::{
    io::{self, ErrorKind},
    sync::Mutex,
};

use super::log::lock;
use crate::store::FailPoint;

/// At most one failure that is about to happen.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Option<FailPoint>>);

impl Faults {
    /// The next commit that comes to this point fails.
    #[cfg(test)]
    pub(super) fn set(&self, point: FailPoint) {
        *lock(&self.0) = Some(point);
    }

    fn take(&self, points: &[FailPoint]) -> Option<FailPoint> {
        let mut next = lock(&self.0);
        if next.is_some_and(|point| points.contains(&point)) { next.take() } else { None }
    }

    /// Fails instead of writing a payload.
    pub(super) fn blob(&self) -> io::Result<()> {
        self.take(&[FailPoint::Blob]).map_or(Ok(()), |_| Err(io::Error::other("input/output error")))
    }

    /// The error of an append that is to fail half-way. `BreakDown` stays for what comes then.
    pub(super) fn append(&self) -> Option<io::Error> {
        if *lock(&self.0) == Some(FailPoint::BreakDown) {
            return Some(io::Error::other("input/output error"));
        }
        match self.take(&[FailPoint::Append, FailPoint::Full, FailPoint::FullButForReserve])? {
            FailPoint::Full | FailPoint::FullButForReserve => Some(ErrorKind::StorageFull.into()),
            _ => Some(io::Error::other("input/output error")),
        }
    }

    /// Panics half-way through an append.
    pub(super) fn break_down(&self) {
        assert!(self.take(&[FailPoint::BreakDown]).is_none(), "a test has this thread break down");
    }

    /// Whether the next append finds a disk so full that no reserve helps.
    pub(super) fn is_full(&self) -> bool {
        *lock(&self.0) == Some(FailPoint::Full)
    }

    /// Fails instead of the sync. `Cut` stays for the cut that follows.
    pub(super) fn sync(&self) -> io::Result<()> {
        let cut = *lock(&self.0) == Some(FailPoint::Cut);
        if cut || self.take(&[FailPoint::Sync]).is_some() {
            return Err(io::Error::other("input/output error"));
        }
        Ok(())
    }

    /// Fails instead of the cut.
    pub(super) fn cut(&self) -> io::Result<()> {
        self.take(&[FailPoint::Cut]).map_or(Ok(()), |_| Err(io::Error::other("input/output error")))
    }

    /// Fails instead of removing a file.
    pub(super) fn unlink(&self) -> io::Result<()> {
        self.take(&[FailPoint::Unlink]).map_or(Ok(()), |_| Err(io::Error::other("input/output error")))
    }

    /// Fails at this place of writing a log anew.
    pub(super) fn rewrite(&self, point: FailPoint) -> io::Result<()> {
        self.take(&[point]).map_or(Ok(()), |_| Err(io::Error::other("input/output error")))
    }

    /// Whether the index is to fail.
    pub(super) fn index(&self) -> bool {
        self.take(&[FailPoint::Index]).is_some()
    }
}
