//! `app_projects`: projects, without what they allow (APP-29).

use rmcp::model::Tool;
use ropewalk_protocol::{EndpointId, Method, ProjectCreate, ProjectDelete, ProjectId, ProjectUpdate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Change, How, Request, ToolError, listed, needed, request};
use crate::tools::servers::Place;

pub const NAME: &str = "app_projects";

const DESCRIPTION: &str = "Makes, changes and deletes projects, one operation a call. Update sets what it names and needs the \
    revision you read as expectedRevision. Delete takes the project's threads with it and only says what would go unless \
    dryRun is false. Grants, rules and servers of a project are app_security's.";

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProjectOperation {
    Create,
    Update,
    Delete,
}

/// The arguments of `app_projects`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProjectChange {
    /// What to do.
    pub operation: ProjectOperation,
    /// A name you give this change, so that repeating the call does not do it twice.
    pub operation_id: String,
    /// The project of Update and Delete. Left out for Update: your own.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// Its name.
    #[serde(default)]
    pub name: Option<String>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// The endpoint of its threads that name none.
    #[serde(default)]
    pub default_endpoint_id: Option<EndpointId>,
    /// The revision you read.
    #[serde(default)]
    pub expected_revision: Option<u64>,
    /// For Delete: false to do it. Anything else only says what would go.
    #[serde(default)]
    pub dry_run: Option<bool>,
}

/// How the tool is listed.
pub fn tool() -> Tool {
    listed::<ProjectChange>(NAME, "Change projects", DESCRIPTION)
}

impl Change for ProjectChange {
    fn how(&self) -> How {
        How {
            operation_id: self.operation_id.clone(),
            dry_run: self.dry_run,
            expected_revision: self.expected_revision,
        }
    }

    fn request(&self, place: &Place) -> Result<Request, ToolError> {
        let fields = json!({
            "name": self.name, "description": self.description, "defaultEndpointId": self.default_endpoint_id,
        });
        match self.operation {
            ProjectOperation::Create => {
                let name = needed(self.name.as_ref(), "Create", "name")?;
                Ok(request("Create", ProjectCreate::NAME, fields, format!("Made the project {name:?}.")))
            }
            ProjectOperation::Update => {
                let project = self.project_id.as_ref().unwrap_or(&place.project_id);
                let mut request = request("Update", ProjectUpdate::NAME, fields, format!("Changed project {project}."));
                request.params.insert("projectId".to_owned(), json!(project));
                Ok(Request { has_revision: true, ..request })
            }
            ProjectOperation::Delete => {
                let project = needed(self.project_id.as_ref(), "Delete", "projectId")?;
                if *project == place.project_id {
                    let message = "Delete cannot be about the project this run works in. Nothing was done.";
                    return Err(ToolError(message.to_owned()));
                }
                let params = json!({"projectId": project});
                let request = request("Delete", ProjectDelete::NAME, params, String::new());
                Ok(Request { is_rehearsed: true, has_revision: true, ..request })
            }
        }
    }
}
