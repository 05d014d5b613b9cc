//! Which providers are reached through rig, and what each of them is called, answers at and is asked by.

use rig_core::{
    completion::CompletionRequest,
    error::ProviderError,
    providers::{
        anthropic::{ANTHROPIC, AnthropicConfig, ToolInputStreaming},
        gemini::GeminiConfig,
        ollama::OllamaConfig,
        openai::{
            OpenAIConfig,
            wire::{Auth, BodyRewrite, Dialect, OutputCap},
        },
    },
    streaming::CompletionStream,
};
use ropewalk_protocol::Provider;
use serde_json::json;

use super::{Connection, scan::Framing, transport::Transport};

/// Tokens an answer of Anthropic's shape may have where neither the endpoint nor rig's catalogue of models says: it must
/// be told, and every model that ever spoke this shape allows as much.
const ANTHROPIC_OUTPUT_TOKENS: u64 = 4_096;

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

    /// Where it is looked for when an endpoint names no address. What is appended: `/chat/completions`, `/responses`,
    /// `/v1/messages`, `/v1beta/models/MODEL:streamGenerateContent`, `/api/chat`.
    pub(in crate::models) const fn base_url(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::Ollama => "http://localhost:11434",
        }
    }

    /// An address without the end that some documentation has and rig appends itself.
    fn trimmed(self, base_url: &str) -> &str {
        let base_url = base_url.trim_end_matches('/');
        let ends: &[&str] = match self {
            Self::Chat => &["/chat/completions"],
            Self::Responses => &["/responses"],
            // rig takes `/v1` and what follows off itself.
            Self::Anthropic => &[],
            Self::Gemini => &["/models", "/v1beta"],
            Self::Ollama => &["/chat", "/api"],
        };
        ends.iter().fold(base_url, |base_url, end| base_url.strip_suffix(end).unwrap_or(base_url))
    }

    pub(super) const fn framing(self) -> Framing {
        match self {
            Self::Ollama => Framing::Lines,
            _ => Framing::Events,
        }
    }

    /// Whether an answer of this shape may end without a reason for its end. Ollama's older servers only say that they
    /// are done, which is proof enough.
    pub(super) const fn ends_without_reason(self) -> bool {
        matches!(self, Self::Ollama)
    }
}

/// Asks `model`; nothing is sent before the stream is read.
pub(super) fn open(
    connection: &Connection,
    transport: Transport,
    model: &str,
    asked: CompletionRequest,
) -> Result<CompletionStream, ProviderError> {
    let shape = connection.shape;
    let base_url = shape.trimmed(&connection.base_url);
    let key = connection.key.clone().unwrap_or_default();
    match shape {
        Shape::Chat => {
            let provider = OpenAIConfig::with_key(&dialect(base_url), key).with_base_url(base_url);
            provider.connect(transport).chat(model).stream(asked)
        }
        Shape::Responses => {
            // Nothing is kept at the provider: the history goes along with every request, and reasoning in cipher.
            let asked = asked.additional_params(json!({"store": false}));
            let provider = OpenAIConfig::with_key(&dialect(base_url), key).with_base_url(base_url);
            provider.connect(transport).responses(model).stream(asked)
        }
        Shape::Anthropic => {
            let provider = AnthropicConfig::new(key).with_base_url(base_url);
            let mut asking = provider.connect(transport).completion(model);
            if ANTHROPIC.default_max_tokens(model).is_none() {
                asking.wire = asking.wire.with_default_max_tokens(ANTHROPIC_OUTPUT_TOKENS);
            }
            if !is_host_of(base_url, "anthropic.com") {
                // Gateways refuse members of a tool that they do not know.
                asking.wire = asking.wire.with_tool_input_streaming(ToolInputStreaming::Off);
            }
            asking.stream(asked)
        }
        Shape::Gemini => {
            // rig would put the key into the address; the transport puts it where no error can show it.
            let provider = GeminiConfig::new("").with_base_url(base_url);
            let model = model.strip_prefix("models/").unwrap_or(model);
            provider.connect(transport).completion(model).stream(asked)
        }
        Shape::Ollama => {
            // Ollama gives a model a small window unless told otherwise, and drops the beginning of what does not fit
            // without a word.
            let window = connection.context_tokens.map(|tokens| json!({"num_ctx": tokens, "truncate": false}));
            let asked = if window.is_some() { asked.additional_params(window) } else { asked };
            let provider = OllamaConfig::new().with_base_url(base_url).with_api_key(key);
            provider.connect(transport).native_completion(model).stream(asked)
        }
    }
}

/// OpenAI's shapes as a server speaks them of whom nothing else is known: a local one has no key, and many take the text
/// of a message only as one string. OpenAI itself wants its own name for the limit of some models.
fn dialect(base_url: &str) -> Dialect {
    let mut dialect = Dialect::gateway(Shape::Chat.provider(), "", "");
    dialect.quirks.auth = Auth::OptionalBearer;
    dialect.quirks.rewrite = BodyRewrite::Perplexity;
    if is_host_of(base_url, "openai.com") || is_host_of(base_url, "azure.com") {
        dialect.quirks.output_cap = OutputCap::OpenAiReasoningFamilies;
    }
    dialect
}

fn is_host_of(base_url: &str, domain: &str) -> bool {
    let url = reqwest::Url::parse(base_url).ok();
    let host = url.as_ref().and_then(reqwest::Url::host_str).unwrap_or_default();
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
