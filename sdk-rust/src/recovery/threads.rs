//! Taking threads up again: events go on behind the last one that was seen, tools are bound to the new connection.

use std::sync::Arc;

use futures::{StreamExt, stream};
use ropewalk_protocol::{
    ErrorDetail, RpcError, Seq, ThreadId, ThreadResume, ThreadResumeParams, ThreadResumed, Tool, ToolDeclaration,
};

use super::wire::Wire;
use crate::{Error, duties::Duties, events::Failure, thread::resume_params};

/// How many threads are asked for at once; far fewer than a daemon answers at once.
const AT_ONCE: usize = 16;

/// Attaches to every open thread again. What one of them meets is that thread's own trouble.
///
/// # Errors
/// What the connection itself meets.
pub(super) async fn take_up_all(duties: &Arc<Duties>, wire: &Wire) -> Result<(), Error> {
    let threads = stream::iter(duties.attachments.all());
    let mut taking_up = threads.map(|thread| take_up_over(duties, wire, thread)).buffer_unordered(AT_ONCE);
    while let Some(taken_up) = taking_up.next().await {
        taken_up?;
    }
    Ok(())
}

/// Attaches to one thread again, through the connection there is: for an attachment that a lost connection took along.
///
/// # Errors
/// As [`Client::call`](crate::Client::call).
pub(crate) async fn take_up(duties: &Arc<Duties>, thread: &ThreadId) -> Result<(), Error> {
    let resumed = duties.link.call::<ThreadResume>(&behind_last_seen(duties, thread)).await?;
    if let Some(again) = missing(duties, thread, &resumed) {
        duties.link.call::<ThreadResume>(&again).await?;
    }
    Ok(())
}

async fn take_up_over(duties: &Arc<Duties>, wire: &Wire, thread: ThreadId) -> Result<(), Error> {
    let params = behind_last_seen(duties, &thread);
    let seen = params.after.unwrap_or_default();
    let taken_up = async {
        let resumed = wire.call::<ThreadResume>(&params).await?;
        match missing(duties, &thread, &resumed) {
            Some(again) => wire.call::<ThreadResume>(&again).await.map(|_| ()),
            None => Ok(()),
        }
    };
    match taken_up.await {
        Err(Error::Rpc(error)) => {
            fail(duties, &thread, seen, error);
            Ok(())
        }
        taken_up => taken_up,
    }
}

fn behind_last_seen(duties: &Duties, thread: &ThreadId) -> ThreadResumeParams {
    let mut params = resume_params(thread.clone());
    params.after = Some(duties.hub.newest(thread));
    params
}

/// Ends one thread for this client: its streams tell why.
fn fail(duties: &Duties, thread: &ThreadId, seen: Seq, error: Box<RpcError>) {
    tracing::warn!(%thread, %error, "a thread could not be taken up again");
    duties.attachments.remove(thread);
    let is_shorter =
        matches!(&error.data.detail, ErrorDetail::InvalidParams { reason, .. } if reason == "after_the_end");
    let failure =
        if is_shorter { Failure::LogShortened { thread: thread.clone(), seen } } else { Failure::Refused(error) };
    duties.hub.fail(thread, failure);
}

/// Looks at the tools of a thread this client has attached to. What others hold of ours is noted and stays with them;
/// what the daemon knows nothing of, because its log was restored from before, is to be declared again.
pub(crate) fn missing(duties: &Duties, thread: &ThreadId, resumed: &ThreadResumed) -> Option<ThreadResumeParams> {
    let declared = duties.bindings.thread(thread).declarations();
    let there = |declaration: &ToolDeclaration| resumed.tools.iter().find(|tool| is_of(tool, declaration));
    let is_ours = |tool: &Tool| tool.owner.as_ref().is_none_or(|owner| owner.instance_id == duties.instance);
    let (known, unknown): (Vec<_>, Vec<_>) = declared.iter().partition(|declaration| there(declaration).is_some());
    let taken: Vec<String> = known
        .iter()
        .filter_map(|declaration| there(declaration))
        .filter(|tool| !is_ours(tool))
        .map(|tool| tool.flat_name.clone())
        .collect();
    if duties.attachments.note_taken(thread, &taken) {
        tracing::warn!(%thread, ?taken, "another process holds these tools now; they stay with it");
    }
    if unknown.is_empty() {
        return None;
    }
    let mut again = behind_last_seen(duties, thread);
    let ours = declared.iter().filter(|declaration| there(declaration).is_none_or(is_ours));
    again.tools = Some(ours.cloned().collect());
    Some(again)
}

fn is_of(tool: &Tool, declaration: &ToolDeclaration) -> bool {
    tool.owner.is_some() && tool.name == declaration.name && tool.namespace == declaration.namespace
}
