//! The seam between runs and the servers that speak MCP: whoever puts the daemon together stands behind it, so that runs can
//! call tools whose servers act on runs.

use std::sync::Arc;

use futures::future::BoxFuture;
use ropewalk_protocol::{BranchId, ProjectId, RunId, ThreadId, ToolState, Unattended};
use serde_json::{Map, Value};

use super::{CallFailure, SourceCall, SourceResult, Stakes, ToolSpec};

/// Where a run stands: what a session with a server may be bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The project, whose grants and rules hold.
    pub project_id: ProjectId,
    /// The thread.
    pub thread_id: ThreadId,
    /// The branch the run works on.
    pub branch_id: BranchId,
    /// The run.
    pub run_id: RunId,
    /// What happens to a question of the run that nobody can answer.
    pub unattended: Unattended,
}

/// A tool of a server as a thread has it now.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerTool {
    /// The tool.
    pub spec: Arc<ToolSpec>,
    /// Whether it can be called. One that is not `ready` is shown to people and not to the model; `ready` also is the tool
    /// of a server that is not running and is started by the first use.
    pub state: ToolState,
    /// Why it cannot be called, where it cannot.
    pub reason: Option<String>,
}

/// A source whose tools a step has to do without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The source: `app`, `files` or a server id.
    pub source: String,
    /// What people call it.
    pub name: String,
    /// Why it is missing, as a sentence for a person.
    pub reason: String,
}

/// A sign of life of a tool at work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sign {
    /// What it is doing.
    pub message: Option<String>,
    /// How far it has come, from 0 to 1, where it says so.
    pub fraction: Option<f64>,
}

/// Told of every sign of life of one call. It must not wait.
#[derive(Clone)]
pub struct Signs(Arc<dyn Fn(Sign) + Send + Sync>);

impl Signs {
    /// Signs go to this function.
    pub fn to(tell: impl Fn(Sign) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Nobody wants to know.
    #[must_use]
    pub fn ignored() -> Self {
        Self::to(|_| ())
    }

    /// Tells of one.
    pub fn tell(&self, sign: Sign) {
        (self.0)(sign);
    }
}

/// The servers that speak MCP, as threads use them.
pub trait Servers: Send + Sync {
    /// The tools of all servers that are enabled for a project, as they are known now. Never waits, starts nothing.
    ///
    /// Rules are not looked at: whoever asks knows them.
    fn tools(&self, project_id: &ProjectId) -> Vec<ServerTool>;

    /// The sources that are enabled for a project, with what people call each. Never waits, starts nothing.
    ///
    /// A source is listed before anything is known of its tools; who rules it out leaves it out of what is to be got ready.
    fn sources(&self, project_id: &ProjectId) -> Vec<String>;

    /// Opens what a step needs and has not open, all at once, and says what the step has to do without. `needed` are the
    /// sources that no rule denies: no other is started.
    ///
    /// It waits for a source that was ready before for at most a second, and for one whose tools were never listed until it
    /// is listed or has failed; whatever is missing goes on starting, and is there at a later step.
    fn get_ready<'a>(&'a self, place: &'a Place, needed: &'a [String]) -> BoxFuture<'a, Vec<Missing>>;

    /// Makes a call, within its silence and its ceiling. Dropping the future takes the call back: the server is told. A call
    /// whose server is lost ends with its outcome unknown and is never made again.
    fn call<'a>(
        &'a self,
        place: &'a Place,
        call: SourceCall,
        signs: Signs,
    ) -> BoxFuture<'a, Result<SourceResult, CallFailure>>;

    /// What a call would change of what runs may do. Only the daemon's own tools can.
    fn stakes<'a>(
        &'a self,
        _place: &'a Place,
        _tool: &'a ToolSpec,
        _arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Option<Stakes>> {
        Box::pin(std::future::ready(None))
    }
}
