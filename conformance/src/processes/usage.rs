//! What a process uses, as the system counts it.

use std::{fs, io, time::Duration};

/// What a process uses at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of it that are in memory.
    pub resident_bytes: u64,
    /// Time its threads have run since it started, in user and in kernel mode.
    pub cpu: Duration,
}

impl Usage {
    /// What process `pid` uses.
    ///
    /// # Errors
    /// When there is no such process, or the platform has no `/proc`.
    pub fn of(pid: u32) -> io::Result<Self> {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm"))?;
        let pages: u64 = field(&statm, 1)?;
        let page_bytes = rustix::param::page_size() as u64;
        Ok(Self { resident_bytes: pages * page_bytes, cpu: cpu(pid)? })
    }
}

/// The ticks of `stat`: unlike `schedstat` they include threads that have ended.
fn cpu(pid: u32) -> io::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name of the program is in parentheses and may hold anything.
    let (_, counted) = stat.rsplit_once(')').ok_or(io::ErrorKind::InvalidData)?;
    let ticks = field(counted, 11)? + field(counted, 12)?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Ok(Duration::from_micros(ticks * 1_000_000 / per_second))
}

fn field(text: &str, at: usize) -> io::Result<u64> {
    let field = text.split_whitespace().nth(at).and_then(|field| field.parse().ok());
    field.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
