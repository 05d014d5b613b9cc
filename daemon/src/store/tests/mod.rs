//! What both stores promise, run against each of them.

mod blobs;
mod model;
mod removal;
mod suite;
pub(super) mod support;
