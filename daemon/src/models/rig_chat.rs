//! OpenAI-compatible chat completions through rig-core. Its types stay in this module and below.

mod failure;
mod history;
mod scan;
mod schema;
mod transport;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::{StreamExt, stream, stream::BoxStream};
use rig_core::{
    completion::{CompletionResponse, FinishReason},
    message::{AssistantContent, StopReason},
    providers::openai::{
        OpenAIConfig,
        wire::{Auth, Dialect},
    },
    streaming::{CompletionStream, Item, StreamEvent},
};
use ropewalk_protocol::Usage;

use self::{
    failure::Failures,
    transport::{Transport, Watch},
};
use super::{Model, ModelAnswer, ModelCall, ModelError, ModelEvent, ModelRequest, ProviderParts, usage};
use crate::clock::Clock;

/// The provider as the wire spells it; provider parts are tagged with it.
const PROVIDER: &str = "openaiCompatible";

/// How long a provider may be silent before its answer counts as stalled, unless told otherwise.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// What a chat endpoint is reached with.
#[derive(Clone)]
pub(super) struct ChatConfig {
    /// The address below which `/chat/completions` is.
    pub(super) base_url: String,
    /// The secret, where there is one.
    pub(super) key: Option<String>,
    /// What sends.
    pub(super) http: reqwest::Client,
    /// What the silence of a provider is measured with.
    pub(super) clock: Arc<dyn Clock>,
    /// How long a provider may be silent.
    pub(super) idle_timeout: Duration,
}

/// A model behind chat completions.
pub(super) struct ChatModel {
    config: ChatConfig,
}

impl ChatModel {
    pub(super) const fn new(config: ChatConfig) -> Self {
        Self { config }
    }

    fn ask(&self, request: &ModelRequest) -> Result<Reading, ModelError> {
        let watch = Arc::new(Watch::default());
        let failures = Failures::new(&self.config, Arc::clone(&watch));
        let mut dialect = Dialect::gateway(PROVIDER, "", "");
        dialect.quirks.auth = Auth::OptionalBearer;
        let key = self.config.key.clone().unwrap_or_default();
        let provider = OpenAIConfig::with_key(&dialect, key).with_base_url(self.config.base_url.clone());
        let transport = Transport::new(&self.config, watch);
        let asked = history::completion_request(request).map_err(|reason| failures.request(&reason))?;
        let stream = provider.connect(transport).chat(request.model.clone()).stream(asked);
        Ok(Reading {
            stream: stream.map_err(|error| failures.of(&error))?,
            failures,
            model: request.model.clone(),
            input_characters: usage::input_characters(request),
            text: String::new(),
            reasoning: String::new(),
            calls: BTreeMap::new(),
        })
    }
}

impl Model for ChatModel {
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let reading = match self.ask(&request) {
            Ok(reading) => reading,
            Err(error) => return stream::once(async { Err(error) }).boxed(),
        };
        stream::unfold(Some(reading), |reading| async {
            let mut reading = reading?;
            Some(match reading.next().await {
                Some(event) => {
                    let goes_on = event.is_ok();
                    (event, goes_on.then_some(reading))
                }
                None => (reading.finish().await.map(ModelEvent::Finished), None),
            })
        })
        .boxed()
    }
}

/// An answer as it arrives.
struct Reading {
    stream: CompletionStream,
    failures: Failures,
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
    /// The next delta or failure; `None` when the provider said that it is done.
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
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
    async fn finish(self) -> Result<ModelAnswer, ModelError> {
        let Self { stream, failures, model, input_characters, text, reasoning, calls } = self;
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
            provider_parts: provider_parts(&response, model),
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
fn provider_parts(response: &CompletionResponse, model: String) -> Option<ProviderParts> {
    let kept = response.choice.iter();
    let kept = kept.filter(|block| matches!(block, AssistantContent::Reasoning(_) | AssistantContent::Opaque(_)));
    let kept = kept.cloned().collect::<Vec<_>>();
    if kept.is_empty() {
        return None;
    }
    let message = serde_json::to_value(response.head().with_content(kept)).ok()?;
    Some(ProviderParts { provider: PROVIDER.to_owned(), model, parts: vec![message] })
}

#[cfg(test)]
mod tests;
