//! `item/…`: what happened in a thread.

use ropewalk_protocol::{BranchId, ItemListParams, ItemPage, ItemReadParams, ItemResult, RpcError, limits::PAGE_ITEMS};

use crate::{dispatch::Call, engine::ItemQuery, page::PageError};

/// Items of a page when the request names no limit.
const DEFAULT_ITEMS: u64 = 100;

/// `item/list`
///
/// # Errors
/// `notFound` (thread, branch, run), `invalidParams`, `unavailable`.
pub async fn list(call: Call, params: ItemListParams) -> Result<ItemPage, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    let limit = params.limit.unwrap_or(DEFAULT_ITEMS).min(PAGE_ITEMS);
    if limit == 0 {
        return Err(PageError::NoItems.into());
    }
    let of_run = params.run_id.is_some();
    let original = || (!of_run).then(|| BranchId::from(params.thread_id.clone()));
    let query = ItemQuery {
        branch_id: params.branch_id.clone().or_else(original),
        run_id: params.run_id.clone(),
        before: params.before,
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
    };
    thread.items(query).await
}

/// `item/read`
///
/// # Errors
/// `notFound` (thread, item), `unavailable`.
pub async fn read(call: Call, params: ItemReadParams) -> Result<ItemResult, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    Ok(ItemResult { item: thread.item(params.item_id).await? })
}
