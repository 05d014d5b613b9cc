//! Tools that a client declares with a thread: checked, and tied to the rules that allow them.

use std::sync::Arc;

use ropewalk_protocol::{ErrorDetail, Limits, RpcError, ToolDeclaration};

use crate::{daemon::Daemon, dispatch::Call, domain::ClientTool, tools::check_declarations};

/// The tools of a declaration, checked.
///
/// # Errors
/// `invalidParams` and `tooLarge` with the path in the parameters.
pub(super) async fn declared(daemon: &Daemon, tools: Vec<ToolDeclaration>) -> Result<Vec<Arc<ClientTool>>, RpcError> {
    if tools.is_empty() {
        return Ok(Vec::new());
    }
    let ceiling_ms = daemon.catalogue.snapshot().settings.tool_ceiling_ms;
    checked(tools, daemon.limits.clone(), ceiling_ms).await
}

/// Checks declarations beside everything else: a set of the largest schemas takes longer than anybody else should wait.
async fn checked(
    tools: Vec<ToolDeclaration>,
    limits: Limits,
    ceiling_ms: u64,
) -> Result<Vec<Arc<ClientTool>>, RpcError> {
    let checking = tokio::task::spawn_blocking(move || check_declarations(&tools, &limits, ceiling_ms));
    match checking.await {
        Ok(checked) => Ok(checked?),
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(RpcError::new(ErrorDetail::ShuttingDown { grace_ms: 0 }, "The daemon is ending.")),
        },
    }
}

/// An `allow` on a tool that was never seen holds for the digest it has when it is (ruling 25).
pub(super) async fn pin_rules(daemon: &Daemon, call: &Call, tools: &[Arc<ClientTool>]) {
    let source = format!("client:{}", call.client.client_ref().client_name);
    let snapshot = daemon.catalogue.snapshot();
    for tool in tools {
        let unpinned = snapshot.policies.values().filter(|policy| {
            policy.decision == ropewalk_protocol::PolicyDecision::Allow
                && policy.tool.as_ref().is_some_and(|named| {
                    named.source == source && named.name == tool.flat_name && named.digest.is_none()
                })
        });
        for policy in unpinned {
            if let Err(refusal) = daemon.catalogue.pin_digest(&policy.policy_id, tool.digest.clone()).await {
                tracing::warn!(%refusal, policy = %policy.policy_id, "a rule could not be bound to the tool it allows");
            }
        }
    }
}

#[cfg(test)]
mod tests;
