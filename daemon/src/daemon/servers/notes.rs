//! What runs remember and are told, as the App tools show and change it.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_protocol::{
    BranchId, ContextLayer, EntryId, ErrorDetail, Instructions, InstructionsChanged, InstructionsReplaceParams,
    MemoryChanged, MemoryCreateParams, MemoryDeleteParams, MemoryEntry, MemoryUpdateParams, OperationId, ProjectId,
    Removed, RpcError, ThreadId,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::app::Surroundings;
use crate::{
    app::Notes,
    catalogue::{Caller, MemoryWriter, Operation, has_all_words},
};

impl Notes for Surroundings {
    fn memory(&self, project_id: &ProjectId, words: &str) -> Vec<Arc<MemoryEntry>> {
        let snapshot = self.catalogue.snapshot();
        let is_meant = |entry: &&Arc<MemoryEntry>| entry.project_id.as_ref().is_none_or(|of| of == project_id);
        snapshot.memory.values().filter(is_meant).filter(|entry| has_all_words(entry, words)).cloned().collect()
    }

    fn entry(&self, entry_id: &EntryId) -> Result<MemoryEntry, RpcError> {
        Ok(self.catalogue.read_memory(entry_id)?)
    }

    fn instructions<'a>(&'a self, project_id: &'a ProjectId) -> BoxFuture<'a, Result<Instructions, RpcError>> {
        Box::pin(async move {
            let sources = self.engine()?.instruction_sources(project_id).await;
            Ok(self.catalogue.snapshot().show_instructions(project_id, sources)?)
        })
    }

    fn layers<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        branch_id: &'a BranchId,
    ) -> BoxFuture<'a, Result<Vec<ContextLayer>, RpcError>> {
        Box::pin(async move { Ok(self.handle(thread_id)?.preview(branch_id.clone(), None).await?.layers) })
    }

    fn create_entry<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        params: MemoryCreateParams,
    ) -> BoxFuture<'a, Result<MemoryChanged, RpcError>> {
        Box::pin(async move {
            match self.begun("app_memory Create", params.operation_id.as_ref(), &params)? {
                Begun::Before(answer) => Ok(answer),
                Begun::Now(caller) => {
                    let writer = MemoryWriter::Run(thread_id.clone());
                    Ok(self.catalogue.create_memory(caller, writer, params).await?)
                }
            }
        })
    }

    fn update_entry<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        params: MemoryUpdateParams,
    ) -> BoxFuture<'a, Result<MemoryChanged, RpcError>> {
        Box::pin(async move {
            match self.begun("app_memory Update", params.operation_id.as_ref(), &params)? {
                Begun::Before(answer) => Ok(answer),
                Begun::Now(caller) => {
                    let writer = MemoryWriter::Run(thread_id.clone());
                    Ok(self.catalogue.update_memory(caller, writer, params).await?)
                }
            }
        })
    }

    fn delete_entry(&self, params: MemoryDeleteParams) -> BoxFuture<'_, Result<Removed, RpcError>> {
        Box::pin(async move {
            match self.begun("app_memory Delete", params.operation_id.as_ref(), &params)? {
                Begun::Before(answer) => Ok(answer),
                Begun::Now(caller) => Ok(self.catalogue.delete_memory(caller, params).await?),
            }
        })
    }

    fn replace_instructions(
        &self,
        params: InstructionsReplaceParams,
    ) -> BoxFuture<'_, Result<InstructionsChanged, RpcError>> {
        Box::pin(async move {
            match self.begun("app_instructions", params.operation_id.as_ref(), &params)? {
                Begun::Before(answer) => Ok(answer),
                Begun::Now(caller) => {
                    let sources = self.engine()?.instruction_sources(&params.project_id).await;
                    Ok(self.catalogue.replace_instructions(caller, params, sources).await?)
                }
            }
        })
    }
}

/// A change of a run as the journal knows it.
enum Begun<A> {
    /// An equal one was made, with this answer.
    Before(A),
    /// It is to be made, on behalf of this caller.
    Now(Caller),
}

impl Surroundings {
    /// Looks an operation up: a repeat is answered as before, and another change under the same id refused.
    fn begun<A: DeserializeOwned>(
        &self,
        method: &str,
        id: Option<&OperationId>,
        params: &impl Serialize,
    ) -> Result<Begun<A>, RpcError> {
        let Some(id) = id else { return Ok(Begun::Now(Caller::default())) };
        if id.is_empty() {
            return Err(RpcError::invalid_params("/operationId", "empty", "operationId must not be empty."));
        }
        let unwritable = |error: serde_json::Error| ropewalk_peer::internal_error(&error.to_string());
        let digest = self.journal.digest(method, &serde_json_canonicalizer::to_vec(params).map_err(unwritable)?);
        let Some(row) = self.journal.find(id)? else {
            let operation = Operation { id: id.clone(), digest, method: method.to_owned() };
            return Ok(Begun::Now(Caller { client: None, operation: Some(operation) }));
        };
        if row.digest != digest {
            let message = "This operationId was used for another change before. Use a new one for a new change.";
            let detail = ErrorDetail::IdempotencyConflict { operation_id: id.clone(), first_at: row.at };
            return Err(RpcError::new(detail, message));
        }
        let mut answer: Value = serde_json::from_str(row.answer.get()).map_err(unwritable)?;
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("replayed".to_owned(), true.into());
        }
        Ok(Begun::Before(serde_json::from_value(answer).map_err(unwritable)?))
    }
}
