//! Which providers are reached through rig, and what each of them is called, answers at and is asked by.

use rig_core::{
    completion::CompletionRequest,
    error::ProviderError,
    providers::{
        anthropic::AnthropicConfig,
        gemini::GeminiConfig,
        ollama::OllamaConfig,
        openai::{
            OpenAIConfig,
            wire::{Auth, Dialect},
        },
    },
    streaming::CompletionStream,
};
use ropewalk_protocol::Provider;

use super::{Connection, transport::Transport};

/// A provider behind rig, by the shape of its wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::models) enum Shape {
    /// Chat completions as OpenAI shapes them.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's generateContent.
    Gemini,
    /// Ollama's chat.
    Ollama,
}

impl Shape {
    /// The shape of a provider; `None` for the one that is no provider at all.
    pub(in crate::models) const fn of(provider: Provider) -> Option<Self> {
        match provider {
            Provider::OpenaiCompatible => Some(Self::Chat),
            Provider::OpenaiResponses => Some(Self::Responses),
            Provider::Anthropic => Some(Self::Anthropic),
            Provider::Gemini => Some(Self::Gemini),
            Provider::Ollama => Some(Self::Ollama),
            Provider::Scripted => None,
        }
    }

    /// The provider as the wire spells it; provider parts are tagged with it.
    pub(super) const fn provider(self) -> &'static str {
        match self {
            Self::Chat => "openaiCompatible",
            Self::Responses => "openaiResponses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// Where it is looked for when an endpoint names no address.
    pub(in crate::models) const fn base_url(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::Ollama => "http://localhost:11434",
        }
    }
}

/// Asks `model`; nothing is sent before the stream is read.
pub(super) fn open(
    connection: &Connection,
    transport: Transport,
    model: &str,
    asked: CompletionRequest,
) -> Result<CompletionStream, ProviderError> {
    let base_url = connection.base_url.clone();
    let key = connection.key.clone().unwrap_or_default();
    match connection.shape {
        Shape::Chat => {
            let provider = OpenAIConfig::with_key(&dialect(), key).with_base_url(base_url);
            provider.connect(transport).chat(model).stream(asked)
        }
        Shape::Responses => {
            let provider = OpenAIConfig::with_key(&dialect(), key).with_base_url(base_url);
            provider.connect(transport).responses(model).stream(asked)
        }
        Shape::Anthropic => {
            let provider = AnthropicConfig::new(key).with_base_url(base_url);
            provider.connect(transport).completion(model).stream(asked)
        }
        Shape::Gemini => {
            let provider = GeminiConfig::new(key).with_base_url(base_url);
            provider.connect(transport).completion(model).stream(asked)
        }
        Shape::Ollama => {
            let provider = OllamaConfig::new().with_base_url(base_url).with_api_key(key);
            provider.connect(transport).native_completion(model).stream(asked)
        }
    }
}

/// OpenAI's shapes as a server speaks them of whom nothing else is known. A local one has no key.
fn dialect() -> Dialect {
    let mut dialect = Dialect::gateway(Shape::Chat.provider(), "", "");
    dialect.quirks.auth = Auth::OptionalBearer;
    dialect
}
