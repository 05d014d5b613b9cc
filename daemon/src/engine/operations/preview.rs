//! What the next request of a branch would be made of, worked out by what makes it.

use ropewalk_protocol::{BranchId, ContextMessages, ContextPreviewed, ContextTools, EndpointId, RpcError};

use crate::{
    catalogue::SCRIPTED,
    domain::World as _,
    engine::{
        ThreadHandle, Turn,
        run::{
            request::{assemble, plan_of},
            room::room,
            toolbox,
        },
        storage_error,
    },
    store::StoreError,
};

impl ThreadHandle {
    /// What the next request of a branch would be made of, as the thread is now: for the endpoint that is named, else for
    /// the one it would go to.
    ///
    /// # Errors
    /// `notFound` for an unknown branch, `unavailable`.
    pub async fn preview(
        &self,
        branch_id: BranchId,
        endpoint_id: Option<EndpointId>,
    ) -> Result<ContextPreviewed, RpcError> {
        let of_branch = branch_id.clone();
        let (plan, left_out, summarised) = self
            .look(move |turn| {
                let unknown = || RpcError::not_found("branch", &of_branch);
                let branch = turn.state().branches.get(&of_branch).ok_or_else(unknown)?;
                let summarised = branch.summary.as_ref().map_or(0, |summary| summary.covers.depth + 1);
                let run_id = branch.branch.active_run_id.clone();
                let toolbox = match &run_id {
                    Some(run_id) => toolbox::of_run(turn, run_id),
                    None => toolbox::of_turn(turn),
                };
                let left_out = toolbox.left_out().iter().map(|tool| tool.flat_name.clone()).collect::<Vec<_>>();
                let endpoint_id = endpoint_id.unwrap_or_else(|| endpoint_of(turn, &of_branch));
                let plan = plan_of(turn, &of_branch, endpoint_id, toolbox).ok_or_else(unknown)?;
                Ok((plan, left_out, summarised))
            })
            .await?;
        let snapshot = self.shared().catalogue.snapshot();
        // Without an endpoint there is no window; the scripted one stands for a usual one.
        let endpoint = snapshot.endpoints.get(&plan.endpoint_id).or_else(|| snapshot.endpoints.get(SCRIPTED));
        let endpoint = endpoint.ok_or_else(|| RpcError::not_found("endpoint", &plan.endpoint_id))?;
        let assembly = assemble(self, &plan, room(self.shared(), endpoint)).await.map_err(|error| {
            storage_error(&StoreError::Read { what: format!("the chain of {branch_id}"), cause: error.message })
        })?;
        Ok(ContextPreviewed {
            tools: ContextTools {
                count: plan.toolbox.definitions().len() as u64,
                tokens: assembly.tool_tokens,
                left_out,
            },
            messages: ContextMessages {
                count: assembly.messages.len() as u64,
                tokens: assembly.message_tokens.iter().sum(),
                summarised,
            },
            layers: assembly.layers,
            total_tokens: assembly.expected,
            window_tokens: assembly.room.budgets.window,
        })
    }
}

/// The endpoint of the run that works on a branch, else the one its next run would use.
fn endpoint_of(turn: &Turn<'_>, branch_id: &BranchId) -> EndpointId {
    let state = turn.state();
    let active = state.branches.get(branch_id).and_then(|branch| branch.branch.active_run_id.as_ref());
    let of_run = active.and_then(|run_id| state.runs.get(run_id)).map(|state| state.run.endpoint_id.clone());
    let next = || turn.shared.endpoint(&state.thread, None).map(|(endpoint_id, _)| endpoint_id);
    of_run.or_else(next).unwrap_or_else(|| "".into())
}
