//! What the App tools need of the daemon to show what runs remember and are told.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_protocol::{BranchId, ContextLayer, EntryId, Instructions, MemoryEntry, ProjectId, RpcError, ThreadId};

/// Words of enumerations in an entry.
pub const ENTRY_WORDS: &[&str] = &["scope", "kind", "author"];

/// What runs remember and are told.
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
}
