//! Building the request of one step: which endpoint, which layers, which chain, which tools, and that it fits.

use std::sync::Arc;

use ropewalk_protocol::{
    BranchId, ContextLayer, Endpoint, EndpointId, MemoryEntry, MessageId, ProjectId, RunErrorKind, RunId,
};

use super::{
    compact::{self, Compacting},
    gate, output,
    report::Reporter,
    room::{self, Measured, Room},
    toolbox::{self, Toolbox},
    workspace,
};
use crate::{
    catalogue::Refusal,
    context::{
        cut::grouped,
        gauges::Measure,
        layers::{self, LayerTexts},
        tokens::{definition_tokens, message_tokens, text_tokens},
    },
    domain::{ChainMessage, Line},
    engine::{Shared, ThreadHandle, Turn, history, live::ChainCache, operations::note_server_tools},
    models::{Model, ModelError, ModelRequest},
};

/// Compactions before one request. One is enough, unless a summary comes out longer than it should.
const COMPACTIONS: usize = 3;

/// What a step is built from.
pub struct Plan {
    /// The endpoint to ask.
    pub endpoint_id: EndpointId,
    /// The tools of the thread at this step.
    pub toolbox: Toolbox,
    branch_id: BranchId,
    project_id: ProjectId,
    texts: LayerTexts,
    line: Line,
    known: Option<ChainCache>,
    /// What the run is about.
    request: Option<MessageId>,
    /// What the model is told of the schema of its final answer.
    output: Option<String>,
}

impl Plan {
    /// Whether the final answer has to fit a schema.
    #[must_use]
    pub const fn wants_data(&self) -> bool {
        self.output.is_some()
    }
}

/// What the run's next step is built from; `None` when the run is over, or is paused instead of asking again.
pub fn plan(turn: &mut Turn<'_>, run_id: &RunId) -> Option<Plan> {
    if gate::parks_step(turn, run_id) {
        return None;
    }
    // A step boundary: nothing is asked yet, and every call that was made has its result.
    turn.change.deliver_remarks(run_id);
    hold_memory(turn, run_id);
    let state = turn.state().runs.get(run_id)?;
    let (run, output) = (&state.run, output::instruction(state));
    let (branch, endpoint, request) = (run.branch_id.clone(), run.endpoint_id.clone(), run.message_id.clone());
    let toolbox = toolbox::of_run(turn, run_id);
    note_server_tools(turn);
    plan_of(turn, &branch, endpoint, toolbox).map(|plan| Plan { request: Some(request), output, ..plan })
}

/// What is written into memory during a run is seen by the next one: a run goes on with what there was at its first step. It
/// is kept for as long as the thread is awake, which it is while a run is being driven.
fn hold_memory(turn: &mut Turn<'_>, run_id: &RunId) {
    let runs = &turn.change.state.runs;
    turn.live.memory.retain(|held, _| runs.get(held).is_some_and(|state| !state.run.state.is_terminal()));
    let now = || turn.shared.catalogue.snapshot().memory.clone();
    turn.live.memory.entry(run_id.clone()).or_insert_with(now);
}

/// The entries that the next request of a branch may speak of: those of its project and of the user, as its run holds them.
fn remembered(turn: &Turn<'_>, active: Option<&RunId>, project_id: &ProjectId) -> Vec<Arc<MemoryEntry>> {
    let held = active.and_then(|run_id| turn.live.memory.get(run_id)).cloned();
    let memory = held.unwrap_or_else(|| turn.shared.catalogue.snapshot().memory.clone());
    let is_meant = |entry: &&Arc<MemoryEntry>| entry.project_id.as_ref().is_none_or(|of| of == project_id);
    memory.values().filter(is_meant).cloned().collect()
}

