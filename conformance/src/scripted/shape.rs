//! The shapes in which the scripted model can be asked, and what each needs to be told apart from a request.

use axum::http::HeaderMap;
use ropewalk_script::Turn;
use serde_json::Value;

use super::{chat, memory::Memory, messages, refusal::Refusal, responses, strict, voice::Voice};
use crate::scripted::plan::Plan;

/// A provider's way of asking and answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// OpenAI's chat completions: `POST /v1/chat/completions`.
    Chat,
    /// OpenAI's responses: `POST /v1/responses`.
    Responses,
    /// Anthropic's messages: `POST /v1/messages`.
    Messages,
}

/// What an answer is told about its request.
pub(super) struct Header {
    /// Makes the ids of this answer unlike those of others.
    pub(super) number: u64,
    /// The request.
    pub(super) request: Value,
    /// How many tokens the request has.
    pub(super) input_tokens: u64,
}

impl Shape {
    /// Every shape.
    pub const ALL: &[Self] = &[Self::Chat, Self::Responses, Self::Messages];

    /// The path of its requests.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }

    /// The fields of a request whose content counts against the window, and is what usage is made of.
    pub(super) const fn counted(self) -> &'static [&'static str] {
        match self {
            Self::Chat => &["messages", "tools"],
            Self::Responses => &["instructions", "input", "tools"],
            Self::Messages => &["system", "messages", "tools"],
        }
    }

    /// The field that a refusal for its length names.
    pub(super) const fn longest_field(self) -> &'static str {
        match self {
            Self::Chat | Self::Messages => "messages",
            Self::Responses => "input",
        }
    }

    /// How the ids of its calls begin.
    pub(super) const fn call_prefix(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses => "call_",
            Self::Messages => "toolu_",
        }
    }

    /// The conversation as the script engine reads it.
    pub(super) fn conversation(self, request: &Value) -> Vec<Turn> {
        match self {
            Self::Chat => chat::conversation(request),
            Self::Responses => responses::conversation(request),
            Self::Messages => messages::conversation(request),
        }
    }

    /// The names of the tools that may be called.
    pub(super) fn tool_names(self, request: &Value) -> Vec<String> {
        let tools = request["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let name = |tool: &Value| match self {
            Self::Chat => tool["function"]["name"].as_str().map(str::to_owned),
            Self::Responses | Self::Messages => tool["name"].as_str().map(str::to_owned),
        };
        tools.iter().filter_map(name).collect()
    }

    /// How many tokens the answer may have.
    pub(super) fn output_limit(self, request: &Value) -> Option<u64> {
        let names: &[&str] = match self {
            Self::Chat => &["max_completion_tokens", "max_tokens"],
            Self::Responses => &["max_output_tokens"],
            Self::Messages => &["max_tokens"],
        };
        names.iter().find_map(|name| request[*name].as_u64())
    }

    /// Puts an answer into its words.
    pub(super) fn voice(self, plan: Plan, header: Header) -> Box<dyn Voice> {
        match self {
            Self::Chat => Box::new(chat::Chat::new(plan, header)),
            Self::Responses => Box::new(responses::Responses::new(plan, header)),
            Self::Messages => Box::new(messages::Messages::new(plan, header)),
        }
    }

    /// The first thing in a request that a real provider of this shape would refuse.
    pub(super) fn strict_refusal(self, body: &Value, memory: &Memory) -> Option<Refusal> {
        match self {
            Self::Chat => strict::chat::refusal(body, memory),
            Self::Responses => strict::responses::refusal(body, memory),
            Self::Messages => strict::messages::refusal(body, memory),
        }
    }

    /// What is wrong with the headers of a request; only strict mode asks for more than the key. Anthropic takes it in a
    /// header of its own, and from its newer clients as everybody else does.
    pub(super) fn header_refusal(self, headers: &HeaderMap, key: Option<&str>, strict: bool) -> Option<Refusal> {
        let given = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let is_right = |key: &str| {
            let is_borne = given("authorization") == Some(&format!("Bearer {key}"));
            is_borne || (self == Self::Messages && given("x-api-key") == Some(key))
        };
        if !key.is_none_or(is_right) {
            return Some(Refusal::wrong_key());
        }
        let is_versioned = self != Self::Messages || given("anthropic-version").is_some();
        (strict && !is_versioned).then(|| Refusal::bad_request("anthropic-version: header is required", None))
    }
}
