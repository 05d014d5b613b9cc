//! sled as the index: rows of everybody, and how far each log is in it.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{File, TryLockError},
    ops::Bound,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ropewalk_protocol::Seq;

use super::position::Position;
use crate::store::{Key, LogName, RowChange, Rows, Scan, StoreError, rows};

/// The version of the index's shape; an index of any other is rebuilt.
pub(super) const INDEX_VERSION: u64 = 5;

/// What sled may keep in memory, in bytes.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// The first byte of every key of sled: rows of the callers, positions of logs, sparse offsets, and the seal.
const ROW: u8 = b'r';
const POSITION: u8 = b'p';
const OFFSET: u8 = b'o';
const SEAL: &[u8] = b"seal";

/// An open index.
#[derive(Debug)]
pub(super) struct Index {
    sled: sled::Db,
    /// Dropped after sled, as fields are dropped in their order.
    _released: Released,
    /// The n of `index/<n>`.
    pub(super) number: u64,
}

/// What one batch says about one log.
#[derive(Debug)]
pub(super) struct Reached<'a> {
    pub(super) log: &'a LogName,
    pub(super) position: &'a Position,
    /// New sparse offsets: the record at this offset begins with this sequence number.
    pub(super) marks: &'a [(Seq, u64)],
}

/// How long an index that somebody has open is waited for, and how often it is looked at. The home's own lock has told
/// other daemons apart before.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const LOCK_LOOKS: Duration = Duration::from_millis(10);

/// Whether sled refused because somebody has the index open.
pub(super) fn is_locked(cause: &str) -> bool {
    cause.contains("could not acquire lock")
}

/// The file that sled locks. Dropping this waits until the lock is free: sled's own threads let go of an index a moment after
/// it was dropped, and whoever closed it may open it again at once.
#[derive(Debug)]
struct Released(PathBuf);

impl Drop for Released {
    fn drop(&mut self) {
        let deadline = Instant::now() + LOCK_PATIENCE;
        let is_held =
            || File::open(&self.0).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
        while is_held() && Instant::now() < deadline {
            std::thread::sleep(LOCK_LOOKS);
        }
    }
}

impl Index {
    /// Opens or makes the index in `path`.
    ///
    /// # Errors
    /// What sled said, also when it said it by panicking.
    pub(super) fn open(path: &Path, number: u64) -> Result<Self, String> {
        let config = sled::Config::new().path(path).cache_capacity(CACHE_BYTES).flush_every_ms(Some(500));
        let deadline = Instant::now() + LOCK_PATIENCE;
        loop {
            match guarded(|| config.open()) {
                Ok(sled) => return Ok(Self { sled, _released: Released(path.join("db")), number }),
                // One that was killed may still be ending.
                Err(cause) if is_locked(&cause) && Instant::now() < deadline => std::thread::sleep(LOCK_LOOKS),
                Err(cause) => return Err(cause),
            }
        }
    }

    /// Marks a new index as complete; without this it is not trusted.
    pub(super) fn seal(&self) -> Result<(), String> {
        guarded(|| {
            self.sled.insert(SEAL, &INDEX_VERSION.to_be_bytes())?;
            self.sled.flush().map(drop)
        })
    }

    /// Whether the index was once complete and of this version.
    pub(super) fn is_sealed(&self) -> Result<bool, String> {
        guarded(|| self.sled.get(SEAL)).map(|seal| seal.is_some_and(|seal| seal == INDEX_VERSION.to_be_bytes()))
    }

    /// How far every log is in the index.
    pub(super) fn positions(&self) -> Result<HashMap<LogName, Position>, String> {
        guarded(|| self.sled.scan_prefix([POSITION]).collect::<Result<Vec<_>, _>>())?
            .into_iter()
            .map(|(key, value)| Some((log_of(&key)?, Position::decode(&value)?)))
            .collect::<Option<_>>()
            .ok_or_else(|| "the position of a log cannot be understood".to_owned())
    }

