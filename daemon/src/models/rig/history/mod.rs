//! Builds what is sent out of the chain: the one place that makes a history no provider refuses.
//!
//! Providers refuse empty texts, calls without results, results without calls, names outside of their alphabet,
//! arguments that are no object, and conversations that begin or end with an answer; a chain may hold all of them after
//! a crash, a cut answer, a compaction or a model's invention. What is common is here; what a provider has of its own is
//! in [`rules`]; what a message says is in [`content`].
//!
//! rig then does the rest for its wire: it joins messages of one role, puts results before all else in a message, moves
//! an image to the user's place where a result cannot carry it, and tells calls as text when no tool is declared at all.
//! A call of a tool that is no longer declared stays a call as long as any tool is.

mod content;
mod rules;

use std::sync::Arc;

use rig_core::{
    completion::{CompletionRequest, ToolDefinition},
    message::{AssistantContent, AssistantMessage, CallId, Message, Text, ToolCall, ToolFunction, UserContent},
};
use ropewalk_protocol as wire;

pub(super) use self::rules::SentNames;
use self::{
    content::{result_content, user_message},
    rules::{call_id, tool_name},
};
use super::{Shape, parts, schema};
use crate::models::{ChainMessage, ModelRequest};

/// What stands in the user's place when the chain begins with an answer.
const BEFORE: &str = "(Earlier messages are not shown.)";

/// What stands in the user's place when the chain ends with an answer.
const GO_ON: &str = "(Go on.)";

/// The request as rig takes it, or why it cannot be made.
pub(super) fn completion_request(shape: Shape, request: &ModelRequest) -> Result<CompletionRequest, String> {
    let mut history = messages(shape, &request.messages, &request.model);
    match history.first() {
        None => return Err("there is nothing to ask: the thread has no message with content".to_owned()),
        Some(Message::Assistant(_)) => history.insert(0, Message::user(BEFORE)),
        Some(_) => {}
    }
    if matches!(history.last(), Some(Message::Assistant(_))) {
        history.push(Message::user(GO_ON));
    }
    if !request.instructions.trim().is_empty() {
        history.insert(0, Message::system(request.instructions.clone()));
    }
    let tools = request.tools.iter().map(|tool| {
        let (schema, note) = schema::sendable(shape, &tool.input_schema);
        ToolDefinition::new(tool_name(shape, &tool.name), tool.description.clone() + &note, schema)
    });
    let mut asked = CompletionRequest::new("").tools(tools.collect()).max_tokens(request.max_output_tokens);
    asked.chat_history = history;
    Ok(asked)
}

fn messages(shape: Shape, chain: &[Arc<ChainMessage>], model: &str) -> Vec<Message> {
    let mut messages = Vec::with_capacity(chain.len());
    for (place, chained) in chain.iter().enumerate() {
        match chained.message.role {
            wire::Role::User => messages.push(Message::User { content: user_message(&chained.message) }),
            wire::Role::Assistant => {
                let results = chain[place + 1..].iter().map(|chained| &chained.message);
                let results = results.take_while(|message| message.role == wire::Role::Tool).collect::<Vec<_>>();
                messages.extend(assistant(shape, chained, model, &results));
            }
            // Sent with the calls they answer; one without a call is not sent at all.
            wire::Role::Tool => {}
        }
    }
    messages
}

/// An assistant message and, where it made calls, one message with exactly one result for each of them.
fn assistant(shape: Shape, chained: &ChainMessage, model: &str, results: &[&wire::Message]) -> Vec<Message> {
    let message = &chained.message;
    let text = message.content.iter().filter_map(wire::Part::as_text).collect::<String>();
    let (mut calls, mut answers) = (Vec::new(), Vec::new());
    for call in &message.tool_calls {
        let function = ToolFunction::new(tool_name(shape, &call.flat_name), call.arguments.clone());
        let sent = ToolCall::new(CallId::from_wire(call_id(call.call_id.as_str())), function);
        let result = results.iter().find(|result| result.call_id.as_ref() == Some(&call.call_id));
        let (is_error, content) = result_content(shape, result.copied());
        let answer = if is_error { sent.error_result(content) } else { sent.result(content) };
        answers.push(UserContent::ToolResult(answer));
        calls.push(sent);
    }
    let own = chained.provider_parts.as_ref();
    let own = own.filter(|parts| parts.provider == shape.provider() && parts.model == model);
    let turn = own.and_then(|parts| parts::restored(parts, &text, &calls)).unwrap_or_else(|| plain(&text, calls));
    let says_something = turn.content.iter().any(AssistantContent::is_answer);
    let turn = says_something.then_some(Message::Assistant(turn));
    let answers = (!answers.is_empty()).then_some(Message::User { content: answers });
    turn.into_iter().chain(answers).collect()
}

/// A message of which nothing but the chain is known, or which another provider or model made.
fn plain(text: &str, calls: Vec<ToolCall>) -> AssistantMessage {
    let said = (!text.trim().is_empty()).then(|| AssistantContent::Text(Text::new(text)));
    let calls = calls.into_iter().map(AssistantContent::ToolCall);
    AssistantMessage::new(said.into_iter().chain(calls).collect())
}
