//! Endpoints and their keys.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{
    Endpoint, EndpointId, ListParams, OperationId, Page, Patch, Prices, Provider, Removed, Revision, RunError,
};

methods! {
    /// Make an endpoint (name, provider and model needed), or change what is named of an existing one. A change of
    /// provider or address removes its key.
    EndpointSet = "endpoint/set"(EndpointSetParams) -> EndpointChanged, ToDaemon, changes, Work;
    /// Remove an endpoint and its key.
    EndpointRemove = "endpoint/remove"(EndpointRemoveParams) -> Removed, ToDaemon, changes, Work;
    /// The endpoints, in the order of their ids.
    EndpointList = "endpoint/list"(ListParams) -> Page<Endpoint>, ToDaemon, reads, Work;
    /// Send an endpoint a short request and see whether it answers.
    EndpointTest = "endpoint/test"(EndpointTestParams) -> EndpointTested, ToDaemon, reads, Work;
    /// Store the key of an endpoint. It is never read back.
    SecretSet = "secret/set"(SecretSetParams) -> EndpointChanged, ToDaemon, changes, Work;
    /// Forget the key of an endpoint.
    SecretRemove = "secret/remove"(SecretRemoveParams) -> Removed, ToDaemon, changes, Work;
}

/// Parameters of `endpoint/set`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointSetParams {
    /// Which one; absent: a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_id: Option<EndpointId>,
    /// Its name, 1 to 120 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// Its address.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub base_url: Patch<String>,
    /// The model's name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model's window in tokens.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub context_tokens: Patch<u64>,
    /// Tokens one answer may have; below `contextTokens` where that is known.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub max_output_tokens: Patch<u64>,
    /// Headers sent with every request beside our own, in place of those there were; at most 32. Keys are no headers:
    /// `secret/set` takes them.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub headers: Patch<BTreeMap<String, String>>,
    /// The proxy it is reached through: `http`, `https`, `socks5` or `socks5h`, without user and password.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub proxy_url: Patch<String>,
    /// Whether threads that name no endpoint use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_default: Option<bool>,
    /// Whether subtasks may use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_subtasks: Option<bool>,
    /// How able it is, from 1 to 5.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub capability: Patch<u8>,
    /// What it is good for.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub good_for: Patch<String>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub prices: Patch<Prices>,
    /// Whether runs may use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// An endpoint after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointChanged {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `endpoint/remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointRemoveParams {
    /// Which one.
    pub endpoint_id: EndpointId,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// Parameters of `endpoint/test`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointTestParams {
    /// Which one.
    pub endpoint_id: EndpointId,
}

/// The answer to `endpoint/test`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointTested {
    /// Whether it answered.
    pub ok: bool,
    /// How long that took.
    pub latency_ms: u64,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
}

/// Parameters of `secret/set`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretSetParams {
    /// The endpoint.
    pub endpoint_id: EndpointId,
    /// The key, 1 to 8,192 characters.
    pub value: String,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The endpoint's revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

impl std::fmt::Debug for SecretSetParams {
    /// Shows everything but the key, which must reach no log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretSetParams").field("endpoint_id", &self.endpoint_id).finish_non_exhaustive()
    }
}

/// Parameters of `secret/remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretRemoveParams {
    /// The endpoint.
    pub endpoint_id: EndpointId,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The endpoint's revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}
