//! `thread/…`: starting threads, attaching to them, reading them.

use std::sync::Arc;

use ropewalk_protocol::{
    BranchId, Empty, EndpointId, ErrorDetail, EventPage, Limits, MessagePage, Origin, Page, Patch, RpcError,
    Subscribed, Thread, ThreadArchiveParams, ThreadChanged, ThreadEventsParams, ThreadId, ThreadListParams,
    ThreadMessagesParams, ThreadParams, ThreadResult, ThreadResumeParams, ThreadResumed, ThreadSort, ThreadStartParams,
    ThreadStarted, ThreadSubscribeParams, ThreadToolsParams, ThreadUpdateParams, ToolDeclaration, ToolList,
    limits::{PAGE_ITEMS, SUBSCRIPTIONS},
};

use super::{caller::operation, check};
use crate::{
    daemon::Daemon,
    dispatch::Call,
    domain::{ClientTool, Link, StartThread},
    engine::{HeaderPatch, Resume, StartRequest, lookup},
    page::PageQuery,
    tools::check_declarations,
};

/// Items of a page when the request names no limit.
const DEFAULT_ITEMS: u64 = 100;
/// The longest wait for events.
const MAX_WAIT_MS: u64 = 600_000;

/// `thread/start`
///
/// # Errors
/// `invalidParams`, `tooLarge` (schema), `notFound` (project, endpoint, app), `overloaded`, `unavailable`.
pub async fn start(call: Call, params: ThreadStartParams) -> Result<ThreadStarted, RpcError> {
    let daemon = &call.daemon;
    let snapshot = daemon.catalogue.snapshot();
    let project_id = match params.project_id {
        Some(id) if snapshot.projects.contains_key(&id) => id,
        Some(id) => return Err(RpcError::not_found("project", id)),
        None => snapshot.default_project().project_id.clone(),
    };
    params.title.as_deref().map_or(Ok(()), check::title)?;
    params.instructions.as_deref().map_or(Ok(()), check::instructions)?;
    known_endpoint(daemon, params.endpoint_id.as_ref())?;
    if let Some(agent) = params.agent {
        return Err(RpcError::not_found("app", agent.app_id));
    }
    let tools = declared(daemon, params.tools.unwrap_or_default()).await?;
    let subscribe = params.subscribe.unwrap_or(true);
    if subscribe && !call.client.feed().has_room() {
        return Err(too_many_subscriptions());
    }
    let origin = params.origin.unwrap_or_default();
    call.keep_until_answered(call.client.feed().hold());
    let started = daemon
        .engine
        .start(StartRequest {
            start: StartThread {
                thread_id: ThreadId::from(""),
                project_id,
                title: params.title,
                endpoint_id: params.endpoint_id,
                instructions: params.instructions,
                agent: None,
                origin: Origin {
                    client_name: call.client.client_ref().client_name,
                    channel: origin.channel,
                    user_id: origin.user_id,
                },
            },
            tools: tools.clone(),
            client: call.client.attached(),
            subscribe,
            operation: operation(&call),
        })
        .await?;
    call.client.attached_to(started.thread.clone());
    if subscribe && !call.client.feed().follow(&started.thread, started.answer.seq) {
        return Err(too_many_subscriptions());
    }
    pin_rules(daemon, &call, &tools).await;
    Ok(started.answer)
}

/// `thread/resume`
///
/// # Errors
/// `notFound`, `invalidParams`, `tooLarge` (schema), `conflict` (a name another process holds), `overloaded`,
/// `unavailable`.
pub async fn resume(call: Call, params: ThreadResumeParams) -> Result<ThreadResumed, RpcError> {
    let daemon = &call.daemon;
    let thread = daemon.engine.thread(&params.thread_id)?;
    let tools = match params.tools {
        Some(tools) => Some(declared(daemon, tools).await?),
        None => None,
    };
    let subscribe = params.subscribe.unwrap_or(true);
    if subscribe && !call.client.feed().may_follow(&params.thread_id) {
        return Err(too_many_subscriptions());
    }
    call.keep_until_answered(call.client.feed().hold());
    let resumed = thread
        .resume(Resume {
            client: call.client.attached(),
            tools: tools.clone(),
            after: params.after,
            takeover: params.takeover.unwrap_or(false),
            subscribe,
            operation: operation(&call),
        })
        .await?;
    call.client.attached_to(thread.clone());
    if subscribe && !call.client.feed().follow(&thread, resumed.after) {
        return Err(too_many_subscriptions());
    }
    pin_rules(daemon, &call, tools.as_deref().unwrap_or_default()).await;
    let client = call.client.attached();
    call.after_answer(async move { thread.offer_open(client).await });
    Ok(resumed.answer)
}

