//! Writing a log anew without what nobody needs any more: a new file beside it, synced, then in its place.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::Path,
    sync::{Arc, PoisonError, atomic::Ordering},
};

use ropewalk_protocol::{BlobId, Seq};

use super::{
    blobs::Keeper,
    fill::no_blob,
    home::Home,
    index::Reached,
    log::{Health, Log, lock},
    position::Position,
    shared::Shared,
    walk::{End, Failed, Stop, Stretch, walk},
};
use crate::store::{
    FailPoint, LogName, Record, Sieve, Sifted, StoreError, files, header::Header, outline::Outlined, record::encode,
};

/// Bytes of a log that are held in memory to measure it.
const HELD_BYTES: u64 = 4 * 1024 * 1024;

/// A new log that is durable and has not taken the place of the old one.
struct Written {
    sifted: Sifted,
    position: Position,
    marks: Vec<(Seq, u64)>,
    /// The payloads it names.
    names: HashSet<BlobId>,
}

/// A log that is being written anew.
struct Rewriting<'a> {
    log: &'a Log,
    /// How far the log goes.
    old: Position,
    new: Position,
    marks: Vec<(Seq, u64)>,
    /// Where it is written; nowhere when only its length is wanted.
    file: Option<BufWriter<File>>,
    line: Vec<u8>,
    failure: Option<io::Error>,
    blobs: &'a Keeper,
    /// The payloads it names.
    names: HashSet<BlobId>,
}

impl Shared {
    /// How much of a log its sieve keeps, as [`crate::store::Store::sift`] promises it. Nobody who writes to it waits
    /// meanwhile.
    pub(super) fn sift(&self, log: &Log, mut sieve: Box<dyn Sieve>) -> Result<Sifted, StoreError> {
        let Some(old) = self.position(log)? else { return Ok(Sifted::default()) };
        let log_id = old.log_id.clone();
        let measured = Rewriting::begin(log, old, None, &self.blobs).measure(&mut *sieve);
        match self.position(log)? {
            Some(now) if now.log_id == log_id => measured,
            // It was written anew under the reader, who may have seen some of the one and some of the other.
            _ => Err(log.refused("it was written anew while it was measured".to_owned())),
        }
    }

    /// Writes a log anew, as [`crate::store::Store::rewrite`] promises it.
    pub(super) fn rewrite(&self, log: &Arc<Log>, sieve: Box<dyn Sieve>) -> Result<Sifted, StoreError> {
        // Held all the time: appends wait.
        let mut file = lock(&log.file);
        let Some(old) = self.position(log)? else { return Ok(Sifted::default()) };
        let path = files::with_ending(log.path(), files::UNFINISHED);
        let made = write(log, old, &path, sieve, &self.blobs);
        let Written { sifted, position, marks, names } = match made.and_then(|made| {
            self.faults.rewrite(FailPoint::BeforeRename).map_err(|error| log.failed(&error))?;
            Ok(made)
        }) {
            Ok(made) => made,
            Err(error) => {
                // What could not be finished is of no use, and the next start would remove it too.
                let _ = fs::remove_file(&path);
                return Err(error);
            }
        };
        // An index that is built anew reads the log, and rows that are on their way know the old one.
        self.catch_up();
        let alone = lock(&self.catching_up);
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = fs::rename(&path, log.path()) {
            let _ = fs::remove_file(&path);
            return Err(log.failed(&error));
        }
        let was_open = file.take().is_some();
        let synced = self.faults.rewrite(FailPoint::AfterRename).and_then(|()| files::sync_dir(log.directory()));
        let failure = synced.err().map(|error| log.failed(&error));
        log.replaced(position.clone(), failure.clone());
        self.log_bytes.fetch_add(sifted.needed_bytes, Ordering::Relaxed);
        self.log_bytes.fetch_sub(sifted.bytes, Ordering::Relaxed);
        let reached = Reached { log: &log.name, position: &position, marks: &marks };
        let noted = index.replace(&reached).and_then(|()| index.flush());
        drop(index);
        // Before anything is appended: a record that comes then may name one of them anew.
        let unneeded = if noted.is_ok() { self.forget_all_but(&log.name, &names) } else { HashSet::new() };
        drop(file);
        if was_open {
            self.note_open(log, false);
        }
        drop(alone);
        match noted {
            Ok(()) => self.sweep_now(unneeded),
            Err(cause) => self.degrade(cause),
        }
        failure.map_or(Ok(sifted), Err)
    }

    /// How far a log goes that all is well with; `None` when there is none.
    fn position(&self, log: &Log) -> Result<Option<Position>, StoreError> {
        match self.health(log)? {
            Health::Unread | Health::Empty => Ok(None),
            Health::Good(position) => Ok(Some(position)),
            Health::Uncut(_, cause) => Err(cause),
            Health::Damaged(position) => Err(log.damaged(position.offset)),
        }
    }
}

