//! `interaction/…`: the pull side of what the daemon asks.

use ropewalk_protocol::{
    Interaction, InteractionAnswered, InteractionListParams, InteractionSettleParams, InteractionState, Page, RpcError,
};

use super::caller::operation;
use crate::{dispatch::Call, engine::lookup, page::PageQuery};

/// `interaction/list`
///
/// # Errors
/// `notFound` (thread), `invalidParams`, `unavailable`.
pub async fn list(call: Call, params: InteractionListParams) -> Result<Page<Interaction>, RpcError> {
    let state = params.state.unwrap_or(InteractionState::Open);
    let thread = params.thread_id.as_deref().unwrap_or("");
    let identity = format!("interaction/list {thread} {:?} {state:?}", params.kind);
    let query = PageQuery::new(&[&identity], params.cursor.as_deref(), params.limit)?;
    let engine = &call.daemon.engine;
    let mut found = match (&params.thread_id, state) {
        (Some(id), InteractionState::Open) => engine.thread(id)?.open_interactions().await?,
        (Some(id), InteractionState::Settled) => engine.thread(id)?.settled_interactions().await?,
        (None, InteractionState::Settled) => {
            let message = "Settled interactions are listed by thread. Name one.";
            return Err(RpcError::invalid_params("/threadId", "required", message));
        }
        (None, InteractionState::Open) => {
            let mut all = Vec::new();
            for id in lookup::threads_with_open_interactions(engine.shared())? {
                all.extend(engine.thread(&id)?.open_interactions().await?);
            }
            all
        }
    };
    found.sort_by(|a, b| a.interaction_id.cmp(&b.interaction_id));
    let wanted = found.into_iter().filter(|interaction| {
        params.kind.is_none_or(|kind| kind == interaction.body.kind())
            && query.after().is_none_or(|after| interaction.interaction_id.as_str() > after)
    });
    Ok(query.fill(wanted, |interaction| interaction.interaction_id.to_string()))
}

/// `interaction/settle`
///
/// # Errors
/// `notFound`, `alreadySettled`, `invalidParams` (path in the answer), `forbidden {reason: not_offered}`, `unavailable`.
pub async fn settle(call: Call, params: InteractionSettleParams) -> Result<InteractionAnswered, RpcError> {
    let thread = call.daemon.engine.thread_of_interaction(&params.interaction_id)?;
    thread.settle(call.client.client_ref(), params.interaction_id, params.answer, operation(&call)).await
}
