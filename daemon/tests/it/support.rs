//! What the tests share: the raw client of the conformance suite, and the inputs of its transcripts.

#[allow(unused_imports, reason = "each module of these tests takes what it needs")]
pub use ropewalk_conformance::suite::{Raw, get_issue, text};
