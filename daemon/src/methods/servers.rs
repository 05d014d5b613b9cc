//! `mcp/…`: servers that are added, and their reviews. For their owner alone: neither a model nor an app has a way to these.

use std::{sync::Arc, time::Duration};

use ropewalk_protocol::{
    Effect, ErrorDetail, Page, Policy, Removed, RpcError, Server, ServerAddParams, ServerAdded, ServerChanged,
    ServerListParams, ServerParams, ServerRemoveParams, ServerRestartParams, ServerResult, ServerReviewSubmitParams,
    ServerReviewSubmitted, ServerReviewed, ServerStanding, ServerState, ServerStatusParams, ServerStatuses,
    ServerUpdateParams,
};

use super::caller::caller;
use crate::{
    catalogue::{ServerRecord, ShowServer},
    daemon::LIST_MS,
    dispatch::Call,
    page::PageQuery,
    tools::mcp::Trouble,
};

/// `mcp/server/add`: that a program cannot be started is its state, not an error.
///
/// # Errors
/// `invalidParams`, `unavailable` (store, keeper of secrets).
pub async fn add(call: Call, params: ServerAddParams) -> Result<ServerAdded, RpcError> {
    let waits = params.wait.unwrap_or(true);
    let owned = call.daemon.owned.clone();
    let show: ShowServer = {
        let show = owned.show();
        // What is stored as the answer is said before anybody has spoken to the server.
        Arc::new(move |record| Server { state: ServerState::Starting, reason: None, since: None, ..show(record) })
    };
    let added = call.daemon.catalogue.add_server(caller(&call), params, show).await?;
    let id = added.server.server_id.clone();
    owned.load_environment(&*owned.record(&id)?).await;
    // On a task of its own: whoever asked may go away, and the server is added all the same.
    let meeting = tokio::spawn({
        let (owned, id) = (owned.clone(), id.clone());
        async move { owned.meet(&id).await }
    });
    if !waits {
        return Ok(added);
    }
    let met = meeting.await.ok().and_then(Result::ok);
    let record = owned.record(&id)?;
    let review = met.map(|_| owned.review(&record));
    Ok(ServerAdded { server: owned.shown(&record), review, replayed: false })
}

/// `mcp/server/list`
///
/// # Errors
/// `invalidParams`.
pub async fn list(call: Call, params: ServerListParams) -> Result<Page<Server>, RpcError> {
    let query = PageQuery::new(&["mcp/server/list"], params.cursor.as_deref(), params.limit)?;
    let all = all(&call).into_iter().filter(|record| query.after().is_none_or(|after| *place(record) > *after));
    Ok(query
        .fill(all.map(|record| call.daemon.owned.shown(&record)), |server| place_of(server.builtin, &server.server_id)))
}

/// `mcp/server/read`
///
/// # Errors
/// `notFound`.
pub async fn read(call: Call, params: ServerParams) -> Result<ServerResult, RpcError> {
    let owned = &call.daemon.owned;
    Ok(ServerResult { server: owned.shown_whole(&*owned.record(&params.server_id)?) })
}

/// `mcp/server/status`
///
/// # Errors
/// `notFound`.
pub async fn status(call: Call, params: ServerStatusParams) -> Result<ServerStatuses, RpcError> {
    let owned = &call.daemon.owned;
    let meant = match &params.server_id {
        Some(id) => vec![owned.record(id)?],
        None => all(&call),
    };
    let standing = |record: Arc<ServerRecord>| {
        let Server { server_id, state, since, reason, counts, .. } = owned.shown(&record);
        ServerStanding { server_id, state, since, reason, counts }
    };
    Ok(ServerStatuses { items: meant.into_iter().map(standing).collect() })
}

/// `mcp/server/update`
///
/// # Errors
/// `invalidParams`, `notFound`, `conflict`, `unavailable`.
pub async fn update(call: Call, params: ServerUpdateParams) -> Result<ServerChanged, RpcError> {
    let owned = call.daemon.owned.clone();
    let is_started_otherwise = params.args.is_some() || params.env.is_some() || params.enabled.is_some();
    let changed = call.daemon.catalogue.update_server(caller(&call), params, owned.show()).await?;
    if is_started_otherwise {
        let id = changed.server.server_id.clone();
        tokio::spawn(async move { owned.restart(&id).await });
    }
    call.daemon.engine.servers_changed().await;
    Ok(changed)
}

