//! Holding the index and what it is made from against each other, while work goes on.
//!
//! A second index is built beside the live one from the logs, up to where they were at one moment, and then compared with
//! it row by row. Where rows differ, the second one is first brought to where the live one is, which stands still for
//! that long: so what was only written meanwhile is no difference.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs::File,
    io,
    path::Path,
    sync::PoisonError,
};

use ropewalk_protocol::{CheckResult, DifferenceKind};

use super::{
    backup::{blob_files, digest_in_name},
    beside::{Beside, Found},
    blobs,
    fill::fill,
    home::unreadable,
    index::Index,
    live,
    log::{Health, lock},
    position::Position,
    shared::Shared,
    walk::{End, Failed, Stretch},
};
use crate::store::{LogName, StoreError, keys};

/// Rows of each index that are in memory at once.
const ROWS_AT_ONCE: usize = 1_000;
/// How often a check begins anew because a log was deleted or rewritten under it.
const ATTEMPTS: usize = 5;

const REBUILD: &str = "stop the daemon, move the directory index out of its home and start it: the index is built anew";
const PUT_BACK: &str = "while no daemon runs, put the file back: `ropewalk restore` makes a home of a backup elsewhere, and the \
                        file of the same name is in it; until then this one can be read up to there";

impl Shared {
    /// Compares the index with the logs, and reads every log and every payload to its end. Blocks, and uses memory that
    /// does not depend on how much there is but for the places of the logs. Damage that nobody knew of is noted, so that
    /// its thread takes nothing that would be written behind it.
    ///
    /// # Errors
    /// `Busy` beside another check or a backup, or when logs are rewritten all the time; `Read` when no second index can
    /// be built.
    pub(super) fn check(&self) -> Result<CheckResult, StoreError> {
        let _alone = self.upkeep.try_lock().map_err(|_| StoreError::Busy)?;
        for _ in 0..ATTEMPTS {
            let mut check = Check {
                shared: self,
                beside: Beside::begin(&self.home)?,
                at: HashMap::new(),
                found: Found::default(),
                bad: HashSet::new(),
                damage: Vec::new(),
            };
            match check.run() {
                Ok(()) => {
                    let Check { found, damage, .. } = check;
                    for (log, offset, why) in damage {
                        self.note_found(&log, offset, &why)?;
                    }
                    return Ok(CheckResult { differences: found.differences, truncated: found.truncated });
                }
                Err(Ended::Anew) => {}
                Err(Ended::Failed(error)) => return Err(error),
            }
        }
        Err(StoreError::Busy)
    }

    /// Remembers damage that the live index did not know of.
    fn note_found(&self, log: &LogName, offset: u64, why: &str) -> Result<(), StoreError> {
        let log = self.log(log)?;
        if let Health::Good(position) = self.health(&log)? {
            self.note_damage(&log, &log.mark_damaged(&position, offset), why);
        }
        Ok(())
    }
}

/// Why a check came to no end.
enum Ended {
    /// What it compares with is not there any more.
    Anew,
    Failed(StoreError),
}

impl From<StoreError> for Ended {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

struct Check<'a> {
    shared: &'a Shared,
    beside: Beside<'a>,
    /// How far each log is in the second index.
    at: HashMap<LogName, Position>,
    found: Found,
    /// Logs in which something is wrong, or that are deleted.
    bad: HashSet<LogName>,
    /// Those that were not known to be damaged, and where they are.
    damage: Vec<(LogName, u64, String)>,
}

