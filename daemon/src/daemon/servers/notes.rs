//! What runs remember and are told, as the App tools show it.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_protocol::{BranchId, ContextLayer, EntryId, Instructions, MemoryEntry, ProjectId, RpcError, ThreadId};

use super::app::Surroundings;
use crate::{app::Notes, catalogue::has_all_words};

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
}
