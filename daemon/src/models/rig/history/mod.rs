//! Builds what is sent out of the chain: the one place that makes a history no provider refuses.
//!
//! Providers refuse empty texts, calls without results, results without calls, names outside `[A-Za-z0-9_-]{1,64}` and
//! arguments that are no object; a chain may hold all of them after a crash, a cut answer or a model's invention.

use std::sync::Arc;

use rig_core::{
    completion::{CompletionRequest, ToolDefinition},
    message::{
        AssistantContent, AssistantMessage, CallId, DocumentSourceKind, Image, ImageMediaType, Message, MimeType, Text,
        ToolCall, ToolFunction, ToolName, ToolResult, ToolResultContent, UserContent,
    },
};
use ropewalk_protocol as wire;

use super::{Shape, schema};
use crate::models::{ChainMessage, ModelRequest, ProviderParts};

/// The longest name of a tool that every provider takes.
const NAME_CHARACTERS: usize = 64;

/// The request as rig takes it, or why it cannot be made.
pub(super) fn completion_request(shape: Shape, request: &ModelRequest) -> Result<CompletionRequest, String> {
    let mut history = Vec::new();
    if !request.instructions.trim().is_empty() {
        history.push(Message::system(request.instructions.clone()));
    }
    history.extend(messages(shape, &request.messages, &request.model));
    if !history.iter().any(|message| matches!(message, Message::User { .. })) {
        return Err("there is nothing to ask: the thread has no message with content".to_owned());
    }
    let tools = request.tools.iter().map(|tool| {
        let name = ToolName::new(tool.name.clone()).map_err(|error| error.to_string())?;
        let (schema, note) = schema::sendable(&tool.input_schema);
        Ok(ToolDefinition::new(name, tool.description.clone() + &note, schema))
    });
    let tools = tools.collect::<Result<Vec<_>, String>>()?;
    let mut asked = CompletionRequest::new("").tools(tools);
    asked.chat_history = history;
    Ok(asked)
}

fn messages(shape: Shape, chain: &[Arc<ChainMessage>], model: &str) -> Vec<Message> {
    let mut messages = Vec::with_capacity(chain.len());
    for (place, chained) in chain.iter().enumerate() {
        match chained.message.role {
            wire::Role::User => messages.push(Message::User { content: user_content(&chained.message.content) }),
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
    let mut turn = chained.provider_parts.as_ref().and_then(|parts| replayed(shape, parts, model)).unwrap_or_default();
    let text = message.content.iter().filter_map(wire::Part::as_text).collect::<String>();
    if !text.trim().is_empty() {
        turn.content.push(AssistantContent::Text(Text::new(text)));
    }
    let mut answers = Vec::with_capacity(message.tool_calls.len());
    for call in &message.tool_calls {
        let function = ToolFunction::new(tool_name(&call.flat_name), call.arguments.clone());
        let sent = ToolCall::new(CallId::from_wire(call.call_id.to_string()), function);
        let result = results.iter().find(|result| result.call_id.as_ref() == Some(&call.call_id));
        answers.push(UserContent::ToolResult(answer(&sent, result)));
        turn.content.push(AssistantContent::ToolCall(sent));
    }
    let says_something = turn.content.iter().any(AssistantContent::is_answer);
    let turn = says_something.then_some(Message::Assistant(turn));
    let answers = (!answers.is_empty()).then_some(Message::User { content: answers });
    turn.into_iter().chain(answers).collect()
}

/// The provider's own parts of a message, where this provider and model made them.
fn replayed(shape: Shape, parts: &ProviderParts, model: &str) -> Option<AssistantMessage> {
    let fits = parts.provider == shape.provider() && parts.model == model;
    let message = parts.parts.first().filter(|_| fits)?;
    serde_json::from_value(message.clone()).ok()
}

/// A result as it is sent. This shape has no flag for a failure, so the text says it.
fn answer(call: &ToolCall, result: Option<&&wire::Message>) -> ToolResult {
    let Some(result) = result else {
        let missing = ToolResultContent::Text(Text::new("Error: this call was interrupted and has no result."));
        return call.error_result(vec![missing]);
    };
    let failed = result.is_error == Some(true);
    let mut content = Vec::new();
    for part in &result.content {
        match part {
            wire::Part::Image { media_type, data } if is_known_image(media_type) => {
                content.push(ToolResultContent::Image(image(media_type, data)));
            }
            part => content.extend(text_of(part).map(|text| ToolResultContent::Text(Text::new(text)))),
        }
    }
    if content.is_empty() {
        let nothing = if failed { "The call failed." } else { "The call succeeded and returned no content." };
        content.push(ToolResultContent::Text(Text::new(nothing)));
    }
    if let (true, Some(ToolResultContent::Text(text))) = (failed, content.first_mut()) {
        text.text.insert_str(0, "Error: ");
    }
    if failed { call.error_result(content) } else { call.result(content) }
}

fn user_content(parts: &[wire::Part]) -> Vec<UserContent> {
    let mut content = Vec::new();
    for part in parts {
        match part {
            wire::Part::Image { media_type, data } if is_known_image(media_type) => {
                content.push(UserContent::Image(image(media_type, data)));
            }
            part => content.extend(text_of(part).map(UserContent::text)),
        }
    }
    if content.is_empty() {
        content.push(UserContent::text("(an empty message)"));
    }
    content
}

/// A part as text, for what this shape cannot carry; `None` when there is nothing to say.
fn text_of(part: &wire::Part) -> Option<String> {
    let text = match part {
        wire::Part::Text { text } => text.clone(),
        wire::Part::Image { media_type, .. } => format!("(an image of type {media_type}, not sent)"),
        wire::Part::Audio { media_type, .. } => format!("(audio of type {media_type}, not sent)"),
        wire::Part::Resource { resource_id } => format!("(resource {resource_id})"),
        wire::Part::Review { review_id } => format!("(review {review_id})"),
        wire::Part::ResourceLink { uri, name } => format!("{name}: {uri}"),
    };
    (!text.trim().is_empty()).then_some(text)
}

fn is_known_image(media_type: &str) -> bool {
    ImageMediaType::from_mime_type(media_type).is_some()
}

fn image(media_type: &str, data: &str) -> Image {
    Image {
        data: DocumentSourceKind::base64(data),
        media_type: ImageMediaType::from_mime_type(media_type),
        ..Image::default()
    }
}

/// A name every provider takes, even for a call of a tool the model made up.
fn tool_name(name: &str) -> ToolName {
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name = name.chars().map(legal).take(NAME_CHARACTERS).collect::<String>();
    ToolName::new(name).unwrap_or_else(|_| ToolName::new("unknown").expect("the name is not empty"))
}
