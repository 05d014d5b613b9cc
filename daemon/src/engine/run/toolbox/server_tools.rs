//! The tools of servers in a toolbox, and which servers a run needs at all.

use std::collections::BTreeMap;

use ropewalk_protocol::{PolicyDecision, SourceKind, ToolState};

use super::{Entry, asking};
use crate::{
    engine::Turn,
    tools::{CallFailure, SourceDefault, ToolIdentity, policy::effective, servers::ServerTool},
};

/// The entries of all servers that are enabled for the thread's project.
pub(super) fn entries(turn: &Turn<'_>) -> Vec<Entry> {
    let Some(servers) = turn.shared.servers.get() else { return Vec::new() };
    let rules = turn.shared.rules_of(&turn.state().thread.project_id, &turn.state().thread.thread_id);
    let entry = |tool: ServerTool| Entry {
        effective: effective(tool.spec.identity(), &rules, asking(turn)),
        is_gone: tool.state != ToolState::Ready,
        spec: tool.spec,
        state: tool.state,
        reason: tool.reason,
    };
    servers.tools(&turn.state().thread.project_id).into_iter().map(entry).collect()
}

/// The sources a run of the thread needs: those of which a tool may be called, or of which nothing is known yet and no rule
/// denies everything. What is ruled out is never started (APP-13, APP-14).
pub fn needed_sources(turn: &Turn<'_>) -> Vec<String> {
    let Some(servers) = turn.shared.servers.get() else { return Vec::new() };
    let thread = &turn.state().thread;
    let rules = turn.shared.rules_of(&thread.project_id, &thread.thread_id);
    let tools = servers.tools(&thread.project_id);
    let allowed =
        |identity: ToolIdentity<'_>| effective(identity, &rules, asking(turn)).decision != PolicyDecision::Deny;
    let default = SourceDefault {
        decision: PolicyDecision::Ask,
        silence_ms: 0,
        exempt_from_asking: false,
        why: "not listed yet".into(),
    };
    let is_needed = |source: &String| {
        let mut known = tools.iter().filter(|tool| tool.spec.source == *source).peekable();
        if known.peek().is_none() {
            return allowed(ToolIdentity { source, name: "", digest: "", default: &default });
        }
        known.any(|tool| allowed(tool.spec.identity()))
    };
    servers.sources(&thread.project_id).into_iter().filter(is_needed).collect()
}

/// Two tools of servers with one model-facing name are both out of use until their owner renames a server: neither wins
/// silently (K03). The bundled servers keep theirs.
pub(super) fn quarantine_clashes(entries: &mut [Entry]) {
    let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        named.entry(entry.spec.flat_name.clone()).or_default().push(at);
    }
    for (name, places) in named.into_iter().filter(|(_, places)| places.len() > 1) {
        let sources: Vec<String> = places.iter().map(|at| entries[*at].spec.source_name.clone()).collect();
        for at in places {
            let entry = &mut entries[at];
            if entry.spec.source_kind != SourceKind::Mcp {
                continue;
            }
            entry.state = ToolState::Quarantined;
            entry.reason = Some(format!("{name} is the name of a tool of {} at once", sources.join(" and of ")));
            entry.is_gone = true;
        }
    }
}

/// Why a tool in this state cannot be called, whoever would allow it. One whose server is only not there is tried.
pub(super) fn unusable(entry: &Entry) -> Option<CallFailure> {
    let code = match entry.state {
        ToolState::Quarantined => "tool_quarantined",
        ToolState::Blocked => "tool_blocked",
        _ => return None,
    };
    let why = entry.reason.clone().unwrap_or_else(|| "its owner has to look at it first".to_owned());
    let reason = format!("It cannot be used as it is: {why}.");
    Some(CallFailure::Unavailable { code, reason })
}
