//! The rules of one thread, put together once for each state of the catalogue and looked up by what they are about.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use ropewalk_protocol::{Policy, PolicyTool, ThreadId, Timestamp};

use super::ToolIdentity;

/// Threads whose rules are kept put together at most.
const THREADS: usize = 4_096;

/// Rules by what they are about, however many there are. Those that have expired may be among them: whether a rule holds at a
/// moment is looked at when it is asked for.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    by_source: BTreeMap<String, OfSource>,
}

/// Rules about one source.
#[derive(Clone, Debug, Default)]
struct OfSource {
    whole: Vec<Arc<Policy>>,
    by_tool: BTreeMap<String, Vec<Arc<Policy>>>,
}

impl FromIterator<Arc<Policy>> for RuleSet {
    fn from_iter<T: IntoIterator<Item = Arc<Policy>>>(rules: T) -> Self {
        let mut set = Self::default();
        for rule in rules {
            match (&rule.tool, &rule.source) {
                (Some(PolicyTool { source, name, .. }), _) => {
                    let of_source = set.by_source.entry(source.clone()).or_default();
                    of_source.by_tool.entry(name.clone()).or_default().push(rule);
                }
                (None, Some(source)) => set.by_source.entry(source.clone()).or_default().whole.push(rule),
                (None, None) => {}
            }
        }
        set
    }
}

impl RuleSet {
    /// The rules about a tool or about its whole source.
    pub fn about(&self, tool: ToolIdentity<'_>) -> impl Iterator<Item = &Arc<Policy>> {
        let of_source = self.by_source.get(tool.source).into_iter();
        of_source.flat_map(move |rules| rules.by_tool.get(tool.name).into_iter().flatten().chain(&rules.whole))
    }

    /// When the next of the rules about a tool expires, and another one may count.
    #[must_use]
    pub fn next_expiry(&self, tool: ToolIdentity<'_>, now: Timestamp) -> Option<Timestamp> {
        self.about(tool).filter_map(|rule| rule.expires_at).filter(|at| *at > now).min()
    }
}

/// The rules of threads as they were put together for the newest state of the catalogue that was asked for.
#[derive(Debug, Default)]
pub struct RuleCache(Mutex<(u64, BTreeMap<ThreadId, Arc<RuleSet>>)>);

impl RuleCache {
    /// The rules of a thread in a state of the catalogue: those put together already, or what `collect` finds.
    pub fn of(&self, thread: &ThreadId, generation: u64, collect: impl FnOnce() -> RuleSet) -> Arc<RuleSet> {
        let known = {
            let (current, sets) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if *current < generation {
                (*current, *sets) = (generation, BTreeMap::new());
            }
            sets.get(thread).filter(|_| *current == generation).cloned()
        };
        known.unwrap_or_else(|| self.keep(thread, generation, Arc::new(collect())))
    }

    /// Puts rules away, unless the catalogue has moved on.
    fn keep(&self, thread: &ThreadId, generation: u64, set: Arc<RuleSet>) -> Arc<RuleSet> {
        let (current, sets) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *current == generation {
            if sets.len() >= THREADS {
                sets.clear();
            }
            sets.insert(thread.clone(), set.clone());
        }
        set
    }
}
