//! Comparing the logs with the index, and bringing the index to where the logs are.

use std::{collections::HashMap, sync::atomic::AtomicBool};

use ropewalk_protocol::Timestamp;

use super::{
    filling::{Filling, damaged},
    home::{FoundLog, Home, unreadable},
    index::Index,
    live,
    migrate::{Migration, find_old},
    position::Position,
    rewrite, version,
    walk::{Failed, Stretch, fits, walk},
    walking::Job,
};
use crate::store::{LogName, Progress, Projector, StoreError, header::LOG_VERSION};

/// An index that is where the daemon's log is, and where all others are but for those that are left.
pub(super) struct Started {
    pub(super) index: Index,
    /// The logs that are read when the store is open.
    pub(super) later: Vec<Job>,
    /// Whether the index is not the live one before these are read.
    pub(super) is_new: bool,
    /// What a person should know: what was cut, moved, rebuilt, or found damaged.
    pub(super) notices: Vec<String>,
    pub(super) log_bytes: u64,
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

/// What one log costs beside its bytes: it is opened and synced.
const BYTES_A_LOG: u64 = 16 * 1024;

/// Brings logs of an older version to this one, opens the index and applies what the logs have beyond it, or builds it
/// anew. Where that takes reading more than `patience_bytes`, and no log has to be migrated, all logs but the daemon's are
/// left for later.
///
/// # Errors
/// When a log has an unknown version, or no log or index can be written that has to be.
pub(super) fn start(
    home: &Home,
    projector: &dyn Projector,
    now: Timestamp,
    progress: &Progress,
    patience_bytes: u64,
) -> Result<Started, StoreError> {
    rewrite::forget_unfinished(home);
    let mut logs = home.find_logs()?;
    let is_current = version::is_current(home.root())?;
    // Before anything is moved: a log of a newer version is not for this build to touch, nor is what lies beside it.
    let mut old = if is_current { Vec::new() } else { find_old(home, logs.iter().enumerate())? };
    // Who opens a store waits for it, and cannot give it up meanwhile.
    let closing = &AtomicBool::new(false);
    let mut filling =
        Filling { home, projector, now, progress, is_thorough: !is_current, closing, notices: Vec::new() };
    if version::is_garbled(home.root())? {
        let said =
            "the file format of the home said nothing that can be understood; every log was asked for its version";
        filling.notices.push(format!("{said}, and it is written anew"));
    }
    let opened = live::open(home, now, &mut filling.notices)?;
    let (index, known) = opened.map(|opened| (opened.index, opened.positions)).unzip();
    let known = known.unwrap_or_default();
    if is_current {
        let strange = logs.iter().enumerate().filter(|(_, found)| !is_as_long(found, known.get(&found.log)));
        old = find_old(home, strange)?;
    }
    let mut migrated = 0;
    if !old.is_empty() {
        let migration = Migration { home, known: &known, progress, reached: &|_| Ok(()) };
        migrated = migration.run(&old, &mut logs, &mut filling.notices)?;
    }
    // A migrated log may be exactly as long as it was.
    filling.is_thorough = !is_current || migrated > 0;
    let patience_bytes = if filling.is_thorough { u64::MAX } else { patience_bytes };
    let (index, later, is_new) = filling.bring_up(index, &logs, &known, patience_bytes)?;
    if !is_current {
        version::note(home.root(), LOG_VERSION)?;
    }
    let Filling { notices, .. } = filling;
    Ok(Started { index, later, is_new, notices, log_bytes: logs.iter().map(|found| found.len).sum() })
}

/// What reading these logs from these places on costs, as bytes.
fn cost<'a>(logs: impl Iterator<Item = (&'a FoundLog, Option<&'a Position>)>) -> u64 {
    logs.map(|(found, from)| BYTES_A_LOG + found.len.saturating_sub(from.map_or(0, |from| from.offset))).sum()
}

/// Whether a log is as long as the index knows it, and not damaged.
fn is_as_long(found: &FoundLog, known: Option<&Position>) -> bool {
    known.is_some_and(|known| found.len == known.offset && !known.is_damaged())
}

