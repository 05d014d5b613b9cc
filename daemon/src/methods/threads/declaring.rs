//! Tools that a client declares with a thread: checked, and tied to the rules that allow them.

use std::sync::Arc;

use ropewalk_protocol::{ErrorDetail, Limits, RpcError, ToolDeclaration};

use crate::{catalogue::SeenTool, daemon::Daemon, dispatch::Call, domain::ClientTool, tools::check_declarations};

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

/// What is declared has been seen: rules that allowed it before are bound to it.
pub(super) async fn pin_rules(daemon: &Daemon, call: &Call, tools: &[Arc<ClientTool>]) {
    let source = format!("client:{}", call.client.client_ref().client_name);
    let seen = tools.iter().map(|tool| SeenTool {
        source: source.clone(),
        name: tool.flat_name.clone(),
        digest: tool.digest.clone(),
    });
    daemon.catalogue.pin_rules(seen.collect()).await;
}

#[cfg(test)]
mod tests;
