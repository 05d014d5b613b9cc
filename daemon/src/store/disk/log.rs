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

use super::{blobs::Keeper, fault::Faults, position::Position, walk::fits};
use crate::store::{
    LogName, Pin, Record, RowChange, StoreError,
    blobs::reference_rows,
    files,
    header::Header,
    outline::Outlined,
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
    /// The rows that say which blobs the log needs by now.
    pub(super) references: Vec<RowChange>,
    /// Hold the blobs until those rows are seen.
    pub(super) pins: Vec<Pin>,
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

    pub(super) fn set_health(&self, health: Health) {
        *lock(&self.health) = health;
    }

    /// There is no such log any more: what is begun under its name begins anew.
    pub(super) fn forget(&self) {
        self.set_health(Health::Empty);
    }

    /// The log was written anew up to `position`. With a `cause` that is not durable yet, and has to be made so before
    /// anything else is written.
    pub(super) fn replaced(&self, position: Position, cause: Option<StoreError>) {
        self.set_health(match cause {
            None => Health::Good(position),
            Some(cause) => Health::Uncut(Some(position), cause),
        });
    }

    /// A thread broke down while it wrote, and nobody knows what: as after an append that failed, what is not known to be
    /// durable is cut off before anything else is written. Nobody waits any more, and the next commit starts a thread.
    pub(super) fn broke_down(&self) {
        let before = match self.health() {
            Health::Good(position) => Some(Some(position)),
            Health::Empty => Some(None),
            Health::Unread | Health::Uncut(..) | Health::Damaged(_) => None,
        };
        if let Some(before) = before {
            self.set_health(Health::Uncut(before, self.refused("its thread broke down".to_owned())));
        }
        let mut queue = lock(&self.queue);
        queue.busy = false;
        queue.waiting.clear();
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

    /// Appends records with one write and makes them durable, after the payloads that `blobs` keeps of them. `file` is
    /// this log's, locked.
    ///
    /// # Errors
    /// When nothing of the records is there, or will be: what a failed append left is cut off, now or before the next.
    pub(super) fn append<'a>(
        &self,
        file: &mut Option<File>,
        records: impl Iterator<Item = &'a Record>,
        blobs: &Keeper,
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
        let (bytes, appended) = self.encode(before.as_ref(), records, blobs, faults)?;
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
        blobs: &Keeper,
        faults: &Faults,
    ) -> Result<(Vec<u8>, Appended), StoreError> {
        let mut bytes = Vec::with_capacity(1024);
        let durable = before.map_or(0, |position| position.offset);
        let mut position = before.cloned().unwrap_or_else(|| {
            let header = Header::new(&self.name);
            header.encode(&mut bytes);
            Position::after_header(header.log_id, bytes.len() as u64)
        });
        let (mut marks, mut references, mut pins) = (Vec::new(), Vec::new(), Vec::new());
        for record in records {
            if record.n != position.next_seq {
                let cause = format!("a record has the number {} where {} belongs", record.n, position.next_seq);
                return Err(self.refused(cause));
            }
            let (start, offset) = (bytes.len(), position.offset);
            let outlined = Outlined::new(record);
            for payload in &outlined.payloads {
                faults.blob().map_err(|error| self.failed(&error))?;
                pins.push(blobs.put(payload).map_err(|error| self.failed(&error))?);
            }
            references.extend(reference_rows(&self.name, &outlined.names));
            let sum = encode(&outlined, durable, &mut bytes);
            let length = bytes.len() - start;
            if length > MAX_LINE_BYTES {
                return Err(self.refused(format!("a record has {length} bytes, and {MAX_LINE_BYTES} are the limit")));
            }
            if position.pass(length as u64, record.next_seq(), sum) {
                marks.push((record.n, offset));
            }
        }
        let written = bytes.len() as u64;
        Ok((bytes, Appended { position, marks, bytes: written, references, pins }))
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
            faults.break_down();
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

    pub(super) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    pub(super) fn damaged(&self, offset: u64) -> StoreError {
        StoreError::Damaged { log: self.name.to_string(), offset }
    }

    pub(super) fn refused(&self, cause: String) -> StoreError {
        StoreError::Write { log: self.name.to_string(), cause, full: false }
    }

    pub(super) fn failed(&self, error: &io::Error) -> StoreError {
        StoreError::of_write(self.name.to_string(), error)
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