/// `thread/read`
///
/// # Errors
/// `notFound`, `unavailable`.
pub async fn read(call: Call, params: ThreadParams) -> Result<ThreadResult, RpcError> {
    Ok(ThreadResult { thread: call.daemon.engine.thread(&params.thread_id)?.read().await? })
}

/// `thread/list`
///
/// # Errors
/// `invalidParams`, `unavailable`.
pub async fn list(call: Call, params: ThreadListParams) -> Result<Page<Thread>, RpcError> {
    let archived = params.archived.unwrap_or(false);
    let sort = params.sort.unwrap_or_default();
    let order = if sort == ThreadSort::Active { "active" } else { "created" };
    let project = params.project_id.as_deref().unwrap_or("");
    let kind = if archived { "archived" } else { "open" };
    let query =
        PageQuery::new(&["thread/list ", order, " ", kind, " ", project], params.cursor.as_deref(), params.limit)?;
    let mut page = query.begin();
    let mut after = query.after().map(ToOwned::to_owned);
    loop {
        let rows = lookup::threads(call.daemon.engine.shared(), sort, archived, after.as_deref(), query.limit() + 1)?;
        let Some((last, _)) = rows.last() else { return Ok(page.finish(false)) };
        after = Some(last.clone());
        for (key, row) in rows {
            let wanted = row.thread.archived == archived
                && params.project_id.as_ref().is_none_or(|project| *project == row.thread.project_id);
            if wanted && !page.offer(key, row.listed()) {
                return Ok(page.finish(true));
            }
        }
    }
}

/// `thread/update`
///
/// # Errors
/// `notFound`, `invalidParams`, `conflict`, `unavailable`.
pub async fn update(call: Call, params: ThreadUpdateParams) -> Result<ThreadChanged, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    if let Patch::Set(title) = &params.title {
        check::title(title)?;
    }
    if let Patch::Set(endpoint_id) = &params.endpoint_id {
        known_endpoint(&call.daemon, Some(endpoint_id))?;
    }
    let patch = HeaderPatch {
        expected_revision: params.expected_revision,
        title: params.title,
        pinned: params.pinned,
        endpoint_id: params.endpoint_id,
        archived: None,
    };
    thread.update(patch, operation(&call)).await
}

/// `thread/archive`
///
/// # Errors
/// `notFound`, `conflict`, `unavailable`.
pub async fn archive(call: Call, params: ThreadArchiveParams) -> Result<ThreadChanged, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    let patch = HeaderPatch {
        expected_revision: params.expected_revision,
        archived: Some(params.archived.unwrap_or(true)),
        ..HeaderPatch::default()
    };
    thread.update(patch, operation(&call)).await
}

/// `thread/messages`
///
/// # Errors
/// `notFound` (thread, branch), `invalidParams`, `unavailable`.
pub async fn messages(call: Call, params: ThreadMessagesParams) -> Result<MessagePage, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    let branch_id = params.branch_id.unwrap_or_else(|| BranchId::from(params.thread_id.clone()));
    let list = ["thread/messages ", &params.thread_id, " ", &branch_id];
    let query = PageQuery::new(&list, params.cursor.as_deref(), params.limit)?;
    let from = query.after().map(read_link).transpose()?;
    let (mut page, next) = thread.messages(branch_id.clone(), from, query.limit()).await?;
    page.next_cursor = next.map(|link| query.cursor(&write_link(&link)));
    Ok(page)
}

/// `thread/events`
///
/// # Errors
/// `notFound`, `invalidParams`, `unavailable`.
pub async fn events(call: Call, params: ThreadEventsParams) -> Result<EventPage, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    let limit = params.limit.unwrap_or(DEFAULT_ITEMS).clamp(1, PAGE_ITEMS);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let page = thread.events(params.after, limit).await?;
    let Some(wait_ms) = params.wait_ms.filter(|_| page.events.is_empty()) else { return Ok(page) };
    let wait_ms = check::range("/waitMs", wait_ms, 0, MAX_WAIT_MS)?;
    let clock = call.daemon.clock.clone();
    tokio::select! {
        more = thread.after(params.after) => more?,
        () = clock.sleep(std::time::Duration::from_millis(wait_ms)) => {}
    }
    thread.events(params.after, limit).await
}

