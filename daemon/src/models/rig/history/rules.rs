//! What each provider demands of a history beyond what all do: names, ids and how a failure is told.

use rig_core::message::ToolName;

use super::Shape;
use crate::models::ToolDefinition;

/// The longest name of a tool that every provider takes.
const NAME_CHARACTERS: usize = 64;

/// The longest id of a call that every provider takes.
const ID_CHARACTERS: usize = 64;

/// Whether a result has a mark for failure, so that its text need not say it.
pub(super) const fn has_error_mark(shape: Shape) -> bool {
    match shape {
        Shape::Anthropic | Shape::Gemini => true,
        Shape::Chat | Shape::Responses | Shape::Ollama => false,
    }
}

/// A name the provider takes, even for a call of a tool the model made up: `[A-Za-z0-9_-]{1,64}`, and for Gemini a
/// letter or `_` first.
pub(super) fn tool_name(shape: Shape, name: &str) -> ToolName {
    let needs_letter = shape == Shape::Gemini && !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let prefix = if needs_letter && !name.is_empty() { "_" } else { "" };
    let name = legal(&format!("{prefix}{name}"), NAME_CHARACTERS);
    ToolName::new(name).unwrap_or_else(|_| ToolName::new("unknown").expect("the name is not empty"))
}

/// A call's id as every provider takes it, `[A-Za-z0-9_-]{1,64}`. The ids are ours, so they are distinct and the same in
/// every request; a provider's own lives in one answer only.
pub(super) fn call_id(id: &str) -> String {
    legal(id, ID_CHARACTERS)
}

fn legal(text: &str, characters: usize) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    text.chars().map(legal).take(characters).collect()
}

/// The names of tools that are sent otherwise than they are called here, so that a call finds its way back.
pub(in super::super) struct SentNames(Vec<(ToolName, String)>);

impl SentNames {
    pub(in super::super) fn new(shape: Shape, tools: &[ToolDefinition]) -> Self {
        let sent = tools.iter().map(|tool| (tool_name(shape, &tool.name), tool.name.clone()));
        Self(sent.filter(|(sent, name)| sent.as_str() != name).collect())
    }

    /// The tool a model means by this name.
    pub(in super::super) fn flat(&self, sent: &str) -> String {
        let known = self.0.iter().find(|(known, _)| known.as_str() == sent);
        known.map_or_else(|| sent.to_owned(), |(_, name)| name.clone())
    }
}
