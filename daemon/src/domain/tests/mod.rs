//! Tests of threads as pure state: every change is replayed from its record and from its rows, and checked.

mod batches;
mod bench;
mod branches;
mod branching;
pub(crate) mod check;
mod compaction;
pub(crate) mod fixtures;
mod header;
mod pausing;
mod queue;
mod queue_edits;
mod random;
mod reading;
mod recovering;
mod recovery;
mod remarks;
mod repeats;
mod replacing;
mod tools;