/// What the next request of a branch is built from; `None` for an unknown branch.
pub fn plan_of(turn: &Turn<'_>, branch_id: &BranchId, endpoint_id: EndpointId, toolbox: Toolbox) -> Option<Plan> {
    let state = turn.state();
    let branch = state.branches.get(branch_id)?;
    let project = turn.shared.catalogue.snapshot().projects.get(&state.thread.project_id).cloned();
    let (project_id, thread_id) = (&state.thread.project_id, &state.thread.thread_id);
    let name = project.as_ref().map_or("", |project| project.name.trim());
    let texts = LayerTexts {
        thread: state.instructions.clone(),
        project: project.as_ref().and_then(|project| project.instructions.clone()),
        files: Vec::new(),
        memory: remembered(turn, branch.branch.active_run_id.as_ref(), project_id),
        run_line: format!("Project {name} ({project_id}), thread {thread_id}, branch {branch_id}."),
    };
    Some(Plan {
        endpoint_id,
        toolbox,
        branch_id: branch_id.clone(),
        project_id: project_id.clone(),
        texts,
        line: branch.line(),
        known: turn.live.chains.of(branch_id),
        request: None,
        output: None,
    })
}

/// A request before it is made: its parts, and what each of them takes.
pub struct Assembly {
    /// What stands before the chain.
    pub layers: Vec<ContextLayer>,
    /// What follows the layers and is never cut: the schema of the final answer.
    pub output: Option<String>,
    /// The tokens of the definitions of tools.
    pub tool_tokens: u64,
    /// The chain.
    pub messages: Arc<Vec<Arc<ChainMessage>>>,
    /// The tokens of each of its messages.
    pub message_tokens: Vec<u64>,
    /// The room there is.
    pub room: Room,
    /// What it is measured with.
    pub measure: Measure,
    /// The tokens it is expected to have in all.
    pub expected: u64,
}

impl Assembly {
    /// Whether it is expected to have no more than these tokens, where its model counts them at all.
    fn has_at_most(&self, tokens: u64) -> bool {
        !self.room.is_enforced || self.expected <= tokens
    }

    /// The tokens of all but the chain, as they are expected.
    pub fn fixed_tokens(&self, shared: &Shared) -> u64 {
        let layers = self.layers.iter().map(|layer| layer.tokens).sum::<u64>();
        self.corrected(shared, layers + output_tokens(self.output.as_deref()) + self.tool_tokens)
    }

    /// An estimate as it is expected of this model.
    pub fn corrected(&self, shared: &Shared, tokens: u64) -> u64 {
        shared.gauges.corrected(&self.room.key, tokens)
    }
}

/// Puts a request together as far as it can be without asking anybody.
///
/// # Errors
/// `storage`.
pub async fn assemble(thread: &ThreadHandle, plan: &Plan, room: Room) -> Result<Assembly, ModelError> {
    let shared = thread.shared();
    let texts = LayerTexts { files: workspace::files(shared, &plan.project_id).await, ..plan.texts.clone() };
    let layers = layers::layers(&texts, &room.budgets);
    let messages = history::whole_chain(shared, thread.id(), &plan.line, plan.known.clone())
        .await
        .map_err(|error| ModelError::new(RunErrorKind::Storage, error.message))?;
    let message_tokens: Vec<u64> = messages.iter().map(|message| message_tokens(message)).collect();
    let tool_tokens = plan.toolbox.definitions().iter().map(definition_tokens).sum::<u64>();
    let layer_tokens = layers.iter().map(|layer| layer.tokens).sum::<u64>();
    let summary = plan.line.summary.as_ref().map(|summary| summary.message_id.clone());
    let measure = Measure {
        key: room.key.clone(),
        chain: Some((plan.branch_id.clone(), summary)),
        estimated: layer_tokens
            + output_tokens(plan.output.as_deref())
            + tool_tokens
            + message_tokens.iter().sum::<u64>(),
    };
    let expected = shared.gauges.expected(&measure);
    let output = plan.output.clone();
    Ok(Assembly { layers, output, tool_tokens, messages, message_tokens, room, measure, expected })
}

/// A model and what it is asked with.
pub type Asked = (Arc<dyn Model>, ModelRequest);

