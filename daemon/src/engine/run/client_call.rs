//! A client as a source: its tools are called as interactions on its socket.

use futures::future::BoxFuture;
use ropewalk_protocol::{
    Effect, ErrorDetail, InteractionBody, InteractionKind, Outcome, Problem, RpcError, Severity, ToolCallRequest,
};
use serde_json::Value;

use super::{
    report::Reporter,
    waiting::{self, Asking},
};
use crate::{
    domain::World,
    engine::{UNREPRESENTABLE_RESULT, live::Claim},
    tools::{
        CallFailure, SourceCall, SourceResult, ToolSource, ToolSpec,
        results::{check_result, told_to_model},
        schema::SchemaCache,
    },
};

/// The tools of clients, for one call of one run.
pub struct ClientSource<'a> {
    /// Who drives the run.
    pub reporter: &'a Reporter,
    /// How long a call may take in all.
    pub ceiling_ms: u64,
}

impl ToolSource for ClientSource<'_> {
    fn call(&self, call: SourceCall) -> BoxFuture<'_, Result<SourceResult, CallFailure>> {
        Box::pin(self.ask(call))
    }
}

impl ClientSource<'_> {
    async fn ask(&self, call: SourceCall) -> Result<SourceResult, CallFailure> {
        let reporter = self.reporter;
        let Some(owner) = call.tool.owner.clone() else { return Err(CallFailure::ToolUnwired) };
        let (thread_id, run_id) = (reporter.thread().id().clone(), reporter.run_id().clone());
        let (tool, call_id, silence_ms) = (call.tool.clone(), call.call_id.clone(), call.silence_ms);
        let arguments = Value::Object(call.arguments);
        let body = move |id: &ropewalk_protocol::InteractionId, deadline_at| {
            InteractionBody::ToolCall(ToolCallRequest {
                interaction_id: id.clone(),
                thread_id,
                run_id,
                call_id,
                attempt: 1,
                namespace: tool.namespace.clone(),
                tool: tool.name.clone(),
                arguments: Some(arguments),
                silence_ms,
                deadline_at,
            })
        };
        let asking = Asking {
            id: reporter.shared().next_id().into(),
            body: Box::new(body),
            kind: InteractionKind::ToolCall,
            call_id: call.call_id.clone(),
            owner: Some(owner),
            lifetime_ms: Some(self.ceiling_ms),
            silence_ms: Some(silence_ms),
        };
        let cancelled = |_| CallFailure::Cancelled { sent: true };
        let waiting = waiting::open(reporter, asking).await.map_err(cancelled)?;
        let (id, opened_at) = (waiting.id.clone(), waiting.opened_at);
        let claim = waiting.owner(reporter, &call.tool, silence_ms).await.map_err(cancelled)?;
        reporter.stage(move |turn, _| turn.settle_claimed(&id));
        let took_ms = claim.at.millis_since(opened_at);
        let mut result = result(&reporter.shared().schemas, &call.tool, claim, took_ms)?;
        result.call_ms = Some(took_ms);
        Ok(result)
    }
}

fn result(schemas: &SchemaCache, tool: &ToolSpec, claim: Claim, took_ms: u64) -> Result<SourceResult, CallFailure> {
    match claim.outcome {
        Outcome::Answered => {}
        Outcome::Expired => return Err(CallFailure::Timeout { after_ms: took_ms }),
        Outcome::Undeliverable => return Err(CallFailure::OwnerAway),
        Outcome::Cancelled | Outcome::Declined => return Err(CallFailure::Cancelled { sent: true }),
        Outcome::OutcomeUnknown => return Err(CallFailure::OutcomeUnknown),
    }
    if let Some(error) = claim.error {
        return Err(of_rpc_error(*error));
    }
    let answer = claim.answer.unwrap_or(Value::Null);
    let output =
        tool.output_schema.as_ref().and_then(|schema| schemas.ready(&format!("{} result", tool.digest), schema));
    let checked = check_result(&answer, output.as_deref())?;
    Ok(SourceResult {
        content: told_to_model(&checked, tool.rule_name()),
        structured_content: checked.structured_content,
        meta: None,
        failure: checked.failure,
        effect: Effect::Done,
        // What is odd and not forbidden is for people who look, not for the model.
        severity: if checked.warning.is_some() { Severity::Warning } else { Severity::Info },
        call_ms: None,
    })
}

/// A JSON-RPC error as the answer of a tool: no handler, or a handler that failed (2.9).
fn of_rpc_error(error: RpcError) -> CallFailure {
    match error.data.detail {
        // The number says it too: a client that is not one of ours need not know our data.
        _ if error.code == -32601 => CallFailure::unsupported_tool(error.message),
        ErrorDetail::InvalidRequest { reason } if reason == UNREPRESENTABLE_RESULT => {
            CallFailure::InvalidResult { problem: Problem { path: String::new(), reason: error.message } }
        }
        ErrorDetail::TooLarge { limit, what, .. } => {
            let what = if what == "depth" { "levels of nesting" } else { "bytes" };
            CallFailure::ResultTooLarge { limit, what: what.to_owned() }
        }
        _ => CallFailure::adapter_failed(error.message),
    }
}
