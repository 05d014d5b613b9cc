//! One call: sent once, watched by two clocks, taken back when nobody waits for it any more, and never sent again (K17).

use std::{sync::Arc, time::Duration};

use rmcp::{
    Peer, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientNotification,
        ClientRequest, ErrorData, RequestId, RequestMetaObject, ServerResult,
    },
    service::{PeerRequestOptions, RequestHandle, ServiceError},
};
use serde_json::{Map, Value};
use tokio::runtime::Handle;

use super::{
    handler::{Handler, Progress},
    lines::{LINE_BYTES, OURS, OVERSIZED},
    results::error_of,
};
use crate::{
    clock::Clock,
    tools::{
        CallFailure,
        servers::{Sign, Signs},
    },
};

/// In the metadata of a call: our id of it, so that a server can tell a call it has had from a new one.
const CALL_ID: &str = "dev.ropewalk/callId";

/// A call to make.
pub struct Outgoing {
    /// The tool's name at its server.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Our id of the call.
    pub call_id: String,
    /// How long it may be silent.
    pub silence_ms: u64,
    /// How long it may take in all.
    pub ceiling_ms: u64,
}

/// What a call needs of its session.
pub(super) struct Line<'a> {
    pub peer: &'a Peer<RoleClient>,
    pub handler: &'a Handler,
    pub clock: &'a Arc<dyn Clock>,
    /// What people call the server.
    pub server: &'a str,
}

/// Makes a call and waits for what comes of it, as the server wrote it.
pub(super) async fn make(line: Line<'_>, call: Outgoing, signs: &Signs) -> Result<Value, CallFailure> {
    let mut params = CallToolRequestParams::new(call.tool);
    params.arguments = Some(call.arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let mut meta = RequestMetaObject::new();
    meta.0.insert(CALL_ID.to_owned(), call.call_id.into());
    let options = PeerRequestOptions::no_options().with_meta(meta);
    let sent = line.peer.send_cancellable_request(request, options).await;
    let mut handle = sent.map_err(|_| offline(line.server))?;
    let (mut told, _listening) = line.handler.signs_of(handle.progress_token.clone());
    let mut abandoned = Abandoned { peer: line.peer.clone(), id: Some(handle.id.clone()) };
    let sleep = |ms| line.clock.sleep(Duration::from_millis(ms));
    let (began_at, mut ceiling, mut silence) = (line.clock.now(), sleep(call.ceiling_ms), sleep(call.silence_ms));
    loop {
        tokio::select! {
            biased;
            answer = &mut handle.rx => {
                abandoned.id = None;
                return answer_of(answer.unwrap_or(Err(ServiceError::TransportClosed)));
            }
            Some(progress) = told.recv() => {
                silence = sleep(call.silence_ms);
                signs.tell(sign(progress));
            }
            () = &mut ceiling => return Err(timeout(&line, began_at)),
            () = &mut silence => return Err(timeout(&line, began_at)),
        }
    }
}

/// Waits for the answer to a request that is no call, and takes it back when that takes too long.
pub(super) async fn answer_within(
    mut handle: RequestHandle<RoleClient>,
    clock: &Arc<dyn Clock>,
    patience: Duration,
) -> Result<ServerResult, RequestFailure> {
    let mut abandoned = Abandoned { peer: handle.peer.clone(), id: Some(handle.id.clone()) };
    tokio::select! {
        biased;
        answer = &mut handle.rx => {
            abandoned.id = None;
            match answer.unwrap_or(Err(ServiceError::TransportClosed)) {
                Ok(result) => Ok(result),
                Err(ServiceError::McpError(error)) => Err(RequestFailure::Refused(error)),
                Err(_) => Err(RequestFailure::Lost),
            }
        }
        () = clock.sleep(patience) => Err(RequestFailure::Silent),
    }
}

/// Why a request that is no call has no answer.
pub(super) enum RequestFailure {
    /// The server refuses it.
    Refused(ErrorData),
    /// The connection has ended.
    Lost,
    /// It did not answer in time.
    Silent,
}

fn answer_of(answer: Result<ServerResult, ServiceError>) -> Result<Value, CallFailure> {
    match answer {
        Ok(ServerResult::CustomResult(result)) => Ok(result.0),
        Ok(other) => Ok(serde_json::to_value(other).unwrap_or_default()),
        Err(ServiceError::McpError(error)) => Err(refused(&error)),
        // It may have been sent, and nobody can tell any more what came of it.
        Err(_) => Err(CallFailure::OutcomeUnknown),
    }
}

fn refused(error: &ErrorData) -> CallFailure {
    match error.data.as_ref().and_then(|data| data.get(OURS)).and_then(Value::as_str) {
        Some(OVERSIZED) => CallFailure::ResultTooLarge { limit: LINE_BYTES as u64, what: "bytes".to_owned() },
        Some(_) => {
            let reason = "is no JSON that can be represented".to_owned();
            CallFailure::InvalidResult { problem: ropewalk_protocol::Problem { path: String::new(), reason } }
        }
        None => error_of(error.code.0, &error.message),
    }
}

fn timeout(line: &Line<'_>, began_at: ropewalk_protocol::Timestamp) -> CallFailure {
    CallFailure::Timeout { after_ms: line.clock.now().millis_since(began_at) }
}

pub(super) fn offline(server: &str) -> CallFailure {
    let reason = format!("The connection with {server} has ended.");
    CallFailure::Unavailable { code: "server_offline", reason }
}

fn sign(progress: Progress) -> Sign {
    let total = progress.total.filter(|total| *total > 0.0);
    Sign { message: progress.message, fraction: total.map(|total| progress.at / total) }
}

/// A request nobody waits for any more: the server is told, so that it does not work for nothing (M32).
struct Abandoned {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = "nobody waits for the result any more".to_owned();
            let params = CancelledNotificationParam::new(Some(id), Some(reason));
            let notification = ClientNotification::CancelledNotification(CancelledNotification::new(params));
            // A connection that has ended has nothing left to cancel.
            let _ = peer.send_notification(notification).await;
        });
    }
}
