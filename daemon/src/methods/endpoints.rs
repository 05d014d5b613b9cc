//! `endpoint/…` and `secret/…`: the models a user configured, and their keys.

use std::time::Duration;

use ropewalk_protocol::{
    Endpoint, EndpointChanged, EndpointRemoveParams, EndpointSetParams, EndpointTestParams, EndpointTested, ListParams,
    Page, Removed, RpcError, RunErrorKind, SecretRemoveParams, SecretSetParams,
};
use tokio::time::Instant;

use super::caller::caller;
use crate::{
    clock::Clock,
    daemon::Daemon,
    dispatch::Call,
    models::{ModelError, ModelFactory},
    page::PageQuery,
};

#[cfg(test)]
mod tests;

/// How long an endpoint may take to answer a test.
const TEST_MS: u64 = 30_000;

/// `endpoint/set`
///
/// # Errors
/// `invalidParams`, `notFound`, `conflict`, `unavailable`.
pub async fn set(call: Call, params: EndpointSetParams) -> Result<EndpointChanged, RpcError> {
    Ok(call.daemon.catalogue.set_endpoint(caller(&call), params).await?)
}

/// `endpoint/remove`
///
/// # Errors
/// `invalidParams` (the scripted one), `notFound`, `conflict`, `unavailable`.
pub async fn remove(call: Call, params: EndpointRemoveParams) -> Result<Removed, RpcError> {
    Ok(call.daemon.catalogue.remove_endpoint(caller(&call), params).await?)
}

/// `endpoint/list`
///
/// # Errors
/// `invalidParams`.
pub async fn list(call: Call, params: ListParams) -> Result<Page<Endpoint>, RpcError> {
    let query = PageQuery::new(&["endpoint/list"], params.cursor.as_deref(), params.limit)?;
    let snapshot = call.daemon.catalogue.snapshot();
    let endpoints = snapshot.endpoints_after(query.after()).map(|endpoint| (**endpoint).clone());
    Ok(query.fill(endpoints, |endpoint| endpoint.endpoint_id.to_string()))
}

/// `endpoint/test`: that an endpoint does not answer is a result, not an error.
///
/// # Errors
/// `notFound`; `unavailable` when the key cannot be read.
pub async fn test(call: Call, params: EndpointTestParams) -> Result<EndpointTested, RpcError> {
    let snapshot = call.daemon.catalogue.snapshot();
    let id = &params.endpoint_id;
    let endpoint = snapshot.endpoints.get(id).ok_or_else(|| RpcError::not_found("endpoint", id))?;
    let key = call.daemon.catalogue.key_of(endpoint).await?;
    let Daemon { models, clock, .. } = &*call.daemon;
    Ok(probe(&**models, &**clock, endpoint, key).await)
}

/// `secret/set`
///
/// # Errors
/// `invalidParams`, `notFound` (endpoint), `unavailable`.
pub async fn set_secret(call: Call, params: SecretSetParams) -> Result<EndpointChanged, RpcError> {
    Ok(call.daemon.catalogue.set_secret(caller(&call), params).await?)
}

/// `secret/remove`
///
/// # Errors
/// `invalidParams` (the scripted endpoint), `notFound` (endpoint), `unavailable`.
pub async fn remove_secret(call: Call, params: SecretRemoveParams) -> Result<Removed, RpcError> {
    Ok(call.daemon.catalogue.remove_secret(caller(&call), params).await?)
}

/// Sends an endpoint a short request and waits for its answer, but not for ever.
async fn probe(
    models: &dyn ModelFactory,
    clock: &dyn Clock,
    endpoint: &Endpoint,
    key: Option<String>,
) -> EndpointTested {
    let began = Instant::now();
    let outcome = tokio::select! {
        biased;
        outcome = models.test(endpoint, key) => outcome,
        () = clock.sleep(Duration::from_millis(TEST_MS)) => Err(silent()),
    };
    let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let error = outcome.err().map(|error| error.into_run_error(Some(endpoint.name.clone())));
    EndpointTested { ok: error.is_none(), latency_ms, error }
}

fn silent() -> ModelError {
    ModelError::new(RunErrorKind::Stalled, format!("The endpoint did not answer within {TEST_MS} ms."))
}
