//! Why an operation on a thread is refused.

use ropewalk_protocol::{AttentionId, BranchId, ClientRef, MessageId, RunId, RunStatus};

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
    /// The run cannot be continued in this way, or not any more.
    #[error("the run cannot be continued so")]
    NotRecoverable,
    /// There is no endpoint the run may use.
    #[error("no endpoint can be used")]
    NoEndpoint,
    /// Too many inputs wait on the branch.
    #[error("{0} inputs wait on this branch already")]
    QueueFull(u64),
    /// No such input waits on the branch: it never did, was taken back, or has begun.
    #[error("no input {0} waits on this branch")]
    NotQueued(MessageId),
    /// The input that waits may not be changed.
    #[error("the input {0} may not be changed")]
    NotEditable(MessageId),
    /// Something else waits on the branch than what was named.
    #[error("{} other inputs wait on this branch", .0.len())]
    OtherEntries(Vec<MessageId>),
    /// Another run is under way than the one that was expected.
    #[error("the run {0} is under way")]
    OtherRun(RunId),
    /// Nothing is under way that could be steered.
    #[error("nothing runs on this branch")]
    NothingToSteer,
    /// The thread header has another revision.
    #[error("the thread is at revision {current}")]
    Revision {
        /// The revision now.
        current: u64,
    },
    /// It does not wait for the person, or not any more.
    #[error("nothing {0} waits for the person")]
    NothingWaits(AttentionId),
    /// Another client instance holds a tool of this name.
    #[error("the tool {flat_name} is bound by {}", owner.client_name)]
    ToolBound {
        /// The name.
        flat_name: String,
        /// Who holds it.
        owner: ClientRef,
    },
}
