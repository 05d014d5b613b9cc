//! The approved tools of a server as runs have them.

use std::sync::Arc;

use ropewalk_protocol::{PolicyDecision, ReviewState, ServerToolKind, SourceKind, ToolState};

use super::{Approved, Listing, Reviewed, agent_tool, kind, review};
use crate::tools::{SourceDefault, ToolSpec, servers::ServerTool};

/// How long a call of an added server's tool may be silent.
const SILENCE_MS: u64 = 60_000;

/// What decides how the tools of an added server are used.
#[derive(Clone, Copy, Debug)]
pub struct OwnedServer<'a> {
    /// What is known of it and its tools.
    pub reviewed: Reviewed<'a>,
    /// What people call it.
    pub name: &'a str,
    /// Whether its word is taken for which of its tools only read.
    pub trusted: bool,
}

/// The approved tools of a server, each with the texts and schemas that were approved. One that behaves differently by now is
/// blocked; one that the server does not have any more is called all the same, and the server says so itself (MCP-81).
///
/// `listing` is the newest there is; without one the tools stand as they were approved.
#[must_use]
pub fn server_tools(server: &OwnedServer<'_>, listing: Option<&Listing>) -> Vec<ServerTool> {
    let shown = review(&server.reviewed, listing);
    let tool = |approved: &Approved| {
        let now = shown.tools.iter().find(|tool| tool.name == approved.name);
        let reason = now.and_then(|tool| match tool.state {
            ReviewState::Changed => Some(format!(
                "the server describes it differently since it was approved, and its owner has to review {}",
                server.name
            )),
            ReviewState::Unusable => {
                Some(format!("it cannot be used any more ({})", tool.reason.as_deref().unwrap_or("no reason given")))
            }
            _ => None,
        });
        let state = if reason.is_some() { ToolState::Blocked } else { ToolState::Ready };
        ServerTool { spec: Arc::new(spec(server, approved)), state, reason }
    };
    server.reviewed.approved.iter().map(tool).collect()
}

fn spec(server: &OwnedServer<'_>, approved: &Approved) -> ToolSpec {
    let is_read = kind(&approved.annotations) == ServerToolKind::Read;
    let (decision, why) = match (is_read, server.trusted) {
        (true, true) => (PolicyDecision::Allow, "reads, by the word of a trusted server"),
        (true, false) => (PolicyDecision::Ask, "default of servers that are not trusted"),
        (false, _) => (PolicyDecision::Ask, "default of tools that may change something"),
    };
    ToolSpec {
        flat_name: agent_tool(server.reviewed.slug, &approved.tool_id),
        name: approved.name.clone(),
        namespace: None,
        namespace_description: None,
        title: approved.title.clone(),
        description: approved.description.clone(),
        annotations: approved.annotations.clone(),
        source: server.reviewed.server_id.to_string(),
        source_kind: SourceKind::Mcp,
        source_name: server.name.to_owned(),
        digest: approved.digest.clone(),
        input_schema: Arc::clone(&approved.input_schema),
        output_schema: approved.output_schema.clone(),
        default: SourceDefault { decision, silence_ms: SILENCE_MS, exempt_from_asking: false, why: why.into() },
        owner: None,
    }
}
