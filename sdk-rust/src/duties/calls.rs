//! Tool calls: from the daemon's request to the handler and back.

use std::sync::Arc;

use ropewalk_peer::Request;
use ropewalk_protocol::{ToolCallAnswer, ToolCallRequest, limits};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Duties, fence::fenced, incoming::params, ledger::Answer};
use crate::tools::{CallControl, ToolContext, ToolError, ToolKey};

/// The code of a call for which there is no handler.
const UNSUPPORTED: &str = "UnsupportedTool";
/// The longest sentence that is worth sending about a failure.
const MESSAGE_CHARACTERS: usize = limits::RESULT_CHARACTERS as usize;

/// Takes a `tool/call` in: begins the work, or joins it to what is under way.
pub(super) fn take(duties: &Arc<Duties>, request: Request, generation: u64) {
    let Some((call, responder)) = params::<ToolCallRequest>(request) else { return };
    if let Some(cancelled) = duties.ledger.offer(&call.interaction_id, &call.thread_id, generation, responder) {
        tokio::spawn(work(Arc::clone(duties), call, cancelled));
    }
}

async fn work(duties: Arc<Duties>, mut call: ToolCallRequest, cancelled: CancellationToken) {
    let id = call.interaction_id.clone();
    let key = ToolKey { namespace: call.namespace.clone(), name: call.tool.clone() };
    let answer = match duties.bindings.find(&call.thread_id, &key).await {
        None => Err(unsupported(&key)),
        Some(tool) => {
            let arguments = call.arguments.take().unwrap_or(Value::Null);
            let progress = {
                let duties = Arc::clone(&duties);
                Arc::new(move |progress| duties.link.progress(&progress))
            };
            let context = ToolContext::new(call, CallControl { cancelled, progress });
            match fenced(tool.call(arguments, context)).await {
                Ok(result) => result,
                Err(panic) => Err(ToolError::new(format!("The handler of {key} panicked: {panic}"))),
            }
        }
    };
    duties.ledger.finish(&id, encode(answer, &key, duties.link.room()));
}

fn unsupported(key: &ToolKey) -> ToolError {
    ToolError::with_code(UNSUPPORTED, format!("This client has no handler for {key}."))
}

/// The answer as JSON. One that no message can carry becomes a failure that says so.
fn encode(answer: Result<ToolCallAnswer, ToolError>, key: &ToolKey, room: u64) -> Answer {
    let answer = answer.unwrap_or_else(failure);
    let text = serde_json::to_string(&answer).map_err(|error| format!("cannot be written as JSON: {error}"));
    let text = text.and_then(|text| match text.len() as u64 {
        bytes if bytes > room => Err(format!("has {bytes} bytes; a message holds at most {room}")),
        _ => Ok(text),
    });
    let text = text.unwrap_or_else(|reason| {
        let error = ToolError::with_code("result_too_large", format!("The result of {key} {reason}."));
        serde_json::to_string(&error.into_answer()).expect("two short texts are JSON")
    });
    Ok(text.into())
}

fn failure(error: ToolError) -> ToolCallAnswer {
    let mut answer = error.into_answer();
    if let Some(message) = &mut answer.error_message
        && let Some((cut, _)) = message.char_indices().nth(MESSAGE_CHARACTERS)
    {
        message.truncate(cut);
    }
    answer
}
