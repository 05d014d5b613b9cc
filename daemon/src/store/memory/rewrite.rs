//! Writing a log in memory anew, as the store on disk does it.

use std::collections::HashSet;

use ropewalk_protocol::BlobId;

use super::{State, log::MemoryLog};
use crate::store::{
    FailPoint, LogName, Record, Sieve, Sifted, StoreError,
    blobs::{Pins, ReadBlob},
    outline::Outlined,
    record::{decode, encode},
};

impl State {
    /// How much of a log its sieve keeps.
    pub(super) fn sift(&mut self, name: &LogName, sieve: Box<dyn Sieve>) -> Result<Sifted, StoreError> {
        let Some(log) = self.logs.get(name) else { return Ok(Sifted::default()) };
        Ok(Sifted { bytes: log.bytes, needed_bytes: log.sifted(name, sieve, &|id, _| self.blob(id))?.bytes })
    }

    /// Writes a log anew. Payloads that it needed and does not name any more go, unless others need them.
    pub(super) fn rewrite(&mut self, name: &LogName, sieve: Box<dyn Sieve>, pins: &Pins) -> Result<Sifted, StoreError> {
        let Some(log) = self.logs.get(name) else { return Ok(Sifted::default()) };
        let new = log.sifted(name, sieve, &|id, _| self.blob(id))?;
        let sifted = Sifted { bytes: log.bytes, needed_bytes: new.bytes };
        let cause = "input/output error".to_owned();
        let failed = StoreError::Write { log: name.to_string(), cause, full: false };
        let failure = self.take_failure(&[FailPoint::BeforeRename, FailPoint::AfterRename]);
        if failure == Some(FailPoint::BeforeRename) {
            return Err(failed);
        }
        let failure = failure.map(|_| failed);
        let names = new.names();
        self.logs.insert(name.clone(), MemoryLog { uncut: failure.clone(), ..new });
        self.release_all_but(name, &names, pins);
        failure.map_or(Ok(sifted), Err)
    }
}

impl MemoryLog {
    /// The payloads that its records name.
    fn names(&self) -> HashSet<BlobId> {
        let lines = self.lines.iter().filter_map(|line| decode(line).ok());
        lines.flat_map(|line| line.names.into_iter().map(|name| name.sha256)).collect()
    }

    fn sifted(&self, name: &LogName, mut sieve: Box<dyn Sieve>, blob: ReadBlob<'_>) -> Result<Self, StoreError> {
        if let Some(error) = &self.uncut {
            return Err(error.clone());
        }
        let damaged = |at: usize| StoreError::Damaged { log: name.to_string(), offset: self.offset_of(at) };
        if let Some((at, _)) = self.damaged {
            return Err(damaged(at));
        }
        let read = |(at, line): (usize, &std::sync::Arc<[u8]>)| {
            let record = decode(line).ok().and_then(|line| line.whole(blob).ok());
            record.ok_or_else(|| damaged(at))
        };
        let records = self.lines.iter().enumerate().map(read).collect::<Result<Vec<Record>, _>>()?;
        records.iter().for_each(|record| sieve.see(record));
        let mut new = Self::new(name);
        for (at, record) in records.iter().enumerate() {
            let Some(record) = sieve.keep(at, record) else { continue };
            if record.n != new.next_seq {
                let cause = format!("a record has the number {} where {} belongs", record.n, new.next_seq);
                return Err(StoreError::Write { log: name.to_string(), cause, full: false });
            }
            let mut line = Vec::new();
            encode(&Outlined::new(&record), new.bytes, &mut line);
            new.bytes += line.len() as u64;
            line.pop();
            new.lines.push(line.into());
            new.next_seq = record.next_seq();
        }
        new.applied = new.lines.len();
        Ok(new)
    }
}
