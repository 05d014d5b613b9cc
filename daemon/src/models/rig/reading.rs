//! Reads what a provider streams into what a model says, and judges whether it said all of it.

use std::collections::BTreeMap;

use futures::StreamExt;
use rig_core::{
    completion::{CompletionResponse, FinishReason},
    message::{AssistantContent, StopReason, ToolCall},
    streaming::{CompletionStream, Item, StreamEvent},
};
use ropewalk_protocol::{Usage, limits::TOOL_CALLS_PER_MESSAGE};

use super::{Shape, failure::Failures, history::SentNames, parts};
use crate::models::{ANSWER_ARGUMENT_BYTES, ModelAnswer, ModelCall, ModelError, ModelEvent, ModelRequest, usage};

/// An answer as it arrives.
pub(super) struct Reading {
    stream: CompletionStream,
    failures: Failures,
    shape: Shape,
    model: String,
    names: SentNames,
    max_output_tokens: Option<u64>,
    input_characters: usize,
    text: String,
    reasoning: String,
    calls: BTreeMap<usize, OpenCall>,
    argument_bytes: usize,
}

/// A call as it arrives.
#[derive(Default)]
struct OpenCall {
    name: String,
    arguments: String,
}

impl Reading {
    pub(super) fn new(stream: CompletionStream, failures: Failures, shape: Shape, request: &ModelRequest) -> Self {
        Self {
            stream,
            failures,
            shape,
            model: request.model.clone(),
            names: SentNames::new(shape, &request.tools),
            max_output_tokens: request.max_output_tokens,
            input_characters: usage::input_characters(request),
            text: String::new(),
            reasoning: String::new(),
            calls: BTreeMap::new(),
            argument_bytes: 0,
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
                    // Calls are shown when they are whole, so that nobody but us sees that there is no end of them.
                    if self.calls.len() as u64 > TOOL_CALLS_PER_MESSAGE || self.argument_bytes > ANSWER_ARGUMENT_BYTES {
                        return Some(Err(self.failures.too_much()));
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
            StreamEvent::Start { name: Some(name), .. } => {
                self.calls.entry(part).or_default().name = self.names.flat(&name);
            }
            StreamEvent::Arguments { json, .. } => {
                self.argument_bytes += json.len();
                self.calls.entry(part).or_default().arguments.push_str(&json);
            }
            StreamEvent::End { content: AssistantContent::ToolCall(ended), .. } => {
                let call = self.calls.entry(part).or_default();
                call.name = self.names.flat(&ended.function.name);
                call.arguments = whole_arguments(std::mem::take(&mut call.arguments), &ended);
            }
            _ => {}
        }
        None
    }

    /// The whole answer, if there is positive proof that it is whole, or was whole but for its output limit: the
    /// provider named a reason for its end, and a good one.
    pub(super) async fn finish(self) -> Result<ModelAnswer, ModelError> {
        let Self {
            stream, failures, shape, model, max_output_tokens, input_characters, text, reasoning, calls, ..
        } = self;
        let response = stream.finish().await.map_err(|error| failures.of(&error))?;
        failures.check_arguments()?;
        let said_cut = failures.saw_output_limit() || response.choice.iter().any(is_cut_item);
        let is_filtered = response.finish_reason() == Some(FinishReason::ContentFilter);
        match (response.finish_reason(), response.stop()) {
            (None, _) if shape.ends_without_reason() => {}
            (None, _) => return Err(failures.unfinished()),
            (_, StopReason::Error(reason) | StopReason::Aborted(reason)) => {
                return Err(failures.bad_ending(&reason, is_filtered));
            }
            _ => {}
        }
        let calls = calls.into_values().filter(|call| !call.name.is_empty());
        let calls = calls.map(|call| ModelCall { name: call.name, arguments: call.arguments }).collect::<Vec<_>>();
        let is_cut = said_cut
            || response.finish_reason() == Some(FinishReason::Length)
            || is_cut_unsaid(&response, &calls, max_output_tokens);
        if calls.is_empty() && response.finish_reason() == Some(FinishReason::ToolCalls) {
            return Err(failures.missing_calls());
        }
        if is_cut && text.trim().is_empty() && calls.is_empty() {
            return Err(failures.output_limit());
        }
        let output = calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>();
        let usage = counted(&response).unwrap_or_else(|| {
            let output = output + text.len() + reasoning.len();
            usage::estimated(input_characters, output)
        });
        let provider_parts = parts::kept(shape, &response, &model);
        Ok(ModelAnswer { text, reasoning, calls, usage, provider_parts, is_cut })
    }
}

/// A call's arguments byte for byte as they were streamed, where the call that ended has the same in it; else what it
/// ended with, because some providers correct what they streamed.
fn whole_arguments(streamed: String, ended: &ToolCall) -> String {
    let function = &ended.function;
    if let Some(invalid) = &function.invalid_arguments {
        return invalid.clone();
    }
    let whole = function.arguments_value();
    let is_same = serde_json::from_str::<serde_json::Value>(&streamed).is_ok_and(|streamed| streamed == whole);
    if is_same { streamed } else { whole.to_string() }
}

/// Whether the provider's own form of a call says that it is not all there.
fn is_cut_item(content: &AssistantContent) -> bool {
    matches!(content, AssistantContent::ToolCall(_))
        && content.native_item().and_then(|item| item.get("status")).is_some_and(|status| status == "incomplete")
}

/// Whether the output limit cut a call although the provider gave another reason for the end, as some gateways do.
fn is_cut_unsaid(response: &CompletionResponse, calls: &[ModelCall], max_output_tokens: Option<u64>) -> bool {
    let is_at_limit = response.usage.output_tokens.zip(max_output_tokens).is_some_and(|(used, limit)| used >= limit);
    let ends_early = |call: &ModelCall| {
        let arguments = serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments);
        !call.arguments.trim().is_empty() && arguments.is_err_and(|error| error.is_eof())
    };
    is_at_limit && calls.iter().any(ends_early)
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
