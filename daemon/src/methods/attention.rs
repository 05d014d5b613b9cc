//! `attention/…`: what waits for the person, over all threads.

use ropewalk_protocol::{Attention, AttentionNoted, AttentionSeenParams, ListParams, Page, RpcError};

use super::caller::operation;
use crate::{dispatch::Call, domain::thread_of, engine::lookup, page::PageQuery};

/// `attention/list`
///
/// # Errors
/// `invalidParams`, `unavailable`.
pub async fn list(call: Call, params: ListParams) -> Result<Page<Attention>, RpcError> {
    let query = PageQuery::new(&["attention/list"], params.cursor.as_deref(), params.limit)?;
    let waiting = lookup::attention(call.daemon.engine.shared(), query.after(), query.limit() + 1)?;
    Ok(query.fill(waiting, |waits| waits.attention_id.to_string()))
}

/// `attention/seen`
///
/// # Errors
/// `notFound` when it does not wait any more, `unavailable`.
pub async fn seen(call: Call, params: AttentionSeenParams) -> Result<AttentionNoted, RpcError> {
    let gone = || RpcError::not_found("attention", &params.attention_id);
    let thread =
        call.daemon.engine.thread(&thread_of(&params.attention_id)).map_err(|error| match error.data.detail {
            ropewalk_protocol::ErrorDetail::NotFound { .. } => gone(),
            _ => error,
        })?;
    thread.attention_seen(params.attention_id.clone(), operation(&call)).await
}
