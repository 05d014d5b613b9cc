//! One step of a run: ask the model, stream what it says, store its answer.

use std::sync::Arc;

use futures::StreamExt;
use ropewalk_protocol::{
    CallId, EndpointId, ItemId, MessageId, OutcomeStatus, ProjectId, RunError, RunErrorKind, RunId, RunOutcome,
    ToolCallItem, limits::TOOL_CALLS_PER_MESSAGE,
};
use serde_json::Value;

use super::{
    failed,
    report::{Over, Reporter},
    toolbox::{self, Toolbox},
};
use crate::{
    domain::{Answered, AnsweredCall, Link, World},
    engine::{Turn, history, live::ChainCache},
    models::{ModelAnswer, ModelError, ModelEvent, ModelRequest},
    tools::{arguments::parse_arguments, path::ModelToolCall, unknown_ref},
};

/// Model events taken together when they are there already, so that a fast model costs few jobs.
const EVENTS_AT_ONCE: usize = 256;
/// Bytes of text and reasoning of one answer, far more than any model gives. Even if each of them has to be escaped, the
/// item fits in a line of the wire.
const ANSWER_TEXT_BYTES: usize = 2 << 20;
/// Bytes of the arguments of all calls of one answer.
const ANSWER_ARGUMENT_BYTES: usize = 8 << 20;

/// What a step came to.
pub enum Stepped {
    /// The model calls tools. Its answer is staged: it is written down with the first thing that comes of a call.
    Calls(Vec<ModelToolCall>),
    /// The run has ended.
    Ended,
}

/// What a step is built from.
struct Plan {
    endpoint_id: EndpointId,
    instructions: String,
    head: Option<Link>,
    known: Option<ChainCache>,
    toolbox: Toolbox,
    project_id: ProjectId,
}

/// Does one step.
pub async fn step(reporter: &Reporter) -> Result<Stepped, Over> {
    let Some(plan) = reporter.report(plan).await? else { return Ok(Stepped::Ended) };
    let toolbox = plan.toolbox.clone();
    let mut texts = Texts::new(reporter);
    match ask(reporter, plan, &mut texts).await? {
        Ok(answer) => answered(reporter, answer, &texts, &toolbox).await,
        Err(error) => {
            reporter.finish(outcome_of(error)).await?;
            Ok(Stepped::Ended)
        }
    }
}

