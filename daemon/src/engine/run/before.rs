//! What a run did before a call is looked at: how far the call had come already, and how often its tool was called.

use ropewalk_protocol::{CallId, InteractionKind, RunId, SourceKind};

use super::report::{Over, Reporter};
use crate::{
    domain::{BatchCall, Fact, RunState, ThreadState},
    engine::Turn,
    tools::ToolSpec,
};

#[cfg(test)]
mod tests;

/// How far a call had come when its last driver ended.
pub struct Before {
    /// It was decided that it may be made.
    pub is_decided: bool,
    /// A person is being asked.
    pub is_asked: bool,
    /// Stands for what that person was shown.
    pub shown: Option<String>,
    /// A client has it.
    pub was_sent: bool,
    /// The daemon itself had begun to make it.
    pub was_begun: bool,
}

impl Before {
    /// What a thread's state says of a call.
    pub fn of(state: &ThreadState, run_id: &RunId, call_id: &CallId) -> Self {
        let is_open =
            |kind| state.interactions.values().any(|open| open.call_id == *call_id && open.body.kind() == kind);
        Self {
            is_decided: state.call(run_id, call_id).is_some_and(|call| call.decision.is_some()),
            is_asked: is_open(InteractionKind::Approval),
            shown: state.call(run_id, call_id).and_then(|call| call.shown.clone()),
            was_sent: is_open(InteractionKind::ToolCall),
            was_begun: state.call(run_id, call_id).is_some_and(|call| call.is_begun),
        }
    }

    /// Whether nobody can tell any more what the call came to: it was with a client whose tool there is no more, or the
    /// daemon was making it and may not make it twice. `tool` is the tool as it is now.
    pub fn is_lost(&self, tool: Option<&ToolSpec>) -> bool {
        self.was_sent && tool.is_none() || self.was_begun && !tool.is_some_and(may_be_repeated)
    }
}

/// Writes down that the daemon begins to make a call itself, unless it could make it twice. Either way the call is in the
/// thread from now on.
pub async fn begins(reporter: &Reporter, tool: &ToolSpec, call_id: &CallId) -> Result<(), Over> {
    // What becomes of a client's call is asked of the client, which is offered it again.
    if tool.source_kind == SourceKind::Client {
        return Ok(());
    }
    if may_be_repeated(tool) {
        // It may take long, and its signs of life belong to an item that people know.
        return reporter.write_staged().await;
    }
    let call_id = call_id.clone();
    let begun = move |turn: &mut Turn<'_>, run_id: &RunId| {
        turn.change.fact(Fact::Begun { run_id: run_id.clone(), call_id });
    };
    reporter.report(begun).await
}

/// Whether a call may be made again whose effect is unknown: it has none, or the same as once.
fn may_be_repeated(tool: &ToolSpec) -> bool {
    let hints = &tool.annotations;
    hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
}

/// How often a run has called a tool up to and including this call; later calls of the same message do not count yet. The
/// first call of a message is looked at before the message is written down.
pub fn calls_so_far(run: &RunState, call_id: &CallId, name: &str) -> u64 {
    let counted = run.calls_by_tool.get(name).copied().unwrap_or(0);
    let same = |call: &&BatchCall| call.call.name == name;
    let calls = run.batch.as_ref().map(|batch| &batch.calls);
    match calls.and_then(|calls| calls.iter().position(|call| call.call.call_id == *call_id).map(|at| &calls[at + 1..]))
    {
        Some(later) => counted - later.iter().filter(same).count() as u64,
        None => counted + 1,
    }
}
