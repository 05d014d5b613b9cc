//! What the tests share: the raw client of the conformance suite, and daemons to try it on.

pub use ropewalk_conformance::suite::{Raw, get_issue, text};
