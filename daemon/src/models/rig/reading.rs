//! Reads what a provider streams into what a model says, and judges whether it said all of it.

use std::collections::BTreeMap;

use futures::StreamExt;
use rig_core::{
    completion::{CompletionResponse, FinishReason},
    message::{AssistantContent, StopReason},
    streaming::{CompletionStream, Item, StreamEvent},
};
use ropewalk_protocol::Usage;

use super::{Shape, failure::Failures};
use crate::models::{ModelAnswer, ModelCall, ModelError, ModelEvent, ModelRequest, ProviderParts, usage};

/// An answer as it arrives.
pub(super) struct Reading {
    stream: CompletionStream,
    failures: Failures,
    shape: Shape,
    model: String,
    input_characters: usize,
    text: String,
    reasoning: String,
    calls: BTreeMap<usize, OpenCall>,
}

/// A call as it arrives.
#[derive(Default)]
struct OpenCall {
    name: String,
    arguments: String,
    ended: bool,
}

impl Reading {
    pub(super) fn new(stream: CompletionStream, failures: Failures, shape: Shape, request: &ModelRequest) -> Self {
        Self {
            stream,
            failures,
            shape,
            model: request.model.clone(),
            input_characters: usage::input_characters(request),
            text: String::new(),
            reasoning: String::new(),
            calls: BTreeMap::new(),
        }
    }

    /// The next delta or failure; `None` when the provider said that it is done.
    pub(super) async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            match self.stream.next().await? {
                Ok(Item::Event(event)) => {
                    if let Some(delta) = self.absorb(event) {
                        return Some(Ok(delta));
                    }
                }
                Ok(Item::Unknown(payload)) => tracing::debug!(?payload, "the provider sent what nobody knows"),
                Err(error) => return Some(Err(self.failures.of(&error))),
            }
        }
    }

    fn absorb(&mut self, event: StreamEvent) -> Option<ModelEvent> {
        let part = event.part().index();
        match event {
            StreamEvent::Text { text, .. } if !text.is_empty() => {
                self.text.push_str(&text);
                return Some(ModelEvent::Text(text));
            }
            StreamEvent::Reasoning { text, .. } if !text.is_empty() => {
                self.reasoning.push_str(&text);
                return Some(ModelEvent::Reasoning(text));
            }
            StreamEvent::Arguments { json, .. } => self.calls.entry(part).or_default().arguments.push_str(&json),
            StreamEvent::End { content: AssistantContent::ToolCall(ended), .. } => {
                let call = self.calls.entry(part).or_default();
                call.ended = true;
                ended.function.name.as_str().clone_into(&mut call.name);
                if call.arguments.is_empty() && !ended.function.arguments.is_empty() {
                    call.arguments = ended.function.arguments_value().to_string();
                }
            }
            _ => {}
        }
        None
    }

    /// The whole answer, if there is positive proof that it is whole: the provider named a reason for its end, and a
    /// good one.
    pub(super) async fn finish(self) -> Result<ModelAnswer, ModelError> {
        let Self { stream, failures, shape, model, input_characters, text, reasoning, calls } = self;
        let response = stream.finish().await.map_err(|error| failures.of(&error))?;
        match (response.finish_reason(), response.stop()) {
            (None, _) => return Err(failures.unfinished()),
            (Some(FinishReason::Length), _) => return Err(failures.output_limit()),
            (Some(_), StopReason::Error(reason) | StopReason::Aborted(reason)) => {
                return Err(failures.bad_ending(&reason));
            }
            (Some(_), _) => {}
        }
        let calls = calls.into_values().filter(|call| call.ended);
        let calls = calls.map(|call| ModelCall { name: call.name, arguments: call.arguments }).collect::<Vec<_>>();
        let output = calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>();
        let usage = counted(&response).unwrap_or_else(|| {
            let output = output + text.len() + reasoning.len();
            usage::estimated(input_characters, output)
        });
        Ok(ModelAnswer {
            text,
            reasoning,
            calls,
            usage,
            provider_parts: provider_parts(&response, shape, model),
            is_cut: false,
        })
    }
}

/// What the provider counted, if it counted both ways.
fn counted(response: &CompletionResponse) -> Option<Usage> {
    let usage = &response.usage;
    Some(Usage {
        input_tokens: usage.input_tokens?,
        output_tokens: usage.output_tokens?,
        cached_input_tokens: usage.cached_input_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        requests: 1,
        estimated: false,
    })
}

/// The assistant's message without what the chain has anyway, its text and its calls.
fn provider_parts(response: &CompletionResponse, shape: Shape, model: String) -> Option<ProviderParts> {
    let kept = response.choice.iter();
    let kept = kept.filter(|block| matches!(block, AssistantContent::Reasoning(_) | AssistantContent::Opaque(_)));
    let kept = kept.cloned().collect::<Vec<_>>();
    if kept.is_empty() {
        return None;
    }
    let message = serde_json::to_value(response.head().with_content(kept)).ok()?;
    Some(ProviderParts { provider: shape.provider().to_owned(), model, parts: vec![message] })
}
