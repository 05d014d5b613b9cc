//! What a run did before a call is looked at: how far the call had come already, and how often its tool was called.

use ropewalk_protocol::{CallId, InteractionKind, RunId};

use crate::domain::{BatchCall, RunState, ThreadState};

/// How far a call had come when its last driver ended.
pub struct Before {
    /// It was decided that it may be made.
    pub is_decided: bool,
    /// A person is being asked.
    pub is_asked: bool,
    /// A client has it.
    pub was_sent: bool,
}

impl Before {
    /// What a thread's state says of a call.
    pub fn of(state: &ThreadState, run_id: &RunId, call_id: &CallId) -> Self {
        let is_open =
            |kind| state.interactions.values().any(|open| open.call_id == *call_id && open.body.kind() == kind);
        Self {
            is_decided: state.call(run_id, call_id).is_some_and(|call| call.decision.is_some()),
            is_asked: is_open(InteractionKind::Approval),
            was_sent: is_open(InteractionKind::ToolCall),
        }
    }
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