/// `thread/subscribe`
///
/// # Errors
/// `notFound`, `invalidParams`, `overloaded`, `unavailable`.
pub async fn subscribe(call: Call, params: ThreadSubscribeParams) -> Result<Subscribed, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    if !call.client.feed().may_follow(&params.thread_id) {
        return Err(too_many_subscriptions());
    }
    call.keep_until_answered(call.client.feed().hold());
    let seq = thread.follow(call.client.attached(), params.after).await?;
    call.client.attached_to(thread.clone());
    if !call.client.feed().follow(&thread, params.after.unwrap_or(seq)) {
        return Err(too_many_subscriptions());
    }
    let client = call.client.attached();
    call.after_answer(async move { thread.offer_open(client).await });
    Ok(Subscribed { seq })
}

/// `thread/unsubscribe`
///
/// # Errors
/// `notFound`.
pub async fn unsubscribe(call: Call, params: ThreadParams) -> Result<Empty, RpcError> {
    use crate::engine::AttachedClient;
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    call.client.feed().unfollow(&params.thread_id);
    thread.leave(call.client.connection(), true).await;
    Ok(Empty {})
}

/// `thread/tools`
///
/// # Errors
/// `notFound`, `unavailable`.
pub async fn tools(call: Call, params: ThreadToolsParams) -> Result<ToolList, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    Ok(ToolList { items: thread.tools(params.schemas.unwrap_or(false)).await? })
}

/// An endpoint that exists.
pub(super) fn known_endpoint(daemon: &Daemon, id: Option<&EndpointId>) -> Result<(), RpcError> {
    match id {
        Some(id) if !daemon.catalogue.snapshot().endpoints.contains_key(id) => Err(RpcError::not_found("endpoint", id)),
        _ => Ok(()),
    }
}

async fn declared(daemon: &Daemon, tools: Vec<ToolDeclaration>) -> Result<Vec<Arc<ClientTool>>, RpcError> {
    if tools.is_empty() {
        return Ok(Vec::new());
    }
    let ceiling_ms = daemon.catalogue.snapshot().settings.tool_ceiling_ms;
    checked(tools, daemon.limits.clone(), ceiling_ms).await
}

/// Checks declarations beside everything else: a set of the largest schemas takes longer than anybody else should wait.
async fn checked(
    tools: Vec<ToolDeclaration>,
    limits: Limits,
    ceiling_ms: u64,
) -> Result<Vec<Arc<ClientTool>>, RpcError> {
    let checking = tokio::task::spawn_blocking(move || check_declarations(&tools, &limits, ceiling_ms));
    match checking.await {
        Ok(checked) => Ok(checked?),
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(RpcError::new(ErrorDetail::ShuttingDown { grace_ms: 0 }, "The daemon is ending.")),
        },
    }
}

/// An `allow` on a tool that was never seen holds for the digest it has when it is (ruling 25).
async fn pin_rules(daemon: &Daemon, call: &Call, tools: &[Arc<ClientTool>]) {
    let source = format!("client:{}", call.client.client_ref().client_name);
    let snapshot = daemon.catalogue.snapshot();
    for tool in tools {
        let unpinned = snapshot.policies.values().filter(|policy| {
            policy.decision == ropewalk_protocol::PolicyDecision::Allow
                && policy.tool.as_ref().is_some_and(|named| {
                    named.source == source && named.name == tool.flat_name && named.digest.is_none()
                })
        });
        for policy in unpinned {
            if let Err(refusal) = daemon.catalogue.pin_digest(&policy.policy_id, tool.digest.clone()).await {
                tracing::warn!(%refusal, policy = %policy.policy_id, "a rule could not be bound to the tool it allows");
            }
        }
    }
}

fn too_many_subscriptions() -> RpcError {
    let detail = ErrorDetail::Overloaded { limit: SUBSCRIPTIONS, what: "subscriptions".to_owned() };
    let message = format!("This connection follows {SUBSCRIPTIONS} threads already. Unsubscribe from some first.");
    RpcError::retryable(detail, message, None)
}

fn write_link(link: &Link) -> String {
    format!("{} {} {}", link.message_id, link.n, link.depth)
}

fn read_link(text: &str) -> Result<Link, RpcError> {
    let mut parts = text.split(' ');
    let mut number = || parts.next_back().and_then(|part| part.parse().ok());
    let (depth, n) = (number(), number());
    match (parts.next(), n, depth) {
        (Some(message_id), Some(n), Some(depth)) => Ok(Link { message_id: message_id.into(), n, depth }),
        _ => Err(crate::page::PageError::MalformedCursor.into()),
    }
}

#[cfg(test)]
mod tests;
