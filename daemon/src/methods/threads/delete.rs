//! `thread/delete`: the end of a thread, for everybody and for good.

use ropewalk_protocol::{Removed, RpcError, ThreadDeleteParams};

use crate::{dispatch::Call, methods::caller::deletion};

/// `thread/delete`
///
/// # Errors
/// `notFound`, `conflict`, `unavailable`.
pub async fn delete(call: Call, params: ThreadDeleteParams) -> Result<Removed, RpcError> {
    let deletion = deletion(&call, params.dry_run, params.expected_revision);
    call.daemon.engine.delete_thread(&params.thread_id, deletion).await
}
