//! Copying a home into one file while work goes on.

use std::{
    fs::{self, File},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

use ropewalk_protocol::Timestamp;

use super::{
    log::lock,
    position::Position,
    shared::Shared,
    target::Target,
    walk::{Lines, Next, fits},
};
use crate::store::{
    LogName, StoreError,
    backup::{BackupSize, BackupWriter, Entry},
    blobs::is_blob_id,
    header::Header,
    record,
};

/// How often the daemon's log may be rewritten just between the moment that counts and the look at its file.
const REWRITES: usize = 16;

/// The daemon's log as it is at the moment that counts: it may be another file a moment later.
type Moment = (Vec<(LogName, Position)>, Option<File>);

impl Shared {
    /// Writes everything that is acknowledged at one moment into a new file, which is there whole and synced or not at
    /// all. Blocks.
    ///
    /// # Errors
    /// `Refused` for a path that cannot be used, `File` when it cannot be written, `Busy` beside another one.
    pub(super) fn backup(&self, path: &Path, at: Timestamp) -> Result<BackupSize, StoreError> {
        let _alone = self.upkeep.try_lock().map_err(|_| StoreError::Busy)?;
        // Payloads of logs that are copied stay until they are copied too, also when such a log is deleted meanwhile.
        let _unswept = lock(&self.sweeping);
        let failed = |error: io::Error| StoreError::file(path, &error);
        let (target, file) = Target::begin(path, self.home.root())?;
        let out = Limited { out: BufWriter::new(file), shared: self };
        let mut writer = BackupWriter::new(out, at).map_err(failed)?;
        let (logs, mut daemon) = self.noted()?;
        let mut damaged = Vec::new();
        for (log, position) in &logs {
            let file = if *log == LogName::Daemon { daemon.take() } else { None };
            self.go_on()?;
            if !self.copy_log(&mut writer, log, position, file).map_err(failed)? {
                damaged.push(log.to_string());
            }
        }
        self.copy_blobs(&mut writer).map_err(failed)?;
        let (out, size) = writer.finish().map_err(failed)?;
        let file = out.out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)?;
        target.publish(&file).map_err(failed)?;
        Ok(BackupSize { damaged, ..size })
    }

    /// The logs at one moment, and the file that the daemon's log was then.
    fn noted(&self) -> Result<Moment, StoreError> {
        let mut tries = 0;
        loop {
            let logs: Vec<_> = self.moment()?.into_iter().collect();
            let daemon = logs.first().filter(|(log, _)| *log == LogName::Daemon);
            let Some((log, position)) = daemon else { return Ok((logs, None)) };
            let file = File::open(self.home.log_path(log)?).ok();
            let same = file.as_ref().is_some_and(|file| fits(file, log, position).unwrap_or(false));
            tries += 1;
            if same || position.is_damaged() || tries == REWRITES {
                return Ok((logs, file));
            }
        }
    }

    /// Copies a log; whether all of it can be read.
    fn copy_log<W: Write>(
        &self,
        writer: &mut BackupWriter<W>,
        log: &LogName,
        position: &Position,
        file: Option<File>,
    ) -> io::Result<bool> {
        let path = self.home.log_path(log).map_err(io::Error::other)?;
        let file = match file.map_or_else(|| File::open(path), Ok) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // A thread may be deleted meanwhile; a log that is still known should be there.
                let is_known = self.moment().map_err(io::Error::other)?.contains_key(log);
                if is_known {
                    writer.entry(&Entry::Missing(log.into()))?;
                }
                return Ok(!is_known);
            }
            Err(error) => return Err(error),
        };
        let end = if position.is_damaged() { file.metadata()?.len() } else { position.offset };
        writer.entry(&Entry::Log(log.into()))?;
        let mut lines = Lines::of(file, 0, end)?;
        let mut line = Vec::new();
        let mut bad = position.is_damaged();
        loop {
            let start = lines.offset;
            if matches!(lines.next(&mut line)?, Next::End) {
                break;
            }
            let is_whole = lines.offset - start > line.len() as u64;
            if is_whole && is_good(&line, log, start) {
                writer.line(&line)?;
                continue;
            }
            bad = true;
            if is_whole {
                line.push(b'\n');
            }
            writer.bytes(&line)?;
        }
        let is_whole = !bad && lines.offset >= end;
        if !is_whole {
            tracing::warn!(%log, "a damaged log is in the backup as it is; `ropewalk doctor --check` names the place");
        }
        Ok(is_whole)
    }

    fn copy_blobs<W: Write>(&self, writer: &mut BackupWriter<W>) -> io::Result<()> {
        for path in blob_files(&self.home.blobs())? {
            self.go_on().map_err(io::Error::other)?;
            let Some(digest) = digest_in_name(&path) else { continue };
            let mut file = match File::open(&path) {
                Ok(file) => file,
                // It was given up meanwhile, so nothing of the moment that counts needs it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            writer.entry(&Entry::Blob(digest))?;
            writer.copy(&mut file)?;
        }
        Ok(())
    }
}

fn is_good(line: &[u8], log: &LogName, start: u64) -> bool {
    match start {
        0 => matches!(Header::decode(line, log), Ok(Some(_))),
        _ => record::decode(line).is_ok(),
    }
}

/// Every file below the directory of payloads.
pub(super) fn blob_files(blobs: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(blobs)? {
        let path = entry?.path();
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                files.push(entry?.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The digest a payload is named by; nothing for a file that is no payload, such as one that is being written.
pub(super) fn digest_in_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    is_blob_id(&name.into()).then(|| name.to_owned())
}

/// A file that can be made to find the disk full.
struct Limited<'a> {
    out: BufWriter<File>,
    shared: &'a Shared,
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.shared.faults.append().map_or_else(|| self.out.write(bytes), Err)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
