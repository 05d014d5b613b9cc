//! What the catalogue asks of those who know tools and threads.

use std::sync::Arc;

use ropewalk_protocol::{Policy, PolicyTool, ThreadId};

use super::Catalogue;

/// Knows tools and threads. Asked while a change is being decided: answers come from memory, at once, and no answer
/// changes the catalogue.
pub trait ToolLookup: Send + Sync + 'static {
    /// Whether there is such a thread.
    fn thread_exists(&self, thread: &ThreadId) -> bool;

    /// The digest a tool has now: in one thread, or anywhere.
    fn digest_of(&self, source: &str, name: &str, thread: Option<&ThreadId>) -> Option<String>;

    /// To how many tools a rule applies now.
    fn matches(&self, policy: &Policy) -> u64;
}

/// What is known before anybody said where to look.
struct Nothing;

impl ToolLookup for Nothing {
    fn thread_exists(&self, _: &ThreadId) -> bool {
        false
    }

    fn digest_of(&self, _: &str, _: &str, _: Option<&ThreadId>) -> Option<String> {
        None
    }

    fn matches(&self, _: &Policy) -> u64 {
        0
    }
}

impl Catalogue {
    pub(super) fn tool_lookup(&self) -> Arc<dyn ToolLookup> {
        self.tools.get().cloned().unwrap_or_else(|| Arc::new(Nothing))
    }

    /// The digest a tool has now: in one thread, or anywhere.
    #[must_use]
    pub fn digest_of(&self, tool: &PolicyTool, thread: Option<&ThreadId>) -> Option<String> {
        self.tool_lookup().digest_of(&tool.source, &tool.name, thread)
    }
}
