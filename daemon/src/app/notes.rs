//! What the App tools need of the daemon to show and change what runs remember and are told.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_protocol::{
    BranchId, ContextLayer, EntryId, Instructions, InstructionsChanged, InstructionsReplaceParams, MemoryChanged,
    MemoryCreateParams, MemoryDeleteParams, MemoryEntry, MemoryUpdateParams, ProjectId, Removed, RpcError, ThreadId,
};

/// Words of enumerations in an entry.
pub const ENTRY_WORDS: &[&str] = &["scope", "kind", "author"];

/// What runs remember and are told. A change with an operation id is made once: a repeat is answered as before.
pub trait Notes: Send + Sync {
    /// The entries of a project and of the user that have all these words, in an order that does not change.
    fn memory(&self, project_id: &ProjectId, words: &str) -> Vec<Arc<MemoryEntry>>;

    /// An entry with its text, whosever it is.
    ///
    /// # Errors
    /// `notFound`.
    fn entry(&self, entry_id: &EntryId) -> Result<MemoryEntry, RpcError>;

    /// The instructions of a project.
    ///
    /// # Errors
    /// `notFound`.
    fn instructions<'a>(&'a self, project_id: &'a ProjectId) -> BoxFuture<'a, Result<Instructions, RpcError>>;

    /// The layers of the next request of a branch.
    ///
    /// # Errors
    /// `notFound`, `unavailable`.
    fn layers<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        branch_id: &'a BranchId,
    ) -> BoxFuture<'a, Result<Vec<ContextLayer>, RpcError>>;

    /// Writes an entry down for a run of this thread.
    ///
    /// # Errors
    /// As `memory/create`.
    fn create_entry<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        params: MemoryCreateParams,
    ) -> BoxFuture<'a, Result<MemoryChanged, RpcError>>;

    /// Changes an entry for a run of this thread.
    ///
    /// # Errors
    /// As `memory/update`.
    fn update_entry<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        params: MemoryUpdateParams,
    ) -> BoxFuture<'a, Result<MemoryChanged, RpcError>>;

    /// Forgets an entry.
    ///
    /// # Errors
    /// As `memory/delete`.
    fn delete_entry(&self, params: MemoryDeleteParams) -> BoxFuture<'_, Result<Removed, RpcError>>;

    /// Puts another text in the place of a project's instructions.
    ///
    /// # Errors
    /// As `instructions/replace`.
    fn replace_instructions(
        &self,
        params: InstructionsReplaceParams,
    ) -> BoxFuture<'_, Result<InstructionsChanged, RpcError>>;
}
