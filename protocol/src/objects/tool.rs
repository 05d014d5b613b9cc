//! Tools as clients declare them and as a thread has them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ClientRef, PolicyDecision, PolicyId};

/// A client tool as it is declared. Closed: an unknown field is an error with its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolDeclaration {
    /// A group for tools that belong together, `[A-Za-z0-9_-]{1,64}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What the group is for; the same in all declarations of one namespace that have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_description: Option<String>,
    /// The tool's name, `[A-Za-z0-9_-]{1,64}`. The model sees `namespace__name`, or `name` without a namespace.
    pub name: String,
    /// What the model is told about it, at most 2,048 characters.
    pub description: String,
    /// JSON Schema of its arguments; its type is object.
    pub input_schema: Value,
    /// JSON Schema of `structuredContent` in its results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What it does to the world.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::closed::annotations")]
    #[schemars(with = "Option<crate::closed::DeclaredAnnotations>")]
    pub annotations: Option<Annotations>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How long a call may be silent, 1,000 to 3,600,000 ms; 120,000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether a person is asked before each call when no rule says otherwise; not asked unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalWish>,
}

/// What a declaration wishes for its approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalWish {
    /// Call it without asking.
    Allow,
    /// Ask a person before each call.
    Ask,
}

/// What a tool does to the world, as its source says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// It changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice has the effect of calling it once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// A tool as a thread has it now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its model-facing name: one to one, at most 64 of `[A-Za-z0-9_-]`.
    pub flat_name: String,
    /// Its name at its source.
    pub name: String,
    /// Its namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the model is told about it.
    pub description: String,
    /// What it does to the world.
    pub annotations: Annotations,
    /// Its source: `app`, `files`, a server id, `client:NAME`.
    pub source: String,
    /// What kind of source.
    pub source_kind: SourceKind,
    /// What people call the source.
    pub source_name: String,
    /// The client process that holds its handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<ClientRef>,
    /// Whether it can be called.
    pub state: ToolState,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// SHA-256 over its schemas and annotations; rules and approvals bind to it.
    pub digest: String,
    /// What the rules say of it.
    pub policy: EffectivePolicy,
    /// Why they say so, in a few words.
    pub why: String,
    /// JSON Schema of its arguments; with `schemas: true` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// JSON Schema of its structured results; with `schemas: true` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

/// Kinds of tool sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SourceKind {
    /// The daemon's own App tools.
    App,
    /// The bundled file tools.
    Files,
    /// An MCP server.
    Mcp,
    /// A client.
    Client,
}

/// Whether a tool can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ToolState {
    /// Its source is ready.
    Ready,
    /// Its source is starting.
    Starting,
    /// Its source failed.
    Failed,
    /// Its client is here.
    Bound,
    /// Its client has gone.
    OwnerAway,
    /// A rule denies it.
    Blocked,
    /// It cannot be used as its source describes it.
    Quarantined,
    /// It did not fit the budget of definitions.
    LeftOut,
}

/// What the rules say of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffectivePolicy {
    /// The decision.
    pub decision: PolicyDecision,
    /// Where it comes from.
    pub level: EffectiveLevel,
    /// The rule, where one decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_id: Option<PolicyId>,
    /// How long a call may be silent.
    pub timeout_ms: u64,
    /// How many calls one run may make.
    pub max_calls_per_run: u64,
}

/// Where an effective decision comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EffectiveLevel {
    /// A rule of the thread.
    Thread,
    /// A rule of the project.
    Project,
    /// A global rule.
    Global,
    /// The default of the source.
    Default,
}
