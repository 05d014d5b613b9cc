//! What the App tools need of the daemon around them.

use futures::future::BoxFuture;
use ropewalk_protocol::{BranchId, Message, NavigateParams, Project, ProjectId, RpcError, Thread, ThreadId};
use serde_json::Value;

use crate::tools::servers::Place;

use super::Notes;

/// A part of a branch's chain, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// The messages.
    pub messages: Vec<Message>,
    /// Where the chain goes on behind them, to be given back as it came; nothing at its root.
    pub next: Option<String>,
}

/// What the App tools read.
pub trait Reader: Notes + Send + Sync {
    /// All projects, in an order that does not change.
    fn projects(&self) -> Vec<Project>;

    /// A project with its grants and its rules.
    ///
    /// # Errors
    /// `notFound`.
    fn project(&self, project_id: &ProjectId) -> Result<Project, RpcError>;

    /// The threads of a project, archived ones too, newest first and beyond `after`; at most `limit` of them.
    ///
    /// # Errors
    /// `unavailable`.
    fn threads(&self, project_id: &ProjectId, after: Option<&ThreadId>, limit: usize) -> Result<Vec<Thread>, RpcError>;

    /// A thread with its branches, without its messages.
    ///
    /// # Errors
    /// `notFound`, `unavailable`.
    fn thread<'a>(&'a self, thread_id: &'a ThreadId) -> BoxFuture<'a, Result<Thread, RpcError>>;

    /// The chain of a branch as a model is shown it, newest first, from its head or where another part said that it goes on.
    ///
    /// # Errors
    /// `notFound`, `invalidParams` for a place of no chain, `unavailable`.
    fn messages<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        branch_id: &'a BranchId,
        from: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Chain, RpcError>>;
}

/// The clients that can show something to the person.
pub trait Windows: Send + Sync {
    /// Whether anybody follows a thread.
    fn is_attended<'a>(&'a self, thread_id: &'a ThreadId) -> BoxFuture<'a, bool>;

    /// Asks every client that can to show something, and says how many were asked. A client that has not taken in an
    /// earlier request yet hears only of this one.
    fn show(&self, what: &NavigateParams) -> u64;
}

/// A request of a run, by one of its tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Where the run stands.
    pub place: Place,
    /// The method of the wire.
    pub method: &'static str,
    /// Its parameters. An `operationId` is the run's branch's own: another branch may use the same for something else.
    pub params: Value,
    /// What a message wants of whom it is for.
    pub intent: Option<String>,
}

/// What the App tools change things through: the methods of the wire, as any client calls them, on behalf of a run.
pub trait Writer: Send + Sync {
    /// Makes a request. The result and the errors are those of the method.
    ///
    /// # Errors
    /// As the method says.
    fn ask(&self, asked: Asked) -> BoxFuture<'_, Result<Value, RpcError>>;
}
