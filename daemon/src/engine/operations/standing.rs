//! How the branches of a thread stand: what runs on each, what waits, and what can be done about a bad end.

use ropewalk_protocol::{Branch, BranchId, QueueEntry, RpcError, Run};

use super::read::shown_run;
use crate::engine::{ThreadHandle, Turn};

/// Inputs that are shown of those that wait on a branch.
const ENTRIES: usize = 50;

/// How a branch stands.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchStanding {
    /// The branch, with its revision.
    pub branch: Branch,
    /// The first inputs that wait on it.
    pub entries: Vec<QueueEntry>,
    /// The run under way on it, or its last one where that ended badly, with what can be done about it.
    pub run: Option<Run>,
}

impl ThreadHandle {
    /// How the branches stand, in the order of their ids, beyond `after`.
    ///
    /// # Errors
    /// `unavailable`.
    pub async fn standing(&self, after: Option<BranchId>, limit: usize) -> Result<Vec<BranchStanding>, RpcError> {
        self.look(move |turn| {
            let ids = turn.state().branches.keys().filter(|id| after.as_ref().is_none_or(|after| *id > after));
            Ok(ids.take(limit).filter_map(|id| standing(turn, id)).collect())
        })
        .await
    }

    /// How one of them stands.
    ///
    /// # Errors
    /// `notFound` for an unknown branch, `unavailable`.
    pub async fn standing_of(&self, branch_id: BranchId) -> Result<BranchStanding, RpcError> {
        self.look(move |turn| standing(turn, &branch_id).ok_or_else(|| RpcError::not_found("branch", &branch_id))).await
    }
}

fn standing(turn: &Turn<'_>, branch_id: &BranchId) -> Option<BranchStanding> {
    let (state, of_branch) = (turn.state(), turn.state().branches.get(branch_id)?);
    let branch = of_branch.branch.clone();
    let active = branch.active_run_id.as_ref().and_then(|id| state.runs.get(id));
    let ended = || {
        let end = of_branch.bad_end.as_ref()?;
        Some(Run { recovery: end.recovery(&branch), ..end.run.clone() })
    };
    let run = active.map(|active| shown_run(turn.live, state, &active.run)).or_else(ended);
    let entries = of_branch.queue.iter().take(ENTRIES).map(|input| input.entry.clone()).collect();
    Some(BranchStanding { branch, entries, run })
}
