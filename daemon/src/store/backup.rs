//! The file a home is backed up into: lines of JSON, and a last one that counts them and has their digest.
//!
//! The first line names format and version. Then each log and each payload is a line that names it, followed by lines
//! with what is in it: `line` is a line of a log as it is, `bytes` is anything else in base64. Whatever is cut off,
//! added or changed is found by the last line.

use std::io::{self, BufRead as _, BufReader, Read, Write};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ropewalk_protocol::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{LogName, blobs::hex, header::LOG_VERSION, record::MAX_LINE_BYTES};

const FORMAT: &str = "ropewalk-backup";

/// The version of backups this build writes, and the newest it reads.
pub(super) const BACKUP_VERSION: u64 = 1;

/// Bytes of one line of `bytes`, before they are base64.
const CHUNK_BYTES: usize = 48 * 1024;

/// The longest line of a backup: the longest of a log, and what is around it.
const MAX_BACKUP_LINE_BYTES: u64 = MAX_LINE_BYTES as u64 + 64;

/// What the first line says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    format: String,
    pub(super) version: u64,
    /// The version of the logs in it.
    pub(super) log_version: u64,
    pub(super) at: Timestamp,
}

impl Head {
    pub(super) fn is_backup(&self) -> bool {
        self.format == FORMAT
    }
}

/// Every line after the first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Entry {
    /// What follows is a log.
    Log(LogKey),
    /// A log that is known and was missing.
    Missing(LogKey),
    /// What follows is a payload; this is its digest and its name.
    Blob(String),
    /// A whole line of a log.
    Line(Box<RawValue>),
    /// Bytes that are no whole line of a log.
    Bytes(String),
    /// Nothing follows.
    End(End),
}

/// A log by kind and id.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LogKey {
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

impl From<&LogName> for LogKey {
    fn from(log: &LogName) -> Self {
        let id = match log {
            LogName::Daemon => None,
            LogName::Thread(id) => Some(id.to_string()),
            LogName::Transcript(id) => Some(id.to_string()),
        };
        Self { kind: log.kind().to_owned(), id }
    }
}

impl LogKey {
    /// The log that is meant, if there can be one.
    pub(super) fn name(&self) -> Option<LogName> {
        match (self.kind.as_str(), self.id.as_deref()) {
            ("daemon", None) => Some(LogName::Daemon),
            ("thread", Some(id)) => Some(LogName::Thread(id.into())),
            ("transcript", Some(id)) => Some(LogName::Transcript(id.into())),
            _ => None,
        }
    }
}

/// What the last line says of those before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) logs: u64,
    pub(super) blobs: u64,
    lines: u64,
    bytes: u64,
    sha256: String,
}

/// Counts and digests lines, whether they are written or read.
#[derive(Default)]
struct Tally {
    end: End,
    digest: Sha256,
}

impl Tally {
    /// One line with its newline.
    fn add(&mut self, line: &[u8], entry: Option<&Entry>) {
        self.digest.update(line);
        self.end.lines += 1;
        self.end.bytes += line.len() as u64;
        match entry {
            Some(Entry::Log(_)) => self.end.logs += 1,
            Some(Entry::Blob(_)) => self.end.blobs += 1,
            _ => {}
        }
    }

    fn end(self) -> End {
        End { sha256: hex(&self.digest.finalize()), ..self.end }
    }
}

/// How large a backup has become, its last line included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupSize {
    /// Its lines.
    pub lines: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Logs that are in it as they are and cannot be read to their end, or are missing.
    pub damaged: Vec<String>,
}

/// Writes a backup.
pub(super) struct BackupWriter<W> {
    out: W,
    tally: Tally,
    line: Vec<u8>,
}

impl<W: Write> BackupWriter<W> {
    /// Begins one.
    pub(super) fn new(out: W, at: Timestamp) -> io::Result<Self> {
        let mut writer = Self { out, tally: Tally::default(), line: Vec::new() };
        let head = Head { format: FORMAT.to_owned(), version: BACKUP_VERSION, log_version: LOG_VERSION, at };
        writer.write(&head, None)?;
        Ok(writer)
    }

