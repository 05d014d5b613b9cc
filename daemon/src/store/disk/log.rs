//! One log while the daemon uses it: what is durable of it, and appending to it.

use std::{
    collections::VecDeque,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
};

use ropewalk_protocol::Seq;
use tokio::sync::oneshot;

use super::{
    fault::Faults,
    position::Position,
    walk::{Stretch, fits, walk},
};
use crate::store::{
    LogName, Record, RowChange, StoreError, files,
    header::Header,
    record::{MAX_LINE_BYTES, encode},
};

/// A log in use. Its locks are taken in the order of the fields, and only `file` is held while the disk works.
pub(super) struct Log {
    pub(super) name: LogName,
    path: PathBuf,
    pub(super) queue: Mutex<Queue>,
    pub(super) file: Mutex<Option<File>>,
    health: Mutex<Health>,
    /// When it was used last, in uses of any log.
    pub(super) used: AtomicU64,
}

/// Commits in the order of their calls.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) waiting: VecDeque<Waiting>,
    /// Whether a thread works on it.
    pub(super) busy: bool,
}

/// A commit and who waits for it.
pub(super) struct Waiting {
    pub(super) records: Vec<Record>,
    pub(super) rows: Vec<RowChange>,
    pub(super) reply: oneshot::Sender<Result<(), StoreError>>,
}

/// What may be done with a log.
#[derive(Clone, Debug)]
pub(super) enum Health {
    /// Not looked at yet.
    Unread,
    /// There is no such log; the first commit makes it.
    Empty,
    /// All is well, and this far it is durable.
    Good(Position),
    /// An append failed, and what it left has to be cut off before anything else is written.
    Uncut(Option<Position>, StoreError),
    /// Acknowledged records cannot be read from here on.
    Damaged(Position),
}

/// What an append reached.
pub(super) struct Appended {
    pub(super) position: Position,
    pub(super) marks: Vec<(Seq, u64)>,
    pub(super) bytes: u64,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    pub(super) fn new(name: LogName, path: PathBuf) -> Self {
        Self {
            name,
            path,
            queue: Mutex::default(),
            file: Mutex::default(),
            health: Mutex::new(Health::Unread),
            used: AtomicU64::new(0),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn health(&self) -> Health {
        lock(&self.health).clone()
    }

    fn set_health(&self, health: Health) {
        *lock(&self.health) = health;
    }

    /// Moves on, unless a reader found damage meanwhile.
    fn advance(&self, position: &Position) {
        let mut health = lock(&self.health);
        if !matches!(*health, Health::Damaged(_)) {
            *health = Health::Good(position.clone());
        }
    }

    /// What it is when the index says `position`, unless it is known already.
    pub(super) fn learn(&self, position: Option<Position>) -> Health {
        let mut health = lock(&self.health);
        if matches!(*health, Health::Unread) {
            *health = match position {
                None => Health::Empty,
                Some(position) if position.is_damaged() => Health::Damaged(position),
                Some(position) => Health::Good(position),
            };
        }
        health.clone()
    }

    /// Appends records with one write and makes them durable. `file` is this log's, locked.
    ///
    /// # Errors
    /// When nothing of the records is there, or will be: what a failed append left is cut off, now or before the next.
    pub(super) fn append<'a>(
        &self,
        file: &mut Option<File>,
        records: impl Iterator<Item = &'a Record>,
        faults: &Faults,
    ) -> Result<Appended, StoreError> {
        let before = match self.health() {
            Health::Good(position) => Some(position),
            Health::Empty | Health::Unread => None,
            Health::Damaged(position) => return Err(self.damaged(position.offset)),
            Health::Uncut(before, cause) => {
                self.cut_back(before.as_ref(), faults).map_err(|_| cause)?;
                match self.health() {
                    Health::Damaged(position) => return Err(self.damaged(position.offset)),
                    _ => before,
                }
            }
        };
        let (bytes, appended) = self.encode(before.as_ref(), records)?;
        match self.write(file, before.as_ref(), &bytes, faults) {
            Ok(()) => {
                self.advance(&appended.position);
                Ok(appended)
            }
            Err(Refused::Damaged(offset)) => Err(self.damaged(offset)),
            Err(Refused::Io(error)) => {
                *file = None;
                let error = self.failed(&error);
                self.set_health(Health::Uncut(before.clone(), error.clone()));
                if let Err(cut) = self.cut_back(before.as_ref(), faults) {
                    tracing::error!(log = %self.name, error = %cut, "a failed append could not be cut off");
                }
                Err(error)
            }
        }
    }

    fn encode<'a>(
        &self,
        before: Option<&Position>,
        records: impl Iterator<Item = &'a Record>,
    ) -> Result<(Vec<u8>, Appended), StoreError> {
        let mut bytes = Vec::with_capacity(1024);
        let durable = before.map_or(0, |position| position.offset);
        let mut position = before.cloned().unwrap_or_else(|| {
            let header = Header::new(&self.name);
            header.encode(&mut bytes);
            Position::after_header(header.log_id, bytes.len() as u64)
        });
        let mut marks = Vec::new();
        for record in records {
            if record.n != position.next_seq {
                let cause = format!("a record has the number {} where {} belongs", record.n, position.next_seq);
                return Err(self.refused(cause));
            }
            let (start, offset) = (bytes.len(), position.offset);
            let sum = encode(record, durable, &mut bytes);
            let length = bytes.len() - start;
            if length > MAX_LINE_BYTES {
                return Err(self.refused(format!("a record has {length} bytes, and {MAX_LINE_BYTES} are the limit")));
            }
            if position.pass(length as u64, record.next_seq(), sum) {
                marks.push((record.n, offset));
            }
        }
        let written = bytes.len() as u64;
        Ok((bytes, Appended { position, marks, bytes: written }))
    }

