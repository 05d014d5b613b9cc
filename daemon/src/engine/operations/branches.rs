//! The branches of a thread: listing, naming and deleting them.

use ropewalk_protocol::{Branch, BranchChanged, BranchId, Patch, Removed, RpcError};

use super::{branch_refusals::refused, refusal};
use crate::{
    catalogue::Operation,
    domain::{Change, ThreadState},
    engine::{ThreadHandle, Turn},
};

impl ThreadHandle {
    /// The branches, by id.
    ///
    /// # Errors
    /// `unavailable`.
    pub async fn branches(&self) -> Result<Vec<Branch>, RpcError> {
        self.look(|turn| Ok(turn.state().branches.values().map(|state| state.branch.clone()).collect())).await
    }

    /// Changes the title of a branch.
    ///
    /// # Errors
    /// `notFound` for an unknown branch, `unavailable`.
    pub async fn update_branch(
        &self,
        branch_id: BranchId,
        title: Patch<String>,
        operation: Option<Operation>,
    ) -> Result<BranchChanged, RpcError> {
        self.turn(move |turn| {
            let header = turn.state().thread.clone();
            turn.change.update_branch(&branch_id, title).map_err(|error| refusal(error, &header))?;
            let state = turn.state().branches.get(&branch_id);
            let branch = state.ok_or_else(|| RpcError::not_found("branch", &branch_id))?.branch.clone();
            let answer = BranchChanged { branch, replayed: false };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }

    /// Deletes a branch, with its run and what waits on it; or says what would go.
    ///
    /// # Errors
    /// `notFound` for an unknown branch, `invalidState` for the original one, `conflict` for another revision than expected,
    /// `unavailable`.
    pub async fn delete_branch(
        &self,
        branch_id: BranchId,
        expected_revision: Option<u64>,
        dry_run: bool,
        operation: Option<Operation>,
    ) -> Result<Removed, RpcError> {
        self.turn(move |turn| {
            let header = turn.state().thread.clone();
            let may = turn.change.may_delete_branch(&branch_id, expected_revision);
            may.map_err(|error| refused(error, &header))?;
            let effect = effect_of(&turn.change, &branch_id);
            if !dry_run {
                delete(turn, &branch_id);
            }
            let answer = Removed { applied: !dry_run, dry_run, effect, replayed: false };
            turn.answers(operation, &answer)?;
            Ok(answer)
        })
        .await
    }
}

fn delete(turn: &mut Turn<'_>, branch_id: &BranchId) {
    let state = turn.state().branches.get(branch_id);
    if let Some(run_id) = state.and_then(|state| state.branch.active_run_id.clone()) {
        turn.settle_all_claimed(&run_id);
    }
    let texts = &turn.live.texts;
    turn.change.delete_branch(branch_id, &|id| texts.get(id).map(|streamed| streamed.text.clone()));
    turn.live.chains.forget(branch_id);
}

/// What goes with a branch, as a sentence or two.
fn effect_of(change: &Change<'_>, branch_id: &BranchId) -> String {
    let state: &ThreadState = change.state;
    let Some(branch) = state.branches.get(branch_id) else { return String::new() };
    let name = branch.branch.title.as_ref().map_or_else(|| branch_id.to_string(), |title| format!("\"{title}\""));
    let mut goes = vec![format!("Removes the branch {name}")];
    if branch.branch.active_run_id.is_some() {
        goes.push("stops its run".to_owned());
    }
    match branch.queue.len() {
        0 => {}
        1 => goes.push("drops the input that waits on it".to_owned()),
        more => goes.push(format!("drops the {more} inputs that wait on it")),
    }
    let last = goes.pop().unwrap_or_default();
    let mut effect = if goes.is_empty() { last } else { format!("{} and {last}", goes.join(", ")) };
    match change.forks_of(branch_id).count() {
        0 => effect.push('.'),
        1 => effect.push_str(". The branch that was forked from it stays, with its messages."),
        more => effect.push_str(&format!(". The {more} branches that were forked from it stay, with their messages.")),
    }
    effect
}
