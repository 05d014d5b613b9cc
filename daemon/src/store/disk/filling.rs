//! Bringing an index to where the logs are, log by log, and dealing with what cannot be read of one.

use std::{
    collections::{HashMap, HashSet},
    fs::OpenOptions,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
    sync::atomic::AtomicBool,
    thread,
};

use ropewalk_protocol::Timestamp;

use super::{
    fill::fill,
    home::{FoundLog, Home, unreadable},
    index::{Index, Reached},
    live,
    position::Position,
    walk::{End, Failed, Stretch, Walked},
};
use crate::store::{LogName, Progress, Projector, StoreError};

/// What all logs are compared and projected with.
pub(super) struct Filling<'a> {
    pub(super) home: &'a Home,
    pub(super) projector: &'a dyn Projector,
    pub(super) now: Timestamp,
    pub(super) progress: &'a Progress,
    /// Whether a log is held against the index even when its length is what the index knows.
    pub(super) is_thorough: bool,
    /// Set when the store is given up meanwhile, so that reading a long log keeps nobody.
    pub(super) closing: &'a AtomicBool,
    pub(super) notices: Vec<String>,
}

impl Filling<'_> {
    /// Builds a new index from the logs and makes it the live one. `known` are witnesses of what was acknowledged.
    ///
    /// # Errors
    /// When a log has an unknown version, or the index cannot be written.
    pub(super) fn rebuild(
        &mut self,
        logs: &[FoundLog],
        known: &HashMap<LogName, Position>,
    ) -> Result<Index, StoreError> {
        let index = live::begin(self.home)?;
        let number = index.number;
        // What could not be finished would take the room it lacked, again and again.
        self.fill_all(index, logs, known).inspect_err(|_| live::remove(self.home, number))
    }

    fn fill_all(
        &mut self,
        index: Index,
        logs: &[FoundLog],
        known: &HashMap<LogName, Position>,
    ) -> Result<Index, StoreError> {
        self.progress.expect(logs.iter().map(|found| found.len).sum());
        // The daemon's log says what holds for the others, so that nothing is read beside it.
        let first = logs.iter().take_while(|found| found.log == LogName::Daemon).count();
        let (daemon, others) = logs.split_at(first);
        self.take_all(&index, &daemon.iter().collect::<Vec<_>>(), known)?;
        self.share(&index, others, known)?;
        self.note_missing(&index, logs, known).map_err(live::unwritable)?;
        live::settle(self.home, &index)?;
        Ok(index)
    }

    /// Takes in logs on two threads.
    fn share(
        &mut self,
        index: &Index,
        logs: &[FoundLog],
        known: &HashMap<LogName, Position>,
    ) -> Result<(), StoreError> {
        let (even, odd): (Vec<_>, Vec<_>) = logs.iter().enumerate().partition(|(at, _)| at % 2 == 0);
        let halves = [even, odd].map(|half| half.into_iter().map(|(_, found)| found).collect::<Vec<_>>());
        let mut helper = Filling { notices: Vec::new(), ..*self };
        let (ours, theirs) = thread::scope(|scope| {
            let theirs = scope.spawn(|| helper.take_all(index, &halves[1], known));
            (self.take_all(index, &halves[0], known), theirs.join())
        });
        self.notices.append(&mut helper.notices);
        ours?;
        theirs.unwrap_or_else(|_| Err(live::unwritable("building it broke down".to_owned())))
    }

    pub(super) fn take_all(
        &mut self,
        index: &Index,
        logs: &[&FoundLog],
        known: &HashMap<LogName, Position>,
    ) -> Result<(), StoreError> {
        for found in logs {
            if !self.projector.is_removed(&found.log, index)? {
                self.take_in(index, found, None, known.get(&found.log)).map_err(|failed| match failed {
                    Failed::Index(cause) => live::unwritable(cause),
                    Failed::Store(error) => error,
                })?;
            }
            self.progress.pass(found.len);
        }
        Ok(())
    }

    /// Projects one log from a place on, and deals with what follows its last good record.
    pub(super) fn take_in(
        &mut self,
        index: &Index,
        found: &FoundLog,
        from: Option<&Position>,
        known: Option<&Position>,
    ) -> Result<(), Failed> {
        let FoundLog { log, len } = found;
        let path = self.home.log_path(log).map_err(Failed::Store)?;
        let stretch = Stretch { log, path: &path, from, known, len: *len };
        // What a killed daemon wrote last may be in memory only, and the index must never be ahead of the disk.
        let synced = OpenOptions::new().write(true).open(&path).and_then(|file| file.sync_data());
        if let Err(error) = synced {
            self.notices.push(format!("the log {log} could not be synced: {error}"));
        }
        let filled = fill(index, self.projector, self.home, &stretch, self.closing)?;
        if !self.settle_end(&path, found, known, &filled.walked).map_err(Failed::Store)? {
            return Ok(());
        }
        filled.settle(index, &stretch).map(drop).map_err(Failed::Index)
    }

    /// Cuts off or names what follows the last good record; `false` when the log is no log at all.
    fn settle_end(
        &mut self,
        path: &Path,
        found: &FoundLog,
        known: Option<&Position>,
        walked: &Walked,
    ) -> Result<bool, StoreError> {
        let log = &found.log;
        let failed = |error: std::io::Error| unreadable(path, &error);
        match &walked.end {
            End::Damaged(why) => self.notices.push(damaged(log, walked.position.offset, why)),
            _ if walked.records == 0 && known.is_none() => {
                let kept = self.home.move_to_lost(path, self.now).map_err(failed)?;
                self.notices.push(format!("the log {log} has no whole record; it is moved to {}", kept.display()));
                return Ok(false);
            }
            End::Whole => {}
            End::Unacknowledged => {
                let offset = walked.position.offset;
                let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
                file.seek(SeekFrom::Start(offset)).map_err(failed)?;
                let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                let kept = self
                    .home
                    .keep_in_lost(&format!("{name}-from-{offset}"), &mut file.by_ref(), self.now)
                    .map_err(failed)?;
                file.set_len(offset).map_err(failed)?;
                file.sync_all().map_err(failed)?;
                self.notices.push(format!(
                    "the log {log} ended in {} bytes that were never acknowledged; they are moved to {}",
                    found.len - offset,
                    kept.display()
                ));
            }
        }
        Ok(true)
    }

    /// Names logs that the index knows and that are gone, and keeps them from being begun anew.
    pub(super) fn note_missing(
        &mut self,
        index: &Index,
        logs: &[FoundLog],
        known: &HashMap<LogName, Position>,
    ) -> Result<(), String> {
        let there: HashSet<&LogName> = logs.iter().map(|found| &found.log).collect();
        for (log, position) in known.iter().filter(|(log, _)| !there.contains(log)) {
            if self.projector.is_removed(log, index).map_err(|error| error.to_string())? {
                continue;
            }
            self.notices.push(format!("the log {log} is missing"));
            let mut gone = Position::after_header(position.log_id.clone(), 0);
            gone.acknowledged = position.acknowledged.max(1);
            index.apply([].into_iter(), std::iter::once(Reached { log, position: &gone, marks: &[] }))?;
        }
        Ok(())
    }
}

/// What is said of a log that is damaged there.
pub(super) fn damaged(log: &LogName, offset: u64, why: &str) -> String {
    format!("the log {log} is damaged at byte {offset} ({why}); it can be read up to there and takes no new records")
}
