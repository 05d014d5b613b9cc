//! Comparing the logs with the index, and bringing the index to where the logs are.

use std::{
    collections::HashMap,
    fs::OpenOptions,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
};

use ropewalk_protocol::Timestamp;

use super::{
    home::{FoundLog, Home, unreadable},
    index::{Index, Reached},
    live,
    position::Position,
    walk::{End, Failed, Passed, Stop, Stretch, Walked, fits, walk},
};
use crate::store::{LogName, Projector, StoreError, rows::Overlay};

/// Rows that wait before they are written while an index is filled.
const ROWS_A_BATCH: usize = 2_000;

/// An index that is where the logs are.
pub(super) struct Started {
    pub(super) index: Index,
    /// What a person should know: what was cut, moved, rebuilt, or found damaged.
    pub(super) notices: Vec<String>,
    pub(super) log_bytes: u64,
}

/// What all logs are compared and projected with.
pub(super) struct Filling<'a> {
    pub(super) home: &'a Home,
    pub(super) projector: &'a dyn Projector,
    pub(super) now: Timestamp,
    pub(super) notices: Vec<String>,
}

/// How a log stands to what the index knows of it.
enum Compared {
    Same,
    /// It goes on after the position.
    Tail,
    /// The index does not know it.
    Unknown,
    /// It is not what the index knew.
    Different,
    /// It was damaged at its first line and still is.
    StillUnreadable,
}

/// Opens the index and applies what the logs have beyond it, or builds it anew.
///
/// # Errors
/// When a log has an unknown version, or no index can be written.
pub(super) fn start(home: &Home, projector: &dyn Projector, now: Timestamp) -> Result<Started, StoreError> {
    let logs = home.find_logs()?;
    let mut filling = Filling { home, projector, now, notices: Vec::new() };
    let mut known = HashMap::new();
    let mut live = None;
    if let Some(opened) = live::open(home, now, &mut filling.notices)? {
        known = opened.positions;
        match filling.catch_up(&opened.index, &logs, &known) {
            Ok(true) => live = Some(opened.index),
            Ok(false) => {
                drop(opened.index);
                filling.notices.push("a log is not the one the index knew; the index is built anew".to_owned());
            }
            Err(Failed::Store(error)) => return Err(error),
            Err(Failed::Index(cause)) => {
                let number = opened.index.number;
                drop(opened.index);
                filling.notices.push(format!("the index failed ({cause}); it is moved to lost/ and built anew"));
                live::set_aside(home, number, now)?;
            }
        }
    }
    let index = match live {
        Some(index) => index,
        None => filling.rebuild(&logs, &known)?,
    };
    let Filling { notices, .. } = filling;
    Ok(Started { index, notices, log_bytes: logs.iter().map(|found| found.len).sum() })
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
        let total: u64 = logs.iter().map(|found| found.len).sum();
        let mut done = 0;
        let mut said = 0;
        for found in logs {
            self.take_in(&index, found, None, known.get(&found.log)).map_err(|failed| match failed {
                Failed::Index(cause) => live::unwritable(cause),
                Failed::Store(error) => error,
            })?;
            done += found.len;
            if done - said > 64 * 1024 * 1024 {
                said = done;
                tracing::info!(done_bytes = done, total_bytes = total, "building the index");
            }
        }
        self.note_missing(&index, logs, known).map_err(live::unwritable)?;
        live::settle(self.home, &index)?;
        Ok(index)
    }

    /// Applies what the logs have beyond a good index. `false` when a log is not what the index knew.
    fn catch_up(
        &mut self,
        index: &Index,
        logs: &[FoundLog],
        known: &HashMap<LogName, Position>,
    ) -> Result<bool, Failed> {
        let mut behind = Vec::new();
        for found in logs {
            let position = known.get(&found.log);
            match self.compare(found, position).map_err(Failed::Store)? {
                Compared::Same => {}
                Compared::Tail => behind.push((found, position)),
                Compared::Unknown => behind.push((found, None)),
                Compared::Different => return Ok(false),
                Compared::StillUnreadable => self.notices.push(damaged(&found.log, 0, "its first line")),
            }
        }
        for (found, from) in behind {
            self.take_in(index, found, from, from)?;
        }
        self.note_missing(index, logs, known).map_err(Failed::Index)?;
        Ok(true)
    }

    fn compare(&self, found: &FoundLog, known: Option<&Position>) -> Result<Compared, StoreError> {
        let Some(known) = known else { return Ok(Compared::Unknown) };
        let same_length = found.len == known.offset && !known.is_damaged();
        // Its length is enough for a thread's log; the daemon's is read for its version at every start.
        if same_length && found.log != LogName::Daemon {
            return Ok(Compared::Same);
        }
        let path = self.home.log_path(&found.log)?;
        let file = std::fs::File::open(&path).map_err(|error| unreadable(&path, &error))?;
        if known.offset == 0 {
            let header = Position::after_header(known.log_id.clone(), 0);
            let stretch = Stretch { log: &found.log, path: &path, from: Some(&header), known: None, len: found.len };
            let readable = matches!(walk(&stretch, &mut |_| Ok(())), Ok(walked) if walked.position.offset > 0);
            return Ok(if readable { Compared::Different } else { Compared::StillUnreadable });
        }
        Ok(match fits(&file, &found.log, known)? {
            true if same_length => Compared::Same,
            true if found.len >= known.offset => Compared::Tail,
            _ => Compared::Different,
        })
    }

    /// Projects one log from a place on, and deals with what follows its last good record.
    fn take_in(
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
        let mut overlay = Overlay::new(index);
        let mut marks = Vec::new();
        let walked = walk(&stretch, &mut |Passed { record, position, mark }| {
            overlay.add(self.projector.project(log, record, &overlay).map_err(Stop::Record)?);
            marks.extend(mark);
            if overlay.len() >= ROWS_A_BATCH {
                index
                    .apply(overlay.take().iter(), std::iter::once(Reached { log, position, marks: &marks }))
                    .map_err(Stop::Index)?;
                marks.clear();
            }
            Ok(())
        })?;
        if !self.settle_end(&path, found, known, &walked).map_err(Failed::Store)? {
            return Ok(());
        }
        index
            .apply(overlay.take().iter(), std::iter::once(Reached { log, position: &walked.position, marks: &marks }))
            .map_err(Failed::Index)
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
    fn note_missing(
        &mut self,
        index: &Index,
        logs: &[FoundLog],
        known: &HashMap<LogName, Position>,
    ) -> Result<(), String> {
        let there: std::collections::HashSet<&LogName> = logs.iter().map(|found| &found.log).collect();
        for (log, position) in known.iter().filter(|(log, _)| !there.contains(log)) {
            self.notices.push(format!("the log {log} is missing"));
            let mut gone = Position::after_header(position.log_id.clone(), 0);
            gone.acknowledged = position.acknowledged.max(1);
            index.apply([].into_iter(), std::iter::once(Reached { log, position: &gone, marks: &[] }))?;
        }
        Ok(())
    }
}

fn damaged(log: &LogName, offset: u64, why: &str) -> String {
    format!("the log {log} is damaged at byte {offset} ({why}); it can be read up to there and takes no new records")
}
