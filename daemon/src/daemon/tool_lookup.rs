//! What the catalogue asks of those who know tools and threads: answered from the index, waiting for nobody.

use std::sync::Arc;

use ropewalk_protocol::{Policy, ThreadId};

use crate::{
    catalogue::ToolLookup,
    engine::{Shared, lookup},
    tools::{ToolIdentity, ToolSpec, policy::covers},
};

/// Knows the tools of all threads.
pub struct EngineTools(pub Arc<Shared>);

impl ToolLookup for EngineTools {
    fn thread_exists(&self, thread: &ThreadId) -> bool {
        lookup::thread_exists(&self.0, thread)
    }

    fn digest_of(&self, source: &str, name: &str, thread: Option<&ThreadId>) -> Option<String> {
        let all = lookup::known_tools(&self.0, thread);
        let found = all.iter().rev().find(|tool| tool.source == source && tool.rule_name() == name);
        found.map(|tool| tool.digest.clone())
    }

    fn matches(&self, policy: &Policy) -> u64 {
        let all = lookup::known_tools(&self.0, policy.thread_id.as_ref());
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for tool in all.iter().filter(|tool| covers(policy, identity(tool))) {
            if !seen.contains(&(&tool.source, tool.rule_name())) {
                seen.push((&tool.source, tool.rule_name()));
            }
        }
        seen.len() as u64
    }
}

fn identity(tool: &ToolSpec) -> ToolIdentity<'_> {
    tool.identity()
}
