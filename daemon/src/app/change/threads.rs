//! `app_threads`: threads and their branches (APP-27).

use rmcp::model::Tool;
use ropewalk_protocol::{
    BranchDelete, BranchId, BranchUpdate, EndpointId, Method, ProjectId, ThreadDelete, ThreadId, ThreadStart,
    ThreadUpdate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Change, How, Request, ToolError, listed, needed, not_own, request};
use crate::tools::servers::Place;

pub const NAME: &str = "app_threads";

const DESCRIPTION: &str = "Changes threads and branches, one operation a call. Create starts an empty thread (app_runs Submit \
    gives it work). Rename, Pin and SetEndpoint change a thread; RenameBranch a branch. Delete and DeleteBranch only say what \
    would go unless dryRun is false. A change of a thread names the revision you read as expectedRevision; with status \
    Conflict nothing was done and current is the thread as it is.";

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ThreadOperation {
    Create,
    Rename,
    Pin,
    SetEndpoint,
    RenameBranch,
    Delete,
    DeleteBranch,
}

/// The arguments of `app_threads`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ThreadChange {
    /// What to do.
    pub operation: ThreadOperation,
    /// A name you give this change, so that repeating the call does not do it twice.
    pub operation_id: String,
    /// The project of Create. Left out: your own.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// The thread. Left out: your own.
    #[serde(default)]
    pub thread_id: Option<ThreadId>,
    /// The branch of RenameBranch and DeleteBranch.
    #[serde(default)]
    pub branch_id: Option<BranchId>,
    /// The title of Create, Rename and RenameBranch.
    #[serde(default)]
    pub title: Option<String>,
    /// What the runs of a new thread are told.
    #[serde(default)]
    pub instructions: Option<String>,
    /// The endpoint of Create and SetEndpoint; SetEndpoint without it goes back to the project's.
    #[serde(default)]
    pub endpoint_id: Option<EndpointId>,
    /// Whether Pin pins the thread; it does unless this is false.
    #[serde(default)]
    pub pinned: Option<bool>,
    /// The revision you read: of the branch for DeleteBranch, else of the thread.
    #[serde(default)]
    pub expected_revision: Option<u64>,
    /// For Delete and DeleteBranch: false to do it. Anything else only says what would go.
    #[serde(default)]
    pub dry_run: Option<bool>,
}

/// How the tool is listed.
pub fn tool() -> Tool {
    listed::<ThreadChange>(NAME, "Change threads", DESCRIPTION)
}

impl Change for ThreadChange {
    fn how(&self) -> How {
        How {
            operation_id: self.operation_id.clone(),
            dry_run: self.dry_run,
            expected_revision: self.expected_revision,
        }
    }

    fn request(&self, place: &Place) -> Result<Request, ToolError> {
        let thread = self.thread_id.clone().unwrap_or_else(|| place.thread_id.clone());
        let title = |operation| needed(self.title.as_ref(), operation, "title");
        let branch = |operation| needed(self.branch_id.as_ref(), operation, "branchId");
        let thread_changed = |operation, params: Value, effect| {
            Ok(Request { has_revision: true, ..request(operation, ThreadUpdate::NAME, params, effect) })
        };
        match self.operation {
            ThreadOperation::Create => {
                let project = self.project_id.as_ref().unwrap_or(&place.project_id);
                let params = json!({
                    "projectId": project, "title": self.title, "endpointId": self.endpoint_id,
                    "instructions": self.instructions, "subscribe": false,
                });
                let named = self.title.as_ref().map_or_else(String::new, |title| format!(" {title:?}"));
                Ok(request("Create", ThreadStart::NAME, params, format!("Started the thread{named}.")))
            }
            ThreadOperation::Rename => {
                let title = title("Rename")?;
                let params = json!({"threadId": thread, "title": title});
                thread_changed("Rename", params, format!("Renamed thread {thread} to {title:?}."))
            }
            ThreadOperation::Pin => {
                let is_pinned = self.pinned.unwrap_or(true);
                let what = if is_pinned { "Pinned" } else { "Unpinned" };
                let params = json!({"threadId": thread, "pinned": is_pinned});
                thread_changed("Pin", params, format!("{what} thread {thread}."))
            }
            ThreadOperation::SetEndpoint => {
                let effect = match &self.endpoint_id {
                    Some(endpoint) => format!("Thread {thread} uses endpoint {endpoint} from its next run on."),
                    None => format!("Thread {thread} uses the endpoint of its project from its next run on."),
                };
                let mut request = request("SetEndpoint", ThreadUpdate::NAME, json!({"threadId": thread}), effect);
                request.params.insert("endpointId".to_owned(), json!(self.endpoint_id));
                Ok(Request { has_revision: true, ..request })
            }
            ThreadOperation::RenameBranch => {
                let (title, branch) = (title("RenameBranch")?, branch("RenameBranch")?);
                let params = json!({"threadId": thread, "branchId": branch, "title": title});
                let effect = format!("Renamed branch {branch} to {title:?}.");
                Ok(request("RenameBranch", BranchUpdate::NAME, params, effect))
            }
            ThreadOperation::Delete => {
                needed(self.thread_id.as_ref(), "Delete", "threadId")?;
                not_own(&thread, place, "Delete")?;
                Ok(deletion("Delete", ThreadDelete::NAME, json!({"threadId": thread})))
            }
            ThreadOperation::DeleteBranch => {
                let branch = branch("DeleteBranch")?;
                if *branch == place.branch_id {
                    let message = "DeleteBranch cannot be about the branch this run works on. Nothing was done.";
                    return Err(ToolError(message.to_owned()));
                }
                Ok(deletion("DeleteBranch", BranchDelete::NAME, json!({"threadId": thread, "branchId": branch})))
            }
        }
    }
}

fn deletion(operation: &'static str, method: &'static str, params: Value) -> Request {
    Request { is_rehearsed: true, has_revision: true, ..request(operation, method, params, String::new()) }
}
