//! Endpoints and the settings of the daemon.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EndpointId, Revision};

/// A model the user configured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Its id; the built-in one is `scripted`.
    pub endpoint_id: EndpointId,
    /// Its name.
    pub name: String,
    /// What it speaks.
    pub provider: Provider,
    /// Its address, where the provider needs or allows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The model's name there.
    pub model: String,
    /// The model's window in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Tokens one answer may have; absent: what the provider does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Headers sent with every request beside our own, none of them secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The proxy it is reached through; absent: what the daemon's environment says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_url: Option<String>,
    /// Whether threads that name no endpoint use it.
    pub is_default: bool,
    /// Whether subtasks may use it.
    pub for_subtasks: bool,
    /// Whether runs may use it.
    pub enabled: bool,
    /// How able it is, from 1 to 5; null when nobody said.
    pub capability: Option<u8>,
    /// What it is good for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_for: Option<String>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// Whether a key is stored for it. Keys themselves are never read back.
    pub has_credential: bool,
    /// Whether it is part of the daemon and cannot be removed.
    pub builtin: bool,
    /// Its revision.
    pub revision: Revision,
}

/// What an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Provider {
    /// Chat completions as OpenAI shapes them; most gateways and local servers.
    OpenaiCompatible,
    /// OpenAI's responses.
    OpenaiResponses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own protocol.
    Ollama,
    /// The scripted model inside the daemon.
    Scripted,
}

/// What an endpoint costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// The currency, such as `USD`.
    pub currency: String,
    /// For a million tokens read.
    pub input_per_million: f64,
    /// For a million tokens written.
    pub output_per_million: f64,
    /// For a million tokens read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_per_million: Option<f64>,
}

/// The settings of the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The endpoint of threads and projects that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_endpoint_id: Option<EndpointId>,
    /// How long a client tool may be silent, unless it says otherwise.
    pub tool_silence_ms: u64,
    /// How long a tool call may take in all; up to 3,600,000.
    pub tool_ceiling_ms: u64,
    /// How long an approval waits; absent: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_ms: Option<u64>,
    /// How long a question waits; absent: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_ms: Option<u64>,
    /// How long a call waits for its owner to come back.
    pub owner_grace_ms: u64,
    /// How long a client that lost its connection still counts as attached.
    pub approver_grace_ms: u64,
    /// Tool calls one run may make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_max_tool_calls: Option<u64>,
    /// Tokens one run may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_max_tokens: Option<u64>,
    /// Milliseconds one run may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_max_ms: Option<u64>,
    /// Subtasks at work at once.
    pub subtask_runs: u64,
    /// After how long without work or clients the daemon exits; absent: as it was started, which is after 15 minutes for
    /// one a client started, else never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_exit_ms: Option<u64>,
    /// Where keys are kept; read only.
    pub secret_store: SecretStore,
    /// Why it is the weaker place, or what else is not as it should be, for a person; read only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_store_reason: Option<String>,
    /// The revision.
    pub revision: Revision,
}

/// Where keys are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SecretStore {
    /// The operating system's keyring.
    Keyring,
    /// A file only the owner can read: the weaker choice.
    File,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            default_endpoint_id: None,
            tool_silence_ms: 120_000,
            tool_ceiling_ms: 1_800_000,
            approval_ms: Some(900_000),
            input_ms: Some(900_000),
            owner_grace_ms: 30_000,
            approver_grace_ms: 5_000,
            run_max_tool_calls: None,
            run_max_tokens: None,
            run_max_ms: None,
            subtask_runs: 8,
            idle_exit_ms: None,
            secret_store: SecretStore::File,
            secret_store_reason: None,
            revision: 1,
        }
    }
}
