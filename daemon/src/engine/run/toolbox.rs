//! The tools of a thread at one moment: what the model is told of, and what its calls are looked up in.

use std::{collections::BTreeSet, sync::Arc};

use ropewalk_protocol::{EndpointId, Policy, PolicyDecision, RunId, SourceKind, Tool, ToolState};

mod server_tools;

pub use server_tools::needed_sources;

use super::room;
use crate::{
    context::{
        Gauges,
        tokens::definition_tokens,
        tools::{Candidate, left_out},
    },
    domain::World as _,
    engine::Turn,
    models::ToolDefinition,
    tools::{
        CallFailure, Effective, Seen, ToolSpec,
        policy::{AGENT, Asking, covers, effective},
        tool_search::is_tool_search,
        veil::{Secrets, veil_text},
    },
};

/// Why a tool is left out.
const LEFT_OUT: &str =
    "the definitions of all tools would take more than 25 % of the model's window; the model finds it with tool_search";

/// The tools of a thread at one moment.
#[derive(Clone, Debug)]
pub struct Toolbox {
    entries: Vec<Entry>,
    /// Names of those whose definitions there is no room for.
    left_out: BTreeSet<String>,
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

/// The tools of a thread as they are in a turn, for the model of the thread's next run.
pub fn of_turn(turn: &Turn<'_>) -> Toolbox {
    let endpoint = turn.shared.endpoint(&turn.state().thread, None);
    of_endpoint(turn, endpoint.map(|(endpoint_id, _)| endpoint_id).as_ref(), &[])
}

/// The tools of a thread as they are in a turn, for the model of this run.
pub fn of_run(turn: &Turn<'_>, run_id: &RunId) -> Toolbox {
    let run = turn.state().runs.get(run_id);
    of_endpoint(turn, run.map(|state| &state.run.endpoint_id), run.map_or(&[], |state| &state.pinned))
}

fn of_endpoint(turn: &Turn<'_>, endpoint: Option<&EndpointId>, pinned: &[String]) -> Toolbox {
    let snapshot = turn.shared.catalogue.snapshot();
    let settings = &snapshot.settings;
    let thread = &turn.state().thread;
    let rules = turn.shared.rules_of(&thread.project_id, &thread.thread_id);
    let asking = asking(turn);
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
    entries.extend(server_tools::entries(turn));
    server_tools::quarantine_clashes(&mut entries);
    entries.sort_by(|a, b| a.spec.flat_name.cmp(&b.spec.flat_name));
    let mut toolbox = Toolbox { entries, left_out: BTreeSet::new(), ceiling_ms: settings.tool_ceiling_ms };
    let room = endpoint.and_then(|id| room::room_of(turn.shared, id)).filter(|room| room.is_enforced);
    let budget = room.map_or(u64::MAX, |room| room.budgets.tools);
    toolbox.leave_out(&turn.shared.gauges, budget, pinned);
    toolbox
}

/// A run's own agent, in the thread of a turn.
fn asking<'a>(turn: &'a Turn<'_>) -> Asking<'a> {
    let thread = &turn.state().thread;
    Asking {
        project_id: &thread.project_id,
        thread_id: &thread.thread_id,
        principal: &AGENT,
        connection: None,
        now: turn.at(),
    }
}

impl Toolbox {
    /// Leaves out what does not fit, and with nothing left out the tool that would find it.
    fn leave_out(&mut self, gauges: &Gauges, budget: u64, pinned: &[String]) {
        let tokens = |entry: &Entry| {
            let spec = &entry.spec;
            let length = spec.flat_name.len() + spec.description.len();
            gauges.definition(&spec.digest, length, || definition_tokens(&spec.to_definition()))
        };
        let (search, others): (Vec<&Entry>, Vec<&Entry>) =
            self.defined().partition(|entry| is_tool_search(&entry.spec));
        let search_tokens = search.first().map_or(0, |entry| tokens(entry));
        let candidate = |entry: &&Entry| Candidate {
            flat_name: entry.spec.flat_name.clone(),
            source: entry.spec.source.clone(),
            source_kind: entry.spec.source_kind,
            is_about_us: entry.spec.source_kind == SourceKind::App && entry.spec.name.starts_with("app_"),
            pinned: pinned.iter().position(|name| *name == entry.spec.flat_name),
            tokens: tokens(entry),
        };
        self.left_out = left_out(others.iter().map(candidate).collect(), budget, search_tokens);
        if self.left_out.is_empty() {
            self.entries.retain(|entry| !is_tool_search(&entry.spec));
        }
        for entry in self.entries.iter_mut().filter(|entry| self.left_out.contains(&entry.spec.flat_name)) {
            entry.state = ToolState::LeftOut;
            entry.reason = Some(LEFT_OUT.to_owned());
        }
    }

    /// Whether a model is not told of a tool because there is no room for it.
    pub fn is_left_out(&self, flat_name: &str) -> bool {
        self.left_out.contains(flat_name)
    }

    /// The tools there is no room for.
    pub fn left_out(&self) -> Vec<Arc<ToolSpec>> {
        let entries = self.entries.iter().filter(|entry| self.is_left_out(&entry.spec.flat_name));
        entries.map(|entry| entry.spec.clone()).collect()
    }

    /// Why a tool cannot be called whatever anybody decides.
    pub fn unusable(&self, flat_name: &str) -> Option<CallFailure> {
        self.entries.iter().find(|entry| entry.spec.flat_name == flat_name).and_then(server_tools::unusable)
    }

    /// The tool of a model-facing name.
    pub fn find(&self, flat_name: &str) -> Option<Arc<ToolSpec>> {
        self.entries.iter().find(|entry| entry.spec.flat_name == flat_name).map(|entry| entry.spec.clone())
    }

    /// Takes the secrets out of the arguments of a call, as the model wrote them; none where it has none. Those of a name
    /// that is no tool may be meant for any tool.
    pub fn veil(&self, flat_name: &str, arguments: &str) -> Option<(String, Secrets)> {
        if let Some(spec) = self.find(flat_name) {
            return veil_text(arguments, &spec.input_schema);
        }
        self.entries.iter().find_map(|entry| veil_text(arguments, &entry.spec.input_schema))
    }

    /// The model-facing names, those of denied tools left out.
    pub fn names(&self) -> Vec<String> {
        self.usable().map(|entry| entry.spec.flat_name.clone()).collect()
    }

    /// What a model is told: no denied tool, none whose owner has been away for long, and none there is no room for.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let fitting = self.defined().filter(|entry| !self.is_left_out(&entry.spec.flat_name));
        fitting.map(|entry| entry.spec.to_definition()).collect()
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

    fn defined(&self) -> impl Iterator<Item = &Entry> {
        self.usable().filter(|entry| !entry.is_gone)
    }

    fn usable(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.effective.decision != PolicyDecision::Deny)
    }
}
