//! The pieces of the one path that every tool call walks, each a pure function: no clock, no input, no output.
//!
//! In the order of the path: a client's tools come in through [`declaration`], get their [`names`] and [`digest`], and
//! stand beside the daemon's own ([`ask_user`], [`tool_search`]) as [`ToolSpec`]s. For a call, [`policy`] says what the
//! rules say of the tool, [`arguments`] reads what the model wrote, [`repair`] mends two slips, [`schema`] checks, and
//! [`summary`] says in a line what it is about, after [`veil`] has taken out what is secret. [`answers`], [`results`] and [`media`] check what comes back, and [`budget`]
//! cuts it. [`path`] strings them together, and [`ToolSource`] is where calls go; [`servers`] is how runs reach the sources that
//! speak MCP. [`texts`] holds every bad end a call can
//! have and what the model is told of it. [`json`] is how all of them read JSON.

use std::{borrow::Cow, sync::Arc};

use ropewalk_protocol::{
    Annotations, ApprovalTool, ApprovalWish, ClientRef, EffectivePolicy, PolicyDecision, SourceKind, Tool, ToolRef,
    ToolState,
};
use serde_json::Value;

use self::{digest::tool_digest, names::server_flat_name};
use crate::models::ToolDefinition;

pub mod answers;
pub mod arguments;
pub mod ask_user;
pub mod budget;
pub mod declaration;
pub mod digest;
pub mod json;
pub mod mcp;
pub mod media;
pub mod names;
pub mod path;
pub mod policy;
pub mod repair;
pub mod results;
pub mod schema;
pub mod servers;
mod source;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod texts;
pub mod tool_search;
pub mod veil;

pub use declaration::{ClientTool, check_declarations};
pub use policy::{Effective, ToolIdentity};
pub use schema::Schema;
pub use source::{SourceCall, SourceResult, Stakes, ToolSource};
pub use texts::CallFailure;

/// A tool as a thread has it, whatever its source: what the wire's `Tool`, the model's definition and a call are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// What a model calls it: one to one, at most 64 of `[A-Za-z0-9_-]`.
    pub flat_name: String,
    /// Its name at its source.
    pub name: String,
    /// Its namespace, for a client tool that has one.
    pub namespace: Option<String>,
    /// What its namespace is for.
    pub namespace_description: Option<String>,
    /// What people call it.
    pub title: Option<String>,
    /// What it does, as its source says.
    pub description: String,
    /// What it does to the world, as its source says.
    pub annotations: Annotations,
    /// Its source: `app`, `files`, a server id, `client:NAME`.
    pub source: String,
    /// What kind of source.
    pub source_kind: SourceKind,
    /// What people call the source.
    pub source_name: String,
    /// What rules and approvals bind to.
    pub digest: String,
    /// JSON Schema of its arguments.
    pub input_schema: Arc<Value>,
    /// JSON Schema of its structured results.
    pub output_schema: Option<Arc<Value>>,
    /// What holds where no rule says otherwise.
    pub default: SourceDefault,
    /// The client process that holds its handler.
    pub owner: Option<ClientRef>,
}

/// What holds for a tool where no rule says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDefault {
    /// The decision.
    pub decision: PolicyDecision,
    /// How long a call may be silent, in milliseconds.
    pub silence_ms: u64,
    /// Whether it is never asked about, because asking is what it does. A `deny` still holds.
    pub exempt_from_asking: bool,
    /// Why, in a few words.
    pub why: Cow<'static, str>,
}

/// How long a call of an App tool may be silent. A question waits for a person and has a deadline of its own.
pub const APP_SILENCE_MS: u64 = 600_000;

impl ToolSpec {
    /// One of the daemon's own tools, of those that change nothing and are never asked about.
    #[must_use]
    pub fn of_app(name: &str, title: &str, description: &str, input_schema: Value) -> Self {
        let annotations = Annotations { read_only_hint: Some(true), ..Annotations::default() };
        Self {
            flat_name: server_flat_name("app", name),
            name: name.to_owned(),
            namespace: None,
            namespace_description: None,
            title: Some(title.to_owned()),
            description: description.to_owned(),
            digest: tool_digest(&input_schema, None, &annotations),
            annotations,
            source: "app".to_owned(),
            source_kind: SourceKind::App,
            source_name: "App tools".to_owned(),
            input_schema: Arc::new(input_schema),
            output_schema: None,
            default: SourceDefault {
                decision: PolicyDecision::Allow,
                silence_ms: APP_SILENCE_MS,
                exempt_from_asking: true,
                why: "exempt from asking".into(),
            },
            owner: None,
        }
    }

