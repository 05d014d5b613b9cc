//! How much memory the daemon takes, for `daemon/status`.

use std::{
    fs,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How old the figure may be: asking the system costs more than everything else of a small request.
const AGE: Duration = Duration::from_secs(1);

/// The daemon's memory, as it was within the last second.
#[derive(Debug, Default)]
pub struct Memory {
    looked_up: Mutex<Option<(Instant, u64)>>,
}

impl Memory {
    /// Bytes that are resident; 0 where the system does not tell it in a file.
    pub fn resident_bytes(&self) -> u64 {
        let mut looked_up = self.looked_up.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = looked_up.filter(|(at, _)| at.elapsed() < AGE);
        let (at, bytes) = fresh.unwrap_or_else(|| (Instant::now(), resident_bytes()));
        *looked_up = Some((at, bytes));
        bytes
    }
}

fn resident_bytes() -> u64 {
    const PAGE_BYTES: u64 = 4_096;
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * PAGE_BYTES
}
