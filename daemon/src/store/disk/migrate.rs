//! Bringing logs of an older version to this one: each into a new file, after it was kept as it was.
//!
//! A log is migrated by itself. Killed at any moment, it is there whole as it was or whole as it is now, and the next
//! start goes on with those that are left.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, BufReader, BufWriter, ErrorKind, Read, Write as _},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use super::{
    blobs::{self, Keeper},
    fill::no_blob,
    home::{FoundLog, Home, unreadable},
    position::Position,
    walk::{End, Failed, Passed, Stop, Stretch, read_header, walk},
};
use crate::store::{
    LogName, Progress, Record, StoreError, files,
    header::{Header, LOG_VERSION},
    outline::Outlined,
    record::encode,
};

/// Turns a record of one version into the same record of the next.
type Step = fn(Record) -> Result<Record, String>;

/// The step from version v to v + 1 is at v - 1; there is one for every version before this build's.
const STEPS: [Step; LOG_VERSION as usize - 1] = [from_1_to_2];

/// Version 2 says the same in the same words. Its long strings are out of line, which [`Outlined`] sees to.
#[expect(clippy::unnecessary_wraps, reason = "other steps may meet records that they cannot carry over")]
const fn from_1_to_2(record: Record) -> Result<Record, String> {
    Ok(record)
}

/// A log of an older version.
pub(super) struct OldLog {
    /// Which of the logs that were found.
    at: usize,
    version: u64,
}

/// What a migration has come to with one log; tests stop it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing is done yet.
    Begun,
    /// The file is kept as it was.
    Kept,
    /// The new file is written beside it.
    Written,
    /// The new file is synced.
    Synced,
    /// The new file has the log's name.
    Renamed,
}

/// What logs are migrated with.
pub(super) struct Migration<'a> {
    pub(super) home: &'a Home,
    /// What an index knows of them: witnesses of what was acknowledged.
    pub(super) known: &'a HashMap<LogName, Position>,
    pub(super) progress: &'a Progress,
    pub(super) reached: &'a dyn Fn(Stage) -> io::Result<()>,
}

/// Which of these logs are of an older version. Only reads.
///
/// # Errors
/// `Version` when one is of a newer version than this build knows.
pub(super) fn find_old<'a>(
    home: &Home,
    logs: impl Iterator<Item = (usize, &'a FoundLog)>,
) -> Result<Vec<OldLog>, StoreError> {
    let mut old = Vec::new();
    for (at, found) in logs {
        // A file that cannot be opened is damage, and named as such when it is read.
        let Ok(file) = File::open(home.log_path(&found.log)?) else { continue };
        let version = read_header(&file, &found.log)?.map(|(header, _)| header.version);
        old.extend(version.filter(|version| *version < LOG_VERSION).map(|version| OldLog { at, version }));
    }
    Ok(old)
}