    /// How far one log is in the index.
    pub(super) fn position(&self, log: &LogName) -> Result<Option<Position>, String> {
        let Some(value) = guarded(|| self.sled.get(log_key(POSITION, log)))? else { return Ok(None) };
        Position::decode(&value).map(Some).ok_or_else(|| "the position of a log cannot be understood".to_owned())
    }

    /// Where reading has to begin to meet every record that holds `seq` or what follows; 0 is the log's start.
    pub(super) fn offset_before(&self, log: &LogName, seq: Seq) -> Result<u64, String> {
        let low = log_key(OFFSET, log);
        let mut high = low.clone();
        high.extend_from_slice(&seq.to_be_bytes());
        let found = guarded(|| self.sled.range(low..high).next_back().transpose())?;
        let offset = found.and_then(|(_, value)| Some(u64::from_be_bytes(value.as_ref().try_into().ok()?)));
        Ok(offset.unwrap_or(0))
    }

    /// Writes rows and how far their logs are now, all or nothing.
    pub(super) fn apply<'a, 'b>(
        &self,
        changes: impl Iterator<Item = &'a RowChange>,
        reached: impl Iterator<Item = Reached<'b>>,
    ) -> Result<(), String> {
        let mut batch = sled::Batch::default();
        for change in changes {
            match change {
                RowChange::Put(key, value) => batch.insert(row_key(key), value.as_slice()),
                RowChange::Delete(key) => batch.remove(row_key(key)),
            }
        }
        for reached in reached {
            for (seq, offset) in reached.marks {
                let mut key = log_key(OFFSET, reached.log);
                key.extend_from_slice(&seq.to_be_bytes());
                batch.insert(key, &offset.to_be_bytes());
            }
            batch.insert(log_key(POSITION, reached.log), reached.position.encode());
        }
        guarded(|| self.sled.apply_batch(batch))
    }

