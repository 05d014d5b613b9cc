//! Building the request of one step: which endpoint, which layers, which chain, which tools.

use std::sync::Arc;

use ropewalk_protocol::{EndpointId, ProjectId, RunErrorKind, RunId};

use super::{
    report::Reporter,
    toolbox::{self, Toolbox},
};
use crate::{
    domain::Link,
    engine::{Turn, history, live::ChainCache},
    models::{ModelError, ModelRequest},
};

/// What a step is built from.
pub struct Plan {
    /// The endpoint to ask.
    pub endpoint_id: EndpointId,
    instructions: String,
    head: Option<Link>,
    known: Option<ChainCache>,
    /// The tools of the thread at this step.
    pub toolbox: Toolbox,
    project_id: ProjectId,
}
/// What the run's next step is built from; `None` when the run is over.
pub fn plan(turn: &mut Turn<'_>, run_id: &RunId) -> Option<Plan> {
    let state = turn.state();
    let run = &state.runs.get(run_id)?.run;
    let branch = state.branches.get(&run.branch_id)?;
    let project = turn.shared.catalogue.snapshot().projects.get(&state.thread.project_id).cloned();
    let layers = [project.and_then(|project| project.instructions.clone()), state.instructions.clone()];
    Some(Plan {
        endpoint_id: run.endpoint_id.clone(),
        instructions: layers.into_iter().flatten().collect::<Vec<_>>().join("\n\n"),
        head: branch.head.clone(),
        known: turn.live.chain.clone(),
        toolbox: toolbox::of_turn(turn),
        project_id: state.thread.project_id.clone(),
    })
}
/// A model and what it is asked with.
pub type Asked = (Arc<dyn crate::models::Model>, ModelRequest);

/// Builds the request.
///
/// # Errors
/// `noEndpoint`, `storage`, `internal`, or what keeps the endpoint from being used.
pub async fn request(reporter: &Reporter, plan: Plan) -> Result<Asked, ModelError> {
    let shared = reporter.shared();
    let snapshot = shared.catalogue.snapshot();
    let endpoint = snapshot.endpoints.get(&plan.endpoint_id).filter(|endpoint| endpoint.enabled);
    let Some(endpoint) = endpoint.cloned() else { return Err(no_endpoint(reporter, &plan)) };
    let key = shared.catalogue.key_of(&endpoint).await.map_err(|refusal| internal(refusal.to_string()))?;
    let model = shared.models.model(&endpoint, key)?;
    let thread = reporter.thread();
    let head = plan.head.clone();
    let messages = history::whole_chain(shared, thread.id(), plan.head, plan.known)
        .await
        .map_err(|error| ModelError { kind: RunErrorKind::Storage, ..internal(error.message) })?;
    if let Some(head) = head {
        let cache = ChainCache { head, messages: messages.clone() };
        reporter.post(move |turn, _| turn.live.remember_chain(cache)).await;
    }
    let request = ModelRequest {
        model: endpoint.model.clone(),
        instructions: plan.instructions,
        messages: messages.iter().cloned().collect(),
        tools: plan.toolbox.definitions(),
        max_output_tokens: endpoint.max_output_tokens,
    };
    Ok((model, request))
}

fn no_endpoint(reporter: &Reporter, plan: &Plan) -> ModelError {
    let snapshot = reporter.shared().catalogue.snapshot();
    let named = Some(&plan.endpoint_id).filter(|id| !id.is_empty());
    let why = snapshot.which_endpoint(named, &plan.project_id);
    let message = why.err().map_or_else(|| "No usable endpoint is configured.".to_owned(), |why| why.to_string());
    ModelError { kind: RunErrorKind::NoEndpoint, message, retryable: false, retry_after_ms: None }
}

const fn internal(message: String) -> ModelError {
    ModelError { kind: RunErrorKind::Internal, message, retryable: false, retry_after_ms: None }
}
