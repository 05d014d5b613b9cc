//! `queue/…`: what waits on a branch, and changing it.

use ropewalk_protocol::{
    BranchId, Queue, QueueClearParams, QueueEdited, QueueListParams, QueueRemoveParams, QueueReorderParams,
    QueueUpdateParams, RpcError, ThreadId, limits::QUEUE_ENTRIES,
};

use super::{caller::operation, check};
use crate::{dispatch::Call, engine::QueueEdit};

/// `queue/list`
///
/// # Errors
/// `notFound` (thread, branch), `unavailable`.
pub async fn list(call: Call, params: QueueListParams) -> Result<Queue, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    thread.queue(params.branch_id.unwrap_or_else(|| BranchId::from(params.thread_id))).await
}

/// `queue/update`
///
/// # Errors
/// `notFound` (thread, branch, message), `invalidParams`, `tooLarge` (image, input), `invalidState`, `overloaded` (bytes),
/// `unavailable`.
pub async fn update(call: Call, params: QueueUpdateParams) -> Result<QueueEdited, RpcError> {
    check::input(&params.input)?;
    edit(call, params.thread_id, params.branch_id, QueueEdit::Update(params.message_id, params.input)).await
}

/// `queue/remove`
///
/// # Errors
/// `notFound` (thread, branch, message), `invalidState`, `unavailable`.
pub async fn remove(call: Call, params: QueueRemoveParams) -> Result<QueueEdited, RpcError> {
    edit(call, params.thread_id, params.branch_id, QueueEdit::Remove(params.message_id)).await
}

/// `queue/clear`
///
/// # Errors
/// `notFound` (thread, branch), `unavailable`.
pub async fn clear(call: Call, params: QueueClearParams) -> Result<QueueEdited, RpcError> {
    edit(call, params.thread_id, params.branch_id, QueueEdit::Clear).await
}

/// `queue/reorder`
///
/// # Errors
/// `notFound` (thread, branch), `invalidParams` (too many, one named twice), `conflict`, `unavailable`.
pub async fn reorder(call: Call, params: QueueReorderParams) -> Result<QueueEdited, RpcError> {
    let order = params.message_ids;
    if order.len() as u64 > QUEUE_ENTRIES {
        let message = format!("{} inputs are named; at most {QUEUE_ENTRIES} wait on a branch.", order.len());
        return Err(RpcError::invalid_params("/messageIds", "too_many", message));
    }
    let mut seen = std::collections::HashSet::new();
    if let Some((index, twice)) = order.iter().enumerate().find(|(_, id)| !seen.insert(*id)) {
        let message = format!("The input {twice} is named twice. Name each that waits once.");
        return Err(RpcError::invalid_params(format!("/messageIds/{index}"), "repeated", message));
    }
    edit(call, params.thread_id, params.branch_id, QueueEdit::Reorder(order)).await
}

async fn edit(
    call: Call,
    thread_id: ThreadId,
    branch_id: Option<BranchId>,
    edit: QueueEdit,
) -> Result<QueueEdited, RpcError> {
    let thread = call.daemon.engine.thread(&thread_id)?;
    call.keep_until_answered(call.client.feed().hold());
    thread.edit_queue(branch_id.unwrap_or_else(|| BranchId::from(thread_id)), edit, operation(&call)).await
}
