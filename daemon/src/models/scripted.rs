//! The scripted model: a real endpoint behind the same seam that needs neither key nor network.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures::{StreamExt, stream, stream::BoxStream};
use ropewalk_protocol::{Message, Part, Role, RunErrorKind, Usage};
use ropewalk_script::{Action, FailKind, Turn, resolve_name, respond};
use serde::{Deserialize, de::IntoDeserializer};

use super::{ChainMessage, Model, ModelAnswer, ModelCall, ModelError, ModelEvent, ModelRequest, usage};
use crate::{
    clock::Clock,
    domain::{Carried, carried_request},
};

/// Answers to one request that a summary can tell of; more than any script has blocks.
const CARRIED_ANSWERS: usize = 100_000;

/// The model that does what the user's message says; the grammar is that of [`ropewalk_script`].
pub struct ScriptedModel {
    clock: Arc<dyn Clock>,
}

impl ScriptedModel {
    /// A scripted model whose waits go by this clock.
    pub const fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

impl Model for ScriptedModel {
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let performance = Performance::new(Arc::clone(&self.clock), &request);
        stream::unfold(Some(performance), |performance| async {
            let mut performance = performance?;
            let event = performance.next().await;
            let goes_on = matches!(event, Ok(ModelEvent::Text(_) | ModelEvent::Reasoning(_)));
            Some((event, goes_on.then_some(performance)))
        })
        .boxed()
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

/// An answer under way.
struct Performance {
    clock: Arc<dyn Clock>,
    actions: VecDeque<Action>,
    names: Vec<String>,
    answer: ModelAnswer,
    input_characters: usize,
}

impl Performance {
    fn new(clock: Arc<dyn Clock>, request: &ModelRequest) -> Self {
        Self {
            clock,
            actions: respond(&conversation(&request.messages)).into(),
            names: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            answer: ModelAnswer::default(),
            input_characters: usage::input_characters(request),
        }
    }

    /// Goes on until there is something to hand out; the last thing is the whole answer or its failure.
    async fn next(&mut self) -> Result<ModelEvent, ModelError> {
        while let Some(action) = self.actions.pop_front() {
            match action {
                Action::Say(text) => {
                    self.answer.text.push_str(&text);
                    return Ok(ModelEvent::Text(text));
                }
                Action::Think(text) => {
                    self.answer.reasoning.push_str(&text);
                    return Ok(ModelEvent::Reasoning(text));
                }
                Action::Call { tool, arguments } => {
                    let names = self.names.iter().map(String::as_str);
                    let name = resolve_name(&tool, names).to_owned();
                    self.answer.calls.push(ModelCall { name, arguments });
                }
                Action::Sleep { ms } => self.clock.sleep(Duration::from_millis(ms)).await,
                Action::Fail { kind } => return Err(failure(kind)),
            }
        }
        self.answer.usage = self.usage();
        Ok(ModelEvent::Finished(std::mem::take(&mut self.answer)))
    }

    fn usage(&self) -> Usage {
        let answer = &self.answer;
        let calls = answer.calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>();
        usage::estimated(self.input_characters, answer.text.len() + answer.reasoning.len() + calls)
    }
}

/// The chain as the script engine reads it. What a summary says is nobody's input; the request it carries is, with as many
/// answers as were given to it, so that a script goes on where it was. What a run was told by itself is nobody's input
/// either: the answer to that is the script's next block.
fn conversation(chain: &[Arc<ChainMessage>]) -> Vec<Turn> {
    let mut calls = Vec::new();
    let mut turns = Vec::with_capacity(chain.len());
    for message in chain.iter().map(|chained| &chained.message).filter(|message| !is_own_note(message)) {
        if message.summary {
            turns.extend(message.content.iter().filter_map(Part::as_text).flat_map(carried));
            continue;
        }
        let texts = message.content.iter().filter_map(Part::as_text).map(str::to_owned).collect::<Vec<_>>();
        turns.push(match message.role {
            Role::User => Turn::User(texts),
            Role::Assistant => {
                calls.clone_from(&message.tool_calls);
                Turn::assistant(calls.iter().map(|call| &call.flat_name))
            }
            Role::Tool => {
                let call = calls.iter().find(|call| Some(&call.call_id) == message.call_id.as_ref());
                Turn::result(call.map_or("tool", |call| &call.flat_name), texts)
            }
        });
    }
    turns
}

fn is_own_note(message: &Message) -> bool {
    message.sender.as_ref().is_some_and(|sender| Some(&sender.run_id) == message.run_id.as_ref())
}

fn carried(summary: &str) -> Vec<Turn> {
    let Some(Carried { text, answers }) = carried_request(summary) else { return Vec::new() };
    let answers = usize::try_from(answers).unwrap_or(usize::MAX);
    let answers = std::iter::repeat_n(Turn::Assistant(Vec::new()), answers.min(CARRIED_ANSWERS));
    std::iter::once(Turn::User(vec![text])).chain(answers).collect()
}

fn failure(kind: FailKind) -> ModelError {
    let named = kind.word();
    let word: serde::de::value::StrDeserializer<'_, serde::de::value::Error> = named.into_deserializer();
    let kind = RunErrorKind::deserialize(word).expect("every word of the script is a kind of failure");
    ModelError::new(kind, format!("The script told the scripted model to fail with this error ({named})."))
}

#[cfg(test)]
mod tests;
