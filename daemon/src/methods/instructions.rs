//! `instructions/…`: what the runs of a project are told, as a document of its own.

use ropewalk_protocol::{InstructionsChanged, InstructionsReplaceParams, InstructionsResult, ProjectParams, RpcError};

use super::caller::caller;
use crate::dispatch::Call;

/// `instructions/read`
///
/// # Errors
/// `notFound`.
pub async fn read(call: Call, params: ProjectParams) -> Result<InstructionsResult, RpcError> {
    let sources = call.daemon.engine.instruction_sources(&params.project_id).await;
    let instructions = call.daemon.catalogue.snapshot().show_instructions(&params.project_id, sources)?;
    Ok(InstructionsResult { instructions })
}

/// `instructions/replace`
///
/// # Errors
/// `invalidParams`, `notFound`, `conflict`, `unavailable`.
pub async fn replace(call: Call, params: InstructionsReplaceParams) -> Result<InstructionsChanged, RpcError> {
    let sources = call.daemon.engine.instruction_sources(&params.project_id).await;
    Ok(call.daemon.catalogue.replace_instructions(caller(&call), params, sources).await?)
}
