//! The tools of a thread at one moment: what the model is told of, and what its calls are looked up in.

use std::sync::Arc;

use ropewalk_protocol::{Policy, PolicyDecision, ProjectId, ThreadId, Timestamp, Tool, ToolState};

use crate::{
    engine::{Shared, Turn},
    models::ToolDefinition,
    tools::{
        Effective, Seen, ToolSpec,
        policy::{AGENT, Asking, covers, effective},
    },
};

/// The tools of a thread at one moment.
#[derive(Clone, Debug)]
pub struct Toolbox {
    entries: Vec<Entry>,
    ceiling_ms: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    spec: Arc<ToolSpec>,
    effective: Effective,
    state: ToolState,
    reason: Option<String>,
    is_gone: bool,
}

/// The tools of a thread as they are in a turn.
pub fn of_turn(turn: &Turn<'_>) -> Toolbox {
    let snapshot = turn.shared.catalogue.snapshot();
    let settings = &snapshot.settings;
    let thread = &turn.state().thread;
    let rules = rules(turn.shared, &thread.project_id, &thread.thread_id, turn.at());
    let asking = Asking {
        project_id: &thread.project_id,
        thread_id: &thread.thread_id,
        principal: &AGENT,
        connection: None,
        now: turn.at(),
    };
    let mut entries: Vec<Entry> = turn
        .shared
        .app_tools
        .iter()
        .map(|spec| Entry {
            effective: effective(spec.identity(), &rules, asking),
            spec: spec.clone(),
            state: ToolState::Ready,
            reason: None,
            is_gone: false,
        })
        .collect();
    for (owner, set) in &turn.state().tool_sets {
        let is_bound = turn.live.holder(owner).is_some();
        let gone_at = turn.live.away_since(owner).plus_millis(settings.owner_grace_ms);
        let is_gone = !is_bound && turn.at() >= gone_at;
        for tool in &set.tools {
            let spec = ToolSpec::of_client(tool, owner, settings.tool_silence_ms);
            entries.push(Entry {
                effective: effective(spec.identity(), &rules, asking),
                spec: Arc::new(spec),
                state: if is_bound { ToolState::Bound } else { ToolState::OwnerAway },
                reason: (!is_bound).then(|| format!("{} is not connected", owner.client_name)),
                is_gone,
            });
        }
    }
    entries.sort_by(|a, b| a.spec.flat_name.cmp(&b.spec.flat_name));
    Toolbox { entries, ceiling_ms: settings.tool_ceiling_ms }
}

/// The rules that hold for a thread.
pub fn rules(shared: &Shared, project: &ProjectId, thread: &ThreadId, now: Timestamp) -> Vec<Arc<Policy>> {
    shared.catalogue.snapshot().policies_for(project, thread, now).cloned().collect()
}

impl Toolbox {
    /// The tool of a model-facing name.
    pub fn find(&self, flat_name: &str) -> Option<Arc<ToolSpec>> {
        self.entries.iter().find(|entry| entry.spec.flat_name == flat_name).map(|entry| entry.spec.clone())
    }

    /// The model-facing names, those of denied tools left out.
    pub fn names(&self) -> Vec<String> {
        self.usable().map(|entry| entry.spec.flat_name.clone()).collect()
    }

    /// What a model is told: no denied tool, and none whose owner has been away for long.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.usable().filter(|entry| !entry.is_gone).map(|entry| entry.spec.to_definition()).collect()
    }

    /// The tools as the wire shows them.
    pub fn show(&self, schemas: bool) -> Vec<Tool> {
        let show = |entry: &Entry| {
            entry.spec.to_wire(Seen {
                state: entry.state,
                reason: entry.reason.clone(),
                effective: &entry.effective,
                ceiling_ms: self.ceiling_ms,
                schemas,
            })
        };
        self.entries.iter().map(show).collect()
    }

    /// Flat names of the tools a rule is about.
    pub fn covered_by(&self, rule: &Policy) -> Vec<String> {
        let covered = self.entries.iter().filter(|entry| covers(rule, entry.spec.identity()));
        covered.map(|entry| entry.spec.flat_name.clone()).collect()
    }

    /// How long a call may take in all.
    pub const fn ceiling_ms(&self) -> u64 {
        self.ceiling_ms
    }

    fn usable(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.effective.decision != PolicyDecision::Deny)
    }
}