/// `mcp/server/restart`
///
/// # Errors
/// `notFound`; `unavailable` when the answer cannot be kept.
pub async fn restart(call: Call, params: ServerRestartParams) -> Result<ServerChanged, RpcError> {
    let owned = call.daemon.owned.clone();
    let id = owned.record(&params.server_id)?.server_id.clone();
    // On a task of its own: it goes on when whoever asked is told that it is not there yet.
    let restarting = tokio::spawn({
        let owned = owned.clone();
        async move { owned.restart(&id).await }
    });
    tokio::select! {
        biased;
        _ = restarting => {}
        () = call.daemon.clock.sleep(Duration::from_millis(LIST_MS)) => {}
    }
    let answer = ServerChanged { server: owned.shown(&*owned.record(&params.server_id)?), replayed: false };
    Ok(call.daemon.catalogue.note_answer(caller(&call), answer).await?)
}

/// `mcp/server/remove`
///
/// # Errors
/// `invalidParams` (one that is part of the daemon), `notFound`, `conflict`, `unavailable`.
pub async fn remove(call: Call, params: ServerRemoveParams) -> Result<Removed, RpcError> {
    let (owned, id) = (call.daemon.owned.clone(), params.server_id.clone());
    let (removed, rules) = call.daemon.catalogue.remove_server(caller(&call), params, owned.show()).await?;
    tell(&call, &rules).await;
    tokio::spawn(async move { owned.restart(&id).await });
    Ok(removed)
}

/// `mcp/review/read`: of what the server said last. One that was never asked in this life of the daemon is asked now.
///
/// # Errors
/// `notFound`, `invalidParams` (one that is part of the daemon).
pub async fn review(call: Call, params: ServerParams) -> Result<ServerReviewed, RpcError> {
    let owned = &call.daemon.owned;
    let record = reviewable(&call, &params)?;
    if owned.listed(&record.server_id).is_none() {
        // Without an answer the approved tools are shown as they were approved.
        drop(owned.list(&record.server_id).await);
    }
    Ok(ServerReviewed { review: owned.review(&record) })
}

/// `mcp/review/check`: after asking the server.
///
/// # Errors
/// `notFound`, `invalidParams` (one that is part of the daemon), `unavailable` with the reason of 2.10.
pub async fn check(call: Call, params: ServerParams) -> Result<ServerReviewed, RpcError> {
    let owned = &call.daemon.owned;
    let record = reviewable(&call, &params)?;
    owned.list(&record.server_id).await.map_err(|trouble| unavailable(&record, &trouble))?;
    Ok(ServerReviewed { review: owned.review(&*owned.record(&params.server_id)?) })
}

/// `mcp/review/submit`
///
/// # Errors
/// `conflict` (another digest), `invalidParams` (a tool that is not there, cannot be used), `notFound`, `unavailable`.
pub async fn submit(call: Call, params: ServerReviewSubmitParams) -> Result<ServerReviewSubmitted, RpcError> {
    let owned = call.daemon.owned.clone();
    let listing = owned.listed(&params.server_id);
    let submitted = call.daemon.catalogue.submit_review(caller(&call), params, listing, owned.show());
    let (submitted, rules) = submitted.await?;
    tell(&call, &rules).await;
    Ok(submitted)
}

fn reviewable(call: &Call, params: &ServerParams) -> Result<Arc<ServerRecord>, RpcError> {
    let record = call.daemon.owned.record(&params.server_id)?;
    if record.is_builtin() {
        let message = format!("{} are part of the daemon; there is nothing to review.", record.name);
        return Err(RpcError::invalid_params("/serverId", "builtin", message));
    }
    Ok(record)
}

/// Tells runs of rules that are gone, and that servers have other tools.
async fn tell(call: &Call, rules: &[Arc<Policy>]) {
    for policy in rules {
        call.daemon.engine.rule_changed(policy, Some(call.client.client_ref().client_name)).await;
    }
    call.daemon.engine.servers_changed().await;
}

/// All of them: those that are part of the daemon first.
fn all(call: &Call) -> Vec<Arc<ServerRecord>> {
    let mut all: Vec<_> = call.daemon.catalogue.snapshot().servers.values().cloned().collect();
    all.sort_by_cached_key(|record| place(record));
    all
}

fn place(record: &ServerRecord) -> String {
    place_of(record.is_builtin(), &record.server_id)
}

fn place_of(builtin: bool, id: &str) -> String {
    format!("{} {id}", u8::from(!builtin))
}

fn unavailable(record: &ServerRecord, trouble: &Trouble) -> RpcError {
    let message = format!(
        "{} cannot be asked for its tools: {} `mcp/server/read` shows what its process wrote.",
        record.name, trouble.text
    );
    let detail = ErrorDetail::Unavailable {
        reason: trouble.reason.to_owned(),
        progress: None,
        party: Some(record.name.clone()),
        effect: Some(Effect::None),
    };
    RpcError::retryable(detail, message, None)
}
