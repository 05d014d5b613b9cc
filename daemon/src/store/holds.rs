//! What holds of every line of a log, whatever is in it: tried with fixed seeds by the tests, and by the fuzzers of
//! `conformance/fuzz` with whatever takes a new path.

use super::record::{decode, peek_seq, written_sum};

/// That a line is read as a record or refused with a reason, and that what is seen of it without reading all of it is the
/// same. Returns whether it is read.
///
/// # Panics
/// When it does not hold.
pub fn of_a_line(line: &[u8]) -> bool {
    let (seq, sum) = (peek_seq(line), written_sum(line));
    match decode(line) {
        Ok(read) => {
            assert_eq!((Some(read.n()), Some(read.sum)), (seq, sum), "{}", String::from_utf8_lossy(line));
            true
        }
        Err(reason) => {
            assert!(!reason.is_empty(), "{}", String::from_utf8_lossy(line));
            false
        }
    }
}
