//! The floor of everything durable: bytes appended to a file and synced.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Instant,
};

use super::timing::micros_each;

/// A file that is appended to.
pub(crate) struct Appended {
    path: PathBuf,
    file: File,
    bytes: Vec<u8>,
}

impl Appended {
    /// A new file in `dir` that takes `bytes` at a time.
    pub(crate) fn new(dir: &Path, name: &str, bytes: usize) -> io::Result<Self> {
        let path = dir.join(format!("floor-{name}"));
        let file = File::options().create(true).append(true).open(&path)?;
        file.sync_all()?;
        Ok(Self { path, file, bytes: vec![b'x'; bytes.max(1)] })
    }

    /// Appends and syncs `count` times, on this thread.
    pub(crate) fn append(&mut self, count: usize) -> io::Result<()> {
        for _ in 0..count {
            self.file.write_all(&self.bytes)?;
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Microseconds of one append and its sync, over `count` of them.
    pub(crate) fn micros(&mut self, count: usize) -> io::Result<f64> {
        let since = Instant::now();
        self.append(count)?;
        Ok(micros_each(since, count))
    }
}

impl Drop for Appended {
    fn drop(&mut self) {
        // Left over it goes with the directory.
        let _ = fs::remove_file(&self.path);
    }
}