/// Builds the request, and makes it fit: where the chain has become too long, its oldest part is summarised first.
///
/// # Errors
/// `noEndpoint`, `storage`, `contextWindow`, `internal`, or what keeps the endpoint from being used.
pub async fn request(reporter: &Reporter, mut plan: Plan) -> Result<Asked, ModelError> {
    let shared = reporter.shared();
    let snapshot = shared.catalogue.snapshot();
    let endpoint = snapshot.endpoints.get(&plan.endpoint_id).filter(|endpoint| endpoint.enabled);
    let Some(endpoint) = endpoint.cloned() else { return Err(no_endpoint(reporter, &plan)) };
    let key = shared.catalogue.key_of(&endpoint).await.map_err(|refusal| no_key(&endpoint.name, &refusal))?;
    let model = shared.models.model(&endpoint, key)?;
    let mut compactions = 0;
    let assembly = loop {
        let assembly = assemble(reporter.thread(), &plan, room::room(shared, &endpoint)).await?;
        remember(reporter, &plan, &assembly);
        if assembly.has_at_most(assembly.room.budgets.threshold) || compactions == COMPACTIONS {
            break assembly;
        }
        let compacting = Compacting {
            reporter,
            assembly: &assembly,
            line: &plan.line,
            request: plan.request.as_ref(),
            endpoint: &endpoint,
            model: &model,
        };
        let Some(line) = compact::compact(compacting).await? else { break assembly };
        (plan.line, plan.known) = (line, None);
        compactions += 1;
    };
    // What could not be made as short as it should be is sent all the same if it fits.
    if assembly.has_at_most(assembly.room.budgets.request) {
        Ok(asked(shared, &endpoint, &plan, assembly, model))
    } else {
        Err(does_not_fit(&assembly))
    }
}

fn asked(shared: &Arc<Shared>, endpoint: &Endpoint, plan: &Plan, assembly: Assembly, model: Arc<dyn Model>) -> Asked {
    let request = ModelRequest {
        model: endpoint.model.clone(),
        instructions: std::iter::once(layers::joined(&assembly.layers))
            .chain(assembly.output)
            .collect::<Vec<_>>()
            .join("\n\n"),
        messages: assembly.messages.iter().cloned().collect(),
        tools: plan.toolbox.definitions(),
        max_output_tokens: endpoint.max_output_tokens,
    };
    let window = assembly.room.budgets.window;
    let model = Measured { model, shared: shared.clone(), measure: assembly.measure, window };
    (Arc::new(model), request)
}

fn output_tokens(output: Option<&str>) -> u64 {
    output.map_or(0, text_tokens)
}

fn remember(reporter: &Reporter, plan: &Plan, assembly: &Assembly) {
    let Some(head) = plan.line.head.clone() else { return };
    let cache = ChainCache { head, summary: plan.line.summary.clone(), messages: assembly.messages.clone() };
    let branch_id = plan.branch_id.clone();
    reporter.stage(move |turn, _| turn.live.chains.remember(branch_id, cache));
}

/// The failure of a request that cannot be made short enough: what takes how much, and what to do.
fn does_not_fit(assembly: &Assembly) -> ModelError {
    let budgets = &assembly.room.budgets;
    let layers = assembly.layers.iter().map(|layer| layer.tokens).sum::<u64>();
    let messages = assembly.message_tokens.iter().sum::<u64>();
    let newest = assembly.messages.last().map_or(0, |message| message_tokens(message));
    let message = format!(
        "The request does not fit into the model's window: about {} tokens for instructions, {} for tools and {} for \
         messages, of which the newest has {}; a request may have {}. Send a shorter input, give the thread fewer tools \
         or instructions, or use a model with a larger window.",
        grouped(layers),
        grouped(assembly.tool_tokens),
        grouped(messages),
        grouped(newest),
        grouped(budgets.request)
    );
    ModelError::new(RunErrorKind::ContextWindow, message)
}

/// The provider would say no more than that the key is wrong.
fn no_key(endpoint: &str, refusal: &Refusal) -> ModelError {
    ModelError::new(RunErrorKind::Auth, format!("The key of {endpoint} cannot be used: {refusal}."))
}

fn no_endpoint(reporter: &Reporter, plan: &Plan) -> ModelError {
    let snapshot = reporter.shared().catalogue.snapshot();
    let named = Some(&plan.endpoint_id).filter(|id| !id.is_empty());
    let why = snapshot.which_endpoint(named, &plan.project_id);
    let message = why.err().map_or_else(|| "No usable endpoint is configured.".to_owned(), |why| why.to_string());
    ModelError::new(RunErrorKind::NoEndpoint, message)
}