    /// Writes one line.
    pub(super) fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        self.write(entry, Some(entry))
    }

    /// Writes a whole line of a log as it is, without its newline.
    pub(super) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        match std::str::from_utf8(line).ok().and_then(|line| RawValue::from_string(line.to_owned()).ok()) {
            Some(line) => self.entry(&Entry::Line(line)),
            None => self.bytes(&[line, b"\n"].concat()),
        }
    }

    /// Writes bytes that are no line of a log.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        bytes.chunks(CHUNK_BYTES).try_for_each(|chunk| self.entry(&Entry::Bytes(BASE64_STANDARD.encode(chunk))))
    }

    /// Writes all bytes there are.
    pub(super) fn copy(&mut self, from: &mut impl Read) -> io::Result<()> {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        loop {
            chunk.clear();
            from.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut chunk)?;
            if chunk.is_empty() {
                return Ok(());
            }
            self.bytes(&chunk)?;
        }
    }

    /// Writes the last line.
    pub(super) fn finish(mut self) -> io::Result<(W, BackupSize)> {
        let end = std::mem::take(&mut self.tally).end();
        let (lines, bytes) = (end.lines, end.bytes);
        self.write(&Entry::End(end), None)?;
        let size = BackupSize { lines: lines + 1, bytes: bytes + self.line.len() as u64, damaged: Vec::new() };
        Ok((self.out, size))
    }

    fn write(&mut self, line: &impl Serialize, entry: Option<&Entry>) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line)?;
        self.line.push(b'\n');
        self.tally.add(&self.line, entry);
        self.out.write_all(&self.line)
    }
}

/// Reads a backup line by line.
pub(super) struct BackupReader<R> {
    reader: BufReader<R>,
    tally: Tally,
    line: Vec<u8>,
    pub(super) head: Head,
}

/// Why something is no backup that can be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("its first line is not that of a backup")]
    NoBackup,
    #[error("its line {0} cannot be understood")]
    Line(u64),
    #[error("it has no last line that counts it, so it was cut off or never finished")]
    NoEnd,
    #[error("its last line does not count what is there: something was changed, cut out or added")]
    WrongEnd,
}

impl<R: Read> BackupReader<R> {
    /// Reads the first line. Its version is for the caller to judge.
    pub(super) fn new(from: R) -> Result<Self, Unreadable> {
        let mut reader = BufReader::with_capacity(64 * 1024, from);
        let mut line = Vec::new();
        reader.by_ref().take(MAX_BACKUP_LINE_BYTES).read_until(b'\n', &mut line)?;
        let head: Head = serde_json::from_slice(&line).map_err(|_| Unreadable::NoBackup)?;
        if !head.is_backup() {
            return Err(Unreadable::NoBackup);
        }
        let mut tally = Tally::default();
        tally.add(&line, None);
        Ok(Self { reader, tally, line, head })
    }

    /// The next line. The last one is given out only when it is right and nothing follows.
    pub(super) fn next(&mut self) -> Result<Entry, Unreadable> {
        self.line.clear();
        self.reader.by_ref().take(MAX_BACKUP_LINE_BYTES).read_until(b'\n', &mut self.line)?;
        let number = self.tally.end.lines + 1;
        if self.line.last() != Some(&b'\n') {
            return Err(Unreadable::NoEnd);
        }
        let entry: Entry = serde_json::from_slice(&self.line).map_err(|_| Unreadable::Line(number))?;
        if let Entry::End(end) = &entry {
            let counted = std::mem::take(&mut self.tally).end();
            if counted != *end || !self.reader.fill_buf()?.is_empty() {
                return Err(Unreadable::WrongEnd);
            }
            return Ok(entry);
        }
        self.tally.add(&self.line, Some(&entry));
        Ok(entry)
    }

    /// The bytes that a line stands for; nothing for one that only names what follows.
    pub(super) fn content(entry: &Entry) -> Option<Vec<u8>> {
        match entry {
            Entry::Line(line) => Some([line.get().as_bytes(), b"\n"].concat()),
            Entry::Bytes(bytes) => BASE64_STANDARD.decode(bytes).ok(),
            _ => None,
        }
    }
}
