//! `memory/…`: what is remembered from one run to the next.

use ropewalk_protocol::{
    MemoryChanged, MemoryCreateParams, MemoryDeleteParams, MemoryEntry, MemoryListParams, MemoryParams, MemoryResult,
    MemoryUpdateParams, Page, Removed, RpcError,
};

use super::caller::caller;
use crate::{
    catalogue::{MemoryWriter, check_memory_list, is_remembered},
    dispatch::Call,
    page::PageQuery,
};

/// Who writes: a run, where it asks by one of its tools.
fn writer(call: &Call) -> MemoryWriter {
    match &call.on_behalf {
        Some(run) => MemoryWriter::Run(run.place.thread_id.clone()),
        None => MemoryWriter::Person,
    }
}

/// `memory/list`
///
/// # Errors
/// `notFound` (project), `invalidParams`.
pub async fn list(call: Call, params: MemoryListParams) -> Result<Page<MemoryEntry>, RpcError> {
    let snapshot = call.daemon.catalogue.snapshot();
    check_memory_list(&snapshot, &params)?;
    let of = format!("{:?}", (params.scope, &params.project_id, &params.query, &params.tag));
    let query = PageQuery::new(&["memory/list ", &of], params.cursor.as_deref(), params.limit)?;
    let entries = snapshot.memory_after(query.after()).filter(|entry| is_remembered(entry, &params));
    let without_text = entries.map(|entry| MemoryEntry { body: None, ..(**entry).clone() });
    Ok(query.fill(without_text, |entry| entry.entry_id.to_string()))
}

/// `memory/read`
///
/// # Errors
/// `notFound`.
pub async fn read(call: Call, params: MemoryParams) -> Result<MemoryResult, RpcError> {
    Ok(MemoryResult { entry: call.daemon.catalogue.read_memory(&params.entry_id)? })
}

/// `memory/create`
///
/// # Errors
/// `invalidParams`, `notFound` (project), `overloaded` (as many entries as a scope may have), `unavailable`.
pub async fn create(call: Call, params: MemoryCreateParams) -> Result<MemoryChanged, RpcError> {
    Ok(call.daemon.catalogue.create_memory(caller(&call), writer(&call), params).await?)
}

/// `memory/update`
///
/// # Errors
/// `invalidParams`, `notFound`, `conflict`, `unavailable`.
pub async fn update(call: Call, params: MemoryUpdateParams) -> Result<MemoryChanged, RpcError> {
    Ok(call.daemon.catalogue.update_memory(caller(&call), writer(&call), params).await?)
}

/// `memory/delete`
///
/// # Errors
/// `notFound`, `conflict`, `unavailable`.
pub async fn delete(call: Call, params: MemoryDeleteParams) -> Result<Removed, RpcError> {
    Ok(call.daemon.catalogue.delete_memory(caller(&call), params).await?)
}
