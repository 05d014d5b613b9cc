//! How far every log was acknowledged at one moment.

use std::{
    collections::BTreeMap,
    sync::{PoisonError, atomic::Ordering},
};

use super::{live, log::lock, position::Position, shared::Shared};
use crate::store::{LogName, StoreError};

impl Shared {
    /// Whether long work may go on.
    ///
    /// # Errors
    /// When the store is being closed.
    pub(super) fn go_on(&self) -> Result<(), StoreError> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(StoreError::Read { what: "the store".to_owned(), cause: "it is being closed".to_owned() });
        }
        Ok(())
    }

    /// How far every log is acknowledged now, those of the damaged ones that are known included (ruling 45). No log is
    /// at another moment than the rest, so that what follows from a record is never there without it.
    ///
    /// # Errors
    /// When the index failed and cannot be built anew, and `Starting` while logs are still to be read.
    pub(super) fn moment(&self) -> Result<BTreeMap<LogName, Position>, StoreError> {
        if !self.walk.is_over() {
            return Err(self.walk.starting());
        }
        if lock(&self.degraded).is_some() {
            self.rebuild_index();
        }
        // Nothing is between the way and the index while this is held.
        let alone = lock(&self.catching_up);
        if let Some(degraded) = lock(&self.degraded).as_ref() {
            return Err(live::unwritable(degraded.cause.clone()));
        }
        let ahead = self.ahead.positions();
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        let mut moment: BTreeMap<LogName, Position> =
            index.positions().map_err(live::unwritable)?.into_iter().collect();
        drop(alone);
        moment.extend(ahead);
        Ok(moment)
    }
}
