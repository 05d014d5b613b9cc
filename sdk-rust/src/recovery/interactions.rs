//! What was settled while the connection was away: work on it stops, its answer is forgotten.

use std::{collections::HashSet, sync::Arc};

use ropewalk_protocol::{Cursor, ErrorDetail, InteractionId, InteractionList, InteractionListParams, ThreadId, limits};
use serde::Deserialize;

use super::wire::Wire;
use crate::{Error, duties::Duties};

/// What is read of a page of interactions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    items: Vec<Open>,
    next_cursor: Option<Cursor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Open {
    interaction_id: InteractionId,
}

/// Compares what this client still works on, or has an answer to, with what is open at the daemon.
///
/// # Errors
/// What the connection itself meets.
pub(super) async fn forget_settled(duties: &Arc<Duties>, wire: &Wire, generation: u64) -> Result<(), Error> {
    for (thread, asked) in duties.ledger.asked_before(generation) {
        let Some(open) = open_of(wire, &thread).await? else { continue };
        let settled = asked.iter().filter(|id| !open.contains(*id));
        // What was offered again meanwhile is open, whatever the list says.
        settled.for_each(|id| duties.ledger.settle_before(id, generation));
    }
    Ok(())
}

/// What is open in a thread; nothing in one that is gone, and unknown when the daemon cannot say.
async fn open_of(wire: &Wire, thread: &ThreadId) -> Result<Option<HashSet<InteractionId>>, Error> {
    let mut open = HashSet::new();
    let mut params = InteractionListParams {
        thread_id: Some(thread.clone()),
        limit: Some(limits::PAGE_ITEMS),
        ..InteractionListParams::default()
    };
    loop {
        match wire.read::<InteractionList, Listed>(&params).await {
            Ok(page) => {
                open.extend(page.items.into_iter().map(|interaction| interaction.interaction_id));
                params.cursor = page.next_cursor;
                if params.cursor.is_none() {
                    return Ok(Some(open));
                }
            }
            Err(Error::Rpc(error)) if matches!(error.data.detail, ErrorDetail::NotFound { .. }) => {
                return Ok(Some(HashSet::new()));
            }
            Err(Error::Rpc(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}