impl Check<'_> {
    fn run(&mut self) -> Result<(), Ended> {
        for (log, position) in self.shared.moment()? {
            self.build(&log, &position)?;
        }
        self.compare()?;
        self.blobs()?;
        Ok(())
    }

    /// Reads a log from where the second index has it to where the first has it, and names what is wrong with it.
    fn build(&mut self, log: &LogName, known: &Position) -> Result<(), Ended> {
        self.shared.go_on()?;
        if self.is_removed(log)? {
            // Where it is in the one index and not in the other is nobody's business any more.
            self.bad.insert(log.clone());
            return Ok(());
        }
        let path = self.shared.home.log_path(log)?;
        if !path.exists() {
            self.is_still(log, known)?;
            self.name(log, known, &path, format!("the log {log} is missing"));
            return Ok(());
        }
        let len = if known.is_damaged() { length(&path)? } else { known.offset };
        let stretch = Stretch { log, path: &path, from: self.at.get(log), known: Some(known), len };
        let index = self.beside.index();
        let filled = match fill(index, &*self.shared.projector, &self.shared.home, &stretch, &self.shared.closing) {
            Ok(filled) => filled,
            Err(Failed::Store(error)) => {
                self.note(log, known, 0, &error.to_string());
                self.name(log, known, &path, error.to_string());
                return Ok(());
            }
            Err(Failed::Index(cause)) => return Err(live::unwritable(cause).into()),
        };
        let position = filled.settle(index, &stretch).map_err(live::unwritable)?;
        let offset = position.offset;
        let why = match &filled.walked.end {
            _ if offset > 0 && known.offset > 0 && position.log_id != known.log_id => {
                self.is_still(log, known)?;
                "it is not the one the index knows".to_owned()
            }
            End::Damaged(why) => why.clone(),
            _ if offset < known.offset => format!("it ends there, and {} bytes were acknowledged", known.offset),
            _ => {
                self.at.insert(log.clone(), position);
                return Ok(());
            }
        };
        self.note(log, known, offset, &why);
        self.name(log, known, &path, format!("the log {log} is damaged at byte {offset}: {why}"));
        Ok(())
    }

    /// What is wrong with a log is only wrong if it was not deleted or rewritten meanwhile.
    fn is_still(&self, log: &LogName, known: &Position) -> Result<(), Ended> {
        let now = self.live(|index| index.position(log))?;
        if now.is_some_and(|now| now.log_id == known.log_id) { Ok(()) } else { Err(Ended::Anew) }
    }

    fn note(&mut self, log: &LogName, known: &Position, offset: u64, why: &str) {
        if !known.is_damaged() {
            self.damage.push((log.clone(), offset, why.to_owned()));
        }
    }

    /// Names what is wrong with a log. It is not read again, wherever the live index has it.
    fn name(&mut self, log: &LogName, known: &Position, path: &Path, message: String) {
        self.found.add(DifferenceKind::Log, shown(path), message, PUT_BACK);
        self.at.insert(log.clone(), known.clone());
        self.bad.insert(log.clone());
    }

    /// Compares all rows, a bounded number at a time.
    fn compare(&mut self) -> Result<(), Ended> {
        let mut after: Option<Vec<u8>> = None;
        loop {
            let live = self.live(|index| index.entries_after(after.as_deref(), ROWS_AT_ONCE))?;
            let built = self.beside.index().entries_after(after.as_deref(), ROWS_AT_ONCE).map_err(live::unwritable)?;
            // Beyond the end of a full page nothing is known of the one, whatever the other has there.
            let ends = [&live, &built].into_iter().filter(|page| page.len() == ROWS_AT_ONCE);
            let end = ends.filter_map(|page| page.keys().next_back()).min().cloned();
            let keys: BTreeSet<&Vec<u8>> = live.keys().chain(built.keys()).collect();
            let differing: Vec<Vec<u8>> = keys
                .into_iter()
                .filter(|key| end.as_ref().is_none_or(|end| *key <= end))
                .filter(|key| !Index::is_same(key, live.get(*key), built.get(*key)))
                .cloned()
                .collect();
            self.settle(&differing)?;
            match end {
                Some(end) if !self.found.truncated => after = Some(end),
                _ => return Ok(()),
            }
        }
    }

    /// Looks again at rows that differ, with both indexes at the same place of every log.
    fn settle(&mut self, differing: &[Vec<u8>]) -> Result<(), Ended> {
        if differing.is_empty() {
            return Ok(());
        }
        // What the second index has from the moment it began with may be on its way to the live one.
        self.shared.catch_up();
        // Nothing is put into the live index while this is held; commits go on.
        let _still = lock(&self.shared.catching_up);
        if let Some(degraded) = lock(&self.shared.degraded).as_ref() {
            return Err(live::unwritable(degraded.cause.clone()).into());
        }
        let positions = self.live(Index::positions)?;
        if self.at.keys().any(|log| !positions.contains_key(log)) {
            return Err(Ended::Anew);
        }
        for (log, position) in &positions {
            match self.at.get(log) {
                Some(at) if at.log_id != position.log_id => return Err(Ended::Anew),
                Some(at) if at.offset == position.offset || self.bad.contains(log) => {}
                _ => self.build(log, position)?,
            }
        }
        for key in differing {
            if self.bad.iter().any(|log| Index::is_place_of(key, log)) || self.goes(key)? {
                continue;
            }
            let live = self.live(|index| index.entry(key))?;
            let built = self.beside.index().entry(key).map_err(live::unwritable)?;
            if Index::is_same(key, live.as_ref(), built.as_ref()) {
                continue;
            }
            if self.follows_from_damage(key, live.as_deref(), built.as_deref()) {
                continue;
            }
            let message = match (live, built) {
                (Some(_), None) => "the index has it, and it does not follow from the logs",
                (None, _) => "it follows from the logs, and the index does not have it",
                _ => "the index has it other than it follows from the logs",
            };
            self.found.add(DifferenceKind::Row, Index::shown(key), message.to_owned(), REBUILD);
        }
        Ok(())
    }

    /// Whether a row may differ only because a log cannot be read to its end. An index that was built anew would lack what
    /// lies beyond the damage, so nobody is told to do that.
    fn follows_from_damage(&self, key: &[u8], live: Option<&[u8]>, built: Option<&[u8]>) -> bool {
        let speaks_of = |id: &str| {
            let texts = [Some(key), live, built];
            texts.into_iter().flatten().any(|text| text.windows(id.len()).any(|part| part == id.as_bytes()))
        };
        self.bad.iter().any(|log| match log {
            LogName::Daemon => true,
            LogName::Thread(id) => speaks_of(id),
            LogName::Transcript(id) => speaks_of(id),
        })
    }

    fn is_removed(&self, log: &LogName) -> Result<bool, StoreError> {
        let projector = &self.shared.projector;
        // What decided on it may be on its way to the live index; the second one has the daemon's log first.
        Ok(projector.is_removed(log, self.beside.index())?
            || self.live(|index| projector.is_removed(log, index).map_err(|error| error.to_string()))?)
    }

    /// Whether an entry says what a deleted log needed: it goes after the log's file, at the latest with the next start.
    fn goes(&self, key: &[u8]) -> Result<bool, StoreError> {
        let Some(log) = Index::row_of(key).and_then(|row| keys::log_in_need(&row)) else { return Ok(false) };
        Ok(self.live(|index| index.position(&log))?.is_none() || self.is_removed(&log)?)
    }

    /// Reads every payload and holds it against its name.
    fn blobs(&mut self) -> Result<(), Ended> {
        let directory = self.shared.home.blobs();
        for path in blob_files(&directory).map_err(|error| unreadable(&directory, &error))? {
            self.shared.go_on()?;
            let Some(digest) = digest_in_name(&path) else { continue };
            let message = match File::open(&path).and_then(|mut file| blobs::digest_of(&mut file)) {
                Ok(found) if found == digest => continue,
                // It was given up meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Ok(found) => format!("the payload has the digest {found}, so it is not what was stored"),
                Err(error) => format!("the payload cannot be read: {error}"),
            };
            let remedy = "put the file back from a backup; until then what needs it fails to be read, and nothing else";
            self.found.add(DifferenceKind::Blob, shown(&path), message, remedy);
        }
        Ok(())
    }

    fn live<T>(&self, read: impl FnOnce(&Index) -> Result<T, String>) -> Result<T, StoreError> {
        let index = self.shared.index.read().unwrap_or_else(PoisonError::into_inner);
        read(&index).map_err(live::unwritable)
    }
}

fn length(path: &Path) -> Result<u64, StoreError> {
    Ok(path.metadata().map_err(|error| unreadable(path, &error))?.len())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
