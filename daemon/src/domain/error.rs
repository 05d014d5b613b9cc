//! Why an operation on a thread is refused.

use ropewalk_protocol::{BranchId, ClientRef, RunId, RunStatus};

/// Why an operation on a thread is refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// There is no such branch.
    #[error("there is no branch {0}")]
    NoBranch(BranchId),
    /// There is no such run, or it has ended.
    #[error("there is no run {0} under way")]
    NoRun(RunId),
    /// The run is not paused.
    #[error("the run is {0:?} and not paused")]
    NotPaused(RunStatus),
    /// There is no endpoint the run may use.
    #[error("no endpoint can be used")]
    NoEndpoint,
    /// Too many inputs wait on the branch.
    #[error("{0} inputs wait on this branch already")]
    QueueFull(u64),
    /// The thread header has another revision.
    #[error("the thread is at revision {current}")]
    Revision {
        /// The revision now.
        current: u64,
    },
    /// Another client instance holds a tool of this name.
    #[error("the tool {flat_name} is bound by {}", owner.client_name)]
    ToolBound {
        /// The name.
        flat_name: String,
        /// Who holds it.
        owner: ClientRef,
    },
}
