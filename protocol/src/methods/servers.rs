//! MCP servers and their reviews.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods;
use crate::{
    Cursor, OperationId, Page, Removed, Revision, Server, ServerCounts, ServerId, ServerReview, ServerState, Timestamp,
};

methods! {
    /// Add an MCP server that is a program on this computer, connect to it and list its tools. None of them can be used
    /// before a review is submitted. A server that cannot be started is added all the same, with its state.
    ServerAdd = "mcp/server/add"(ServerAddParams) -> ServerAdded, ToDaemon, changes, Work;
    /// The servers: `app` and `files`, which are part of the daemon, then those that were added, in the order of their ids.
    ServerList = "mcp/server/list"(ServerListParams) -> Page<Server>, ToDaemon, reads, Work;
    /// A server, with the last of what its process said on stderr.
    ServerRead = "mcp/server/read"(ServerParams) -> ServerResult, ToDaemon, reads, Work;
    /// How servers stand: all of them, or one.
    ServerStatus = "mcp/server/status"(ServerStatusParams) -> ServerStatuses, ToDaemon, reads, Work;
    /// Change what is named of a server. Its command stays: another command is another server. Of the servers that are part
    /// of the daemon only `enabled` can be changed.
    ServerUpdate = "mcp/server/update"(ServerUpdateParams) -> ServerChanged, ToDaemon, changes, Work;
    /// Close a server and open it again. The answer says how it stands then; it is waited for, for 10 s at most. Those that are
    /// part of the daemon are only closed, and opened by their next use.
    ServerRestart = "mcp/server/restart"(ServerRestartParams) -> ServerChanged, ToDaemon, changes, Work;
    /// Remove a server, with the values of its environment and every rule about it. Not one that is part of the daemon.
    ServerRemove = "mcp/server/remove"(ServerRemoveParams) -> Removed, ToDaemon, changes, Work;
    /// What a server offers beside what was approved of it, as it was last listed.
    ServerReviewRead = "mcp/review/read"(ServerParams) -> ServerReviewed, ToDaemon, reads, Work;
    /// The same, after asking the server.
    ServerReviewCheck = "mcp/review/check"(ServerParams) -> ServerReviewed, ToDaemon, reads, Work;
    /// Approve the named tools as the review with this digest shows them, and no others: what is not named is cleared. A
    /// tool that has changed goes back to its default level.
    ServerReviewSubmit = "mcp/review/submit"(ServerReviewSubmitParams) -> ServerReviewSubmitted, ToDaemon, changes, Work;
}

/// Parameters of `mcp/server/add`. `command` is needed; a server with a `url` cannot be added in this version.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerAddParams {
    /// The address of a server. Refused in this version, which reaches programs on this computer only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The token of a server with an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Whether the address may be in a private network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_network: Option<bool>,
    /// The program: an absolute path, or a name that is looked up in the daemon's `PATH`. No shell reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments, at most 128. They are shown to whoever reads the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// Variables it gets beside the usual ones, at most 64. Their values are kept as secrets and never shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// What people call it, 1 to 120 characters; what the server calls itself, else the command's name, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether to wait, for 10 s at most, until its tools are listed; so unless given. `false` answers at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to `mcp/server/add`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerAdded {
    /// The server.
    pub server: Server,
    /// What it offers, where it was listed in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ServerReview>,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `mcp/server/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerListParams {
    /// Where the page begins; absent: at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many at most; 100 unless given, 1,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Names a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerParams {
    /// Which one.
    pub server_id: ServerId,
}

/// The answer to `mcp/server/read`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerResult {
    /// The server.
    pub server: Server,
}

/// Parameters of `mcp/server/status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatusParams {
    /// Which one; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_id: Option<ServerId>,
}

/// The answer to `mcp/server/status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerStatuses {
    /// How each stands, in the order of `mcp/server/list`.
    pub items: Vec<ServerStanding>,
}

/// How a server stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerStanding {
    /// Which server.
    pub server_id: ServerId,
    /// How it stands.
    pub state: ServerState,
    /// Since when, as in the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Why, as in the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many of its tools stand how.
    pub counts: ServerCounts,
}

/// Parameters of `mcp/server/update`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerUpdateParams {
    /// Which one.
    pub server_id: ServerId,
    /// What people call it, 1 to 120 characters. The names of its tools stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether runs may use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether its word is taken for which of its tools only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// Whether its address may be in a private network; a program has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_network: Option<bool>,
    /// Its arguments, in place of those there were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// Its variables, in place of those there were; `{}` takes all away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// A server after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerChanged {
    /// The server.
    pub server: Server,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}

/// Parameters of `mcp/server/restart`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerRestartParams {
    /// Which one.
    pub server_id: ServerId,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// Parameters of `mcp/server/remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerRemoveParams {
    /// Which one.
    pub server_id: ServerId,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
    /// The revision this change is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_revision: Option<Revision>,
}

/// The answer to `mcp/review/read` and `mcp/review/check`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerReviewed {
    /// The review.
    pub review: ServerReview,
}

/// Parameters of `mcp/review/submit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerReviewSubmitParams {
    /// Which server.
    pub server_id: ServerId,
    /// The digest of the review that was read.
    pub digest: String,
    /// The names of the tools to approve, as they are at the server.
    pub tools: Vec<String>,
    /// Whether the server's word is taken for which of its tools only read; as it was, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// Makes a repeat recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<OperationId>,
}

/// The answer to `mcp/review/submit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerReviewSubmitted {
    /// The server.
    pub server: Server,
    /// The review after it.
    pub review: ServerReview,
    /// Whether this is the stored answer of an operation that was asked for before.
    pub replayed: bool,
}
