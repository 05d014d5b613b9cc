//! Looking for a message in a thread's log, from its end to its beginning.

use ropewalk_protocol::{RpcError, Seq, ThreadId};

use super::{Shared, history};
use crate::domain::{Fact, Place, PlaceSearch};

/// Events that are looked at together.
const WINDOW_EVENTS: Seq = 512;

/// Looks for a message among the events up to `last`. Holds the joins of one window at a time. Where it is wanted in the
/// chain of a branch and is not in it, the place is the last one where it joined any.
///
/// # Errors
/// `unavailable`, when the log cannot be read.
pub async fn find(
    shared: &Shared,
    id: &ThreadId,
    mut search: PlaceSearch,
    last: Seq,
) -> Result<Option<Place>, RpcError> {
    let mut to = last;
    while to > 0 {
        let from = to.saturating_sub(WINDOW_EVENTS - 1).max(1);
        let window = joins(shared, id, from, to).await?;
        if let Some(place) = window.iter().rev().find_map(|(n, facts)| search.record(*n, facts)) {
            return Ok(Some(place));
        }
        if search.is_over() {
            break;
        }
        // The record with the first event of the window may have begun before it.
        to = window.first().map_or(from, |(n, _)| from.min(*n)) - 1;
    }
    Ok(search.end())
}

/// What joined chains in the records that have the events `from` to `to`, the first of these records always included.
async fn joins(shared: &Shared, id: &ThreadId, from: Seq, to: Seq) -> Result<Vec<(Seq, Vec<Fact>)>, RpcError> {
    let mut found = Vec::new();
    let mut next = from;
    loop {
        let records = history::records(shared, id, next).await?;
        let Some(last) = records.last() else { return Ok(found) };
        for record in records.iter().filter(|record| record.n <= to) {
            let joined = record.facts.iter().filter(|fact| fact.get().starts_with("{\"fact\":\"joined\""));
            let facts: Vec<Fact> = joined.filter_map(|fact| serde_json::from_str(fact.get()).ok()).collect();
            if found.is_empty() || !facts.is_empty() {
                found.push((record.n, facts));
            }
        }
        let reached = last.next_seq();
        if last.n >= to || reached <= next {
            return Ok(found);
        }
        next = reached;
    }
}