/// Removes what a rewriting left that was killed before it was done.
pub(super) fn forget_unfinished(home: &Home) {
    let Ok(path) = home.log_path(&LogName::Daemon) else { return };
    if let Err(error) = files::remove_if_there(&files::with_ending(&path, files::UNFINISHED)) {
        tracing::warn!(%error, "a log that was not finished could not be removed");
    }
}

/// A new log in `path`, durable.
fn write(
    log: &Log,
    old: Position,
    path: &Path,
    mut sieve: Box<dyn Sieve>,
    blobs: &Keeper,
) -> Result<Written, StoreError> {
    let io = |error: io::Error| log.failed(&error);
    files::remove_if_there(path).map_err(io)?;
    let file = files::private_new(path).map_err(io)?;
    let mut rewriting = Rewriting::begin(log, old, Some(file), blobs);
    rewriting.pass(&mut *sieve)?;
    let sifted = rewriting.sifted();
    let Rewriting { file, new, marks, names, .. } = rewriting;
    let file = file.map(BufWriter::into_inner).transpose().map_err(|error| io(error.into_error()))?;
    file.map_or(Ok(()), |file| file.sync_all()).map_err(io)?;
    Ok(Written { sifted, position: new, marks, names })
}

impl<'a> Rewriting<'a> {
    fn begin(log: &'a Log, old: Position, file: Option<File>, blobs: &'a Keeper) -> Self {
        let mut line = Vec::new();
        let header = Header::new(&log.name);
        header.encode(&mut line);
        let new = Position::after_header(header.log_id, line.len() as u64);
        let (marks, names) = (Vec::new(), HashSet::new());
        let mut this = Self { log, old, new, marks, file: None, line, failure: None, blobs, names };
        this.file = file.map(BufWriter::new);
        this.put();
        this
    }

    fn sifted(&self) -> Sifted {
        Sifted { bytes: self.old.offset, needed_bytes: self.new.offset }
    }

    /// How much the sieve keeps. A log of usual length is read once and held until the sieve has seen all of it.
    fn measure(mut self, sieve: &mut dyn Sieve) -> Result<Sifted, StoreError> {
        if self.old.offset > HELD_BYTES {
            self.pass(sieve)?;
            return Ok(self.sifted());
        }
        let mut records = Vec::new();
        self.read(&mut |_, record| {
            sieve.see(record);
            records.push(record.clone());
            Ok(())
        })?;
        for (at, record) in records.iter().enumerate() {
            if let Some(kept) = sieve.keep(at, record) {
                self.take(&kept).map_err(|cause| self.log.refused(cause))?;
            }
        }
        Ok(self.sifted())
    }

    /// Reads the log twice: the sieve sees all of it before it lets anything fall.
    fn pass(&mut self, sieve: &mut dyn Sieve) -> Result<(), StoreError> {
        self.read(&mut |_, record| {
            sieve.see(record);
            Ok(())
        })?;
        let mut at = 0;
        self.read(&mut |this, record| {
            let kept = sieve.keep(at, record);
            at += 1;
            kept.map_or(Ok(()), |kept| this.take(&kept))
        })
    }

    fn read(&mut self, visit: &mut dyn FnMut(&mut Self, &Record) -> Result<(), String>) -> Result<(), StoreError> {
        let log = self.log;
        let len = self.old.offset;
        let stretch = Stretch { log: &log.name, path: log.path(), from: None, known: None, len };
        let walked = walk(&stretch, &mut |passed| {
            let record = passed.line.whole(&|id, bytes| self.blobs.read(id, bytes)).map_err(no_blob)?;
            visit(self, &record).map_err(Stop::Index)
        });
        if let Some(error) = self.failure.take() {
            return Err(log.failed(&error));
        }
        match walked {
            Ok(walked) if walked.end == End::Whole && walked.position.offset == len => Ok(()),
            Ok(walked) => Err(log.damaged(walked.position.offset)),
            Err(Failed::Index(cause)) => Err(log.refused(cause)),
            Err(Failed::Store(error)) => Err(error),
        }
    }

    fn take(&mut self, record: &Record) -> Result<(), String> {
        if record.n != self.new.next_seq {
            return Err(format!("a record has the number {} where {} belongs", record.n, self.new.next_seq));
        }
        let start = self.new.offset;
        // Everything before it is synced when the file takes its place, and says so for whoever finds a flipped byte.
        let outlined = Outlined::new(record);
        if self.file.is_some() {
            // They are there already, but for a record of a version that had none.
            let kept = outlined.payloads.iter().try_for_each(|payload| self.blobs.put(payload).map(drop));
            kept.map_err(|error| error.to_string())?;
        }
        self.names.extend(outlined.names.iter().map(|name| name.sha256.clone()));
        let sum = encode(&outlined, start, &mut self.line);
        if self.new.pass(self.line.len() as u64, record.next_seq(), sum) {
            self.marks.push((record.n, start));
        }
        self.put();
        if self.failure.is_some() { Err("the new log could not be written".to_owned()) } else { Ok(()) }
    }

    fn put(&mut self) {
        if let Some(file) = &mut self.file {
            self.failure = file.write_all(&self.line).err();
        }
        self.line.clear();
    }
}