impl Migration<'_> {
    /// Migrates these logs, notes their new lengths, and says what was done.
    ///
    /// # Errors
    /// When a file cannot be kept or written. Each log is then as it was or migrated.
    pub(super) fn run(
        &self,
        old: &[OldLog],
        logs: &mut [FoundLog],
        notices: &mut Vec<String>,
    ) -> Result<usize, StoreError> {
        let total: u64 = old.iter().map(|old| logs[old.at].len).sum();
        tracing::info!(logs = old.len(), bytes = total, "bringing logs to format version {LOG_VERSION}");
        self.progress.expect(total);
        let mut migrated = 0;
        for OldLog { at, version } in old {
            let found = &mut logs[*at];
            let path = self.home.log_path(&found.log)?;
            let was = found.len;
            match self.migrate(&path, found, *version)? {
                None => {
                    found.len = fs::metadata(&path).map_err(|error| unreadable(&path, &error))?.len();
                    migrated += 1;
                }
                Some(why) => notices.push(format!(
                    "the log {} has format version {version} and was not brought to {LOG_VERSION}: {why}",
                    found.log
                )),
            }
            self.progress.pass(was);
        }
        if migrated > 0 {
            let kept = self.home.backup();
            notices.push(format!(
                "{migrated} logs were brought to format version {LOG_VERSION}; as they were, they are in {}",
                kept.display()
            ));
        }
        Ok(migrated)
    }

    /// Migrates one log; returns why it was left as it is, if it was.
    fn migrate(&self, path: &Path, found: &FoundLog, version: u64) -> Result<Option<String>, StoreError> {
        let failed = |error: io::Error| StoreError::file(path, &error);
        (self.reached)(Stage::Begun).map_err(failed)?;
        self.keep(path, version).map_err(failed)?;
        (self.reached)(Stage::Kept).map_err(failed)?;
        let new = files::with_ending(path, files::UNFINISHED);
        let left = self.rewrite(path, &new, found, version);
        if !matches!(left, Ok(None)) {
            // What is half written is of no use, and the caller hears of the failure itself.
            let _ = fs::remove_file(&new);
            return left;
        }
        fs::rename(&new, path).map_err(failed)?;
        (self.reached)(Stage::Renamed).map_err(failed)?;
        path.parent().map_or(Ok(()), files::sync_dir).map_err(failed)?;
        Ok(None)
    }

    /// Writes what a log says into a new file, in this build's format; returns why it cannot be, if it cannot.
    fn rewrite(&self, path: &Path, new: &Path, found: &FoundLog, version: u64) -> Result<Option<String>, StoreError> {
        let failed = |error: io::Error| StoreError::file(new, &error);
        files::remove_if_there(new).map_err(failed)?;
        let mut out = BufWriter::new(files::private_new(new).map_err(failed)?);
        let mut line = Vec::new();
        Header::new(&found.log).encode(&mut line);
        out.write_all(&line).map_err(failed)?;
        let mut durable = line.len() as u64;
        let known = self.known.get(&found.log);
        let stretch = Stretch { log: &found.log, path, from: None, known, len: found.len };
        let mut broken = None;
        // Nothing looks for payloads that no record names before the index is there again.
        let keeper = Keeper::new(self.home.blobs());
        let walked = walk(&stretch, &mut |Passed { line: old, .. }| {
            let steps = &STEPS[usize::try_from(version - 1).unwrap_or(0)..];
            let record = old.whole(&|id, bytes| blobs::read(&self.home.blobs(), id, bytes)).map_err(no_blob)?;
            let record = steps.iter().try_fold(record, |record, step| step(record)).map_err(Stop::Record)?;
            let outlined = Outlined::new(&record);
            line.clear();
            encode(&outlined, durable, &mut line);
            durable += line.len() as u64;
            let mut payloads = outlined.payloads.iter();
            payloads.try_for_each(|payload| keeper.put(payload).map(drop)).and_then(|()| out.write_all(&line)).map_err(
                |error| {
                    let cause = error.to_string();
                    broken = Some(error);
                    Stop::Index(cause)
                },
            )
        });
        let walked = match walked {
            Ok(walked) => walked,
            Err(Failed::Store(error)) => return Err(error),
            Err(Failed::Index(cause)) => return Err(failed(broken.unwrap_or_else(|| io::Error::other(cause)))),
        };
        if let End::Damaged(why) = walked.end {
            return Ok(Some(format!("it is damaged at byte {} ({why})", walked.position.offset)));
        }
        if walked.records == 0 && known.is_none() {
            return Ok(Some("it has no whole record".to_owned()));
        }
        (self.reached)(Stage::Written).map_err(failed)?;
        out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)?;
        (self.reached)(Stage::Synced).map_err(failed)?;
        Ok(None)
    }

    /// Has the file as it is under `backup/`, and makes that last.
    fn keep(&self, path: &Path, version: u64) -> io::Result<()> {
        let inside = path.strip_prefix(self.home.root()).map_err(io::Error::other)?;
        let wanted = self.home.backup().join(format!("format-{version}")).join(inside);
        let directory = wanted.parent().ok_or(ErrorKind::InvalidInput)?;
        files::private_dir(directory)?;
        File::open(path)?.sync_all()?;
        // A migration that was killed has kept it already; another file of that name is another log's past.
        let mut names = (0_u32..).map(|count| match count {
            0 => wanted.clone(),
            count => files::with_ending(&wanted, &format!("-{count}")),
        });
        let kept = names.find(|kept| !kept.exists() || same_bytes(kept, path).unwrap_or(false));
        let kept = kept.ok_or(ErrorKind::AlreadyExists)?;
        if !kept.exists() {
            // The migrated log is another file, so a second name for this one is all that is needed.
            fs::hard_link(path, &kept).or_else(|_| copy(path, &kept))?;
        }
        kept.ancestors().skip(1).take_while(|above| above.starts_with(self.home.root())).try_for_each(files::sync_dir)
    }
}

/// Copies a file so that it is there whole or not at all.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let partial = files::with_ending(to, ".partial");
    files::remove_if_there(&partial)?;
    let mut file = files::private_new(&partial)?;
    io::copy(&mut File::open(from)?, &mut file)?;
    file.sync_all()?;
    fs::rename(&partial, to)
}

/// Whether two files hold the same.
fn same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mine, its) = (one.metadata()?, other.metadata()?);
    if (mine.dev(), mine.ino()) == (its.dev(), its.ino()) {
        return Ok(true);
    }
    if mine.len() != its.len() {
        return Ok(false);
    }
    let mut bytes = BufReader::new(&mut one).bytes();
    for byte in BufReader::new(&mut other).bytes() {
        if bytes.next().transpose()? != Some(byte?) {
            return Ok(false);
        }
    }
    Ok(true)
}
