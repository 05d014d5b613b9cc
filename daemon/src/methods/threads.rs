//! `thread/…`: starting threads, attaching to them, reading them.

use ropewalk_protocol::{
    BranchId, Empty, EndpointId, ErrorDetail, EventPage, MessagePage, Origin, Page, Patch, RpcError, Subscribed,
    Thread, ThreadArchiveParams, ThreadChanged, ThreadEventsParams, ThreadId, ThreadListParams, ThreadMarkReadParams,
    ThreadMessagesParams, ThreadParams, ThreadResult, ThreadResumeParams, ThreadResumed, ThreadSort, ThreadStartParams,
    ThreadStarted, ThreadSubscribeParams, ThreadToolsParams, ThreadUpdateParams, ToolList,
    limits::{PAGE_ITEMS, SUBSCRIPTIONS},
};

use super::{caller::operation, check};
use crate::{
    daemon::Daemon,
    dispatch::Call,
    domain::{Link, StartThread},
    engine::{HeaderPatch, Resume, StartRequest, lookup},
    page::{PageError, PageQuery},
};

mod declaring;
mod delete;

pub use delete::delete;

use declaring::{declared, pin_rules};

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
        Some(tools) => {
            // Whoever comes back for calls that are under way is let in: they can only end with it.
            if !tools.is_empty() && !daemon.engine.has_open_runs(&params.thread_id)? {
                daemon.room()?;
            }
            Some(declared(daemon, tools).await?)
        }
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
/// `notFound` (project), `invalidParams`, `unavailable`.
pub async fn list(call: Call, params: ThreadListParams) -> Result<Page<Thread>, RpcError> {
    check::listed_of(&call.daemon, None, params.project_id.as_ref())?;
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

/// `thread/markRead`
///
/// # Errors
/// `notFound` (thread, branch), `invalidParams` for an event there is not yet, `unavailable`.
pub async fn mark_read(call: Call, params: ThreadMarkReadParams) -> Result<ThreadChanged, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    thread.mark_read(params.branch_id, params.seq, operation(&call)).await
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
    page.next_cursor = next.map(|link| query.cursor(&link.key()));
    Ok(page)
}

/// `thread/events`
///
/// # Errors
/// `notFound`, `invalidParams`, `unavailable`.
pub async fn events(call: Call, params: ThreadEventsParams) -> Result<EventPage, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    let limit = check::range("/limit", params.limit.unwrap_or(DEFAULT_ITEMS), 1, u64::MAX)?.min(PAGE_ITEMS);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let wait_ms = check::range("/waitMs", params.wait_ms.unwrap_or(0), 0, MAX_WAIT_MS)?;
    let page = thread.events(params.after, limit).await?;
    if wait_ms == 0 || !page.events.is_empty() {
        return Ok(page);
    }
    let clock = call.daemon.clock.clone();
    tokio::select! {
        biased;
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

fn too_many_subscriptions() -> RpcError {
    let detail = ErrorDetail::Overloaded { limit: SUBSCRIPTIONS, what: "subscriptions".to_owned() };
    let message = format!("This connection follows {SUBSCRIPTIONS} threads already. Unsubscribe from some first.");
    RpcError::retryable(detail, message, None)
}

fn read_link(key: &str) -> Result<Link, RpcError> {
    Link::of_key(key).ok_or_else(|| PageError::MalformedCursor.into())
}
