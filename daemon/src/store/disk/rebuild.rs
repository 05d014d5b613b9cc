//! Building the index anew beside whatever else is going on, when the one in use has failed.

use std::{
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use ropewalk_protocol::Timestamp;

use super::{
    filling::Filling,
    home::FoundLog,
    index::Index,
    live,
    log::{Health, Log, lock},
    shared::{Degraded, Shared},
};
use crate::store::{Progress, StoreError};

/// How long a rebuild of the index that failed is not tried again.
const REBUILD_EVERY: Duration = Duration::from_secs(5);

impl Shared {
    /// Builds a new index from the logs and puts it in the place of one that failed, unless that was tried just now.
    pub(super) fn rebuild_index(&self) {
        // Whoever ends the walk over the logs does it then.
        if !self.walk.leaves_the_index_alone() {
            return;
        }
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if lock(&self.degraded).as_ref().is_none_or(|degraded| Instant::now() < degraded.retry_at) {
            return;
        }
        if self.space.check().is_err() {
            // It would fail for the same reason, and take room from what must be written.
            if let Some(degraded) = &mut *lock(&self.degraded) {
                degraded.retry_at = Instant::now() + REBUILD_EVERY;
            }
            return;
        }
        match self.build(&index) {
            Ok(new) => {
                let old = std::mem::replace(&mut *index, new).number;
                *lock(&self.degraded) = None;
                live::remove(&self.home, old);
                tracing::info!("the index was built anew");
            }
            Err(error) => {
                *lock(&self.degraded) =
                    Some(Degraded { cause: error.to_string(), retry_at: Instant::now() + REBUILD_EVERY });
            }
        }
    }

    fn build(&self, old: &Index) -> Result<Index, StoreError> {
        let mut known = old.positions().unwrap_or_default();
        let mut logs = self.home.find_logs()?;
        let in_use: Vec<Arc<Log>> = lock(&self.logs).values().cloned().collect();
        for log in in_use {
            match log.health() {
                Health::Unread => {}
                // Its file, if there is one, holds nothing that is durable.
                Health::Empty | Health::Uncut(None, _) => logs.retain(|found| found.log != log.name),
                Health::Good(position) | Health::Uncut(Some(position), _) | Health::Damaged(position) => {
                    known.insert(log.name.clone(), position);
                }
            }
        }
        for (log, position) in self.walk.witnesses() {
            known.entry(log).or_insert(position);
        }
        for FoundLog { log, len } in &mut logs {
            // What lies beyond is being written at this moment, and its writer will bring it to the index; but for a log
            // that nobody has come to read since the start.
            let position = known.get(log).filter(|position| !position.is_damaged());
            if let Some(position) = position.filter(|_| !self.walk.has_yet_to_read(log)) {
                *len = position.offset.min(*len);
            }
        }
        let mut filling = Filling {
            home: &self.home,
            projector: &*self.projector,
            now: Timestamp::now(),
            progress: &Progress::default(),
            is_thorough: false,
            closing: &self.closing,
            notices: Vec::new(),
        };
        let index = filling.rebuild(&logs, &known)?;
        for notice in filling.notices {
            tracing::warn!("{notice}");
        }
        Ok(index)
    }
}
