//! Projects and their grants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{
    Capability, Cursor, EndpointId, Grant, GrantId, OperationId, Page, Patch, Project, ProjectId, Removed, Revision,
    ServerId,
};

methods! {
    /// Make a project.
    ProjectCreate = "project/create"(ProjectCreateParams) -> ProjectChanged, ToDaemon, changes, Work;
    /// A project with its grants and policies.
    ProjectRead = "project/read"(ProjectParams) -> ProjectResult, ToDaemon, reads, Work;
    /// The projects, in the order of their ids.
    ProjectList = "project/list"(ListParams) -> Page<Project>, ToDaemon, reads, Work;
    /// Change a project: what is named is set, null clears.
    ProjectUpdate = "project/update"(ProjectUpdateParams) -> ProjectChanged, ToDaemon, changes, Work;
    /// The project of a directory, made with a read and write grant on it if there is none yet.
    ProjectEnsure = "project/ensure"(ProjectEnsureParams) -> ProjectEnsured, ToDaemon, changes, Work;
    /// Delete a project for good, with its threads, its grants and its rules. Files in its directories stay.
    ProjectDelete = "project/delete"(ProjectDeleteParams) -> Removed, ToDaemon, changes, Work;
    /// Grant a project a directory.
    GrantAdd = "grant/add"(GrantAddParams) -> GrantChanged, ToDaemon, changes, Work;
    /// Take a grant back.
    GrantRemove = "grant/remove"(GrantRemoveParams) -> Removed, ToDaemon, changes, Work;
    /// The grants of a project.
    GrantList = "grant/list"(GrantListParams) -> Page<Grant>, ToDaemon, reads, Work;
}

/// Parameters of plain lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListParams {
    /// Where the page begins; absent: at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Names a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectParams {
    /// Which one.
    pub project_id: ProjectId,
}

/// Parameters of `project/create`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectCreateParams {
    /// Its name, 1 to 120 characters.
    pub name: String,
    /// What it is for, at most 2,048 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What its runs are told, at most 32,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The endpoint of its threads that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_endpoint_id: Option<EndpointId>,
    /// Which servers its runs use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<ServerChoice>>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// Whether a project's runs use a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerChoice {
    /// Which server.
    pub server_id: ServerId,
    /// Whether they use it.
    pub enabled: bool,
}

/// Parameters of `project/update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectUpdateParams {
    /// Which one.
    pub project_id: ProjectId,
    /// Its name, 1 to 120 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for, at most 2,048 characters.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub description: Patch<String>,
    /// What its runs are told, at most 32,000 characters.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub instructions: Patch<String>,
    /// The endpoint of its threads that name none.
    #[serde(default, skip_serializing_if = "Patch::is_keep")]
    pub default_endpoint_id: Patch<EndpointId>,
    /// Merged by server id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Vec<ServerChoice>>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// The answer to `project/read`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectResult {
    /// The project.
    pub project: Project,
}

/// A project after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectChanged {
    /// The project.
    pub project: Project,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `project/ensure`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectEnsureParams {
    /// The directory, absolute.
    pub path: String,
    /// The name of a project that has to be made; the last part of the path unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// Parameters of `project/delete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectDeleteParams {
    /// Which one; not the default project.
    pub project_id: ProjectId,
    /// Whether it is only said what would go; not, unless this is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// The answer to `project/ensure`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectEnsured {
    /// The project.
    pub project: Project,
    /// Whether it was made now.
    pub created: bool,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `grant/add`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantAddParams {
    /// The project.
    pub project_id: ProjectId,
    /// An existing directory, absolute.
    pub path: String,
    /// What is allowed beneath it; not empty.
    pub capabilities: Vec<Capability>,
    /// Its name; the last part of the path unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The project's revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// The answer to `grant/add`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantChanged {
    /// The grant.
    pub grant: Grant,
    /// What whoever granted it should know, as sentences: that it is the whole computer, the system itself, or has the
    /// daemon's own home in it, which no grant opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `grant/remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantRemoveParams {
    /// The project.
    pub project_id: ProjectId,
    /// The grant.
    pub grant_id: GrantId,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The project's revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// Parameters of `grant/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantListParams {
    /// The project.
    pub project_id: ProjectId,
    /// Where the page begins; absent: at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}
