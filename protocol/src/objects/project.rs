//! Projects and the directories granted to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EndpointId, GrantId, Policy, ProjectId, Revision, ServerId, Timestamp};

/// What threads live in: instructions, grants, policies and a default endpoint they share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// Its id.
    pub project_id: ProjectId,
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What every run in it is told, at most 32,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The endpoint of its threads that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_endpoint_id: Option<EndpointId>,
    /// Whether it is the project of threads that name none. There is exactly one.
    pub is_default: bool,
    /// Which MCP servers its runs use.
    pub servers: Vec<ProjectServer>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Its revision; a change of its grants or policies raises it too.
    pub revision: Revision,
    /// Its grants; in `project/read` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<Vec<Grant>>,
    /// Its policies; in `project/read` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<Vec<Policy>>,
}

/// An MCP server as a project uses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectServer {
    /// Which server.
    pub server_id: ServerId,
    /// How it is reached.
    pub transport: Transport,
    /// Whether the project's runs use it.
    pub enabled: bool,
}

/// How an MCP server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Transport {
    /// Inside the daemon.
    InProcess,
    /// A child process.
    Stdio,
    /// HTTP.
    StreamableHttp,
}

/// A directory plus what file tools may do beneath it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Its id.
    pub grant_id: GrantId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// Its name; the last part of the path unless given.
    pub name: String,
    /// The directory, absolute and with every link resolved.
    pub path: String,
    /// What is allowed beneath it; never empty.
    pub capabilities: Vec<Capability>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What file tools may do beneath a granted directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Capability {
    /// Read files and list directories.
    Read,
    /// Make, change and delete files.
    Write,
    /// Start programs.
    Execute,
}
