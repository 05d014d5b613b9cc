//! Tests of threads as pure state: every change is replayed from its record and from its rows, and checked.

mod batches;
mod bench;
pub(crate) mod check;
mod compaction;
mod fixtures;
mod header;
mod pausing;
mod queue;
mod queue_edits;
mod random;
mod recovery;
mod remarks;
mod repeats;
mod tools;
