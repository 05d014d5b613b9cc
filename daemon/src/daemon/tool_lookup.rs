//! What the catalogue asks of those who know tools and threads: answered from the index, waiting for nobody.

use std::sync::Weak;

use ropewalk_protocol::{Policy, ThreadId};

use crate::{
    catalogue::ToolLookup,
    engine::{Shared, lookup},
    tools::{ToolIdentity, ToolSpec, policy::covers},
};

/// Knows the tools of all threads. Weakly, because what threads share has the catalogue, and the catalogue has this: who
/// lets go of a daemon lets go of both. Without threads there are no tools.
pub struct EngineTools(pub Weak<Shared>);

impl ToolLookup for EngineTools {
    fn thread_exists(&self, thread: &ThreadId) -> bool {
        self.0.upgrade().is_some_and(|shared| lookup::thread_exists(&shared, thread))
    }

    fn digest_of(&self, source: &str, name: &str, thread: Option<&ThreadId>) -> Option<String> {
        let shared = self.0.upgrade()?;
        let all = lookup::known_tools(&shared, thread);
        let found = all.iter().rev().find(|tool| tool.source == source && tool.rule_name() == name);
        found.map(|tool| tool.digest.clone())
    }

    fn matches(&self, policy: &Policy) -> u64 {
        let Some(shared) = self.0.upgrade() else { return 0 };
        let all = lookup::known_tools(&shared, policy.thread_id.as_ref());
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
