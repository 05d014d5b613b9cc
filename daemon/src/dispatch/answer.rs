//! One request from its admission to its answer: its operation, its handler, and what happens when that panics.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use ropewalk_protocol::{Effect, ErrorDetail, Method, OperationId, RpcError, RunSubmit};
use serde_json::value::RawValue;

use super::{Call, Host, Operation, Table, journal, operations::Begun};

/// How long a request waits for an equal one that came before it.
const EQUAL_REQUEST: Duration = Duration::from_secs(30);

/// Answers one request. `operation_id` is that of its parameters; `waits` whether it may wait for something.
pub(crate) async fn answer<H: Host>(
    table: &Table<H>,
    call: Call<H>,
    params: Option<&RawValue>,
    operation_id: Option<OperationId>,
    waits: bool,
) -> Result<String, RpcError> {
    let method = call.method;
    let work = AssertUnwindSafe(async {
        // Before its operation is looked for, which may stand in a log that has not been read.
        if let Some(usable) = call.daemon.until_usable(method, params) {
            usable.await?;
        }
        match operation_id {
            Some(id) => answer_operation(table, call, params, id, waits).await,
            None => table.invoke(call, params).await,
        }
    });
    work.catch_unwind().await.unwrap_or_else(|panic| {
        let what = panic.downcast_ref::<&str>().map(ToString::to_string);
        let what = what.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(ropewalk_peer::internal_error(&format!("the handler of {method} panicked: {what}")))
    })
}

async fn answer_operation<H: Host>(
    table: &Table<H>,
    mut call: Call<H>,
    params: Option<&RawValue>,
    id: OperationId,
    waits: bool,
) -> Result<String, RpcError> {
    let host = Arc::clone(&call.daemon);
    let digest = host.journal().digest(call.method, &canonical(call.method, params)?);
    let deadline = host.clock().sleep(EQUAL_REQUEST);
    tokio::pin!(deadline);
    let claim = loop {
        match table.operations().begin(&id, &digest, host.clock().now()) {
            Begun::Claimed(claim) => break claim,
            Begun::Conflict { since } => return Err(journal::conflict(&id, since)),
            Begun::Running { done } => tokio::select! {
                biased;
                () = done.cancelled() => {}
                () = &mut deadline => return Err(still_running()),
            },
        }
    };
    match host.journal().find(&id)? {
        Some(stored) if stored.digest != digest => return Err(journal::conflict(&id, stored.at)),
        Some(stored) if waits => call.replay = Some(stored),
        Some(stored) => return stored.replayed().map(|answer| answer.get().to_owned()),
        None => *call.claim.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(claim),
    }
    call.operation = Some(Operation { id, digest, method: call.method });
    let claim = call.claim.clone();
    let result = table.invoke(call, params).await;
    // The handler's clones of the call may outlive it, for instance in a task it started.
    drop(claim.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
    result
}

/// The parameters in canonical form (RFC 8785). How long the end of a run is waited for is no part of its submission: whoever
/// repeats it after a lost connection waits for what is left of the time.
fn canonical(method: &str, params: Option<&RawValue>) -> Result<Vec<u8>, RpcError> {
    let text = params.map_or("{}", RawValue::get);
    serde_json::from_str::<serde_json::Value>(text)
        .and_then(|mut value| {
            if let Some(params) = value.as_object_mut().filter(|_| method == RunSubmit::NAME) {
                params.remove("wait");
                params.remove("waitTimeoutMs");
            }
            serde_json_canonicalizer::to_vec(&value)
        })
        .map_err(|error| ropewalk_peer::internal_error(&format!("parameters have no canonical form: {error}")))
}

fn still_running() -> RpcError {
    let detail = ErrorDetail::Unavailable {
        reason: "operation_in_progress".to_owned(),
        progress: None,
        party: None,
        effect: Some(Effect::Unknown),
    };
    RpcError::retryable(
        detail,
        "An equal request with this operationId is still being answered. Repeat this one later; it is not done twice.",
        Some(1_000),
    )
}
