//! Working out the rows of a stretch of a log and putting them into an index.

use std::sync::atomic::{AtomicBool, Ordering};

use ropewalk_protocol::Seq;

use super::{
    blobs,
    home::Home,
    index::{Index, Reached},
    position::Position,
    walk::{Failed, Passed, Stop, Stretch, Walked, walk},
};
use crate::store::{
    Projector, RowChange,
    blobs::{BlobTrouble, reference_rows},
    rows::Overlay,
};

/// Rows that wait before they are written while an index is filled.
const ROWS_A_BATCH: usize = 2_000;

/// What was walked, and the rows that are not in the index yet.
pub(super) struct Filled {
    pub(super) walked: Walked,
    rows: Vec<RowChange>,
    marks: Vec<(Seq, u64)>,
}

/// Puts the rows of a stretch into an index, but for the last few: whoever looks at the end first decides about them. Broken
/// off between two records when `closing` is set, as by a crash.
///
/// # Errors
/// As [`walk`]; when it was broken off.
pub(super) fn fill(
    index: &Index,
    projector: &dyn Projector,
    home: &Home,
    stretch: &Stretch<'_>,
    closing: &AtomicBool,
) -> Result<Filled, Failed> {
    let log = stretch.log;
    let (mut overlay, mut projection) = (Overlay::new(index), projector.begin(log));
    let mut marks = Vec::new();
    let walked = walk(stretch, &mut |Passed { line, position, mark }| {
        if closing.load(Ordering::Relaxed) {
            return Err(Stop::Index("its store is being closed".to_owned()));
        }
        let references = reference_rows(log, &line.names);
        let record = line.whole(&|id, bytes| blobs::read(&home.blobs(), id, bytes)).map_err(no_blob)?;
        overlay.add(projection.project(&record, &overlay).map_err(Stop::Record)?);
        overlay.add(references);
        marks.extend(mark);
        if overlay.len() >= ROWS_A_BATCH {
            index
                .apply(overlay.take().iter(), std::iter::once(Reached { log, position, marks: &marks }))
                .map_err(Stop::Index)?;
            marks.clear();
        }
        Ok(())
    })?;
    Ok(Filled { walked, rows: overlay.take(), marks })
}

impl Filled {
    /// Puts in what is left, and how far the log is in the index now.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub(super) fn settle(&self, index: &Index, stretch: &Stretch<'_>) -> Result<Position, String> {
        let position = &self.walked.position;
        let reached = Reached { log: stretch.log, position, marks: &self.marks };
        index.apply(self.rows.iter(), std::iter::once(reached))?;
        Ok(position.clone())
    }
}

/// A record with a string that is not to be had is as good as damaged, until the file is there again.
pub(super) fn no_blob(trouble: BlobTrouble) -> Stop {
    let (BlobTrouble::Lost(why) | BlobTrouble::Unreadable(why)) = trouble;
    Stop::Record(why)
}