fn plan(turn: &mut Turn<'_>, run_id: &RunId) -> Option<Plan> {
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

async fn ask(reporter: &Reporter, plan: Plan, texts: &mut Texts<'_>) -> Result<Result<ModelAnswer, ModelError>, Over> {
    let request = match request(reporter, plan).await {
        Ok(request) => request,
        Err(error) => return Ok(Err(error)),
    };
    let (model, request) = request;
    let mut stream = model.stream(request).ready_chunks(EVENTS_AT_ONCE);
    while let Some(events) = stream.next().await {
        for event in events {
            match event {
                Ok(ModelEvent::Text(text)) => texts.add(false, text),
                Ok(ModelEvent::Reasoning(text)) => texts.add(true, text),
                Ok(ModelEvent::Finished(answer)) => {
                    texts.flush().await;
                    let is_over = texts.is_full || answer.text.len() + answer.reasoning.len() > ANSWER_TEXT_BYTES;
                    return Ok(if is_over { Err(endless(ANSWER_TEXT_BYTES, "text")) } else { Ok(answer) });
                }
                Err(error) => {
                    texts.flush().await;
                    return Ok(Err(error));
                }
            }
        }
        texts.flush().await;
        if texts.is_full {
            return Ok(Err(endless(ANSWER_TEXT_BYTES, "text")));
        }
    }
    let message = "The model's answer ended before it was complete.".to_owned();
    Ok(Err(ModelError { kind: RunErrorKind::CutOff, message, retryable: true, retry_after_ms: None }))
}

/// An answer that is dropped because it does not end, or not soon enough.
fn endless(limit: usize, what: &str) -> ModelError {
    let message = format!("The model's answer has more than {limit} bytes of {what}; no more of it was taken.");
    ModelError { kind: RunErrorKind::BadResponse, message, retryable: true, retry_after_ms: None }
}

type Asked = (Arc<dyn crate::models::Model>, ModelRequest);

async fn request(reporter: &Reporter, plan: Plan) -> Result<Asked, ModelError> {
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

async fn answered(
    reporter: &Reporter,
    mut answer: ModelAnswer,
    texts: &Texts<'_>,
    toolbox: &Toolbox,
) -> Result<Stepped, Over> {
    if answer.calls.len() as u64 > TOOL_CALLS_PER_MESSAGE {
        let message = format!("The model made more than {TOOL_CALLS_PER_MESSAGE} calls in one message.");
        reporter.finish(failed(RunErrorKind::BadResponse, message, true)).await?;
        return Ok(Stepped::Ended);
    }
    if answer.calls.iter().map(|call| call.arguments.len()).sum::<usize>() > ANSWER_ARGUMENT_BYTES {
        reporter.finish(outcome_of(endless(ANSWER_ARGUMENT_BYTES, "arguments"))).await?;
        return Ok(Stepped::Ended);
    }
    let made = std::mem::take(&mut answer.calls);
    let total = made.len() as u64;
    let mut calls = Vec::new();
    let mut shown = Vec::new();
    for (call, index) in made.into_iter().zip(1..) {
        let (known, item) = show_call(reporter, &texts.message_id, &call, toolbox);
        calls.push(ModelToolCall {
            call_id: known.call_id.clone(),
            name: call.name,
            arguments: call.arguments,
            index,
            total,
        });
        shown.push((known, item));
    }
    let (text, reasoning) = (answer.text.clone(), answer.reasoning.clone());
    let said = Said { text: texts.text.clone(), reasoning: texts.reasoning.clone() };
    let stored = Answered {
        message_id: texts.message_id.clone(),
        text: said.item(false, reporter).filter(|_| !text.is_empty()).map(|id| (id, text)),
        reasoning: said.item(true, reporter).filter(|_| !reasoning.is_empty()).map(|id| (id, reasoning)),
        calls: shown,
        usage: answer.usage,
        provider_parts: answer.provider_parts,
    };
    let store = move |turn: &mut Turn<'_>, run_id: &RunId| store_answer(turn, run_id, stored, &said);
    if !calls.is_empty() {
        reporter.stage(store);
        return Ok(Stepped::Calls(calls));
    }
    let outcome = completed(answer.text);
    reporter
        .report(move |turn, run_id| {
            store(turn, run_id);
            turn.finish_run(run_id, outcome);
        })
        .await?;
    Ok(Stepped::Ended)
}

/// Items of the answer's texts that have begun.
#[derive(Clone)]
struct Said {
    text: Option<ItemId>,
    reasoning: Option<ItemId>,
}

impl Said {
    /// The item of the text: the one that has begun, or a new one for a text that did not stream.
    fn item(&self, reasoning: bool, reporter: &Reporter) -> Option<ItemId> {
        let begun = if reasoning { &self.reasoning } else { &self.text };
        begun.clone().or_else(|| Some(reporter.shared().next_id().into()))
    }
}

fn store_answer(turn: &mut Turn<'_>, run_id: &RunId, answer: Answered, said: &Said) {
    if said.reasoning.is_none()
        && let Some((id, _)) = &answer.reasoning
    {
        turn.change.text_started(run_id, id, &answer.message_id, true);
    }
    if said.text.is_none()
        && let Some((id, _)) = &answer.text
    {
        turn.change.text_started(run_id, id, &answer.message_id, false);
    }
    turn.change.answered(run_id, answer);
}

fn show_call(
    reporter: &Reporter,
    message_id: &MessageId,
    call: &crate::models::ModelCall,
    toolbox: &Toolbox,
) -> (AnsweredCall, ToolCallItem) {
    let shared = reporter.shared();
    let call_id: CallId = shared.next_id().into();
    let parsed = parse_arguments(&call.arguments);
    let known = AnsweredCall {
        call_id: call_id.clone(),
        item_id: shared.next_id().into(),
        name: call.name.clone(),
        raw_arguments: parsed.is_err().then(|| call.arguments.clone()),
        message_id: shared.next_id().into(),
    };
    let tool = toolbox.find(&call.name).map_or_else(|| unknown_ref(&call.name), |spec| spec.to_ref());
    let item = ToolCallItem {
        message_id: message_id.clone(),
        call_id,
        interaction_id: None,
        tool,
        // Arguments that are no object could not be sent to a provider again (K27); the raw text is kept beside them.
        arguments: Value::Object(parsed.unwrap_or_default()),
        original_arguments: None,
        decision: None,
        content: None,
        structured_content: None,
        meta: None,
        error: None,
        effect: None,
        blob: None,
        transcript_id: None,
        timing: None,
    };
    (known, item)
}

const fn completed(text: String) -> RunOutcome {
    RunOutcome {
        status: OutcomeStatus::Completed,
        text: Some(text),
        structured: None,
        reason: None,
        by: None,
        error: None,
    }
}

fn outcome_of(error: ModelError) -> RunOutcome {
    let mut outcome = failed(error.kind, error.message.clone(), error.retryable);
    outcome.error = Some(RunError {
        kind: error.kind,
        message: error.message,
        retryable: error.retryable,
        retry_after_ms: error.retry_after_ms,
        provider: None,
    });
    outcome
}

/// The texts of one answer as they stream.
struct Texts<'a> {
    reporter: &'a Reporter,
    message_id: MessageId,
    text: Option<ItemId>,
    reasoning: Option<ItemId>,
    pending: Vec<(bool, String)>,
    /// How much there was in all.
    bytes: usize,
    /// Whether there was more than an answer may have, and the rest was dropped.
    is_full: bool,
}

impl<'a> Texts<'a> {
    fn new(reporter: &'a Reporter) -> Self {
        let message_id = reporter.shared().next_id().into();
        Self { reporter, message_id, text: None, reasoning: None, pending: Vec::new(), bytes: 0, is_full: false }
    }

    fn add(&mut self, reasoning: bool, mut text: String) {
        let room = ANSWER_TEXT_BYTES - self.bytes;
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
            self.is_full = true;
        }
        self.bytes += text.len();
        match self.pending.last_mut() {
            Some((kind, so_far)) if *kind == reasoning => so_far.push_str(&text),
            _ => self.pending.push((reasoning, text)),
        }
    }

    async fn flush(&mut self) {
        for (reasoning, text) in std::mem::take(&mut self.pending) {
            let slot = if reasoning { &mut self.reasoning } else { &mut self.text };
            let begins = slot.is_none();
            let item_id = slot.get_or_insert_with(|| self.reporter.shared().next_id().into()).clone();
            let message_id = self.message_id.clone();
            self.reporter
                .post(move |turn, run_id| {
                    if begins {
                        turn.change.text_started(run_id, &item_id, &message_id, reasoning);
                    }
                    turn.delta(&item_id, text);
                })
                .await;
        }
    }
}
