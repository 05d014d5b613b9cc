//! `app_navigate`: brings a project, a thread or a branch before the person's eyes, and changes nothing (APP-31).

use rmcp::model::{Tool, ToolAnnotations};
use ropewalk_protocol::{BranchId, NavigateParams, ProjectId, ThreadId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AppServer,
    answer::{Answer, ToolError},
    tools,
};

pub const NAME: &str = "app_navigate";

const DESCRIPTION: &str = "Brings a project, a thread or a branch on screen for the person. It changes no data. Without a \
    branch the thread is shown, without a thread the project; with no id at all your own branch is. It fails when no window \
    is attached; nothing is kept for later then, so tell the person in words where to look.";

/// The arguments of `app_navigate`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NavigateTo {
    /// The project to show. Left out: the thread's.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// The thread to show.
    #[serde(default)]
    pub thread_id: Option<ThreadId>,
    /// The branch to show, of threadId or of your own thread.
    #[serde(default)]
    pub branch_id: Option<BranchId>,
}

/// What was shown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Navigated {
    /// The project.
    pub project_id: String,
    /// The thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<String>,
    /// How many windows were asked to show it.
    pub windows: u64,
}

/// How the tool is listed. What is on a person's screen is not the data that `readOnlyHint` is about, and still no read.
pub fn tool() -> Tool {
    let annotations = ToolAnnotations::new().read_only(false).destructive(false).idempotent(true).open_world(false);
    tools::tool::<NavigateTo, Navigated>(NAME, "Show on screen", DESCRIPTION, annotations)
}

impl AppServer {
    pub(super) async fn navigate(&self, to: NavigateTo) -> Result<Answer, ToolError> {
        let to = self.existing(to).await?;
        if !self.windows.is_attended(&self.place.thread_id).await {
            return Err(ToolError(
                "This run is unattended: nobody follows its thread, so no window is attached. Nothing was \
                shown."
                    .to_owned(),
            ));
        }
        let windows = self.windows.show(&to);
        if windows == 0 {
            return Err(ToolError(
                "No window is attached: no client is connected that shows what it is asked to. Nothing \
                was shown, and nothing is kept for later."
                    .to_owned(),
            ));
        }
        let shown = Navigated {
            project_id: to.project_id.to_string(),
            thread_id: to.thread_id.as_ref().map(ToString::to_string),
            branch_id: to.branch_id.as_ref().map(ToString::to_string),
            windows,
        };
        Answer::new(&shown, summary(&shown))
    }

    /// What is meant, once all of it is known to exist (APP-196).
    async fn existing(&self, to: NavigateTo) -> Result<NavigateParams, ToolError> {
        let NavigateTo { project_id, thread_id, branch_id } = to;
        let is_named = project_id.is_some() || thread_id.is_some() || branch_id.is_some();
        let branch_id = branch_id.or_else(|| (!is_named).then(|| self.place.branch_id.clone()));
        let thread_id = thread_id.or_else(|| branch_id.is_some().then(|| self.place.thread_id.clone()));
        let Some(thread_id) = thread_id else {
            let project_id = project_id.unwrap_or_else(|| self.place.project_id.clone());
            self.reader.project(&project_id)?;
            return Ok(NavigateParams { project_id, thread_id: None, branch_id: None });
        };
        let thread = self.reader.thread(&thread_id).await?;
        let project_id = project_id.unwrap_or_else(|| thread.project_id.clone());
        self.reader.project(&project_id)?;
        if thread.project_id != project_id {
            return Err(ToolError(format!("Thread {thread_id} is not in project {project_id}.")));
        }
        let branches = thread.branches.unwrap_or_default();
        match &branch_id {
            Some(named) if !branches.iter().any(|branch| branch.branch_id == *named) => {
                Err(ToolError(format!("Thread {thread_id} has no branch {named}.")))
            }
            _ => Ok(NavigateParams { project_id, thread_id: Some(thread_id), branch_id }),
        }
    }
}

fn summary(shown: &Navigated) -> String {
    let what = match (&shown.branch_id, &shown.thread_id) {
        (Some(branch), _) => format!("branch {branch}"),
        (None, Some(thread)) => format!("thread {thread}"),
        (None, None) => format!("project {}", shown.project_id),
    };
    let windows = if shown.windows == 1 { "1 window".to_owned() } else { format!("{} windows", shown.windows) };
    format!("Showed {what} in {windows}")
}
