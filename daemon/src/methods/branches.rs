//! `branch/…`: the branches of a thread.

use ropewalk_protocol::{
    Branch, BranchChanged, BranchDeleteParams, BranchListParams, BranchUpdateParams, Page, Patch, Removed, RpcError,
};

use super::{caller::operation, check};
use crate::{dispatch::Call, page::PageQuery};

/// `branch/list`
///
/// # Errors
/// `notFound` (thread), `invalidParams`, `unavailable`.
pub async fn list(call: Call, params: BranchListParams) -> Result<Page<Branch>, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    let query = PageQuery::new(&["branch/list ", &params.thread_id], params.cursor.as_deref(), params.limit)?;
    let branches = thread.branches().await?.into_iter();
    let beyond = branches.filter(|branch| query.after().is_none_or(|after| branch.branch_id.as_str() > after));
    Ok(query.fill(beyond, |branch| branch.branch_id.to_string()))
}

/// `branch/update`
///
/// # Errors
/// `notFound` (thread, branch), `invalidParams`, `unavailable`.
pub async fn update(call: Call, params: BranchUpdateParams) -> Result<BranchChanged, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    if let Patch::Set(title) = &params.title {
        check::title(title)?;
    }
    call.keep_until_answered(call.client.feed().hold());
    thread.update_branch(params.branch_id, params.title, operation(&call)).await
}

/// `branch/delete`
///
/// # Errors
/// `notFound` (thread, branch), `invalidState` (the original branch), `conflict`, `unavailable`.
pub async fn delete(call: Call, params: BranchDeleteParams) -> Result<Removed, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    call.keep_until_answered(call.client.feed().hold());
    let (branch_id, dry_run) = (params.branch_id, params.dry_run.unwrap_or(false));
    thread.delete_branch(branch_id, params.expected_revision, dry_run, operation(&call)).await
}
