//! What both stores promise, run against each of them.

mod model;
mod suite;
pub(super) mod support;
