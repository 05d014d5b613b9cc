//! The model seam: one request in, a stream of what the model says out. Types of provider libraries stay in here.

mod clients;
mod factory;
#[cfg(any(test, fuzzing))]
pub mod holds;
#[cfg(test)]
mod replay;
mod rig;
mod scripted;
#[cfg(test)]
mod testing;
mod usage;

use std::sync::Arc;

use futures::{future::BoxFuture, stream::BoxStream};
use ropewalk_protocol::{Delivery, Endpoint, Message, Part, Role, RunError, RunErrorKind, Timestamp, Usage};
use serde_json::Value;

pub use crate::domain::{ChainMessage, ProviderParts};
pub use factory::Models;
pub use rig::known_window;
pub use scripted::ScriptedModel;

/// Bytes of the arguments of all calls of one answer.
pub const ANSWER_ARGUMENT_BYTES: usize = 8 << 20;

/// Everything a model is asked with.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The model's name at its provider.
    pub model: String,
    /// The layers before the chain, already joined.
    pub instructions: String,
    /// The chain, oldest first. Every call has its result right after it.
    pub messages: Vec<Arc<ChainMessage>>,
    /// The tools it may call.
    pub tools: Vec<ToolDefinition>,
    /// Tokens the answer may have; `None`: what the provider does by itself.
    pub max_output_tokens: Option<u64>,
}

impl ModelRequest {
    /// A request of one text, which belongs to no thread.
    #[must_use]
    pub fn of_text(model: String, text: String) -> Self {
        let message = Message {
            message_id: "".into(),
            thread_id: "".into(),
            branch_id: "".into(),
            parent_message_id: None,
            run_id: None,
            role: Role::User,
            delivery: Delivery::Turn,
            content: vec![Part::text(text)],
            tool_calls: Vec::new(),
            call_id: None,
            is_error: None,
            incomplete: false,
            summary: false,
            sender: None,
            at: Timestamp::from_millis(0),
        };
        let messages = vec![Arc::new(ChainMessage { message, provider_parts: None })];
        Self { model, instructions: String::new(), messages, tools: Vec::new(), max_output_tokens: None }
    }
}

/// A tool as a model is told about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// Its flat name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Arc<Value>,
}

/// One thing a model says.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// More of its answer's text.
    Text(String),
    /// More of its reasoning.
    Reasoning(String),
    /// The whole answer: always the last event of a stream that ended well, and proof that it did.
    Finished(ModelAnswer),
}

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelAnswer {
    /// The text; what the text events add up to.
    pub text: String,
    /// The reasoning; what the reasoning events add up to.
    pub reasoning: String,
    /// The calls, in order.
    pub calls: Vec<ModelCall>,
    /// What it cost; `estimated` when the provider did not say.
    pub usage: Usage,
    /// What the provider wants back.
    pub provider_parts: Option<ProviderParts>,
    /// Whether the model was stopped by its output limit: what it said is not all it had to say, and a call of it may be
    /// cut although it can be read.
    pub is_cut: bool,
}

/// A call as a model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// The name it used.
    pub name: String,
    /// The arguments as text, byte for byte where the provider has them; empty and blank are read as `{}`.
    pub arguments: String,
}

/// Why a model's stream ended badly.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The kind, as a run's outcome shows it.
    pub kind: RunErrorKind,
    /// One or two sentences for a person; never a key.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// The shortest wait the provider asked for.
    pub retry_after_ms: Option<u64>,
}

impl ModelError {
    /// A failure of this kind; whether it may be gone when the same request is made again is as usual for its kind.
    pub fn new(kind: RunErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retryable: retryable(kind), retry_after_ms: None }
    }

    /// The failure as the wire shows it. `provider` is the name of the endpoint, where the failure is a fault of its.
    #[must_use]
    pub fn into_run_error(self, provider: Option<String>) -> RunError {
        let Self { kind, message, retryable, retry_after_ms } = self;
        RunError { kind, message, retryable, retry_after_ms, provider }
    }
}

/// A model that can be asked.
pub trait Model: Send + Sync + 'static {
    /// Asks. Dropping the stream ends the request. After `Finished` or an error the stream ends.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>>;

    /// Whether the same request always has the same end, so that asking again after a failure would change nothing.
    fn is_deterministic(&self) -> bool {
        false
    }
}

/// Makes models out of endpoints.
pub trait ModelFactory: Send + Sync + 'static {
    /// The model of an endpoint; `key` is its secret, where it has one.
    ///
    /// # Errors
    /// When the endpoint is not usable as it is configured.
    fn model(&self, endpoint: &Endpoint, key: Option<String>) -> Result<Arc<dyn Model>, ModelError>;

    /// Sends the endpoint a short request. Whoever asks says how long that may take.
    fn test(&self, endpoint: &Endpoint, key: Option<String>) -> BoxFuture<'static, Result<(), ModelError>>;
}

/// The host of an address, with its port where the address names one: how people are told who was asked.
#[must_use]
pub fn host_of(address: &str) -> Option<String> {
    let url = reqwest::Url::parse(address).ok()?;
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// Whether a failure of this kind may be gone when the same request is made again.
const fn retryable(kind: RunErrorKind) -> bool {
    matches!(
        kind,
        RunErrorKind::RateLimited
            | RunErrorKind::Overloaded
            | RunErrorKind::BadResponse
            | RunErrorKind::CutOff
            | RunErrorKind::Stalled
            | RunErrorKind::Unreachable
    )
}