    /// Everything in the index but its seal, beyond a key: rows, positions and sparse offsets, as sled has them.
    pub(super) fn entries_after(
        &self,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, String> {
        let low = after.map_or(Bound::Unbounded, Bound::Excluded);
        guarded(|| {
            let range = self.sled.range::<&[u8], _>((low, Bound::<&[u8]>::Unbounded));
            let entries = range.filter(|entry| !matches!(entry, Ok((key, _)) if key == SEAL)).take(limit);
            entries.map(|entry| entry.map(|(key, value)| (key.to_vec(), value.to_vec()))).collect()
        })
    }

    /// One of the entries.
    pub(super) fn entry(&self, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        guarded(|| self.sled.get(key)).map(|value| value.map(|value| value.to_vec()))
    }

    /// Whether two indexes say the same under a key. Of a log that is damaged only the place counts.
    pub(super) fn is_same(key: &[u8], one: Option<&Vec<u8>>, other: Option<&Vec<u8>>) -> bool {
        if one == other {
            return true;
        }
        let place = |value: Option<&Vec<u8>>| Position::decode(value?).filter(Position::is_damaged).map(|at| at.offset);
        key.first() == Some(&POSITION) && place(one).is_some() && place(one) == place(other)
    }

    /// Whether an entry says how far a log is, or where in it something stands.
    pub(super) fn is_place_of(key: &[u8], log: &LogName) -> bool {
        [POSITION, OFFSET].iter().any(|tag| key.starts_with(&log_key(*tag, log)))
    }

    /// The row an entry is; nothing for what is said of a log.
    pub(super) fn row_of(key: &[u8]) -> Option<Key> {
        key.strip_prefix(&[ROW]).map(|row| Key(row.to_vec()))
    }

    /// An entry's key as a person reads it.
    pub(super) fn shown(key: &[u8]) -> String {
        let kind = match key.first() {
            Some(&ROW) => "row",
            Some(&POSITION) => "position of the log",
            _ => "offset in the log",
        };
        let rest = String::from_utf8_lossy(key.get(1..).unwrap_or_default());
        format!("{kind} {}", rest.trim_end_matches('\0').replace('\0', "/").replace(char::is_control, "\u{fffd}"))
    }

    /// Forgets a log: how far it is, and its sparse offsets.
    pub(super) fn forget(&self, log: &LogName) -> Result<(), String> {
        let mut batch = sled::Batch::default();
        batch.remove(log_key(POSITION, log));
        guarded(|| {
            for key in self.sled.scan_prefix(log_key(OFFSET, log)).keys() {
                batch.remove(key?);
            }
            self.sled.apply_batch(batch)
        })
    }

    /// Puts a log that was written anew in the place of the one it was.
    pub(super) fn replace(&self, reached: &Reached<'_>) -> Result<(), String> {
        let mut batch = sled::Batch::default();
        guarded(|| {
            for key in self.sled.scan_prefix(log_key(OFFSET, reached.log)).keys() {
                batch.remove(key?);
            }
            for (seq, offset) in reached.marks {
                let mut key = log_key(OFFSET, reached.log);
                key.extend_from_slice(&seq.to_be_bytes());
                batch.insert(key, &offset.to_be_bytes());
            }
            batch.insert(log_key(POSITION, reached.log), reached.position.encode());
            self.sled.apply_batch(batch)
        })
    }

    /// Writes everything to disk.
    pub(super) fn flush(&self) -> Result<(), String> {
        guarded(|| self.sled.flush().map(drop))
    }

    /// Bytes on disk.
    pub(super) fn bytes(&self) -> u64 {
        guarded(|| self.sled.size_on_disk()).unwrap_or(0)
    }
}

impl Rows for Index {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        guarded(|| self.sled.get(row_key(key))).map(|row| row.map(|row| row.to_vec())).map_err(unreadable)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<(Key, Vec<u8>)>, StoreError> {
        let Some((low, high)) = rows::bounds(scan) else { return Ok(Vec::new()) };
        let high = match high {
            Bound::Unbounded => Bound::Excluded(vec![ROW + 1]),
            bound => bound.map(|key| row_key(&key)),
        };
        let found = guarded(|| {
            let range = self.sled.range::<Vec<u8>, _>((low.map(|key| row_key(&key)), high));
            if scan.reverse {
                range.rev().take(scan.limit).collect::<Result<Vec<_>, _>>()
            } else {
                range.take(scan.limit).collect()
            }
        });
        let found = found.map_err(unreadable)?;
        Ok(found.into_iter().map(|(key, value)| (Key(key[1..].to_vec()), value.to_vec())).collect())
    }
}

/// Turns an error and a panic of sled into the same sentence: it has both for a damaged file.
fn guarded<T>(work: impl FnOnce() -> sled::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("its library gave up on it".to_owned()),
    }
}

fn unreadable(cause: String) -> StoreError {
    StoreError::Read { what: "the index".to_owned(), cause }
}

fn row_key(Key(key): &Key) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.len() + 1);
    bytes.push(ROW);
    bytes.extend_from_slice(key);
    bytes
}

/// A key about a log. The zero at its end keeps one id from being the beginning of another.
fn log_key(tag: u8, log: &LogName) -> Vec<u8> {
    let (kind, id) = match log {
        LogName::Daemon => (b'd', ""),
        LogName::Thread(id) => (b't', id.as_str()),
        LogName::Transcript(id) => (b'x', id.as_str()),
    };
    let mut bytes = Vec::with_capacity(id.len() + 11);
    bytes.extend_from_slice(&[tag, kind]);
    bytes.extend_from_slice(id.as_bytes());
    bytes.push(0);
    bytes
}

fn log_of(key: &[u8]) -> Option<LogName> {
    let id = std::str::from_utf8(key.get(2..)?.strip_suffix(&[0])?).ok()?;
    match key[1] {
        b'd' => Some(LogName::Daemon),
        b't' => Some(LogName::Thread(id.into())),
        b'x' => Some(LogName::Transcript(id.into())),
        _ => None,
    }
}