    /// A tool of a client. `silence_ms` is the setting that holds where its declaration names no timeout.
    #[must_use]
    pub fn of_client(tool: &ClientTool, owner: &ClientRef, silence_ms: u64) -> Self {
        let (decision, why) = match tool.approval {
            Some(ApprovalWish::Ask) => (PolicyDecision::Ask, "wish of its declaration"),
            Some(ApprovalWish::Allow) | None => (PolicyDecision::Allow, "default of client tools"),
        };
        Self {
            flat_name: tool.flat_name.clone(),
            name: tool.name.clone(),
            namespace: tool.namespace.clone(),
            namespace_description: tool.namespace_description.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            annotations: tool.annotations.clone(),
            source: format!("client:{}", owner.client_name),
            source_kind: SourceKind::Client,
            source_name: owner.client_name.clone(),
            digest: tool.digest.clone(),
            input_schema: Arc::clone(&tool.input_schema),
            output_schema: tool.output_schema.clone(),
            default: SourceDefault {
                decision,
                silence_ms: tool.timeout_ms.unwrap_or(silence_ms),
                exempt_from_asking: false,
                why: why.into(),
            },
            owner: Some(owner.clone()),
        }
    }

    /// Its name in rules and approvals: the flat name of a client tool, of any other the name at its source.
    #[must_use]
    pub fn rule_name(&self) -> &str {
        if self.source_kind == SourceKind::Client { &self.flat_name } else { &self.name }
    }

    /// What rules see of it.
    #[must_use]
    pub fn identity(&self) -> ToolIdentity<'_> {
        ToolIdentity { source: &self.source, name: self.rule_name(), digest: &self.digest, default: &self.default }
    }

    /// What people call it: its title, else its name.
    #[must_use]
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or_else(|| self.rule_name())
    }

    /// How long a call may be silent, in milliseconds: the rule's timeout, else the declaration's, else the setting; never
    /// more than the ceiling of a call.
    #[must_use]
    pub fn silence_ms(&self, effective: &Effective, ceiling_ms: u64) -> u64 {
        effective.timeout_ms.unwrap_or(self.default.silence_ms).min(ceiling_ms)
    }

    /// The tool as `thread/tools` shows it. A tool that a rule denies is `blocked`, whatever the state of its source.
    #[must_use]
    pub fn to_wire(&self, seen: Seen<'_>) -> Tool {
        let blocked = seen.effective.decision == PolicyDecision::Deny;
        Tool {
            flat_name: self.flat_name.clone(),
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            annotations: self.annotations.clone(),
            source: self.source.clone(),
            source_kind: self.source_kind,
            source_name: self.source_name.clone(),
            owner: self.owner.clone(),
            state: if blocked { ToolState::Blocked } else { seen.state },
            reason: if blocked { None } else { seen.reason },
            digest: self.digest.clone(),
            policy: EffectivePolicy {
                decision: seen.effective.decision,
                level: seen.effective.level,
                policy_id: seen.effective.policy_id.clone(),
                timeout_ms: self.silence_ms(seen.effective, seen.ceiling_ms),
                max_calls_per_run: seen.effective.max_calls,
            },
            why: seen.effective.why.clone(),
            input_schema: seen.schemas.then(|| self.input_schema.as_ref().clone()),
            output_schema: self.output_schema.as_deref().filter(|_| seen.schemas).cloned(),
        }
    }

    /// The tool as a model is told about it.
    #[must_use]
    pub fn to_definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: self.flat_name.clone(),
            description: model_description(self),
            input_schema: Arc::clone(&self.input_schema),
        }
    }

    /// The tool as the item of a call names it.
    #[must_use]
    pub fn to_ref(&self) -> ToolRef {
        ToolRef {
            flat_name: self.flat_name.clone(),
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            source: self.source.clone(),
            title: self.title.clone(),
            digest: self.digest.clone(),
        }
    }

    /// The tool as an approval names it.
    #[must_use]
    pub fn to_approval(&self) -> ApprovalTool {
        ApprovalTool {
            name: self.rule_name().to_owned(),
            source: self.source.clone(),
            title: self.title.clone(),
            annotations: self.annotations.clone(),
        }
    }
}

/// How a tool looks at the moment it is listed.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// The state of its source.
    pub state: ToolState,
    /// Why it cannot be called, where it cannot.
    pub reason: Option<String>,
    /// What the rules say of it.
    pub effective: &'a Effective,
    /// The ceiling of a call, in milliseconds.
    pub ceiling_ms: u64,
    /// Whether schemas are wanted.
    pub schemas: bool,
}

/// What a model is told about a tool: what its namespace is for, then what it does itself.
#[must_use]
pub fn model_description(tool: &ToolSpec) -> String {
    match (&tool.namespace, &tool.namespace_description) {
        (Some(namespace), Some(about)) => format!("{namespace}: {about}\n\n{}", tool.description),
        _ => tool.description.clone(),
    }
}

/// How a name that is no tool of a run appears in the item of its call: without source and digest.
#[must_use]
pub fn unknown_ref(name: &str) -> ToolRef {
    ToolRef {
        flat_name: name.to_owned(),
        name: name.to_owned(),
        namespace: None,
        source: String::new(),
        title: None,
        digest: String::new(),
    }
}