    fn write(
        &self,
        slot: &mut Option<File>,
        before: Option<&Position>,
        bytes: &[u8],
        faults: &Faults,
    ) -> Result<(), Refused> {
        let file = match slot.take() {
            Some(file) => file,
            None => self.open(before)?,
        };
        let offset = before.map_or(0, |position| position.offset);
        if let Some(error) = faults.append() {
            file.write_all_at(&bytes[..bytes.len() / 2], offset)?;
            return Err(error.into());
        }
        file.write_all_at(bytes, offset)?;
        faults.sync()?;
        if before.is_some() {
            file.sync_data()?;
        } else {
            file.sync_all()?;
            files::sync_dir(self.directory())?;
        }
        // A file without a name is gone at the next start, however well it was synced.
        if file.metadata()?.nlink() == 0 {
            return Err(io::Error::new(ErrorKind::NotFound, "its file was deleted").into());
        }
        *slot = Some(file);
        Ok(())
    }

    fn open(&self, before: Option<&Position>) -> Result<File, Refused> {
        let Some(position) = before else {
            let directory = self.directory();
            if !directory.is_dir() {
                // Not with its parents: when the home is gone, it must not come back with one log in it. Another new
                // log of the same directory may have been quicker.
                match fs::create_dir(directory) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
                    _ => files::private_dir(directory)?,
                }
                files::sync_dir(directory.parent().unwrap_or(directory))?;
            }
            return Ok(files::private_new(&self.path)?);
        };
        let file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        let same = file.metadata()?.len() == position.offset && fits(&file, &self.name, position).unwrap_or(false);
        if same {
            return Ok(file);
        }
        let offset = self.last_good(position);
        self.mark_damaged(position, offset);
        Err(Refused::Damaged(offset))
    }

    /// How far the file is still the log that was known up to `known`.
    fn last_good(&self, known: &Position) -> u64 {
        let stretch = Stretch { log: &self.name, path: &self.path, from: None, known: None, len: known.offset };
        match walk(&stretch, &mut |_| Ok(())) {
            Ok(walked) if walked.position.log_id == known.log_id => walked.position.offset,
            _ => 0,
        }
    }

    /// Notes that acknowledged records cannot be read from `offset` on.
    pub(super) fn mark_damaged(&self, known: &Position, offset: u64) -> Position {
        tracing::error!(log = %self.name, offset, "a log is damaged");
        let acknowledged = known.acknowledged.max(offset + 1);
        let position = Position { offset, acknowledged, ..known.clone() };
        self.set_health(Health::Damaged(position.clone()));
        position
    }

    /// Cuts what a failed append left, through a descriptor that has not seen the failure.
    ///
    /// When this fails too and the process ends before it works, the next start cannot tell the whole lines that were
    /// left from ones that were about to be acknowledged, and takes them in.
    fn cut_back(&self, before: Option<&Position>, faults: &Faults) -> io::Result<()> {
        faults.cut()?;
        let Some(position) = before else {
            match fs::remove_file(&self.path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            if self.directory().is_dir() {
                files::sync_dir(self.directory())?;
            }
            self.set_health(Health::Empty);
            return Ok(());
        };
        let file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        if file.metadata()?.len() < position.offset {
            self.mark_damaged(position, self.last_good(position));
            return Ok(());
        }
        file.set_len(position.offset)?;
        file.sync_all()?;
        self.set_health(Health::Good(position.clone()));
        Ok(())
    }

    fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    pub(super) fn damaged(&self, offset: u64) -> StoreError {
        StoreError::Damaged { log: self.name.to_string(), offset }
    }

    pub(super) fn refused(&self, cause: String) -> StoreError {
        StoreError::Write { log: self.name.to_string(), cause, full: false }
    }

    fn failed(&self, error: &io::Error) -> StoreError {
        let full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        StoreError::Write { log: self.name.to_string(), cause: error.to_string(), full }
    }
}

/// Why nothing was written.
enum Refused {
    Io(io::Error),
    Damaged(u64),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
