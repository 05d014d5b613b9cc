//! The file tools as a source of runs: a process of our own binary for what a project is granted, and none without grants.
//!
//! What a run may do with files is settled when a step of it begins: grants that are added meanwhile are those of the next step,
//! and the calls of the step under way stay with what they were made under (APP-168 to APP-170). What is taken back meanwhile
//! is looked at again before each call: none is made with what nobody grants any more.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError},
};

use ropewalk_protocol::{Annotations, Capability, PolicyDecision, ProjectId, RunId, SourceKind, ToolState};
use serde_json::{Value, to_value};

use super::ServerBook;
use crate::{
    catalogue::Catalogue,
    files::{self, Grant, Told},
    sessions::{ChildCommand, How, Launch, Listing},
    tools::{
        SourceDefault, ToolSpec,
        digest::{digest, tool_digest},
        names::server_flat_name,
        servers::{Place, ServerTool},
    },
};

/// The id of the source, the same in every home.
const SOURCE: &str = "files";

/// What people call it.
const SOURCE_NAME: &str = "File tools";

/// The version of the protocol the server speaks: with it nobody has to be asked.
const VERSION: &str = "2026-07-28";

/// How long our own program may take to start.
const START_MS: u64 = 10_000;

/// How long a call may be silent where no rule says otherwise.
const SILENCE_MS: u64 = 120_000;

/// Runs whose grants are remembered; a run beyond them has those of the moment.
const RUNS: usize = 1_024;

/// The file tools as a source.
pub struct FilesBook {
    catalogue: Arc<Catalogue>,
    binary: OnceLock<PathBuf>,
    home: OnceLock<PathBuf>,
    settled: Mutex<BTreeMap<RunId, Vec<Grant>>>,
}

impl FilesBook {
    /// The file tools over the grants of these documents. Without a binary to start there are none.
    #[must_use]
    pub fn new(catalogue: Arc<Catalogue>) -> Arc<Self> {
        Arc::new(Self { catalogue, binary: OnceLock::new(), home: OnceLock::new(), settled: Mutex::default() })
    }

    /// What a project is granted now, in an order that does not depend on when.
    fn granted(&self, project_id: &ProjectId) -> Vec<Grant> {
        let snapshot = self.catalogue.snapshot();
        let is_about_files =
            |grant: &Grant| grant.capabilities.iter().any(|it| matches!(it, Capability::Read | Capability::Write));
        let mut grants: Vec<Grant> = snapshot
            .grants_after(project_id, None)
            .map(|grant| Grant { path: grant.path.clone(), capabilities: grant.capabilities.clone() })
            .filter(is_about_files)
            .collect();
        grants.sort_by(|a, b| a.path.cmp(&b.path));
        grants
    }

    fn is_used(&self, project_id: &ProjectId) -> bool {
        let snapshot = self.catalogue.snapshot();
        snapshot.servers_of(project_id).any(|server| server.server_id.as_str() == SOURCE)
    }

    fn settled(&self) -> MutexGuard<'_, BTreeMap<RunId, Vec<Grant>>> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Other grants are another session: one that was begun with the former goes on for whoever still has them.
fn key(project_id: &ProjectId, grants: &[Grant]) -> String {
    format!("{SOURCE}:{project_id}:{}", digest(&grants))
}

/// What the server is told before anything else, as a line.
fn told(grants: Vec<Grant>, home: Option<&PathBuf>) -> Option<Vec<u8>> {
    let told = Told { grants, closed: home.into_iter().cloned().collect() };
    let mut line = serde_json::to_vec(&told).ok()?;
    line.push(b'\n');
    Some(line)
}

impl ServerBook for FilesBook {
    fn sources(&self, project_id: &ProjectId) -> Vec<String> {
        let is_there = self.binary.get().is_some() && self.is_used(project_id) && !self.granted(project_id).is_empty();
        if is_there { vec![SOURCE.to_owned()] } else { Vec::new() }
    }

    fn name(&self, source: &str) -> Option<String> {
        (source == SOURCE).then(|| SOURCE_NAME.to_owned())
    }

    fn tools(&self, _: &str, _: Option<&Listing>) -> Vec<ServerTool> {
        let ready = |spec: &Arc<_>| ServerTool { spec: Arc::clone(spec), state: ToolState::Ready, reason: None };
        specs().iter().map(ready).collect()
    }

    fn launch(&self, _: &str, place: &Place) -> Option<Launch> {
        let now = self.granted(&place.project_id);
        let settled = self.settled().get(&place.run_id).cloned();
        let grants = settled.map_or_else(|| now.clone(), |settled| files::what_is_left(&settled, &now));
        let binary = self.binary.get().filter(|_| !grants.is_empty())?;
        Some(Launch {
            key: key(&place.project_id, &grants),
            name: SOURCE_NAME.to_owned(),
            fingerprint: digest(&grants),
            version: Some(VERSION.to_owned()),
            start_timeout_ms: START_MS,
            how: How::Child(ChildCommand {
                command: binary.to_str()?.to_owned(),
                arguments: vec!["files-server".to_owned()],
                first: told(grants, self.home.get())?,
                ..ChildCommand::default()
            }),
        })
    }

    fn shared_key(&self, _: &str, project_id: &ProjectId) -> Option<String> {
        Some(key(project_id, &self.granted(project_id)))
    }

    /// It starts in a moment, and what it lists is known: a step that uses no files starts nothing.
    fn opens_at_a_call(&self, _: &str) -> bool {
        true
    }

    fn step_begins(&self, place: &Place) {
        let grants = self.granted(&place.project_id);
        let mut settled = self.settled();
        settled.insert(place.run_id.clone(), grants);
        // Ids begin with their time: the first is that of the oldest run.
        if settled.len() > RUNS {
            settled.pop_first();
        }
    }

    fn our_binary(&self, binary: &Path) {
        // There is one in a process.
        let _ = self.binary.set(binary.to_owned());
    }

    fn our_home(&self, home: &Path) {
        // A daemon lives in one.
        let _ = self.home.set(home.to_owned());
    }
}

/// The tools, as threads have them.
fn specs() -> &'static [Arc<ToolSpec>] {
    static SPECS: LazyLock<Vec<Arc<ToolSpec>>> =
        LazyLock::new(|| files::listed_tools().iter().map(spec).map(Arc::new).collect());
    &SPECS
}

fn spec(tool: &rmcp::model::Tool) -> ToolSpec {
    // The same words on both sides, so that they are read as they are written.
    let written = to_value(&tool.annotations).unwrap_or_default();
    let annotations: Annotations = serde_json::from_value(written).unwrap_or_default();
    let input_schema = Value::Object(tool.input_schema.as_ref().clone());
    let output_schema = tool.output_schema.as_ref().map(|schema| Value::Object(schema.as_ref().clone()));
    ToolSpec {
        flat_name: server_flat_name(SOURCE, &tool.name),
        name: tool.name.to_string(),
        namespace: None,
        namespace_description: None,
        title: tool.title.clone(),
        description: tool.description.as_deref().unwrap_or_default().to_owned(),
        digest: tool_digest(&input_schema, output_schema.as_ref(), &annotations),
        annotations,
        source: SOURCE.to_owned(),
        source_kind: SourceKind::Files,
        source_name: SOURCE_NAME.to_owned(),
        input_schema: Arc::new(input_schema),
        output_schema: output_schema.map(Arc::new),
        default: SourceDefault {
            decision: PolicyDecision::Allow,
            silence_ms: SILENCE_MS,
            exempt_from_asking: false,
            why: "default of file tools".into(),
        },
        owner: None,
    }
}
