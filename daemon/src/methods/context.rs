//! `context/…`: what a model is asked with.

use ropewalk_protocol::{BranchId, ContextPreviewParams, ContextPreviewed, RpcError};

use super::threads::known_endpoint;
use crate::dispatch::Call;

/// `context/preview`
///
/// # Errors
/// `notFound` (thread, branch, endpoint), `unavailable`.
pub async fn preview(call: Call, params: ContextPreviewParams) -> Result<ContextPreviewed, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    let branch_id = params.branch_id.unwrap_or_else(|| BranchId::from(params.thread_id.clone()));
    known_endpoint(&call.daemon, params.endpoint_id.as_ref())?;
    thread.preview(branch_id, params.endpoint_id).await
}