impl Filling<'_> {
    /// Brings an index to where the logs are, or builds one anew; with what is left for later, and whether the index is
    /// new and not yet whole.
    fn bring_up(
        &mut self,
        index: Option<Index>,
        logs: &[FoundLog],
        known: &HashMap<LogName, Position>,
        patience_bytes: u64,
    ) -> Result<(Index, Vec<Job>, bool), StoreError> {
        let Some(index) = index else { return self.build(logs, known, patience_bytes) };
        match self.catch_up(&index, logs, known, patience_bytes) {
            Ok(Some(later)) => return Ok((index, later, false)),
            Ok(None) => {
                drop(index);
                self.notices.push("a log is not the one the index knew; the index is built anew".to_owned());
            }
            Err(Failed::Store(error)) => return Err(error),
            Err(Failed::Index(cause)) => {
                let number = index.number;
                drop(index);
                self.notices.push(format!("the index failed ({cause}); it is moved to lost/ and built anew"));
                live::set_aside(self.home, number, self.now)?;
            }
        }
        self.build(logs, known, patience_bytes)
    }

    /// A new index: whole, or with nothing but the daemon's log in it.
    fn build(
        &mut self,
        logs: &[FoundLog],
        known: &HashMap<LogName, Position>,
        patience_bytes: u64,
    ) -> Result<(Index, Vec<Job>, bool), StoreError> {
        if cost(logs.iter().map(|found| (found, None))) <= patience_bytes {
            return Ok((self.rebuild(logs, known)?, Vec::new(), false));
        }
        let index = live::begin(self.home)?;
        let number = index.number;
        self.progress.expect(logs.iter().map(|found| found.len).sum());
        let others =
            self.begin_with_the_daemons(&index, logs, known).inspect_err(|_| live::remove(self.home, number))?;
        let later =
            others.iter().map(|found| Job { found: found.clone(), from: None, known: known.get(&found.log).cloned() });
        Ok((index, later.collect(), true))
    }

    /// Takes in the daemon's log, which says what holds for the others, and returns these.
    fn begin_with_the_daemons<'l>(
        &mut self,
        index: &Index,
        logs: &'l [FoundLog],
        known: &HashMap<LogName, Position>,
    ) -> Result<&'l [FoundLog], StoreError> {
        let first = logs.iter().take_while(|found| found.log == LogName::Daemon).count();
        let (daemon, others) = logs.split_at(first);
        self.take_all(index, &daemon.iter().collect::<Vec<_>>(), known)?;
        self.note_missing(index, logs, known).map_err(live::unwritable)?;
        Ok(others)
    }

    /// Applies what the logs have beyond a good index, or leaves it for later where it is much. `None` when a log is not
    /// what the index knew.
    fn catch_up(
        &mut self,
        index: &Index,
        logs: &[FoundLog],
        known: &HashMap<LogName, Position>,
        patience_bytes: u64,
    ) -> Result<Option<Vec<Job>>, Failed> {
        let mut behind = Vec::new();
        for found in logs {
            let position = known.get(&found.log);
            match self.compare(found, position).map_err(Failed::Store)? {
                Compared::Same => {}
                Compared::Tail => behind.push((found, position)),
                Compared::Unknown => behind.push((found, None)),
                Compared::Different => return Ok(None),
                Compared::StillUnreadable => self.notices.push(damaged(&found.log, 0, "its first line")),
            }
        }
        let is_much = cost(behind.iter().copied()) > patience_bytes;
        let mut later = Vec::new();
        for (found, from) in behind {
            if is_much && found.log != LogName::Daemon {
                self.progress.expect(found.len.saturating_sub(from.map_or(0, |from| from.offset)));
                later.push(Job { found: found.clone(), from: from.cloned(), known: from.cloned() });
            } else if !self.projector.is_removed(&found.log, index).map_err(Failed::Store)? {
                self.take_in(index, found, from, from)?;
            }
        }
        self.note_missing(index, logs, known).map_err(Failed::Index)?;
        Ok(Some(later))
    }

    fn compare(&self, found: &FoundLog, known: Option<&Position>) -> Result<Compared, StoreError> {
        let Some(known) = known else { return Ok(Compared::Unknown) };
        let same_length = is_as_long(found, Some(known));
        // Its length is enough for a thread's log; the daemon's is read for its version at every start.
        if same_length && found.log != LogName::Daemon && !self.is_thorough {
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
}
