//! MCP servers the owner adds, and the review that decides which of their tools may be used.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AccountId, Revision, ServerId, Timestamp, Transport};

/// A server whose tools runs can call: one of the two that are part of the daemon, or one the owner added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// Its id: `app`, `files`, or one of an added server. Rules and bindings of projects name it.
    pub server_id: ServerId,
    /// What the names of its tools are made of: at most 24 of `[a-z0-9]`, a letter first. It never changes.
    pub slug: String,
    /// What people call it.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// Its address, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The program that is started, of a `stdio` server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The arguments it is started with. They are shown: secrets belong into its environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// The names of the variables it gets beside the usual ones; their values are secrets and never shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_names: Option<Vec<String>>,
    /// Whether it is part of the daemon.
    pub builtin: bool,
    /// Whether name and transport stay as they are.
    pub read_only: bool,
    /// Whether it can be removed.
    pub removable: bool,
    /// Whether runs may use it. A project can switch it off for its own.
    pub enabled: bool,
    /// Whether its word is taken for which of its tools only read: those are called without asking.
    pub trusted: bool,
    /// Whether its address may be in a private network.
    pub private_network: bool,
    /// The origins it may be reached at.
    pub origins: Vec<String>,
    /// How one signs in.
    pub sign_in: SignIn,
    /// How it stands.
    pub state: ServerState,
    /// Since when its connection stands so; absent where it was never opened since the daemon started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Why it stands so: `start_failed`, `start_timeout`, `no_usable_tool`, `review_needed`, …; while it is starting, what is
    /// waited for: `handshake`, `tools` or `closing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whose fault it is, or who is waited for, with what was said, where anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub party: Option<String>,
    /// Its accounts; a server without sign-in has one.
    pub accounts: Vec<Account>,
    /// How many of its tools stand how.
    pub counts: ServerCounts,
    /// The last of what its process wrote to stderr, at most 64 KiB; in `mcp/server/read` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// Its revision.
    pub revision: Revision,
}

/// How one signs in at a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SignIn {
    /// Not at all.
    None,
    /// With a token.
    Token,
    /// In a browser.
    Browser,
}

/// How a server stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    /// It is being connected to.
    Starting,
    /// It answers, and its tools were reviewed.
    Ready,
    /// It could not be reached, or was lost.
    Failed,
    /// It is not running; the first use starts it.
    Stopped,
    /// No tool of it can be used before its owner has reviewed them.
    NeedsReview,
}

/// How many tools of a server stand how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerCounts {
    /// Approved, and to be used as they are.
    pub approved: u64,
    /// Approved, and out of use until they are reviewed again: they have changed, or cannot be used any more.
    pub blocked: u64,
    /// Approved, in use, with a new title or description that waits for a review.
    pub updates: u64,
    /// Not seen by a review yet, and usable.
    pub new: u64,
    /// Approved, and not on the server any more.
    pub missing: u64,
    /// Not usable, whoever approves them.
    pub unusable: u64,
}

/// An account at a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// Its id: `mcp-<slug>:local`, or `mcp-<slug>:` and a number.
    pub account_id: AccountId,
    /// The server it is at.
    pub server_id: ServerId,
    /// Its name: `This computer`, `Server`, `Account 1`, `Token`, …
    pub name: String,
    /// What its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How it signs in.
    pub kind: SignIn,
    /// How it stands.
    pub state: AccountState,
    /// Whether calls that name no account use it.
    pub is_default: bool,
    /// Its revision.
    pub revision: Revision,
}

/// How an account stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AccountState {
    /// It can be used.
    Ready,
    /// Its owner is signing in.
    SigningIn,
    /// It has to be connected again.
    NeedsReauth,
}

/// What a server offers, beside what its owner approved of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerReview {
    /// Which server.
    pub server_id: ServerId,
    /// SHA-256 of all that is reviewed: `mcp/review/submit` names it, so that nothing is approved that was not seen.
    pub digest: String,
    /// The origins the server may be reached at.
    pub origins: Vec<String>,
    /// How many tools were not looked at: beyond the first 512, or without a name that can be shown.
    pub ignored_tools: u64,
    /// The tools, in the order of their names.
    pub tools: Vec<ReviewTool>,
}

/// A tool in a review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewTool {
    /// Its name at the server.
    pub name: String,
    /// What its other names are made of: at most 32 of `[A-Za-z0-9]`.
    pub tool_id: String,
    /// What apps declare, `mcp-<slug>.<toolId>`.
    pub permission: String,
    /// What apps call, `mcp.<slug>.<toolId>`.
    pub function: String,
    /// What models call, `mcp_<slug>_<toolId>`.
    pub agent_tool: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the model is told about it, or would be: the first 2,048 characters of what the server says now.
    pub description: String,
    /// Whether the server says that it only reads.
    pub kind: ServerToolKind,
    /// How it stands.
    pub state: ReviewState,
    /// Why it cannot be used, where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether its owner has approved it.
    pub approved: bool,
    /// What has changed since it was approved, by field: `inputSchema`, `outputSchema`, `annotations`, `title`,
    /// `description`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<BTreeMap<String, FieldDifference>>,
}

/// Whether a tool of a server only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ServerToolKind {
    /// The server marks it `readOnlyHint: true`.
    Read,
    /// It may change something.
    Write,
}

/// How a tool of a server stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReviewState {
    /// No review has seen it.
    New,
    /// It is as it was approved.
    Ok,
    /// Its title or description is another; the approved one stays in use.
    Updated,
    /// A schema or an annotation is another: it is blocked until it is reviewed.
    Changed,
    /// The server does not have it any more.
    Missing,
    /// It cannot be used as the server describes it.
    Unusable,
    /// Its owner has seen it and did not approve it.
    Cleared,
}

/// A field before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldDifference {
    /// As it was approved; a long one is said in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Value>,
    /// As it is now; a long one is said in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<Value>,
}
