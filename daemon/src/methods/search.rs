//! `thread/search`: looking for a text in what was said.

use ropewalk_protocol::{Page, RpcError, SearchHit, ThreadSearchParams};

use crate::dispatch::Call;

/// `thread/search`
///
/// # Errors
/// `invalidParams`, `notFound` (project, thread, branch), `unavailable`.
pub async fn search(call: Call, params: ThreadSearchParams) -> Result<Page<SearchHit>, RpcError> {
    let found = call.daemon.engine.search(params).await?;
    let items = found.hits.into_iter().map(|(_, hit)| hit).collect();
    Ok(Page { items, truncated: found.next.is_some(), next_cursor: found.next })
}
