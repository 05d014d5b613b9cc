//! What becomes of a log that a write has failed on, or that is damaged: cut to what was acknowledged, or marked.

use std::{fs::OpenOptions, io};

use super::{
    fault::Faults,
    log::{Health, Log},
    position::Position,
    walk::{Stretch, walk},
};
use crate::store::files;

impl Log {
    /// How far the file is still the log that was known up to `known`.
    pub(super) fn last_good(&self, known: &Position) -> u64 {
        let stretch = Stretch { log: &self.name, path: self.path(), from: None, known: None, len: known.offset };
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
    pub(super) fn cut_back(&self, before: Option<&Position>, faults: &Faults) -> io::Result<()> {
        faults.cut()?;
        let Some(position) = before else {
            files::remove_if_there(self.path())?;
            if self.directory().is_dir() {
                files::sync_dir(self.directory())?;
            }
            self.set_health(Health::Empty);
            return Ok(());
        };
        let file = OpenOptions::new().read(true).write(true).open(self.path())?;
        if file.metadata()?.len() < position.offset {
            self.mark_damaged(position, self.last_good(position));
            return Ok(());
        }
        file.set_len(position.offset)?;
        file.sync_all()?;
        // A file that was written anew may not have its name for good yet.
        files::sync_dir(self.directory())?;
        self.set_health(Health::Good(position.clone()));
        Ok(())
    }
}
