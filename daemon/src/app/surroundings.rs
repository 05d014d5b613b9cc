//! What the App tools need of the daemon around them.

use futures::future::BoxFuture;
use ropewalk_protocol::{
    Branch, BranchId, Endpoint, ErrorDetail, Message, NavigateParams, Policy, PolicyId, Project, ProjectId, QueueEntry,
    RpcError, Run, SearchHit, Server, Settings, Thread, ThreadId, ThreadSearchParams,
};
use serde::Serialize;
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

/// How a branch stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The branch, with its revision.
    pub branch: Branch,
    /// The first inputs that wait on it.
    pub entries: Vec<QueueEntry>,
    /// The run under way on it, or its last one where that ended badly, with what can be done about it.
    pub run: Option<Run>,
}

/// One thing that holds for the whole daemon.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind")]
pub enum Setting {
    /// The settings.
    Settings(Settings),
    /// A server whose tools runs have.
    Server(Server),
    /// A rule about tools.
    Policy(Policy),
    /// A model. Whether it has a key is all that is known of that.
    Endpoint(Endpoint),
}

/// Some hits of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// The hits, each with the cursor that goes on behind it.
    pub hits: Vec<(String, SearchHit)>,
    /// Where the search goes on; nothing where nothing is left.
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

    /// A rule.
    fn rule(&self, id: &PolicyId) -> Option<Policy>;

    /// The rules that are about a thread by itself.
    fn policies(&self, thread_id: &ThreadId) -> Vec<Policy>;

    /// How branches of a thread stand: one of them, or those beyond `after` in the order of their ids, at most `limit`.
    ///
    /// # Errors
    /// `notFound`, `unavailable`.
    fn standing<'a>(
        &'a self,
        thread_id: &'a ThreadId,
        branch_id: Option<&'a BranchId>,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Standing>, RpcError>>;

    /// What holds for the whole daemon, in an order that does not change: settings, servers, the rules of the global level,
    /// endpoints.
    fn settings(&self) -> Vec<Setting>;

    /// A page of a search over messages.
    ///
    /// # Errors
    /// `invalidParams`, `notFound`, `unavailable`.
    fn search(&self, params: ThreadSearchParams) -> BoxFuture<'_, Result<Hits, RpcError>>;

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

/// Nobody changes anything: for a daemon that no table of methods serves.
pub struct NobodyWrites;

impl Writer for NobodyWrites {
    fn ask(&self, asked: Asked) -> BoxFuture<'_, Result<Value, RpcError>> {
        let message = format!("{} cannot be asked for: this daemon answers no requests.", asked.method);
        let detail =
            ErrorDetail::Unavailable { reason: "not_served".to_owned(), progress: None, party: None, effect: None };
        Box::pin(std::future::ready(Err(RpcError::new(detail, message))))
    }
}
